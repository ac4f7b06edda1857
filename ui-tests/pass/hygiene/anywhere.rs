//! Tools inside functions, made by `macro_rules!`, and through a path of one's own.

mod facade {
    pub(crate) use tinyagents as agents;
}

macro_rules! adder {
    ($name:ident, $param:ident, $value:expr) => {
        #[doc = concat!("Not read.")]
        #[tinyagents::tool(description = "Adds.")]
        async fn $name($param: u32) -> u32 {
            let value = $value;
            $param + value
        }
    };
    (local $name:ident) => {{
        /// Local to the macro.
        #[tinyagents::tool(name = "from_macro")]
        fn $name(value: u32) -> u32 {
            value * 2
        }
        $name(4)
    }};
}

adder!(add_five, number, 5);

fn inner() -> &'static [&'static str] {
    struct Local;

    impl<S, C> tinyagents::harness::tool::Inject<S, C> for Local {
        fn inject(
            _: &tinyagents::harness::tool::InjectContext<'_, S, C>,
        ) -> Result<Self, tinyagents::harness::tool::ToolError> {
            Ok(Self)
        }
    }

    /// Inside a function.
    #[tinyagents::tool]
    async fn nested(a: u8, #[inject] local: Local) -> u8 {
        let Local = local;
        a
    }

    Nested::PARAMETERS
}

/// Through a path.
#[facade::agents::tool(crate = facade::agents, read_only)]
async fn by_path(a: u8) -> u8 {
    a
}

fn main() {
    assert_eq!(AddFive::PARAMETERS, ["number"]);
    assert_eq!(AddFive::spec().description, "Adds.");
    assert_eq!(inner(), ["a"]);
    assert_eq!(adder!(local double), 8);
    assert_eq!(ByPath::PARAMETERS, ["a"]);
    assert!(ByPath::policy().is_read_only());
}
