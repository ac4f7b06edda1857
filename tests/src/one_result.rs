//! One result for each call, whatever happens, and a run that says what happened.

mod ledger;

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{LimitBehavior, LimitKind, RunContext, RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, Effects, FailureKind};
use tinyagents::harness::message::{AssistantMessage, ClosedTurn, History, HistoryError, Message, ToolCall};
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::RunFinish;
use tinyagents::harness::tool::{DynTool, ToolError};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, assert_whole, doing, results};

fn failures(stage: &Stage) -> Vec<(FailureKind, Effects)> {
    stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, effects, .. } => Some((*failure, *effects)),
        _ => None,
    })
}

/// Runs one call of a tool and gives its answer and how it is recorded.
async fn one(
    tool: impl tinyagents::harness::tool::Tool<()> + 'static,
) -> (String, Vec<(FailureKind, Effects)>) {
    let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
    let run = stage.run().await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("done"));
    (run.messages[2].text(), failures(&stage))
}

#[tokio::test]
async fn wrong_arguments_get_a_result() {
    let mut stage = Stage::new(ScriptedModel::new().call("look", json!({ "q": ["tea"] })).text("done"));
    let run = stage.run().await.unwrap();
    assert!(run.messages[2].text().contains("`q`: expected string, got array"));
    assert_eq!(failures(&stage), [(FailureKind::InvalidArguments, Effects::None)]);
}

#[tokio::test]
async fn a_panic_gets_a_result() {
    let (text, failures) = one(doing("act", ToolPolicy::default(), |_| async { panic!("oh no") })).await;
    assert_eq!(text, "error: the tool panicked: oh no; what it had done by then is unknown");
    assert_eq!(failures, [(FailureKind::Panicked, Effects::Unknown)]);
}

#[tokio::test]
async fn a_panic_before_the_first_await_gets_a_result() {
    let tool = DynTool::new("act", json!({ "type": "object" }), ToolPolicy::default(), |_, _| {
        if true {
            panic!("at once");
        }
        async { Ok::<_, ToolError>(String::new()) }
    });
    let (text, _) = one(tool).await;
    assert!(text.contains("panicked: at once"), "{text}");
}

fn timeout(ms: u64) -> ToolPolicy {
    ToolPolicy::default().with_runtime(ToolRuntimePolicy { timeout_ms: Some(ms), ..Default::default() })
}

#[tokio::test(start_paused = true)]
async fn a_body_past_its_timeout_that_ends_when_told_gets_a_result() {
    let tool = doing("act", timeout(2_000), |call| async move {
        call.cancellation.cancelled().await;
        Ok("too late".into())
    });
    let start = tokio::time::Instant::now();
    let (text, failures) = one(tool).await;
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    assert_eq!(
        text,
        "error: the tool timed out after 2s; it ended by itself after that, and may have done its work"
    );
    assert_eq!(failures, [(FailureKind::TimedOut, Effects::Done)]);
}

#[tokio::test(start_paused = true)]
async fn a_body_past_its_timeout_that_does_not_listen_gets_a_result_after_its_grace() {
    let tool = doing("act", timeout(2_000), |_| std::future::pending());
    let start = tokio::time::Instant::now();
    let (text, failures) = one(tool).await;
    assert_eq!(start.elapsed(), Duration::from_secs(7), "2 s and 5 s of grace");
    assert!(text.ends_with("it was stopped, and what it had done by then is unknown"), "{text}");
    assert_eq!(failures, [(FailureKind::TimedOut, Effects::Unknown)]);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_ends_in_time_is_not_timed_out() {
    let tool = doing("act", timeout(2_000), |_| async {
        tokio::time::sleep(Duration::from_millis(1_999)).await;
        Ok("in time".into())
    });
    let (text, failures) = one(tool).await;
    assert_eq!((text.as_str(), failures.len()), ("in time", 0));
}

/// Cancels the run when its first call starts, or when it ends.
async fn cancelled_at(kind: &'static str) -> (Stage, Vec<Message>) {
    let calls = ["c1", "c2", "c3"].map(|id| ToolCall::new(id, "act", json!({})));
    let tool = doing("act", ToolPolicy::default(), |call| async move {
        if call.call_id == "c1" {
            // Give the cancel the time it needs, and no more.
            tokio::task::yield_now().await;
        }
        Ok(format!("{} done", call.call_id))
    });
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("never asked")).tool(tool);
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let cancel = handle.clone();
    stage.harness.with_listener(move |record: &tinyagents::harness::event::EventRecord| {
        if record.event.kind() == kind {
            cancel.cancel();
        }
    });
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    stage.events.assert_settled();
    assert_whole(&run.messages);
    assert_eq!(run.finish, RunFinish::Cancelled);
    assert_eq!(run.answer(), None);
    assert_eq!(*handle.transcript(), run.messages);
    (stage, run.messages)
}

#[tokio::test]
async fn a_cancel_between_call_and_result_says_what_ran() {
    // The body ends by itself within its grace; what it returned is not the outcome any more.
    let (stage, messages) = cancelled_at("tool.started").await;
    let texts: Vec<_> = results(&messages).iter().map(|result| result.text()).collect();
    assert!(texts[0].contains("cancelled while the tool ran; it ended by itself"), "{texts:?}");
    assert!(texts[1].contains("cancelled before this call started"), "{texts:?}");
    assert_eq!(
        failures(&stage),
        [
            (FailureKind::Cancelled, Effects::Done),
            (FailureKind::Cancelled, Effects::None),
            (FailureKind::Cancelled, Effects::None)
        ]
    );
}

#[tokio::test]
async fn a_cancel_after_a_result_keeps_the_result() {
    let (stage, messages) = cancelled_at("tool.completed").await;
    let texts: Vec<_> = results(&messages).iter().map(|result| result.text()).collect();
    assert_eq!(texts[0], "c1 done");
    assert_eq!(failures(&stage).len(), 2);
}

#[tokio::test]
async fn a_cancel_between_reply_and_first_call_answers_all() {
    let (stage, messages) = cancelled_at("turn.opened").await;
    assert_eq!(results(&messages).len(), 3);
    assert_eq!(failures(&stage), [(FailureKind::Cancelled, Effects::None); 3]);
}

#[tokio::test]
async fn a_fatal_error_closes_the_turn_and_ends_the_run() {
    let calls = [ToolCall::new("c1", "act", json!({})), ToolCall::new("c2", "look", json!({ "q": "tea" }))];
    let tool = doing("act", ToolPolicy::default(), |_| async { Err(ToolError::fatal("the disk is gone")) });
    let mut stage = Stage::new(ScriptedModel::new().calls(calls)).tool(tool);
    let error = stage.fails().await;
    assert_eq!(error.to_string(), "the disk is gone");
    let transcript = stage.transcript();
    let texts: Vec<_> = results(&transcript).iter().map(|result| result.text()).collect();
    assert_eq!(texts[0], "error: the disk is gone");
    assert!(texts[1].contains("another call of this turn ended the run"), "{texts:?}");
    assert_eq!(stage.looked.get(), 0);
}

#[tokio::test]
async fn a_blocking_function_that_ignores_its_timeout_is_answered() {
    struct Stuck(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);

    #[tinyagents::async_trait]
    impl tinyagents::harness::tool::Tool<()> for Stuck {
        fn spec(&self) -> tinyagents::harness::tool::ToolSpec {
            tinyagents::harness::tool::ToolSpec::new("act", "Blocks.", json!({ "type": "object" }))
        }

        async fn call(
            &self,
            _: &(),
            _: tinyagents::harness::tool::ToolRuntime<'_>,
            call: ToolCall,
        ) -> tinyagents::Result<tinyagents::harness::tool::ToolResult> {
            let _ = self.0.lock().unwrap().recv();
            Ok(tinyagents::harness::tool::ToolOutput::text("free").into_result(&call))
        }

        fn policy(&self) -> ToolPolicy {
            timeout(10)
        }

        fn is_blocking(&self) -> bool {
            true
        }
    }

    let (free, wait) = std::sync::mpsc::channel();
    let policy = RunPolicy { grace: Duration::from_millis(10), ..RunPolicy::recovering() };
    let model = ScriptedModel::new().call("act", json!({})).text("done");
    let mut stage = Stage::new(model).policy(policy).tool(Stuck(std::sync::Mutex::new(wait)));
    let run = stage.run().await.unwrap();
    assert!(run.messages[2].text().contains("timed out after 10ms"));
    assert_eq!(failures(&stage), [(FailureKind::Abandoned, Effects::Unknown)]);
    free.send(()).unwrap();
}

#[tokio::test]
async fn limits_end_a_run_as_their_behaviour_says() {
    let endless =
        || (0..10).fold(ScriptedModel::new(), |model, _| model.call("look", json!({ "q": "again" })));
    for (limits, kind, looked) in [
        (RunLimits { max_model_calls: 2, ..RunLimits::default() }, LimitKind::ModelCalls, 2),
        (RunLimits { max_tool_calls: 3, ..RunLimits::default() }, LimitKind::ToolCalls, 3),
        (RunLimits { max_duration: Duration::ZERO, ..RunLimits::default() }, LimitKind::Duration, 0),
    ] {
        let policy = |behavior| RunPolicy {
            limits: RunLimits { behavior, ..limits.clone() },
            ..RunPolicy::recovering()
        };
        let mut stage = Stage::new(endless()).policy(policy(LimitBehavior::Error));
        let error = stage.fails().await;
        assert!(matches!(error, TinyAgentsError::LimitReached(reached) if reached == kind), "{error:?}");
        assert_eq!(stage.looked.get(), looked);
        let mut stage = Stage::new(endless()).policy(policy(LimitBehavior::StopWithPartial));
        let run = stage.run().await.unwrap();
        assert_eq!(run.finish, RunFinish::LimitReached(kind));
        assert_eq!(run.messages, stage.transcript());
    }
}

#[tokio::test]
async fn a_model_that_fails_leaves_a_whole_transcript() {
    let model = ScriptedModel::new().call("look", json!({ "q": "tea" })); // and then the script ends
    let mut stage = Stage::new(model);
    assert!(matches!(stage.fails().await, TinyAgentsError::Model(_)));
    assert_eq!(results(&stage.transcript()).len(), 1);
    assert_eq!(stage.events.kinds().last(), Some(&"run.failed"));
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_time_is_over_says_so() {
    let tool = doing("act", timeout(60_000), |_| std::future::pending());
    let limits = RunLimits { max_duration: Duration::from_secs(3), ..RunLimits::default() };
    let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("never asked"))
        .tool(tool)
        .policy(RunPolicy { limits, ..RunPolicy::recovering() });
    assert!(matches!(stage.fails().await, TinyAgentsError::LimitReached(LimitKind::Duration)));
    let transcript = stage.transcript();
    assert!(transcript[2].text().contains("the run's time was over while the tool ran"));
}

#[tokio::test]
async fn a_model_that_panics_leaves_a_whole_transcript() {
    let model = ScriptedModel::new().call("look", json!({ "q": "tea" })).respond(|_| panic!("out of memory"));
    let mut stage = Stage::new(model);
    assert_eq!(stage.fails().await.to_string(), "the model panicked: out of memory");
    assert_eq!(results(&stage.transcript()).len(), 1);
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_known_to_be() {
    let mut reply: tinyagents::harness::model::ModelReply = AssistantMessage::text("The answer is").into();
    reply.finish = tinyagents::harness::model::FinishReason::Length;
    let run = Stage::new(ScriptedModel::new().reply(reply)).run().await.unwrap();
    assert_eq!(run.model_finish, Some(tinyagents::harness::model::FinishReason::Length));
}

#[tokio::test]
async fn b11_b13_empty_and_doubled_ids_are_told_apart_and_every_call_runs() {
    let call = |id: &str, q: &str| ToolCall::new(id, "look", json!({ "q": q }));
    let calls = [call("", "a"), call("x", "b"), call("x", "c"), call("", "d"), call("x_d2", "e")];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"));
    let run = stage.run().await.unwrap();
    let seen: Vec<_> =
        results(&run.messages).iter().map(|r| (r.tool_call_id.to_string(), r.text())).collect();
    let expected = [
        ("call_1_0", "found a"),
        ("x", "found b"),
        ("x_d2", "found c"),
        ("call_1_3", "found d"),
        ("x_d2_d2", "found e"),
    ];
    assert_eq!(seen, expected.map(|(id, text)| (id.to_string(), text.to_string())));
    let asked: Vec<_> =
        run.messages[1].as_assistant().unwrap().tool_calls.iter().map(|c| c.id.to_string()).collect();
    assert_eq!(asked, expected.map(|(id, _)| id.to_string()), "the call has the same id");
}

#[test]
fn a6_a_history_takes_only_whole_turns() {
    let reply = || AssistantMessage::calls(["a", "b"].map(|id| ToolCall::new(id, "look", json!({}))));
    let result = |id: &str| {
        let text = json!({ "role": "tool", "tool_call_id": id, "name": "look",
                           "content": [{ "type": "text", "text": "ok" }] });
        match serde_json::from_value(text).unwrap() {
            Message::Tool(message) => message,
            other => panic!("{other:?}"),
        }
    };
    let closed = |ids: &[&str]| ClosedTurn::new(reply(), ids.iter().map(|id| result(id)).collect());
    assert!(closed(&["a", "b"]).is_ok());
    assert!(matches!(closed(&["a"]), Err(HistoryError::Unanswered { .. })));
    assert!(matches!(closed(&["b", "a"]), Err(HistoryError::Unanswered { .. })));
    assert!(matches!(closed(&["a", "b", "c"]), Err(HistoryError::Unasked { .. })));
    assert!(History::new().push_reply(reply()).is_err());

    let tool = |id| Message::Tool(result(id));
    let whole =
        vec![Message::user("go"), Message::Assistant(reply()), tool("a"), tool("b"), Message::user("?")];
    assert!(History::from_messages(whole.clone()).is_ok());
    for missing in [2, 3] {
        let mut messages = whole.clone();
        messages.remove(missing);
        assert!(matches!(History::from_messages(messages), Err(HistoryError::Unanswered { index: 1, .. })));
    }
    let mut doubled = whole.clone();
    doubled.insert(3, tool("a"));
    assert!(matches!(History::from_messages(doubled), Err(HistoryError::Unasked { index: 3, .. })));
    assert!(History::from_messages(vec![tool("a")]).is_err());
}

#[tokio::test]
async fn a_transcript_that_is_not_whole_is_refused_before_the_model_is_asked() {
    let stage = Stage::new(ScriptedModel::new().text("never"));
    let orphan = AssistantMessage::calls([ToolCall::new("c", "look", json!({}))]);
    let messages = vec![Message::user("go"), Message::Assistant(orphan)];
    let error = stage.harness.invoke(&(), messages).await.unwrap_err();
    assert!(error.to_string().contains("tool call `c` has no result"), "{error}");
    assert!(stage.model.requests().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Turns of any calls, with a cancel at any event, end whole.
    #[test]
    fn any_turn_with_a_cancel_anywhere_is_whole(
        calls in proptest::collection::vec(0..8usize, 1..6),
        cancel_at in 0..40usize,
    ) {
        let calls: Vec<_> = calls.iter().enumerate().map(|(index, kind)| {
            let id = format!("c{}", index / 2); // ids double
            match kind {
                0 => ToolCall::new(id, "look", json!({ "q": "tea" })),
                1 => ToolCall::new(id, "look", json!({ "q": 1 })),
                2 => ToolCall::new(id, "missing", json!({})),
                3 => ToolCall::from_text(id, "look", "{"),
                4 => ToolCall::new(id, "panics", json!({})),
                5 => ToolCall::new(id, "fails", json!({})),
                6 => ToolCall::new(id, "hangs", json!({})),
                _ => ToolCall::new("", "listens", json!({})),
            }
        }).collect();
        let count = calls.len();
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
            let stage = Stage::new(ScriptedModel::new().calls(calls).text("done"))
                .tool(doing("panics", ToolPolicy::default(), |_| async { panic!("oh no") }))
                .tool(doing("fails", ToolPolicy::default(), |_| async { Err(ToolError::failed("no")) }))
                .tool(doing("hangs", timeout(1_000), |_| std::future::pending()))
                .tool(doing("listens", timeout(1_000), |call| async move {
                    call.cancellation.cancelled().await;
                    Ok(String::new())
                }));
            let mut stage = stage;
            let ctx = RunContext::default();
            let handle = ctx.handle();
            let cancel = handle.clone();
            stage.harness.with_listener(move |record: &tinyagents::harness::event::EventRecord| {
                if record.offset == cancel_at as u64 {
                    cancel.cancel();
                }
            });
            let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
            stage.events.assert_settled();
            assert_whole(&run.messages);
            let cancelled_before_the_reply = run.messages.len() == 1;
            assert!(cancelled_before_the_reply || results(&run.messages).len() == count);
            assert_eq!(*handle.transcript(), run.messages);
        });
    }
}
