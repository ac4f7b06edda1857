//! Every outcome that a tool can ask for, and what the model reads of it.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// End as asked.
#[tool]
fn end(how: &str) -> Result<String, ToolError> {
    Err(match how {
        "retry" => ToolError::retry_with("did you mean Paris?"),
        "failed" => ToolError::failed("no such city"),
        "transient" => ToolError::transient("busy"),
        "approval" => ToolError::approval("pay 5 EUR"),
        "suspend" => ToolError::suspend("wait for the invoice"),
        "opaque" => ToolError::opaque("password=x"),
        "fatal" => ToolError::fatal("the disk is gone"),
        _ => return Ok("a value".into()),
    })
}

async fn said(how: &str) -> (bool, String) {
    let result = testkit::call(&End, &(), json!({ "how": how })).await.unwrap();
    let [ContentBlock::Text { text }] = result.content.as_slice() else { panic!("{result:?}") };
    (result.is_error, text.clone())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(said("well").await, (false, "a value".into()));
    assert_eq!(said("retry").await, (true, "error: did you mean Paris?".into()));
    assert_eq!(said("failed").await, (true, "error: no such city".into()));
    assert_eq!(said("transient").await, (true, "error: busy".into()));
    assert_eq!(said("fatal").await, (true, "error: the disk is gone".into()));
    let opaque = "error: the tool failed with an internal error (error id call_1)";
    assert_eq!(said("opaque").await, (true, opaque.into()));
    let approval = "error: a person must approve this first, and nobody can be asked in this run: pay 5 EUR; do not \
                    repeat the call, tell the user what is needed";
    assert_eq!(said("approval").await, (true, approval.into()));
    let suspend = "error: this needs a person or an event outside the run, and this run cannot wait for one: wait for \
                   the invoice; do not repeat the call, tell the user what is needed";
    assert_eq!(said("suspend").await, (true, suspend.into()));
}
