//! An error that borrows from an argument, or must stay in its thread, still reaches the model in its own words.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

use tinyagents::prelude::*;
use tinyagents::testkit;

#[derive(Debug)]
struct Unknown<'a>(&'a str);

impl fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no city `{}`", self.0)
    }
}

impl std::error::Error for Unknown<'_> {}

#[derive(Debug)]
struct Local(Rc<str>);

impl fmt::Display for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Local {}

/// Find a city.
#[tool]
async fn find(city: &str) -> Result<String, Unknown<'_>> {
    Err(Unknown(city))
}

/// Find a city, on a thread.
#[tool]
fn find_here(city: &str) -> Result<(), Unknown<'_>> {
    Err(Unknown(city))
}

/// Fail with something of this thread.
#[tool]
fn stay() -> Result<(), Local> {
    Err(Local("only here".into()))
}

/// Fail with something that is no typed error.
#[tool]
fn loose(city: &str) -> Result<(), Cow<'_, str>> {
    Err(city.into())
}

/// Fail with a box that stays here.
#[tool]
fn boxed() -> Result<(), Box<dyn std::error::Error>> {
    Err("hidden".into())
}

async fn said(tool: impl Tool<()> + Clone + 'static, arguments: Value) -> String {
    let result = testkit::call(&tool, &(), arguments).await.unwrap();
    assert!(result.is_error);
    let [ContentBlock::Text { text }] = result.content.as_slice() else { panic!("{result:?}") };
    text.clone()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let city = || json!({ "city": "Atlantis" });
    assert_eq!(said(Find, city()).await, "error: no city `Atlantis`");
    assert_eq!(said(FindHere, city()).await, "error: no city `Atlantis`");
    assert_eq!(said(Stay, json!({})).await, "error: only here");
    let hidden = "error: the tool failed with an internal error (error id call_1)";
    assert_eq!(said(Loose, city()).await, hidden);
    assert_eq!(said(Boxed, json!({})).await, hidden);
}
