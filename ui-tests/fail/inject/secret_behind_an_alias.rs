//! The same behind an alias, or within another type: the compiler knows

use tinyagents::prelude::*;

type Key = Secret<String>;

/// Does a thing.
#[tool]
fn take(key: Key, keys: Vec<Secret<String>>) {
    let _ = (key, keys);
}

fn main() {}
