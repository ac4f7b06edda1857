/// Reads a file.
///
/// # Arguments
///
/// * `path` - where it is, below the workspace
fn read_file(
    path: &Path,
    lines: u32,
    encoding: String,
    kind: Option<Kind>,
    since: Option<Duration>,
) -> String {
    read(path, lines, &encoding, kind, since)
}
/// Reads a file.
///
/// # Arguments
///
/// * `path` - where it is, below the workspace
#[derive(::tinyagents::__private::Clone, ::tinyagents::__private::Copy)]
#[derive(::tinyagents::__private::Debug)]
struct ReadFile;
#[allow(deprecated, unused_imports, dead_code, clippy::must_use_candidate)]
const _: () = {
    use ::tinyagents::__private as __t;
    use __t::methods::*;
    const __A0: __t::Arg<__t::PathBuf> = __t::Arg::of(
        "path",
        "where it is, below the workspace",
    );
    const __A1: __t::Arg<u32> = __t::Arg::or(
        __t::Arg::defaulted("lines", "")
            .words(|property| {
                property.at_least(1i64);
                property.at_most(5000i64);
            }),
        || 200,
    );
    const __A2: __t::Arg<String> = __t::Arg::or(
        __t::Arg::defaulted("encoding", "How its bytes are read.")
            .words(|property| {
                property.choice("utf-8");
                property.choice("latin-1");
            }),
        || __t::From::from("utf-8"),
    );
    const __A3: __t::Arg<Option<Kind>> = __t::Arg::or(
        __t::Arg::defaulted("type", ""),
        || __t::Default::default(),
    );
    const __A4: __t::Arg<Option<Duration>> = __t::Arg::or(
        __t::Arg::with(
            __t::Arg::shown("since", "")
                .words(|property| {
                    property.len_at_most(64);
                    property.pattern("^[0-9]+s$");
                    property.example("5s");
                })
                .aliases(&["from"]),
            |value| seconds(value),
        ),
        || __t::None,
    );
    static __TOOL: __t::ToolDef = __t::Decl::new("read_file", "Reads a file.")
        .format(__t::Shown::PType)
        .classified(|policy| {
            policy.side_effects.read_only = true;
            policy.access.workspace = __t::WorkspaceAccess::Read;
            policy.redact = __t::texts(&["since", "from"]);
        })
        .output(|generator| (&&&__t::Probe::<String>::new()).schema(generator))
        .blocking()
        .tool(&[&__A0, &__A1, &__A2, &__A3, &__A4]);
    impl ReadFile {
        /// The name by which a model calls the tool.
        const NAME: &'static str = "read_file";
        /// The parameters that the model fills, in declared order.
        const PARAMETERS: &'static [&'static str] = &[
            "path",
            "lines",
            "encoding",
            "type",
            "since",
        ];
        /// What the tool declares of its safety.
        fn policy() -> __t::ToolPolicy {
            __TOOL.policy()
        }
        /// The tool's specification, built once.
        fn spec() -> &'static __t::ToolSpec {
            __TOOL.spec()
        }
    }
    impl<__S, __C> __t::Tool<__S, __C> for ReadFile
    where
        __S: __t::Send + __t::Sync,
        __C: __t::Send + __t::Sync,
    {
        fn spec(&self) -> __t::ToolSpec {
            __TOOL.to_spec()
        }
        fn __generated(&self) -> __t::Option<&'static __t::ToolDef> {
            __t::Some(&__TOOL)
        }
        fn call<'__me: '__c, '__a: '__c, '__b: '__c, '__c>(
            &'__me self,
            state: &'__a __S,
            runtime: __t::ToolRuntime<'__b, __C>,
            call: __t::ToolCall,
        ) -> __t::Called<'__c> {
            let call = __TOOL.open(state, runtime, call);
            call.run_sync(|arguments, _| {
                let a0 = arguments.read(&__A0)?;
                let a1 = arguments.read(&__A1)?;
                let a2 = arguments.read(&__A2)?;
                let a3 = arguments.read(&__A3)?;
                let a4 = arguments.read(&__A4)?;
                match __t::Returned(read_file(&a0, a1, a2, a3, a4)).split() {
                    __t::Ok(good) => good.output(),
                    __t::Err(bad) => __t::Err({ bad }.fault()),
                }
            })
        }
    }
};
