//! An application's own type is injected once it implements `Inject`.

use tinyagents::prelude::*;
use tinyagents::testkit;

struct Attempt(u32);

impl<S, C> Inject<S, C> for Attempt {
    fn inject(_: &InjectContext<'_, S, C>) -> Result<Self, ToolError> {
        Ok(Self(7))
    }
}

/// For one state only.
struct Doubled(u32);

impl<C> Inject<u32, C> for Doubled {
    fn inject(cx: &InjectContext<'_, u32, C>) -> Result<Self, ToolError> {
        Ok(Self(cx.state * 2))
    }
}

/// Both.
#[tool]
async fn both(#[inject] attempt: Attempt, #[inject] doubled: Doubled, times: u32) -> u32 {
    (attempt.0 + doubled.0) * times
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let injected: Vec<_> = Both::spec().injected.iter().map(|arg| arg.kind.as_str()).collect();
    assert_eq!(injected, ["Attempt", "Doubled"]);
    let result = testkit::call(&Both, &4_u32, json!({ "times": 2 })).await.unwrap();
    assert_eq!(result.value, Some(json!(30)));
}
