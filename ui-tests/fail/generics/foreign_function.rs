//! A function without a body belongs to another language.

use tinyagents::prelude::*;

unsafe extern "C" {
    /// Does a thing.
    #[tool]
    fn take(a: u8) -> u8;
}

fn main() {}
