/// Reads a file.
///
/// # Arguments
///
/// * `path` - where it is, below the workspace
fn read_file(path: &Path, lines: u32, encoding: String, kind: Option<Kind>) -> String {
    read(path, lines, &encoding, kind)
}
/// Reads a file.
///
/// # Arguments
///
/// * `path` - where it is, below the workspace
#[derive(
    ::tinyagents::__private::Clone,
    ::tinyagents::__private::Copy,
    ::tinyagents::__private::Debug
)]
struct ReadFile;
#[allow(deprecated, unused_imports)]
const _: () = {
    use ::tinyagents::__private as __t;
    use __t::methods::*;
    const __A0: __t::Arg<__t::PathBuf> = __t::Arg::of(
        "path",
        "where it is, below the workspace",
    );
    const __A1: __t::Arg<u32> = __t::Arg::defaulted("lines", "").or(|| 200);
    const __A2: __t::Arg<String> = __t::Arg::defaulted(
            "encoding",
            "How its bytes are read.",
        )
        .or(|| __t::From::from("utf-8"));
    const __A3: __t::Arg<Option<Kind>> = __t::Arg::defaulted("type", "")
        .or(|| __t::Default::default());
    static __TOOL: __t::ToolDef = __t::ToolDef {
        name: "read_file",
        description: "Reads a file.",
        args: &[&__A0, &__A1, &__A2, &__A3],
        injected: &[],
        format: __t::Shown::PType,
        policy: || {
            let mut policy = __t::ToolPolicy::classified();
            policy.side_effects.read_only = true;
            policy.access.workspace = __t::WorkspaceAccess::Read;
            policy
        },
        output: |generator| (&&&__t::Probe::<String>::new()).schema(generator),
        spec: __t::OnceLock::new(),
    };
    #[allow(dead_code)]
    impl ReadFile {
        /// The name by which a model calls the tool.
        const NAME: &'static str = "read_file";
        /// The parameters that the model fills, in declared order.
        const PARAMETERS: &'static [&'static str] = &[
            "path",
            "lines",
            "encoding",
            "type",
        ];
        /// What the tool declares of its safety.
        #[must_use]
        fn policy() -> __t::ToolPolicy {
            (__TOOL.policy)()
        }
        /// The tool's specification, built once.
        #[must_use]
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
        fn policy(&self) -> __t::ToolPolicy {
            (__TOOL.policy)()
        }
        fn is_blocking(&self) -> bool {
            true
        }
        fn call<'__me, '__a, '__b, '__c>(
            &'__me self,
            state: &'__a __S,
            runtime: __t::ToolRuntime<'__b, __C>,
            call: __t::ToolCall,
        ) -> __t::Called<'__c>
        where
            '__me: '__c,
            '__a: '__c,
            '__b: '__c,
            Self: '__c,
        {
            __t::run_sync(
                &__TOOL,
                state,
                runtime,
                call,
                |arguments, _| {
                    let a0 = arguments.read(&__A0)?;
                    let a1 = arguments.read(&__A1)?;
                    let a2 = arguments.read(&__A2)?;
                    let a3 = arguments.read(&__A3)?;
                    match __t::Returned(read_file(&a0, a1, a2, a3)).split() {
                        __t::Ok(good) => good.output(),
                        __t::Err(bad) => __t::Err(bad.fault()),
                    }
                },
            )
        }
    }
};
