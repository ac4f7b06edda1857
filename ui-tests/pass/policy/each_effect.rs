//! Each effect sets its own field and no other.

use tinyagents::harness::policy::ToolSideEffects;
use tinyagents::prelude::*;

macro_rules! each {
    ($($name:ident $type:ident)*) => {
        $(
            /// One effect.
            #[tool($name)]
            fn $name() {}
        )*

        fn main() {
            $(assert_eq!($type::policy().side_effects, ToolSideEffects { $name: true, ..ToolSideEffects::default() });)*
        }
    };
}

each! {
    read_only ReadOnly
    writes_files WritesFiles
    network Network
    installs_dependencies InstallsDependencies
    destructive Destructive
    external_service ExternalService
    payment Payment
    process Process
}
