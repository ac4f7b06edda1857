//! Tools that start runs themselves: what `ChildRuns` allows, and for how long.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tinyagents::TinyAgentsError;
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::tool::{ToolRuntime, ToolSpec};
use tinyagents::prelude::*;

use super::{answers, explorer, worker};
use crate::fixture::{assert_whole, doing};
use crate::probes::{Scene, TaskModel, ask, calls};

/// The runs that a tool has started.
#[derive(Clone, Default)]
struct Runs(Arc<Mutex<Vec<AgentRun>>>);

impl Runs {
    fn all(&self) -> Vec<AgentRun> {
        self.0.lock().unwrap().clone()
    }
}

/// Ask two agents one after the other.
#[tool(recursive)]
async fn both(
    task: String,
    #[inject] runs: ChildRuns,
    #[inject] started: Resource<Runs>,
) -> Result<String, ToolError> {
    let mut said = Vec::new();
    for agent in [explorer(), worker()] {
        let run = runs.run(&agent, vec![Message::user(&task)]).await?;
        said.push(run.answer().unwrap_or_else(|| run.finish.to_string()));
        started.0.lock().unwrap().push(run);
    }
    Ok(said.join(", "))
}

fn scene(model: TaskModel) -> (Scene, Runs) {
    let (mut scene, runs) = (Scene::new(model), Runs::default());
    scene.harness.with_resource(runs.clone());
    (scene, runs)
}

#[tokio::test(start_paused = true)]
async fn t6_t13_a_tool_of_ones_own_starts_runs_and_sees_them_whole() {
    assert!(Tool::<()>::is_recursive(&Both));
    let model =
        TaskModel::default().on("go", [calls("look:a"), AssistantMessage::calls([ask("both", "one")])]);
    let model = model.on("one", [calls("look:b act:c")]);
    let (scene, runs) = scene(model);
    let scene = scene.tool(Both);
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["a done", "one answered, one answered"]);
    let [explored, worked] = runs.all().try_into().unwrap();
    let refused = &answers(&explored.messages)[1];
    assert!(refused.starts_with("error: unknown tool `act`"), "{refused}");
    assert_eq!(answers(&worked.messages), ["b done", "c done"]);
    assert!(explored.run_id != worked.run_id && explored.run_id != run.run_id);
    assert_eq!(
        (explored.usage.input_tokens, worked.usage.input_tokens, run.usage.input_tokens),
        (20, 20, 70)
    );
    assert_eq!(scene.probe.log(), "+a -a +b -b +b -b +c -c");
}

#[tokio::test(start_paused = true)]
async fn t13_a_cancel_closes_the_transcripts_within() {
    for after in [5, 15, 25, 35, 45] {
        let model = TaskModel::default().on("go", [AssistantMessage::calls([ask("both", "one")])]);
        let model = model.on("one", [calls("look:b act:c look:d"), calls("tag:e tag:f look:g")]);
        let (scene, runs) = scene(model);
        let scene = scene.tool(Both);
        let ctx = scene.harness.context(RunConfig::default(), ());
        let handle = ctx.handle();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(after)).await;
            handle.cancel();
        });
        let run = scene.run_in(ctx).await.unwrap();
        assert_eq!(run.finish, RunFinish::Cancelled);
        let runs = runs.all();
        runs.iter().for_each(|run| assert_whole(&run.messages));
        assert_eq!(runs.last().unwrap().finish, RunFinish::Cancelled, "after {after} ms");
        let missing =
            runs.iter().flat_map(|run| run.messages.last()).filter(|last| last.as_assistant().is_some());
        assert_eq!(missing.count(), runs.iter().filter(|run| run.finish == RunFinish::Completed).count());
    }
}

/// Ask an agent that waits, in little time.
#[tool(recursive, timeout = "2s")]
async fn briefly(#[inject] runs: ChildRuns) -> Result<String, ToolError> {
    let start = tokio::time::Instant::now();
    let run = runs.run(&worker().with_limits(partial()), vec![Message::user("one")]).await?;
    Ok(format!("{} after {:?}", run.finish, start.elapsed()))
}

fn partial() -> RunLimits {
    RunLimits { behavior: LimitBehavior::StopWithPartial, ..RunLimits::default() }
}

#[tokio::test(start_paused = true)]
async fn t13_a_run_ends_a_little_before_the_time_of_its_call() {
    let model = TaskModel::default().on("go", [calls("briefly:a")]).on("one", [calls("wait:b")]);
    let wait = doing("wait", ToolPolicy::classified(), |call| async move {
        call.cancellation.cancelled().await;
        Ok("told".into())
    });
    let run = Scene::new(model).tool(Briefly).tool(wait).run().await.unwrap();
    assert_eq!(answers(&run.messages), ["stopped at the limit max_duration after 1.9s"]);
}

/// Ask three agents at once.
#[tool(recursive)]
async fn at_once(#[inject] runs: ChildRuns, #[inject] others: ChildRuns) -> Result<String, ToolError> {
    let (agent, again) = (worker(), runs.clone());
    let ask = |runs: ChildRuns, task: &str| {
        let (agent, task) = (agent.clone(), Message::user(task));
        async move { runs.run(&agent, vec![task]).await }
    };
    let (one, two, three) = tokio::join!(ask(runs, "one"), ask(again, "two"), ask(others, "three"));
    let answers = [one?, two?, three?].map(|run| run.answer().unwrap_or_default());
    Ok(answers.join(", "))
}

#[tokio::test(start_paused = true)]
async fn t13_runs_of_one_call_follow_each_other() {
    let model = TaskModel::default().on("go", [calls("at_once:a")]);
    let model = model.on("one", [calls("tag:b")]).on("two", [calls("tag:c")]).on("three", [calls("tag:d")]);
    let scene = Scene::new(model).tool(AtOnce);
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["one answered, two answered, three answered"]);
    assert_eq!(scene.probe.log(), "+b -b +c -c +d -d");
    let runs: Vec<_> = scene.events.kinds().into_iter().filter(|kind| kind.starts_with("run.")).collect();
    let one = ["run.started", "run.completed"];
    assert_eq!(runs[1..7], [one, one, one].concat());
}

/// A tool that keeps what it gets for longer than its call.
struct Keeps {
    kept: Arc<Mutex<Option<ChildRuns>>>,
    recursive: bool,
    /// Whether it starts a run that it does not wait for.
    starts: bool,
}

#[tinyagents::async_trait]
impl Tool<()> for Keeps {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("keep", "Keeps what it gets.", json!({ "type": "object" }))
    }

    fn is_recursive(&self) -> bool {
        self.recursive
    }

    async fn call(&self, _: &(), runtime: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        let runs = ChildRuns::of(&runtime)?;
        *self.kept.lock().unwrap() = Some(runs.clone());
        if self.starts {
            tokio::spawn(async move { runs.run(&worker(), vec![Message::user("late")]).await });
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(ToolOutput::text("kept").into_result(&call))
    }
}

/// Tries to start a run when the call that might has ended.
async fn try_late(kept: &Mutex<Option<ChildRuns>>) -> Option<RunFinish> {
    let runs = kept.lock().unwrap().clone().expect("something was kept");
    runs.run(&worker(), vec![Message::user("late")]).await.ok().map(|run| run.finish)
}

#[tokio::test(start_paused = true)]
async fn t13_no_run_starts_when_the_call_has_ended() {
    let kept: Arc<Mutex<Option<ChildRuns>>> = Arc::default();
    let found = Arc::clone(&kept);
    let late = doing("late", ToolPolicy::classified(), move |_| {
        let found = Arc::clone(&found);
        async move {
            let finish = try_late(&found).await;
            assert!(matches!(finish, None | Some(RunFinish::Cancelled)), "{finish:?}");
            Ok("refused".into())
        }
    });
    let keep = Keeps { kept: Arc::clone(&kept), recursive: true, starts: false };
    let model =
        TaskModel::default().on("go", [calls("keep:a"), calls("late:b")]).on("late", [calls("act:c")]);
    let scene = Scene::new(model).tool(keep).tool(late);
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["kept", "refused"]);
    let finish = try_late(&kept).await;
    assert!(matches!(finish, None | Some(RunFinish::Cancelled)), "after the whole run: {finish:?}");
    assert!(scene.model.requests("late").is_empty());
    assert_eq!(scene.probe.log(), "");
}

#[tokio::test(start_paused = true)]
async fn t13_a_run_that_nobody_waits_for_ends_with_its_call() {
    let keep = Keeps { kept: Arc::default(), recursive: true, starts: true };
    let model = TaskModel::default().on("go", [calls("keep:a"), calls("look:b")]);
    let model = model.on("late", [calls("look:c act:d"), calls("act:e")]);
    let scene = Scene::new(model).tool(keep);
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["kept", "b done"]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(scene.model.requests("late").len(), 1, "it is not asked again");
    assert!(!scene.probe.log().contains("+d"), "{}", scene.probe.log());
    scene.events.assert_settled();
}

#[tokio::test(start_paused = true)]
async fn t12_t6_a_tool_that_does_not_say_that_it_is_recursive_starts_nothing() {
    let keep = Keeps { kept: Arc::default(), recursive: false, starts: true };
    let model = TaskModel::default().on("go", [calls("keep:a")]);
    let scene = Scene::new(model).tool(keep).agent(worker());
    let error = scene.run().await.unwrap_err();
    assert!(matches!(&error, TinyAgentsError::Tool(error) if error.is_fatal()));
    assert!(error.to_string().contains("return `true` from `Tool::is_recursive`"), "{error}");
    assert!(scene.model.requests("late").is_empty());
}

/// Ask an agent that would change something.
#[tool(recursive, read_only)]
async fn peek(#[inject] runs: ChildRuns) -> Result<String, ToolError> {
    let run = runs.run(&worker(), vec![Message::user("one")]).await?;
    Ok(run.answer().unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn t13_a_run_that_a_reading_tool_starts_only_reads() {
    let model =
        TaskModel::default().on("go", [calls("look:a peek:b look:c")]).on("one", [calls("act:d look:e")]);
    let scene = Scene::new(model).tool(Peek);
    scene.run().await.unwrap();
    assert_eq!(scene.model.shown("one"), ["look", "peek"]);
    assert_eq!(scene.probe.log(), "+a +e +c -a -e -c");
    assert_eq!(Peek::policy().runtime, ToolRuntimePolicy::default());
}
