/// Add two numbers.
fn add(a: i64, b: i64) -> i64 {
    a + b
}
/// Add two numbers.
#[derive(
    ::tinyagents::__private::Clone,
    ::tinyagents::__private::Copy,
    ::tinyagents::__private::Debug
)]
struct Add;
#[allow(deprecated, unused_imports)]
const _: () = {
    use ::tinyagents::__private as __t;
    use __t::methods::*;
    const __A0: __t::Arg<i64> = __t::Arg::of("a", "");
    const __A1: __t::Arg<i64> = __t::Arg::of("b", "");
    static __TOOL: __t::ToolDef = __t::ToolDef {
        name: "add",
        description: "Add two numbers.",
        args: &[&__A0, &__A1],
        injected: &[],
        format: __t::Shown::Json,
        policy: || {
            let mut policy = __t::ToolPolicy::classified();
            policy.side_effects.read_only = true;
            policy
        },
        output: |generator| (&&&__t::Probe::<i64>::new()).schema(generator),
        spec: __t::OnceLock::new(),
    };
    #[allow(dead_code)]
    impl Add {
        /// The name by which a model calls the tool.
        const NAME: &'static str = "add";
        /// The parameters that the model fills, in declared order.
        const PARAMETERS: &'static [&'static str] = &["a", "b"];
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
    impl<__S, __C> __t::Tool<__S, __C> for Add
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
                    match __t::Returned(add(a0, a1)).split() {
                        __t::Ok(good) => good.output(),
                        __t::Err(bad) => __t::Err(bad.fault()),
                    }
                },
            )
        }
    }
};
