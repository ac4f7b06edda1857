//! `redact` on a parameter hides its value, under each of its names, and says nothing else of the policy.

use tinyagents::harness::policy::ToolPolicy;
use tinyagents::prelude::*;

/// Log in.
#[tool(redact("session.id"), network)]
async fn log_in(
    #[arg(redact, not_secret, alias = "pin")] token: &str,
    #[arg(redact, name = "userName")] user: &str,
) -> String {
    format!("{token}{user}")
}

/// Send.
#[tool]
async fn send(#[arg(redact)] text: String) -> String {
    text
}

fn main() {
    assert_eq!(LogIn::policy().redact, ["session.id", "token", "pin", "userName"]);
    assert_eq!(LogIn::PARAMETERS, ["token", "userName"]);
    assert_eq!(Send::policy(), ToolPolicy { redact: vec!["text".into()], ..ToolPolicy::default() });
    assert!(!Send::policy().classified);
}
