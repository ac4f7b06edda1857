//! A range stands in the schema, in every form, and a number outside it never reaches the body.

use tinyagents::prelude::*;
use tinyagents::testkit;

const MOST: u8 = 9;

/// Ranges.
#[tool]
async fn ranges(
    #[arg(range = 1..=50)] closed: u32,
    #[arg(range = 1.., default = Some(7))] from: Option<i64>,
    #[arg(range = ..=5)] up_to: Option<i8>,
    #[arg(range = -3..3)] half_open: Option<i32>,
    #[arg(range = 0.5..=1.5)] ratio: Option<f64>,
    #[arg(range = -1.5..)] float: Option<f32>,
    #[arg(range = 2..=MOST)] named: Option<u8>,
    #[arg(range = 1..=18_446_744_073_709_551_615)] large: Option<u64>,
) -> String {
    format!("{closed} {from:?} {up_to:?} {half_open:?} {ratio:?} {float:?} {named:?} {large:?}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Ranges::spec().input_schema["properties"];
    assert_eq!(properties["closed"], json!({ "type": "integer", "minimum": 1, "maximum": 50 }));
    assert_eq!(properties["from"], json!({ "type": "integer", "minimum": 1, "default": 7 }));
    assert_eq!(properties["up_to"], json!({ "type": "integer", "maximum": 5, "minimum": -128 }));
    assert_eq!(properties["half_open"], json!({ "type": "integer", "minimum": -3, "exclusiveMaximum": 3 }));
    assert_eq!(properties["ratio"], json!({ "type": "number", "minimum": 0.5, "maximum": 1.5 }));
    assert_eq!(properties["float"], json!({ "type": "number", "minimum": -1.5, "maximum": f32::MAX }));
    assert_eq!(properties["named"], json!({ "type": "integer", "minimum": 2, "maximum": 9 }));
    assert_eq!(properties["large"]["maximum"], json!(u64::MAX));

    let all =
        json!({ "closed": 50, "up_to": -128, "half_open": 2, "ratio": 1.5, "named": 2, "large": u64::MAX });
    let result = testkit::call(&Ranges, &(), all).await.unwrap();
    assert_eq!(
        result.content,
        [ContentBlock::text(format!(
            "50 Some(7) Some(-128) Some(2) Some(1.5) None Some(2) Some({})",
            u64::MAX
        ))]
    );
    for (name, value, words) in [
        ("closed", json!(0), "`closed`: expected a number between 1 and 50, got 0"),
        ("closed", json!(51), "`closed`: expected a number between 1 and 50, got 51"),
        ("from", json!(0), "`from`: expected a number at least 1, got 0"),
        ("half_open", json!(3), "`half_open`: expected a number at least -3 and a number below 3, got 3"),
        ("ratio", json!(1.51), "`ratio`: expected a number between 0.5 and 1.5, got 1.51"),
        ("named", json!(10), "`named`: expected a number between 2 and 9, got 10"),
    ] {
        let mut arguments = json!({ "closed": 1 });
        arguments[name] = value;
        let result = testkit::call(&Ranges, &(), arguments).await.unwrap();
        let text = format!("{:?}", result.content);
        assert!(result.is_error && text.contains(words), "{text}");
    }
}
