//! What goes on while a person is asked.

use serde_json::json;
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::policy::{Approval, ToolPolicy};
use tinyagents::harness::runtime::SubAgent;
use tinyagents::testkit::ScriptedModel;

use super::{Slow, call, gated, position, prompts, steps};
use crate::fixture::{Count, Stage, assert_whole, counted, ends, texts};

#[tokio::test(start_paused = true)]
async fn e50_free_calls_run_while_a_person_is_asked_and_once() {
    let (free, asked) = (Count::default(), Count::default());
    let calls = [call("g", "gated"), call("f1", "free"), ToolCall::new("f2", "free", json!({ "n": 2 }))];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"))
        .tool(counted("gated", gated(ToolPolicy::read_only()), &asked))
        .tool(counted("free", ToolPolicy::read_only(), &free));
    stage.harness.with_approver(Slow::default());
    // Nothing is held while asking: there is room for one body and one call.
    let one = ExecutorBounds { max_bodies: 1, max_parallel: 1, ..Default::default() };
    stage.harness.with_bounds(one).unwrap();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((asked.get(), free.get()), (1, 2));
    assert_eq!(texts(&run.messages), ["gated did", "free did", "free did"]);
    let steps = steps(&stage);
    assert!(position(&steps, "2 completed") < position(&steps, "0 approval_answered"), "{steps:?}");
    assert!(position(&steps, "0 approval_asked") < position(&steps, "1 started"), "{steps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_person_is_passed_by_its_group_but_by_no_later_segment() {
    let count = Count::default();
    let calls = [call("0", "gated"), call("1", "free"), call("2", "change"), call("3", "free")];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"))
        .tool(counted("gated", gated(ToolPolicy::read_only()), &count))
        .tool(counted("free", ToolPolicy::read_only(), &count))
        .tool(counted("change", ToolPolicy::classified(), &count));
    stage.harness.with_approver(Slow { answer: Some(Approval::deny("no")), ..Slow::default() });
    ends(stage.run()).await.unwrap();
    let steps = steps(&stage);
    let order = ["1 completed", "0 approval_answered", "0 failed", "2 started", "2 completed", "3 started"];
    assert!(order.map(|step| position(&steps, step)).is_sorted(), "{steps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_of_another_run_gets_the_writer_permit_while_a_person_is_asked() {
    let (sent, noted) = (Count::default(), Count::default());
    let agent = |name: &str| SubAgent::new(name, "Does something.").with_model(name).into_tool();
    let task = json!({ "task": "go" });
    let calls = [ToolCall::new("a", "first", task.clone()), ToolCall::new("b", "second", task)];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"))
        .tool(counted("send", gated(ToolPolicy::classified()), &sent))
        .tool(counted("note", ToolPolicy::classified(), &noted))
        .tool(agent("first"))
        .tool(agent("second"));
    stage.harness.register_model("first", ScriptedModel::new().call("send", json!({})).text("sent")).unwrap();
    stage
        .harness
        .register_model("second", ScriptedModel::new().call("note", json!({})).text("noted"))
        .unwrap();
    stage.harness.with_approver(Slow::default());
    stage.harness.with_bounds(ExecutorBounds { max_bodies: 1, ..Default::default() }).unwrap();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((texts(&run.messages), sent.get(), noted.get()), (vec!["sent".into(), "noted".into()], 1, 1));
    let order = stage.events.find(|event| match event {
        AgentEvent::ToolCompleted { tool_name, .. } if tool_name == "note" => Some("noted"),
        AgentEvent::ApprovalAsked { .. } => Some("asked"),
        AgentEvent::ApprovalAnswered { .. } => Some("answered"),
        _ => None,
    });
    assert_eq!(order, ["asked", "noted", "answered"]);
}

#[tokio::test(start_paused = true)]
async fn one_call_is_asked_about_at_a_time_in_call_order() {
    let count = Count::default();
    let calls = ["a", "b", "c", "d"].map(|id| ToolCall::new(id, "gated", json!({ "id": id })));
    let approver = Slow::default();
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done")).tool(counted(
        "gated",
        gated(ToolPolicy::read_only()),
        &count,
    ));
    stage.harness.with_approver(approver.clone());
    ends(stage.run()).await.unwrap();
    assert_eq!(
        (approver.asked(), approver.peak(), count.get()),
        (["a", "b", "c", "d"].map(String::from).into(), 1, 4)
    );
    let expected =
        ["asked a", "a allowed", "asked b", "b allowed", "asked c", "c allowed", "asked d", "d allowed"];
    assert_eq!(prompts(&stage), expected);
}

#[tokio::test(start_paused = true)]
async fn runs_of_one_harness_and_their_sub_agents_stand_in_one_line() {
    let count = Count::default();
    let turn = |root: &str| {
        let id = |call: &str| format!("{root}_{call}");
        [
            ToolCall::new(id("ask"), "agent", json!({ "task": "one" })),
            ToolCall::new(id("more"), "agent", json!({ "task": "two" })),
            ToolCall::new(id("own"), "send", json!({ "root": root })),
        ]
    };
    let nested = |n: u32| ToolCall::new(format!("nested_{n}"), "send", json!({ "n": n }));
    let model = ScriptedModel::new().calls(turn("a")).calls(turn("b")).text("done").text("done");
    let small = (0..4).fold(ScriptedModel::new(), |model, n| model.calls([nested(n)]));
    let small = (0..4).fold(small, |model, _| model.text("done"));
    let approver = Slow::default();
    let mut stage = Stage::new(model)
        .tool(counted("send", gated(ToolPolicy::classified()), &count))
        .tool(SubAgent::new("agent", "Sends.").with_model("small").into_tool());
    stage.harness.register_model("small", small).unwrap();
    stage.harness.with_approver(approver.clone());
    let run = || stage.harness.invoke(&(), vec![Message::user("go")]);
    let (a, b) = ends(async { tokio::join!(run(), run()) }).await;
    for run in [a.unwrap(), b.unwrap()] {
        assert_whole(&run.messages);
        assert_eq!(texts(&run.messages), ["done", "done", "send did"]);
    }
    assert_eq!((approver.peak(), approver.asked().len(), count.get()), (1, 6, 6));
}
