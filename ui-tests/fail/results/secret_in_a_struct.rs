//! A struct that holds a secret cannot be written as JSON

use tinyagents::prelude::*;

#[derive(tinyagents::serde::Serialize)]
#[serde(crate = "tinyagents::serde")]
struct Login {
    user: String,
    token: Secret<String>,
}

/// Does a thing.
#[tool]
fn log_in(user: String, #[inject("TOKEN")] token: Secret<String>) -> Login {
    Login { user, token }
}

fn main() {}
