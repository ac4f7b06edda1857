//! A key that names nothing

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject("")] token: Secret<String>, #[inject(" TOKEN")] other: Secret<String>) {
    let _ = (token, other);
}

fn main() {}
