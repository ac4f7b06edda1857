//! A `macro_rules!` makes whole tools: types, visibility, docs, bodies and attributes from its caller.

use tinyagents::prelude::*;
use tinyagents::testkit;

macro_rules! tools {
    ($($(#[$attr:meta])* $vis:vis $name:ident($($arg:ident: $ty:ty = $default:expr),*) -> $out:ty $body:block)*) => {$(
        $(#[$attr])*
        #[tool(read_only)]
        $vis async fn $name($(#[arg(default = $default)] $arg: $ty),*) -> $out $body
    )*};
}

tools! {
    /// Join two texts.
    pub join(a: String = "a", b: String = "b") -> String { format!("{a}{b}") }
    /// A list as long as it says.
    list_of(n: Option<usize> = Some(2)) -> Vec<u8> { vec![0; n.unwrap_or_default()] }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Join::spec().description, "Join two texts.");
    assert_eq!(Join::PARAMETERS, ["a", "b"]);
    let result = testkit::call(&Join, &(), json!({ "b": "c" })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("ac")]);
    assert_eq!(testkit::call(&ListOf, &(), json!({})).await.unwrap().value, Some(json!([0, 0])));
    assert!(ListOf::policy().is_read_only());
}
