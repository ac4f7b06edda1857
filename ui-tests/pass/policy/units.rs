//! Times and sizes in every unit.

use tinyagents::prelude::*;

/// Milliseconds.
#[tool(timeout = "500ms", max_result_bytes = 1024)]
async fn a() {}

/// Seconds.
#[tool(timeout = "30s", max_result_bytes = "1MiB")]
async fn b() {}

/// Hours.
#[tool(timeout = "1h", max_result_bytes = "1kB")]
async fn c() {}

fn main() {
    let bounds = [A::policy(), B::policy(), C::policy()]
        .map(|policy| (policy.runtime.timeout_ms.unwrap(), policy.runtime.max_result_bytes.unwrap()));
    assert_eq!(bounds, [(500, 1024), (30_000, 1_048_576), (3_600_000, 1000)]);
    assert_eq!(A::spec().timeout, Some(std::time::Duration::from_millis(500)));
}
