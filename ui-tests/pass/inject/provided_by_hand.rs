//! A state may lend a trait object, or anything else that is no field of it, by an impl of its own.

use tinyagents::harness::tool::Provide;
use tinyagents::prelude::*;
use tinyagents::testkit;

trait Store: Send + Sync {
    fn read(&self, key: &str) -> String;
}

#[derive(Clone)]
struct Memory(&'static str);

impl Store for Memory {
    fn read(&self, key: &str) -> String {
        format!("{}/{key}", self.0)
    }
}

#[derive(Clone)]
struct App {
    memory: Memory,
}

impl Provide<dyn Store> for App {
    fn provide(&self) -> &(dyn Store + 'static) {
        &self.memory
    }
}

/// Read a value.
#[tool(read_only)]
async fn read(key: String, #[inject] store: &dyn Store) -> String {
    store.read(&key)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Read::PARAMETERS, ["key"]);
    let app = App { memory: Memory("m") };
    let result = testkit::call(&Read, &app, json!({ "key": "k" })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("m/k")]);
}
