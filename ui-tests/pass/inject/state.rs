//! The state, and each of its fields, can be borrowed; the schema does not show them.

use tinyagents::harness::tool::InjectedArgSpec;
use tinyagents::prelude::*;
use tinyagents::testkit;

#[derive(Clone)]
struct Db(&'static str);

#[derive(Clone)]
struct Cache<T>(T);

#[derive(Clone, ToolState)]
struct App {
    db: Db,
    cache: Cache<u8>,
    hits: u32,
    #[state(skip)]
    misses: u32,
}

#[derive(Clone, ToolState)]
struct Generic<T: Clone + Send>
where
    T: Sync,
{
    value: Vec<T>,
}

/// Parts.
#[tool]
async fn parts(key: String, #[inject] db: &Db, #[inject] cache: &Cache<u8>, #[inject] app: &App) -> String {
    format!("{key} {} {} {} {}", db.0, cache.0, app.hits, app.misses)
}

/// A part, not awaited.
#[tool]
fn part(#[inject] db: &Db) -> &'static str {
    db.0
}

/// A part of a generic state.
#[tool]
fn count_all(#[inject] value: &Vec<bool>) -> usize {
    value.len()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Parts::PARAMETERS, ["key"]);
    assert_eq!(Parts::spec().input_schema["properties"], json!({ "key": { "type": "string" } }));
    let state = |name: &str| InjectedArgSpec { name: name.into(), kind: "state".into() };
    assert_eq!(Parts::spec().injected, [state("db"), state("cache"), state("app")]);

    let app = App { db: Db("db"), cache: Cache(1), hits: 2, misses: 3 };
    let result = testkit::call(&Parts, &app, json!({ "key": "k" })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("k db 1 2 3")]);
    let result = testkit::call(&Part, &app, json!({})).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("db")]);
    let result = testkit::call(&CountAll, &Generic { value: vec![true] }, json!({})).await.unwrap();
    assert_eq!(result.value, Some(json!(1)));
    let forged = json!({ "key": "k", "db": "mine" });
    assert!(testkit::call(&Parts, &app, forged).await.unwrap().is_error);
}
