/// Add two numbers.
fn add(a: i64, b: i64) -> i64 {
    a + b
}
/// Add two numbers.
#[derive(::tinyagents::__private::Clone, ::tinyagents::__private::Copy)]
#[derive(::tinyagents::__private::Debug)]
struct Add;
#[allow(deprecated, unused_imports, dead_code, clippy::must_use_candidate)]
const _: () = {
    use ::tinyagents::__private as __t;
    use __t::methods::*;
    const __A0: __t::Arg<i64> = __t::Arg::of("a", "");
    const __A1: __t::Arg<i64> = __t::Arg::of("b", "");
    static __TOOL: __t::ToolDef = __t::Decl::new("add", "Add two numbers.")
        .classified(|policy| {
            policy.side_effects.read_only = true;
        })
        .output(|generator| (&&&__t::Probe::<i64>::new()).schema(generator))
        .blocking()
        .tool(&[&__A0, &__A1]);
    impl Add {
        /// The name by which a model calls the tool.
        const NAME: &'static str = "add";
        /// The parameters that the model fills, in declared order.
        const PARAMETERS: &'static [&'static str] = &["a", "b"];
        /// What the tool declares of its safety.
        fn policy() -> __t::ToolPolicy {
            __TOOL.policy()
        }
        /// The tool's specification, built once.
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
                let output = add(arguments.read(&__A0)?, arguments.read(&__A1)?);
                match __t::Returned(output).split() {
                    __t::Ok(good) => good.output(),
                    __t::Err(bad) => __t::Err({ bad }.fault()),
                }
            })
        }
    }
};
