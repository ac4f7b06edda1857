//! serde's and schemars' own words on types, fields and variants go on working.

use tinyagents::prelude::*;
use tinyagents::testkit;

#[tool_type]
#[serde(rename_all = "camelCase", default)]
#[schemars(title = "A query")]
#[derive(Debug, Clone, Default)]
struct Query {
    #[serde(rename = "q")]
    words: Vec<String>,
    #[schemars(range(min = 1, max = 9))]
    page_size: u8,
    #[serde(skip)]
    cached: Option<u8>,
}

#[tool_type]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Filter {
    NewerThan { days: u16 },
    Author { name: String },
}

#[tool_type]
#[serde(transparent)]
struct Lines(Vec<u32>);

/// Find.
#[tool]
async fn find(query: Query, filters: Vec<Filter>, lines: Lines) -> String {
    let kinds = filters.iter().map(|filter| match filter {
        Filter::NewerThan { days } => format!("days {days}"),
        Filter::Author { name } => format!("by {name}"),
    });
    format!("{:?} {} {:?} {:?}", query.words, query.page_size, kinds.collect::<Vec<_>>(), lines.0)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tinyagents::Result<()> {
    let properties = &Find::spec().input_schema["properties"];
    let names: Vec<_> = properties["query"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["q", "pageSize"]);
    assert_eq!(properties["query"]["properties"]["pageSize"]["maximum"], 9);
    assert_eq!(properties["lines"]["type"], "array");
    assert_eq!(properties["filters"]["items"]["oneOf"][0]["additionalProperties"], false);
    let arguments = json!({
        "query": { "q": ["a"], "pageSize": 3 },
        "filters": [{ "kind": "newer_than", "days": 7 }, { "kind": "author", "name": "Ada" }],
        "lines": [1, 2]
    });
    let result = testkit::call(&Find, &(), arguments).await?;
    assert_eq!(result.content, [ContentBlock::text(r#"["a"] 3 ["days 7", "by Ada"] [1, 2]"#)]);
    Ok(())
}
