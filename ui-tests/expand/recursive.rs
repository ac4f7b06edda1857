/// Ask a second model.
async fn ask(question: String, harness: &Harness) -> Result<String, ToolError> {
    harness.ask(question).await
}
/// Ask a second model.
#[derive(::tinyagents::__private::Clone, ::tinyagents::__private::Copy)]
#[derive(::tinyagents::__private::Debug)]
struct Ask;
#[allow(deprecated, unused_imports, dead_code, clippy::must_use_candidate)]
const _: () = {
    use ::tinyagents::__private as __t;
    use __t::methods::*;
    const __A0: __t::Arg<String> = __t::Arg::of("question", "");
    static __TOOL: __t::ToolDef = __t::Decl::new("ask", "Ask a second model.")
        .injected(&[("harness", "state")])
        .classified(|policy| {
            policy.side_effects.network = true;
            policy.runtime.return_direct = true;
            policy.runtime.polling = true;
            policy.runtime.max_concurrency = __t::Some(4);
        })
        .output(|generator| {
            (&&&__t::Probe::<Result<String, ToolError>>::new()).schema(generator)
        })
        .recursive()
        .effect(class_of)
        .grant_keys(keys_of)
        .tool(&[&__A0]);
    impl Ask {
        /// The name by which a model calls the tool.
        const NAME: &'static str = "ask";
        /// The parameters that the model fills, in declared order.
        const PARAMETERS: &'static [&'static str] = &["question"];
        /// What the tool declares of its safety.
        fn policy() -> __t::ToolPolicy {
            __TOOL.policy()
        }
        /// The tool's specification, built once.
        fn spec() -> &'static __t::ToolSpec {
            __TOOL.spec()
        }
    }
    impl<__S, __C> __t::Tool<__S, __C> for Ask
    where
        __S: __t::Send + __t::Sync + __t::Provide<Harness>,
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
            __t::boxed(async move {
                let arguments = &__TOOL.decode(&call)?;
                let cx = &__t::InjectContext {
                    state: state,
                    runtime: &runtime,
                    call: &call,
                };
                let a0 = arguments.read(&__A0)?;
                let a1 = __t::Provide::<Harness>::provide(cx.state);
                __TOOL
                    .finish(
                        &call,
                        match __t::Returned(ask(a0, a1).await).split() {
                            __t::Ok(good) => good.output(),
                            __t::Err(bad) => __t::Err({ bad }.fault()),
                        },
                    )
            })
        }
    }
};
