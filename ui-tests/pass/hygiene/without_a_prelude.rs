//! Nothing that the macro writes needs the standard prelude.

mod bare {
    #![no_implicit_prelude]

    /// Bare.
    #[::tinyagents::tool(read_only, timeout = "1s", redact("a"), credentials("KEY"))]
    pub async fn bare(a: u8, #[arg(default = 2)] b: u8, text: &str, #[inject] state: &bool) -> u8 {
        let _ = (text, state);
        a + b
    }
}

use tinyagents::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(bare::Bare::PARAMETERS, ["a", "b", "text"]);
    let result = tinyagents::testkit::call(&bare::Bare, &true, json!({ "a": 1, "text": "" })).await.unwrap();
    assert_eq!(result.value, Some(json!(3)));
}
