//! Runs within runs: an agent as a tool of another one, and tools that start runs themselves.
//!
//! Guarantee: a nested run keeps within what surrounds it, is bounded with the whole tree, and ends with its call; the
//! outer run sees all of it and survives its failure. What starts runs without `recursive` does not compile (T12:
//! `ui-tests/fail/inject/child_runs_without_recursive.rs`). Not here: every interleaving (`executor_model`).

mod bounds;
mod ends;
mod own;
mod tools;
mod trees;

use tinyagents::harness::context::RunConfig;
use tinyagents::harness::event::{AgentEvent, EventRecord};
use tinyagents::harness::message::{AssistantMessage, Message};
use tinyagents::harness::model::Usage;
use tinyagents::harness::runtime::{RunFinish, SubAgent};
use tinyagents::harness::workspace::WorkspaceDescriptor;
use tinyagents::prelude::{RunContext, tool};
use tinyagents::testkit::CountedIds;

use crate::fixture::results;
use crate::probes::{Scene, TaskModel, ask, calls};

/// An agent that may do whatever the outer run may.
fn worker() -> SubAgent {
    SubAgent::new("work", "Does a task.")
}

/// One that only reads.
fn explorer() -> SubAgent {
    SubAgent::new("explore", "Looks into something.").reads_only()
}

/// A turn of calls of one agent.
fn asks(agent: &str, tasks: &[&str]) -> AssistantMessage {
    AssistantMessage::calls(tasks.iter().map(|task| ask(agent, task)))
}

/// The texts of the outermost run's results.
fn answers(messages: &[Message]) -> Vec<String> {
    results(messages).iter().map(|result| result.text()).collect()
}

/// Say where the run stands.
#[tool(read_only)]
async fn place(#[inject] ctx: &RunContext) -> String {
    let id = |id: Option<String>| id.unwrap_or_else(|| "none".into());
    format!(
        "{} in {} of {} at depth {}, thread {}, {:?}, {:?}",
        ctx.run_id(),
        id(ctx.parent_run_id().map(ToString::to_string)),
        ctx.root_run_id(),
        ctx.config().depth,
        id(ctx.thread_id().map(ToString::to_string)),
        ctx.workspace().map(|workspace| workspace.root.display().to_string()),
        ctx.config().tags,
    )
}

#[tokio::test(start_paused = true)]
async fn t13_a_nested_run_is_a_branch_of_the_outer_one() {
    let here = || calls("place:a");
    let model = TaskModel::default()
        .on("go", [here(), asks("work", &["one"])])
        .on("one", [here(), asks("work", &["two"])])
        .on("two", [here(), asks("work", &["three"])])
        .on("three", [here()]);
    let mut scene = Scene::new(model).tool(Place).agent(worker());
    scene.harness.with_ids(CountedIds::default()).with_workspace(WorkspaceDescriptor::new("/elsewhere"));
    let config = RunConfig {
        thread_id: Some("t".into()),
        workspace: Some(WorkspaceDescriptor::new("/here")),
        tags: vec!["x".into()],
        ..RunConfig::default()
    };
    let run = scene.run_in(scene.harness.context(config, ())).await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("go answered"));
    assert_eq!(answers(&run.messages)[1], "one answered", "the agent's answer is the call's result");
    let around = r#"thread t, Some("/here"), ["x"]"#;
    for (task, place) in [
        ("go", "run_1 in none of run_1 at depth 0"),
        ("one", "run_2 in run_1 of run_1 at depth 1"),
        ("two", "run_3 in run_2 of run_1 at depth 2"),
        ("three", "run_4 in run_3 of run_1 at depth 3"),
    ] {
        let requests = scene.model.requests(task);
        assert_eq!(answers(&requests[1].messages)[0], format!("{place}, {around}"), "{task}");
    }
    let tree = |record: &EventRecord| {
        let parent = record.parent_run_id.as_ref().map(ToString::to_string);
        (record.run_id.to_string(), parent.unwrap_or_default(), record.root_run_id.to_string())
    };
    let started = scene.events.records().into_iter().filter(|record| record.event.kind() == "run.started");
    let started: Vec<_> = started.map(|record| tree(&record)).collect();
    let expected = [
        ("run_1", "", "run_1"),
        ("run_2", "run_1", "run_1"),
        ("run_3", "run_2", "run_1"),
        ("run_4", "run_3", "run_1"),
    ];
    assert_eq!(started, expected.map(|(run, parent, root)| (run.into(), parent.into(), root.into())));
    let threads = scene.events.find(|event| match event {
        AgentEvent::RunStarted { thread_id } => Some(thread_id.clone()),
        _ => None,
    });
    assert_eq!(threads, vec![Some("t".into()); 4]);
    // 3 requests of the outermost run, 3, 3 and 2 of those within.
    assert_eq!(run.usage, Usage { input_tokens: 110, output_tokens: 11 }, "what all of them cost");
}

#[tokio::test(start_paused = true)]
async fn t13_the_outer_runs_listeners_and_stream_hear_of_nested_runs() {
    let model = TaskModel::default()
        .on("go", [asks("work", &["one"])])
        .on("one", [calls("look:a"), asks("work", &["two"])])
        .on("two", [calls("act:b")]);
    let scene = Scene::new(model).agent(worker());
    let ctx = scene.harness.context(RunConfig::default(), ());
    let root = ctx.run_id().clone();
    let mut stream = scene.harness.invoke_stream(&(), ctx, vec![Message::user("go")]).unwrap();
    let mut streamed = Vec::new();
    while let Some(record) = stream.next_event().await {
        streamed.push(record);
    }
    let run = stream.result().await.unwrap();
    assert_eq!(run.finish, RunFinish::Completed);
    assert_eq!(streamed, scene.events.records(), "the stream hears what the listener hears");
    scene.events.assert_settled();
    let of = |kind: &str| streamed.iter().filter(|record| record.event.kind() == kind).count();
    assert_eq!((of("run.started"), of("run.completed"), of("tool.completed")), (3, 3, 4));
    assert!(streamed.iter().all(|record| record.root_run_id == root));
    // Within a run the offsets count without a gap; the outermost run's events are the first and the last.
    for run in ["go", "one", "two"].map(|task| run_of(&streamed, task)) {
        let offsets = streamed.iter().filter(|record| record.run_id == run).map(|record| record.offset);
        assert!(offsets.enumerate().all(|(at, offset)| at as u64 == offset));
    }
    assert!(streamed.first().unwrap().run_id == root && streamed.last().unwrap().run_id == root);
}

/// The run that was started as the first, second or third.
fn run_of(records: &[EventRecord], task: &str) -> tinyagents::harness::id::RunId {
    let number = ["go", "one", "two"].iter().position(|name| *name == task).unwrap();
    let mut started = records.iter().filter(|record| record.event.kind() == "run.started");
    started.nth(number).unwrap().run_id.clone()
}

#[tokio::test(start_paused = true)]
async fn t13_an_agent_has_its_own_model_and_instructions() {
    let small = TaskModel::default().on("one", [calls("look:a"), asks("other", &["two"])]);
    let model = TaskModel::default().on("go", [asks("work", &["one"])]);
    let agent = worker().with_model("small").with_system("Be brief.");
    let other = SubAgent::new("other", "Says nothing of its own.");
    let mut scene = Scene::new(model).agent(agent).agent(other);
    scene.harness.register_model("small", small.clone()).unwrap().with_system("Be kind.");
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["one answered"]);
    assert_eq!((scene.model.requests("go").len(), small.requests("one").len()), (2, 3));
    let system = |model: &TaskModel, task| model.requests(task)[0].settings.system.clone();
    assert_eq!(system(&scene.model, "go").as_deref(), Some("Be kind."));
    assert_eq!(system(&small, "one").as_deref(), Some("Be brief."));
    // What an agent does not set is the outer run's settings, and the harness's default model.
    assert_eq!(system(&scene.model, "two").as_deref(), Some("Be brief."));

    let model = TaskModel::default().on("go", [asks("work", &["one"])]);
    let scene = Scene::new(model).agent(worker().with_model("missing"));
    let run = scene.run().await.unwrap();
    let text = &answers(&run.messages)[0];
    assert!(text.contains("no model named `missing` is registered"), "{text}");
    assert_eq!(run.finish, RunFinish::Completed, "the outer run goes on");
}

#[tokio::test(start_paused = true)]
async fn t13_the_applications_data_is_the_outer_runs_and_is_not_changed_by_a_nested_one() {
    /// Add a word to the data of the run.
    #[tool]
    async fn note(word: String, #[inject] ctx: &RunContext<Vec<String>>) -> String {
        let before = ctx.data().join(" ");
        ctx.update(move |words: &mut Vec<String>| words.push(word));
        format!("before: {before}")
    }
    let note =
        |word: &str| tinyagents::prelude::ToolCall::new(word, "note", serde_json::json!({ "word": word }));
    let model = TaskModel::default()
        .on(
            "go",
            [
                AssistantMessage::calls([note("a")]),
                asks("work", &["one"]),
                AssistantMessage::calls([note("d")]),
            ],
        )
        .on("one", [AssistantMessage::calls([note("b")]), AssistantMessage::calls([note("c")])]);
    let mut harness = tinyagents::prelude::AgentHarness::<(), Vec<String>>::new();
    harness.register_model("default", model.clone()).unwrap().register_tool(Note).unwrap();
    harness.register_tool(worker().into_tool()).unwrap();
    let ctx = RunContext::new(RunConfig::default(), Vec::new());
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    assert_eq!(answers(&model.requests("one")[2].messages), ["before: a", "before: a b"]);
    assert_eq!(answers(&run.messages), ["before: ", "one answered", "before: a"]);
}
