//! Whether a value may be left out is asked of the type, not of its spelling.

use tinyagents::prelude::*;

type Maybe<T> = Option<T>;

/// Aliased.
#[tool]
async fn aliased(a: Maybe<i64>, b: i64) -> i64 {
    a.unwrap_or(10) + b
}

macro_rules! typed {
    ($ty:ty, $default:expr) => {
        /// Made by a macro.
        #[tool]
        async fn made(#[arg(default = $default)] a: $ty, b: &$ty) -> i64 {
            a + b
        }
    };
}

typed!(i64, 3);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Aliased::spec().input_schema["required"], json!(["b"]));
    assert_eq!(Made::spec().input_schema["properties"]["a"], json!({ "type": "integer", "default": 3 }));
    let result = tinyagents::testkit::call(&Aliased, &(), json!({ "b": 1 })).await.unwrap();
    assert_eq!(result.value, Some(json!(11)));
}
