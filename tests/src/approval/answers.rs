//! What an answer covers, and for how long it is remembered.

use serde_json::{Value, json};
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::policy::{ToolPolicy, ToolSideEffects};
use tinyagents::harness::runtime::SubAgent;
use tinyagents::harness::tool::{Tool, ToolOutput, ToolResult, ToolRuntime, ToolSpec};
use tinyagents::testkit::{ScriptedApprover, ScriptedModel};

use super::{gated, prompts, sending};
use crate::fixture::{Count, Stage, counted, ends, texts};

/// Writes files; an approval covers the paths, whatever is written there.
struct Write {
    name: &'static str,
    effects: ToolSideEffects,
    written: Count,
}

#[tinyagents::async_trait]
impl Tool<()> for Write {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name, "Write files.", json!({ "type": "object" }))
    }

    fn policy(&self) -> ToolPolicy {
        gated(ToolPolicy::classified().with_side_effects(self.effects))
    }

    fn grant_keys(&self, arguments: &Value) -> Vec<String> {
        let paths = arguments["paths"].as_array().expect("a tool may panic over its arguments");
        paths.iter().map(|path| path.to_string()).collect()
    }

    async fn call(&self, _: &(), _: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        self.written.add();
        Ok(ToolOutput::text("written").into_result(&call))
    }
}

/// Makes these calls, one a turn, and gives how many were asked about and how many ran.
async fn writing(effects: ToolSideEffects, calls: &[Value], approver: ScriptedApprover) -> (usize, u32) {
    let model =
        calls.iter().fold(ScriptedModel::new(), |model, arguments| model.call("write", arguments.clone()));
    let written = Count::default();
    let mut stage =
        Stage::new(model.text("done")).tool(Write { name: "write", effects, written: written.clone() });
    stage.harness.with_approver(approver.clone());
    ends(stage.run()).await.unwrap();
    approver.assert_complete();
    (approver.requests().len(), written.get())
}

const FILES: ToolSideEffects = ToolSideEffects {
    writes_files: true,
    read_only: false,
    network: false,
    installs_dependencies: false,
    destructive: false,
    external_service: false,
    payment: false,
    process: false,
};

#[tokio::test]
async fn e48_a_refused_call_made_again_is_answered_without_asking() {
    let model = ScriptedModel::new()
        .call("send", json!({ "to": "Ada", "at": { "x": 1, "y": [2] } }))
        .call("send", json!({ "at": { "y": [2], "x": 1 }, "to": "Ada" }))
        .call("send", json!({ "to": "Bob" }))
        .text("done");
    let (mut stage, sent) = sending(model, ScriptedApprover::new().deny("not Ada").once());
    let run = ends(stage.run()).await.unwrap();
    let again = "error: denied, and not executed: already denied: not Ada; do not repeat this call";
    assert_eq!(texts(&run.messages), ["error: denied, and not executed: not Ada", again, "send did"]);
    assert_eq!(prompts(&stage), ["asked call_1", "call_1 denied", "asked call_3", "call_3 allowed"]);
    assert_eq!(sent.get(), 1);
}

#[tokio::test]
async fn e48_a_call_refused_earlier_in_its_own_turn_is_not_asked_about() {
    let to = |id: &str, who: &str| ToolCall::new(id, "send", json!({ "to": who }));
    let model = ScriptedModel::new().calls([to("a", "Ada"), to("b", "Ada"), to("c", "Bob")]).text("done");
    let (mut stage, sent) = sending(model, ScriptedApprover::new().deny("no").once());
    let run = ends(stage.run()).await.unwrap();
    assert_eq!(prompts(&stage), ["asked a", "a denied", "asked c", "c allowed"]);
    assert!(texts(&run.messages)[1].contains("already denied: no"), "{:?}", texts(&run.messages));
    assert_eq!(sent.get(), 1);
}

#[tokio::test]
async fn an_approval_for_the_run_covers_later_calls_with_the_same_keys() {
    let calls = [
        json!({ "paths": ["a"], "text": 1 }), // asked: run
        json!({ "paths": ["a"], "text": 2 }),
        json!({ "paths": ["b"], "text": 1 }), // asked: run
        json!({ "paths": ["a", "b", "a"] }),  // both keys
        json!({ "paths": ["a", "c"] }),       // asked: once, which is not remembered
        json!({ "paths": ["c"] }),            // asked: once
        json!({ "paths": [] }),               // asked: no keys cover nothing
        json!({ "paths": [], "text": 1 }),    // asked
        json!({ "paths": ["a"], "text": "once more" }),
    ];
    let approver = ScriptedApprover::new().run().run().once().once().run().once();
    assert_eq!(writing(FILES, &calls, approver).await, (6, 9));
}

#[tokio::test]
async fn an_approval_once_covers_only_its_call() {
    let same = json!({ "paths": ["a"] });
    let approver = ScriptedApprover::new().once().once();
    assert_eq!(writing(FILES, &[same.clone(), same], approver).await, (2, 2));
}

#[tokio::test]
async fn destructive_calls_and_payments_are_asked_about_each_time() {
    let same = json!({ "paths": ["a"] });
    for effects in
        [ToolSideEffects { destructive: true, ..FILES }, ToolSideEffects { payment: true, ..FILES }]
    {
        let approver = ScriptedApprover::new().run().run().deny("enough");
        let calls = [same.clone(), same.clone(), same.clone(), same.clone()];
        // The fourth is not asked about: a refusal is remembered all the same.
        assert_eq!(writing(effects, &calls, approver).await, (3, 2));
    }
}

#[tokio::test]
async fn a_tool_that_cannot_name_its_keys_is_asked_about_each_time() {
    let calls = [json!({}), json!({})];
    assert_eq!(writing(FILES, &calls, ScriptedApprover::new().run().run()).await, (2, 2));
}

#[tokio::test]
async fn a_grant_covers_calls_of_its_tool_only() {
    let written = Count::default();
    let write = |name| Write { name, effects: FILES, written: written.clone() };
    let model = ScriptedModel::new()
        .call("write", json!({ "paths": ["a"] }))
        .call("move", json!({ "paths": ["a"] }))
        .text("done");
    let approver = ScriptedApprover::new().run().deny("no");
    let mut stage = Stage::new(model).tool(write("write")).tool(write("move"));
    stage.harness.with_approver(approver.clone());
    ends(stage.run()).await.unwrap();
    assert_eq!((approver.requests().len(), written.get()), (2, 1));
}

#[tokio::test]
async fn an_approval_for_the_run_covers_later_calls_of_its_own_turn() {
    let paths = |id: &str| ToolCall::new(id, "write", json!({ "paths": ["a"], "id": id }));
    let model = ScriptedModel::new().calls([paths("a"), paths("b"), paths("c")]).text("done");
    let (approver, written) = (ScriptedApprover::new().run(), Count::default());
    let mut stage = Stage::new(model).tool(Write { name: "write", effects: FILES, written: written.clone() });
    stage.harness.with_approver(approver.clone());
    ends(stage.run()).await.unwrap();
    assert_eq!((prompts(&stage), written.get()), (vec!["asked a".into(), "a allowed".into()], 3));
}

#[tokio::test]
async fn answers_travel_neither_into_sub_agents_nor_out_of_them() {
    let send = |to: &str| ToolCall::new("", "send", json!({ "to": to }));
    let root = ScriptedModel::new()
        .calls([send("Ada")]) // asked 1: run
        .calls([send("Eve")]) // asked 2: deny
        .call("agent", json!({ "task": "go" }))
        .calls([send("Ada"), send("Eve"), send("Bob")]) // asked 5: once, for Bob
        .text("done");
    let nested = ScriptedModel::new().calls([send("Ada"), send("Eve"), send("Bob")]).text("sent");
    // asked 3 to 5 by the agent: deny Ada, run Eve, run Bob
    let approver = ScriptedApprover::new().run().deny("no").deny("nor here").run().run().once();
    let sent = Count::default();
    let mut stage = Stage::new(root)
        .tool(counted("send", gated(ToolPolicy::classified()), &sent))
        .tool(SubAgent::new("agent", "Sends.").with_model("nested").into_tool());
    stage.harness.register_model("nested", nested).unwrap();
    stage.harness.with_approver(approver.clone());
    let run = ends(stage.run()).await.unwrap();
    let asked: Vec<_> = approver
        .requests()
        .iter()
        .map(|request| (request.depth, request.call.arguments["to"].as_str().unwrap().to_string()))
        .collect();
    let expected = [(0, "Ada"), (0, "Eve"), (1, "Ada"), (1, "Eve"), (1, "Bob"), (0, "Bob")];
    assert_eq!(asked, expected.map(|(depth, to)| (depth, to.to_string())));
    let texts = texts(&run.messages);
    assert_eq!((texts[3].as_str(), texts[5].as_str()), ("send did", "send did"));
    assert!(texts[4].contains("already denied: no"), "{texts:?}");
    assert!(approver.requests().iter().all(|request| request.root_run_id == "run_1"));
    approver.assert_complete();
}

#[tokio::test]
async fn answers_are_those_of_one_run() {
    let calls = |model: ScriptedModel| {
        model.call("send", json!({ "to": "Ada" })).call("send", json!({ "to": "Eve" })).text("done")
    };
    let approver = ScriptedApprover::new().run().deny("no").deny("no").run();
    let (stage, sent) = sending(calls(calls(ScriptedModel::new())), approver.clone());
    for sends in [1, 2] {
        ends(stage.harness.invoke(&(), vec![Message::user("go")])).await.unwrap();
        assert_eq!(sent.get(), sends);
    }
    approver.assert_complete();
}
