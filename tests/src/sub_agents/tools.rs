//! Which tools a nested run has: some of the outer run's, never another one.

use tinyagents::harness::context::RunContext;
use tinyagents::harness::middleware::{Middleware, ToolAllowlist};
use tinyagents::harness::model::ModelRequest;
use tinyagents::harness::runtime::{RunFinish, SubAgent};
use tinyagents::harness::tool::ToolClass;
use tinyagents::prelude::{Value, json, tool};

use super::{answers, asks, explorer, worker};
use crate::fixture::results;
use crate::probes::{Scene, TaskModel, calls};

#[tokio::test(start_paused = true)]
async fn t13_an_agent_has_the_outer_runs_tools_or_those_it_is_left() {
    let model = TaskModel::default()
        .on("go", [asks("work", &["all"]), asks("few", &["some"])])
        .on("some", [calls("look:a act:b"), asks("work", &["within"])])
        .on("within", [calls("look:c act:d")]);
    let few = SubAgent::new("few", "Has few tools.").with_tools(["work", "look"]);
    let scene = Scene::new(model).agent(worker()).agent(few);
    scene.run().await.unwrap();
    let shown = |task| scene.model.shown(task);
    assert_eq!(shown("go"), ["look", "act", "tag", "work", "few"]);
    assert_eq!(shown("all"), shown("go"));
    assert_eq!(shown("some"), ["look", "work"], "in the outer run's order");
    assert_eq!(
        shown("within"),
        ["look", "work"],
        "an agent has what the run has that it stands in, and no more"
    );
    assert_eq!(scene.probe.log(), "+a -a +c -c", "a tool that is not shown does not run");
}

#[tokio::test(start_paused = true)]
async fn t13_an_agent_with_a_tool_that_the_outer_run_does_not_have_fails_clearly() {
    let fail = |agent: SubAgent, within: bool| async move {
        let model = TaskModel::default()
            .on("go", [asks(if within { "outer" } else { "it" }, &["one"])])
            .on("one", [asks("it", &["two"])]);
        let outer = SubAgent::new("outer", "Has no `act`.").with_tools(["look", "it"]);
        let scene = Scene::new(model).agent(agent).agent(outer);
        let run = scene.run().await.unwrap();
        assert_eq!(run.finish, RunFinish::Completed, "the outer run goes on");
        let messages = match within {
            true => scene.model.requests("one").pop().unwrap().messages.to_vec(),
            false => run.messages,
        };
        assert!(scene.model.requests("two").is_empty());
        let result = results(&messages)[0].clone();
        assert!(result.is_error);
        result.text()
    };
    let it = || SubAgent::new("it", "Does a task.");
    let text = fail(it().with_tools(["look", "lock"]), false).await;
    assert!(text.contains("`it`") && text.contains("`lock`"), "{text}");
    let text = fail(it().with_tools(["act"]), true).await;
    assert!(text.contains("`it`") && text.contains("`act`"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn t13_a_tool_that_is_hidden_stays_hidden() {
    let model = TaskModel::default()
        .on("go", [asks("work", &["one"])])
        .on("one", [calls("look:a act:b"), asks("work", &["two"])])
        .on("two", [calls("act:c")]);
    let mut scene = Scene::new(model).agent(worker());
    scene.harness.with_middleware(ToolAllowlist::new(["look", "work"]));
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["one answered"]);
    for task in ["go", "one", "two"] {
        assert_eq!(scene.model.shown(task), ["look", "work"]);
    }
    assert_eq!(scene.probe.log(), "+a -a");
}

/// Hides a tool in the outermost run only.
struct HideAtFirst;

#[tinyagents::async_trait]
impl Middleware<()> for HideAtFirst {
    async fn before_model(&self, ctx: &RunContext<()>, request: &mut ModelRequest) -> tinyagents::Result<()> {
        if ctx.config().depth == 0 {
            let kept = request.tools.iter().filter(|tool| tool.name != "act").cloned().collect();
            request.tools = std::sync::Arc::new(kept);
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hides_by_run_decides_for_each_run() {
    let model = TaskModel::default().on("go", [asks("work", &["one"])]).on("one", [calls("act:a")]);
    let mut scene = Scene::new(model).agent(worker());
    scene.harness.with_middleware(HideAtFirst);
    scene.run().await.unwrap();
    assert_eq!(scene.model.shown("go"), ["look", "tag", "work"]);
    assert_eq!(scene.probe.log(), "+a -a", "an orchestrator may leave the changes to its agents");
}

/// Read something, or change it.
#[tool(writes_files, effect = by_word)]
async fn file(change: bool) -> String {
    format!("changed: {change}")
}

/// Read something, and at times leave a trace.
#[tool(read_only, effect = by_word)]
async fn trace(change: bool) -> String {
    format!("traced: {change}")
}

fn by_word(arguments: &Value) -> ToolClass {
    if arguments["change"] == true { ToolClass::Mutating } else { ToolClass::ReadOnly }
}

#[tokio::test(start_paused = true)]
async fn t13_an_agent_that_only_reads_cannot_change_anything() {
    let changes = |id: &str, name: &str, change: bool| {
        tinyagents::prelude::ToolCall::new(id, name, json!({ "change": change }))
    };
    let mut turn = calls("look:a act:b tag:c");
    turn.tool_calls.extend([
        changes("d", "file", false),
        changes("e", "trace", false),
        changes("f", "trace", true),
    ]);
    turn.tool_calls.extend(asks("work", &["two"]).tool_calls);
    turn.tool_calls.extend(asks("explore", &["three"]).tool_calls);
    let model = TaskModel::default()
        .on("go", [asks("explore", &["one"])])
        .on("one", [turn])
        .on("three", [calls("act:g look:h")]);
    let scene = Scene::new(model).tool(File).tool(Trace).agent(worker()).agent(explorer());
    scene.run().await.unwrap();
    assert_eq!(scene.model.shown("one"), ["look", "trace", "explore"]);
    assert_eq!(scene.model.shown("three"), ["look", "trace", "explore"], "and so do the agents within");
    assert!(scene.model.requests("two").is_empty());
    assert_eq!(scene.probe.log(), "+a +h -a -h");
    let texts = answers(&scene.model.requests("one")[1].messages);
    for (index, begin) in [
        (0, "a done"),
        (1, "error: unknown tool `act`"),
        (2, "error: unknown tool `tag`"),
        (3, "error: unknown tool `file`"),
        (4, "traced: false"),
        (5, "error: denied, and not executed: this run may only read"),
        (6, "error: unknown tool `work`"),
        (7, "three answered"),
    ] {
        assert!(texts[index].starts_with(begin), "{index}: {}", texts[index]);
    }
}
