/// Search the document index and return the best matches.
pub async fn search(
    query: &str,
    index: &Index,
    cancel: CancellationToken,
) -> Result<Vec<Hit>, SearchError> {
    index.search(query, cancel).await
}
/// Search the document index and return the best matches.
#[derive(::tinyagents::__private::Clone, ::tinyagents::__private::Copy)]
#[derive(::tinyagents::__private::Debug)]
pub struct Search;
#[allow(deprecated, unused_imports, dead_code, clippy::must_use_candidate)]
const _: () = {
    use ::tinyagents::__private as __t;
    use __t::methods::*;
    const __A0: __t::Arg<__t::String> = __t::Arg::of("query", "Words to look for.");
    static __TOOL: __t::ToolDef = __t::Decl::new(
            "search",
            "Search the document index and return the best matches.",
        )
        .injected(&[("index", "state"), ("cancel", "CancellationToken")])
        .classified(|policy| {
            policy.side_effects.read_only = true;
            policy.runtime.sandbox = __t::SandboxMode::Required;
            policy.runtime.timeout_ms = __t::Some(10000);
        })
        .output(|generator| {
            (&&&__t::Probe::<Result<Vec<Hit>, SearchError>>::new()).schema(generator)
        })
        .tool(&[&__A0]);
    impl Search {
        /// The name by which a model calls the tool.
        pub const NAME: &'static str = "search";
        /// The parameters that the model fills, in declared order.
        pub const PARAMETERS: &'static [&'static str] = &["query"];
        /// What the tool declares of its safety.
        pub fn policy() -> __t::ToolPolicy {
            __TOOL.policy()
        }
        /// The tool's specification, built once.
        pub fn spec() -> &'static __t::ToolSpec {
            __TOOL.spec()
        }
    }
    impl<__S, __C> __t::Tool<__S, __C> for Search
    where
        __S: __t::Send + __t::Sync + __t::Provide<Index>,
        __C: __t::Send + __t::Sync,
        CancellationToken: __t::Inject<__S, __C>,
    {
        fn spec(&self) -> __t::ToolSpec {
            __TOOL.to_spec()
        }
        fn __generated(&self) -> __t::Option<&'static __t::ToolDef> {
            __t::Some(&__TOOL)
        }
        fn needs(&self) -> __t::Needs {
            let mut needs = __t::Needs::default();
            <CancellationToken as __t::Inject<__S, __C>>::needs(&mut needs);
            needs
        }
        fn call<'__me: '__c, '__a: '__c, '__b: '__c, '__c>(
            &'__me self,
            state: &'__a __S,
            runtime: __t::ToolRuntime<'__b, __C>,
            call: __t::ToolCall,
        ) -> __t::Called<'__c> {
            __t::boxed(async move {
                let arguments = &__TOOL.decode(&call)?;
                let cx = &__t::InjectContext {
                    state: state,
                    runtime: &runtime,
                    call: &call,
                };
                let a0 = arguments.read_str(&__A0)?;
                let a1 = __t::Provide::<Index>::provide(cx.state);
                let a2 = <CancellationToken as __t::Inject<__S, __C>>::inject(cx)?;
                __TOOL
                    .finish(
                        &call,
                        match __t::Returned(search(&a0, a1, a2).await).split() {
                            __t::Ok(good) => good.output(),
                            __t::Err(bad) => __t::Err({ bad }.fault()),
                        },
                    )
            })
        }
    }
};
