//! A parameter under `#[cfg]` is there, or not, everywhere.

use tinyagents::prelude::*;

/// Conditional.
#[tool]
async fn conditional(
    first: u8,
    #[cfg(any())] never: u8,
    #[cfg(all())]
    #[arg(default = 2)]
    always: u8,
) -> u8 {
    first + always
}

/// Conditional and lent.
#[tool]
async fn lent(#[cfg(any())] never: &str, #[cfg(all())] always: &str) -> usize {
    always.len()
}

#[tool]
#[cfg(any())]
async fn absent(no: Documentation) {}

/// Present.
#[tool]
#[cfg(all())]
fn present() {}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Conditional::PARAMETERS, ["first", "always"]);
    assert_eq!(Conditional::spec().input_schema["required"], json!(["first"]));
    assert_eq!(Lent::PARAMETERS, ["always"]);
    assert_eq!(Present::PARAMETERS, [""; 0]);
    let result = tinyagents::testkit::call(&Conditional, &(), json!({ "first": 1 })).await.unwrap();
    assert_eq!(result.value, Some(json!(3)));
}
