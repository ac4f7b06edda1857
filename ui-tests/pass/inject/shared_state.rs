//! A state that cannot be cloned is handed in as an `Arc`, and tools see its plain type.

use std::sync::{Arc, Mutex};

use tinyagents::prelude::*;
use tinyagents::testkit;

#[derive(Default, ToolState)]
struct App {
    seen: Mutex<Vec<String>>,
}

/// Remember a word.
#[tool]
fn remember(word: String, #[inject] seen: &Mutex<Vec<String>>) -> usize {
    let mut seen = seen.lock().unwrap();
    seen.push(word);
    seen.len()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let app = Arc::new(App::default());
    for n in 1..3 {
        let result = testkit::call(&Remember, Arc::clone(&app), json!({ "word": "w" })).await.unwrap();
        assert_eq!(result.value, Some(json!(n)));
    }
    assert_eq!(app.seen.lock().unwrap().len(), 2);
}
