//! The same behind an alias: the compiler knows

use tinyagents::prelude::*;

type Token = Secret<String>;

/// Does a thing.
#[tool]
fn take(#[inject("TOKEN")] token: Token) -> Token {
    token
}

fn main() {}
