//! A runtime that ends beneath a run: no panic of the library's, and a whole transcript.

use serde_json::json;
use tinyagents::harness::event::{Effects, FailureKind};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;
use tokio::runtime::Builder;
use tokio::sync::mpsc::unbounded_channel;

use super::{failures, texts};
use crate::fixture::{Stage, assert_whole, doing};

/// A stage whose tool says that it runs in a task of its own, and then never ends.
fn stage() -> (Stage, tokio::sync::mpsc::UnboundedReceiver<()>) {
    let (begin, begun) = unbounded_channel();
    let tool = doing("act", ToolPolicy::classified(), move |_| {
        let begin = begin.clone();
        async move {
            tokio::task::yield_now().await;
            let _ = begin.send(());
            std::future::pending().await
        }
    });
    (Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool), begun)
}

#[test]
fn a_run_whose_runtime_is_shut_down_leaves_a_whole_transcript() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (stage, mut begun) = stage();
    let events = stage.events.clone();
    let ctx = RunContext::new(RunConfig::default(), ());
    let handle = ctx.handle();
    let harness = stage.harness;
    let run =
        runtime.spawn(async move { harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await });
    runtime.block_on(begun.recv()).unwrap();
    drop(runtime);
    let ended = Builder::new_current_thread().build().unwrap().block_on(run).unwrap_err();
    assert!(ended.is_cancelled(), "the run was dropped, and nothing panicked: {ended}");
    let transcript = handle.transcript();
    assert_whole(&transcript);
    let unknown = "error: interrupted: the call had started, and what it had done by then is unknown";
    assert_eq!(texts(&transcript), [unknown]);
    events.assert_settled();
    assert_eq!(events.kinds().last(), Some(&"run.failed"));
}

#[test]
fn a_body_whose_runtime_is_gone_has_a_result_and_its_run_goes_on_elsewhere() {
    let first = Builder::new_current_thread().enable_all().build().unwrap();
    let (stage, mut begun) = stage();
    let mut run = Box::pin(stage.harness.invoke(&(), vec![Message::user("go")]));
    first.block_on(async {
        tokio::select! {
            run = &mut run => panic!("{run:?}"),
            begun = begun.recv() => begun.unwrap(),
        }
    });
    drop(first);
    let run = Builder::new_current_thread().enable_all().build().unwrap().block_on(run).unwrap();
    assert_eq!(run.answer().as_deref(), Some("done"));
    let why = "the tool was stopped from outside, with the runtime that it ran on";
    assert!(texts(&run.messages)[0].contains(why), "{:?}", run.messages);
    assert_eq!(failures(&stage), [(FailureKind::Cancelled, Effects::Unknown)]);
}
