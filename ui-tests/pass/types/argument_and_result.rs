//! One attribute for what a tool takes and what it gives back, without serde or schemars in `Cargo.toml`.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// A part of a text.
#[tool_type]
#[derive(Debug, Clone, PartialEq)]
struct Range {
    /// The first line.
    from: u32,
    /// The last line.
    to: Option<u32>,
}

#[tool_type]
#[derive(Debug, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Fast,
    /// Reads everything.
    WithDetails { depth: u8 },
}

/// Take a range.
#[tool]
async fn take(
    range: Range,
    mode: Mode,
    #[arg(default = Range { from: 1, to: None })] other: Range,
) -> Range {
    let depth = match mode {
        Mode::Fast => 0,
        Mode::WithDetails { depth } => u32::from(depth),
    };
    Range { from: range.from + other.from + depth, to: range.to }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tinyagents::Result<()> {
    let schema = &Take::spec().input_schema;
    let range = &schema["properties"]["range"];
    assert_eq!(range["additionalProperties"], false);
    assert_eq!(range["properties"]["from"]["description"], "The first line.");
    assert_eq!(range["required"], json!(["from"]));
    assert_eq!(schema["properties"]["other"]["default"], json!({ "from": 1, "to": null }));
    let details = &schema["properties"]["mode"]["oneOf"][1]["properties"]["with_details"];
    assert_eq!(details["additionalProperties"], false);
    assert!(Take::spec().output_schema.is_some());

    let good = json!({ "range": { "from": 1 }, "mode": { "with_details": { "depth": 2 } } });
    let result = testkit::call(&Take, &(), good).await?;
    assert_eq!(result.value, Some(json!({ "from": 4, "to": null })));
    for bad in [
        json!({ "range": { "from": 1, "step": 2 }, "mode": "fast" }),
        json!({ "range": { "from": 1 }, "mode": { "with_details": { "depth": 2, "more": 1 } } }),
    ] {
        assert!(testkit::call(&Take, &(), bad).await?.is_error);
    }
    Ok(())
}
