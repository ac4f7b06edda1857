//! A tool inside a trait method's body, a closure, a constant's block and a nested module of a function.

use tinyagents::prelude::*;

trait Named {
    fn name(&self) -> &'static str;
}

impl Named for u8 {
    fn name(&self) -> &'static str {
        /// In a method's body.
        #[tool]
        fn in_method(a: u8) -> u8 {
            a
        }
        InMethod::NAME
    }
}

const NAME: &str = {
    /// In a constant.
    #[tool]
    fn in_constant() {}
    InConstant::NAME
};

fn main() {
    let in_closure = || {
        /// In a closure.
        #[tool]
        async fn in_closure(b: u8) -> u8 {
            b
        }
        InClosure::PARAMETERS
    };
    mod nested {
        /// In a module of a function.
        #[tinyagents::tool]
        pub fn in_module() {}
    }
    assert_eq!((1_u8.name(), NAME, nested::InModule::NAME), ("in_method", "in_constant", "in_module"));
    assert_eq!(in_closure(), ["b"]);
}
