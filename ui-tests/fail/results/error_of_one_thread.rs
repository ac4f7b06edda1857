//! An error without a type that cannot leave its thread

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take() -> Result<(), std::rc::Rc<str>> {
    Ok(())
}

fn main() {}
