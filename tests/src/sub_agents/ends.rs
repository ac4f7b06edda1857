//! How nested runs end: by limits, by time, by a cancel, by an error; and what that is to the outer run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{
    LimitBehavior, LimitKind, RunConfig, RunLimits, RunPolicy, UnknownToolPolicy,
};
use tinyagents::harness::event::{AgentEvent, Effects, EventRecord, FailureKind};
use tinyagents::harness::message::{AssistantMessage, Message};
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::harness::policy::{Approval, ApprovalRequest, Approver, ToolAccess, ToolPolicy};
use tinyagents::harness::runtime::RunFinish;
use tinyagents::harness::tool::ToolError;
use tokio::time::Instant;

use super::{answers, asks, worker};
use crate::fixture::doing;
use crate::probes::{Scene, TaskModel, calls, seen};

fn limits(max_tool_calls: u32, behavior: LimitBehavior) -> RunLimits {
    RunLimits { max_tool_calls, behavior, ..RunLimits::default() }
}

/// An agent that makes four calls, in a run that makes one of its own after it.
fn four_calls() -> TaskModel {
    TaskModel::default()
        .on("go", [asks("work", &["one"]), calls("look:e")])
        .on("one", [AssistantMessage { content: words("Looking."), ..calls("look:a look:b look:c look:d") }])
}

fn words(text: &str) -> Vec<tinyagents::prelude::ContentBlock> {
    vec![tinyagents::prelude::ContentBlock::text(text)]
}

#[tokio::test(start_paused = true)]
async fn t13_what_an_agent_uses_up_the_outer_run_does_not_have() {
    let scene = Scene::new(four_calls()).agent(worker()).limits(limits(3, LimitBehavior::Error));
    let error = scene.run().await.unwrap_err();
    assert!(matches!(error, TinyAgentsError::LimitReached(LimitKind::ToolCalls)), "{error}");
    let seen = scene.model.requests("go").pop().unwrap();
    assert_eq!(
        answers(&seen.messages),
        [
            "error: the agent `work` failed: the run reached its limit `max_tool_calls`; raise it in `RunLimits`, or set \
          `LimitBehavior::StopWithPartial`"
        ]
    );
    assert_eq!(scene.probe.log(), "+a +b -a -b", "the call of the agent is the third");

    let scene = Scene::new(four_calls()).agent(worker()).limits(limits(3, LimitBehavior::StopWithPartial));
    let run = scene.run().await.unwrap();
    assert_eq!(run.finish, RunFinish::LimitReached(LimitKind::ToolCalls));
    assert_eq!(
        answers(&run.messages),
        [
            "error: the agent `work` did not finish: stopped at the limit max_tool_calls; its last words: Looking.",
            "error: not executed: the run reached its limit `max_tool_calls`"
        ]
    );

    let scene = Scene::new(four_calls()).agent(worker()).limits(limits(6, LimitBehavior::Error));
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["one answered", "e done"]);
}

#[tokio::test(start_paused = true)]
async fn t13_requests_to_models_count_for_the_outer_run_too() {
    let run = |most| async move {
        let limits = RunLimits { max_model_calls: most, ..RunLimits::default() };
        Scene::new(four_calls()).agent(worker()).limits(limits).run().await
    };
    assert!(run(5).await.is_ok(), "three of the outer run, two of the agent");
    for most in 1..5 {
        let error = run(most).await.unwrap_err();
        assert!(matches!(error, TinyAgentsError::LimitReached(LimitKind::ModelCalls)), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn t13_an_agents_own_limits_end_the_agent_alone_and_only_tighten() {
    let agent = || worker().with_limits(limits(1, LimitBehavior::StopWithPartial));
    let run = Scene::new(four_calls()).agent(agent()).run().await.unwrap();
    let texts = answers(&run.messages);
    assert!(texts[0].contains("did not finish: stopped at the limit max_tool_calls"), "{texts:?}");
    assert_eq!((texts[1].as_str(), run.finish), ("e done", RunFinish::Completed));

    let agent = worker().with_limits(limits(1_000, LimitBehavior::StopWithPartial));
    let scene = Scene::new(four_calls()).agent(agent).limits(limits(3, LimitBehavior::Error));
    let error = scene.run().await.unwrap_err();
    assert!(matches!(error, TinyAgentsError::LimitReached(LimitKind::ToolCalls)), "{error}");
    assert_eq!(scene.probe.log(), "+a +b -a -b");
}

#[tokio::test(start_paused = true)]
async fn t13_runs_are_nested_only_as_deep_as_is_allowed() {
    for deepest in 0..=3 {
        // An agent may ask itself; what its own limits say of depth does not count.
        let model =
            TaskModel::default().on("go", [asks("work", &["one"])]).on("one", [asks("work", &["one"])]);
        let agent = worker().with_limits(RunLimits { max_depth: 100, ..RunLimits::default() });
        let scene = Scene::new(model).agent(agent);
        let scene = scene.limits(RunLimits { max_depth: deepest, ..RunLimits::default() });
        let run = scene.run().await.unwrap();
        let runs = scene.events.kinds().iter().filter(|kind| **kind == "run.completed").count();
        assert_eq!(runs, 1 + deepest as usize, "every run goes on and ends well");
        let refusals = scene.events.find(|event| match event {
            AgentEvent::ToolFailed { failure, error, .. } => Some((*failure, error.clone())),
            _ => None,
        });
        let why = format!("not executed: it starts a run, and runs may be nested only {deepest} deep");
        assert_eq!(refusals, [(FailureKind::LimitReached, why.clone())]);
        let first = if deepest == 0 { format!("error: {why}") } else { "one answered".into() };
        assert_eq!(answers(&run.messages), [first]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deep_chain_of_runs_does_not_use_up_the_stack() {
    // Models that answer at once: nothing is waited for on the way down.
    let model = TaskModel::default().on("go", [asks("work", &["one"])]).on("one", [asks("work", &["one"])]);
    let roomy = RunLimits { max_model_calls: 1_000, max_tool_calls: 1_000, ..RunLimits::default() };
    let scene = Scene::new(model).agent(worker()).limits(RunLimits { max_depth: 200, ..roomy });
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["one answered"]);
    let runs = scene.events.kinds().iter().filter(|kind| **kind == "run.completed").count();
    assert_eq!(runs, 201);
}

/// When something happened, since the start: the ends of runs.
type Times = Arc<Mutex<Vec<(String, Duration)>>>;

/// A chain of two agents at whose end a tool waits, a listener for the ends of the runs, and when the last one ended.
async fn chain(
    wait: impl tinyagents::harness::tool::Tool<()> + 'static,
    limits: RunLimits,
    cancel_after: Option<Duration>,
) -> (Scene, Result<tinyagents::prelude::AgentRun, TinyAgentsError>, Vec<(String, Duration)>) {
    let model = TaskModel::default()
        .on("go", [asks("work", &["one"])])
        .on("one", [asks("work", &["two"])])
        .on("two", [calls("wait:a")]);
    let mut scene = Scene::new(model).agent(worker()).tool(wait).limits(limits);
    let (times, start) = (Times::default(), Instant::now());
    let noted = Arc::clone(&times);
    scene.harness.with_listener(move |record: &EventRecord| {
        if let AgentEvent::RunCompleted { finish } = &record.event {
            noted.lock().unwrap().push((finish.clone(), start.elapsed()));
        }
    });
    let ctx = scene.harness.context(RunConfig::default(), ());
    let handle = ctx.handle();
    let cancel = async {
        match cancel_after {
            Some(after) => tokio::time::sleep(after).await,
            None => std::future::pending().await,
        }
        handle.cancel();
        std::future::pending::<()>().await;
    };
    let run = tokio::select! {
        run = scene.run_in(ctx) => run,
        () = cancel => unreachable!(),
    };
    let times = times.lock().unwrap().clone();
    (scene, run, times)
}

/// Waits until it is told to stop.
fn obedient() -> impl tinyagents::harness::tool::Tool<()> {
    doing("wait", ToolPolicy::classified(), |call| async move {
        call.cancellation.cancelled().await;
        Ok("told".into())
    })
}

/// Waits for ever.
fn stubborn() -> impl tinyagents::harness::tool::Tool<()> {
    doing("wait", ToolPolicy::classified(), |_| std::future::pending())
}

/// What is known of the effects of the calls that failed, the innermost first.
fn effects(scene: &Scene) -> Vec<(FailureKind, Effects)> {
    scene.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, effects, .. } => Some((*failure, *effects)),
        _ => None,
    })
}

fn ten_seconds() -> RunLimits {
    RunLimits {
        max_duration: Duration::from_secs(10),
        behavior: LimitBehavior::StopWithPartial,
        ..RunLimits::default()
    }
}

const DURATION: &str = "stopped at the limit max_duration";

fn at(finish: &str, millis: u64) -> (String, Duration) {
    (finish.into(), Duration::from_millis(millis))
}

#[tokio::test(start_paused = true)]
async fn t13_an_agent_ends_before_its_call_has_to() {
    let (scene, run, times) = chain(obedient(), ten_seconds(), None).await;
    // The innermost has 0.2 s less than the outermost; those around it still have time to say so.
    assert_eq!(times, [at(DURATION, 9_800), at("completed", 9_800), at("completed", 9_800)]);
    assert_eq!(answers(&run.unwrap().messages), ["one answered"]);
    assert_eq!(
        effects(&scene),
        [(FailureKind::TimedOut, Effects::Done), (FailureKind::Error, Effects::Done)]
    );
    let told = answers(&scene.model.requests("one")[1].messages);
    assert_eq!(told, ["error: the agent `work` did not finish: stopped at the limit max_duration"]);
}

#[tokio::test(start_paused = true)]
async fn t13_the_grace_of_a_body_within_fits_into_that_of_the_calls_around_it() {
    let (scene, run, times) = chain(stubborn(), ten_seconds(), None).await;
    // The two within were cancelled by the calls around them before they had closed.
    assert_eq!(times, [at("cancelled", 14_800), at("cancelled", 14_800), at(DURATION, 14_800)]);
    // Only the body was stopped by force. The runs around it closed by themselves.
    let (stopped, ended) =
        ((FailureKind::TimedOut, Effects::Unknown), (FailureKind::TimedOut, Effects::Done));
    assert_eq!(effects(&scene), [stopped, ended, ended]);
    assert_eq!(run.unwrap().finish, RunFinish::LimitReached(LimitKind::Duration));
}

#[tokio::test(start_paused = true)]
async fn t13_a_cancel_reaches_everything_within_at_once() {
    let second = Some(Duration::from_secs(1));
    let (scene, run, times) = chain(obedient(), RunLimits::default(), second).await;
    assert_eq!(times, vec![at("cancelled", 1_000); 3]);
    // A call whose run has closed already by the time it is looked at was not cancelled: it failed.
    assert_eq!(effects(&scene)[0], (FailureKind::Cancelled, Effects::Done));
    assert!(effects(&scene).iter().all(|(_, effects)| *effects == Effects::Done));
    assert_eq!(run.unwrap().finish, RunFinish::Cancelled);
    let (scene, run, times) = chain(stubborn(), RunLimits::default(), second).await;
    assert_eq!(times, vec![at("cancelled", 6_000); 3], "after the grace of the body");
    assert_eq!(effects(&scene)[0], (FailureKind::Cancelled, Effects::Unknown));
    assert_eq!(effects(&scene)[1..], [(FailureKind::Cancelled, Effects::Done); 2]);
    assert_eq!(run.unwrap().finish, RunFinish::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn t13_dropping_the_outer_run_ends_everything_within() {
    let model = TaskModel::default()
        .on("go", [asks("work", &["one", "two"])])
        .on("one", [asks("work", &["three"])])
        .on("two", [calls("look:a look:b act:c")])
        .on("three", [calls("tag:d tag:e")]);
    let scene = Scene::new(model).agent(worker());
    let ctx = scene.harness.context(RunConfig::default(), ());
    let run = scene.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    assert!(tokio::time::timeout(Duration::from_millis(5), run).await.is_err());
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(scene.probe.log().matches('-').count(), 4, "{}", scene.probe.log());
    scene.events.assert_settled();
    let ended = scene.events.kinds().into_iter().filter(|kind| kind.starts_with("run."));
    assert_eq!(ended.collect::<Vec<_>>(), [["run.started"; 4], ["run.failed"; 4]].concat());
}

#[tokio::test(start_paused = true)]
async fn t13_what_is_fatal_within_is_one_calls_error_without() {
    let model = || {
        TaskModel::default().on("go", [asks("work", &["one"]), calls("look:b")]).on("one", [calls("it:a")])
    };
    let fatal = doing("it", ToolPolicy::classified(), |_| async { Err(ToolError::fatal("no disk")) });
    let run = Scene::new(model()).agent(worker()).tool(fatal).run().await.unwrap();
    assert_eq!(answers(&run.messages), ["error: the agent `work` failed: no disk", "b done"]);
    assert_eq!(run.finish, RunFinish::Completed);
    // The agent calls a tool that does not exist, where that ends a run.
    let policy = RunPolicy { unknown_tool: UnknownToolPolicy::Fail, ..RunPolicy::recovering() };
    let run = Scene::new(model()).agent(worker()).policy(policy).run().await.unwrap();
    let texts = answers(&run.messages);
    assert!(
        texts[0].starts_with("error: the agent `work` failed: the model called the tool `it`"),
        "{texts:?}"
    );
    assert_eq!((texts[1].as_str(), run.finish), ("b done", RunFinish::Completed));
}

/// A model that does not reply.
struct Down;

#[tinyagents::async_trait]
impl Model for Down {
    fn name(&self) -> &str {
        "down"
    }

    fn provider(&self) -> &str {
        "down"
    }

    async fn generate(&self, _: &ModelRequest, _: &DeltaSink<'_>) -> Result<ModelReply, ModelError> {
        Err(ModelError::Other("out of order".into()))
    }
}

#[tokio::test(start_paused = true)]
async fn t13_an_agent_whose_model_does_not_reply_is_one_calls_error() {
    let model = TaskModel::default().on("go", [asks("work", &["one"])]);
    let mut scene = Scene::new(model).agent(worker().with_model("down"));
    scene.harness.register_model("down", Down).unwrap();
    let run = scene.run().await.unwrap();
    assert_eq!(answers(&run.messages), ["error: the agent `work` failed: out of order"]);
}

/// Ends the run.
struct Stop;

#[tinyagents::async_trait]
impl Approver for Stop {
    async fn ask(&self, request: ApprovalRequest) -> Approval {
        assert_eq!(request.depth, 2);
        Approval::stop("enough")
    }
}

#[tokio::test(start_paused = true)]
async fn t13_a_person_who_stops_a_run_within_stops_the_whole() {
    let model = TaskModel::default()
        .on("go", [asks("work", &["one"])])
        .on("one", [asks("work", &["two"]), calls("look:a")])
        .on("two", [calls("danger:b")]);
    let mut scene = Scene::new(model).agent(worker());
    scene.harness.with_approver(Stop);
    let access = ToolAccess { approval_required: true, ..ToolAccess::default() };
    let danger = seen(&scene.probe, "danger", ToolPolicy::classified().with_access(access));
    let scene = scene.tool(danger);
    let error = scene.run().await.unwrap_err();
    assert!(matches!(&error, TinyAgentsError::Stopped(reason) if reason == "enough"), "{error}");
    assert_eq!(scene.probe.log(), "");
}
