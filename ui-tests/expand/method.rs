impl GitHub {
    /// Lists the open issues of a repository.
    async fn issues(&self, repo: String, log: &Log) -> Result<Vec<Issue>, ApiError> {
        self.api(log).issues(&repo).await
    }
    fn api(&self, log: &Log) -> Api {
        Api::new(&self.url, log)
    }
}
/// Lists the open issues of a repository.
#[allow(private_interfaces)]
#[derive(::tinyagents::__private::Clone)]
struct GitHubIssues(::tinyagents::__private::Arc<GitHub>);
#[allow(deprecated, unused_imports, dead_code, clippy::must_use_candidate)]
const _: () = {
    use ::tinyagents::__private as __t;
    use __t::methods::*;
    #[allow(dead_code)]
    type __Self = GitHub;
    impl __t::Debug for GitHubIssues {
        fn fmt(&self, f: &mut __t::Formatter<'_>) -> __t::FmtResult {
            f.write_str("GitHubIssues")
        }
    }
    const __A0: __t::Arg<String> = __t::Arg::of("repo", "");
    static __TOOL: __t::ToolDef = __t::Decl::new(
            "issues",
            "Lists the open issues of a repository.",
        )
        .injected(&[("log", "state")])
        .classified(|policy| {
            policy.side_effects.read_only = true;
        })
        .output(|generator| {
            (&&&__t::Probe::<Result<Vec<Issue>, ApiError>>::new()).schema(generator)
        })
        .tool(&[&__A0]);
    impl GitHubIssues {
        /// The name by which a model calls the tool.
        const NAME: &'static str = "issues";
        /// The parameters that the model fills, in declared order.
        const PARAMETERS: &'static [&'static str] = &["repo"];
        /// What the tool declares of its safety.
        fn policy() -> __t::ToolPolicy {
            __TOOL.policy()
        }
        /// The tool's specification, built once.
        fn spec() -> &'static __t::ToolSpec {
            __TOOL.spec()
        }
    }
    impl<__S, __C> __t::Tool<__S, __C> for GitHubIssues
    where
        __S: __t::Send + __t::Sync + __t::Provide<Log>,
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
                let a1 = __t::Provide::<Log>::provide(cx.state);
                __TOOL
                    .finish(
                        &call,
                        match __t::Returned(__Self::issues(&self.0, a0, a1).await)
                            .split()
                        {
                            __t::Ok(good) => good.output(),
                            __t::Err(bad) => __t::Err({ bad }.fault()),
                        },
                    )
            })
        }
    }
};
#[allow(deprecated)]
const _: () = {
    use ::tinyagents::__private as __t;
    type __T0 = GitHubIssues;
    #[allow(dead_code, unreachable_pub, private_bounds)]
    impl GitHub {
        /// The tools of this type, in the order of its methods, as one set.
        #[must_use]
        fn tools<State, Ctx>(self: &__t::Arc<Self>) -> __t::Toolset<State, Ctx>
        where
            State: __t::Send + __t::Sync,
            Ctx: __t::Send + __t::Sync,
            __T0: __t::Tool<State, Ctx>,
        {
            let set = __t::Toolset::new();
            let set = set.with(GitHubIssues(__t::Arc::clone(self)));
            set
        }
    }
};
