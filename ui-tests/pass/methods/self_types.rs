//! `Self` in a signature, in a default and in a result is the owner.

use std::sync::Arc;

use tinyagents::prelude::*;
use tinyagents::testkit;

#[tool_type]
#[derive(Debug, Clone, Default, PartialEq)]
struct Point {
    x: i32,
    y: i32,
}

#[tools]
impl Point {
    const ORIGIN: Self = Self { x: 0, y: 0 };

    /// Add a point.
    #[tool(read_only)]
    async fn plus(&self, other: Self, #[arg(default = Self::ORIGIN)] third: Self) -> Result<Self, std::io::Error> {
        Ok(Self { x: self.x + other.x + third.x, y: self.y + other.y + third.y })
    }

    /// Scale a point.
    #[tool(external_service, grant_keys = Self::keys)]
    async fn scale(&self, by: i32) -> i32 {
        self.x * by
    }

    fn keys(arguments: &Value) -> Vec<String> {
        vec![format!("scale:{}", arguments["by"])]
    }

    /// Add many points.
    #[tool(read_only)]
    fn sum(points: &[Self], first: Option<&Self>) -> Option<Self> {
        let mut sum = first.cloned()?;
        points.iter().for_each(|point| sum.x += point.x);
        Some(sum)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tinyagents::Result<()> {
    let plus = PointPlus(Arc::new(Point { x: 1, y: 2 }));
    let result = testkit::call(&plus, &(), json!({ "other": { "x": 10, "y": 20 } })).await?;
    assert_eq!(result.value, Some(json!({ "x": 11, "y": 22 })));
    let scale = PointScale(Arc::new(Point::default()));
    assert_eq!(Tool::<()>::grant_keys(&scale, &json!({ "by": 2 })), ["scale:2"]);
    assert_eq!(PointPlus::spec().input_schema["properties"]["third"]["default"], json!({ "x": 0, "y": 0 }));
    let points = json!({ "points": [{ "x": 1, "y": 0 }, { "x": 2, "y": 0 }], "first": { "x": 3, "y": 4 } });
    let result = testkit::call(&PointSum, &(), points).await?;
    assert_eq!(result.value, Some(json!({ "x": 6, "y": 4 })));
    Ok(())
}
