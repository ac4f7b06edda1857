//! What others wrote, made whole.

use proptest::prelude::*;
use serde_json::{Value, json};
use tinyagents::harness::message::{
    AssistantMessage, History, Message, ProblemKind, ProviderMetadata, ProviderRules, RepairKind, ToolCall,
};
use tinyagents::testkit::ScriptedModel;

use super::{calls, named, result};
use crate::fixture::{Stage, assert_whole, results};

const INTERRUPTED: &str =
    "error: interrupted: this call has no result; whether it ran, and what it had done by then, is unknown";

type Found = (usize, String, RepairKind);

/// Repairs, checks what always holds, and gives the transcript with what was done.
#[track_caller]
fn repaired(messages: &[Message]) -> (Vec<Message>, Vec<Found>) {
    let once = History::repair(messages.to_vec());
    let again = History::repair(once.history.messages().to_vec());
    assert_eq!(again.repairs, [], "repairing again changes nothing: {messages:?}");
    assert_eq!(again.history.messages(), once.history.messages());
    assert_eq!(once.repairs.is_empty(), **once.history.messages() == *messages, "what is changed is listed");
    assert!(once.repairs.is_sorted_by_key(|repair| repair.index));
    assert!(once.repairs.iter().all(|repair| repair.index < messages.len()));
    assert!(History::from_messages(once.history.messages().to_vec()).is_ok());
    for rules in ProviderRules::all() {
        let problems = once.history.check(&rules).err().unwrap_or_default();
        // Which message comes first is not a matter of calls and results.
        let broken: Vec<_> = problems.iter().filter(|it| it.kind != ProblemKind::NotUserFirst).collect();
        assert!(broken.is_empty(), "{}: {broken:?} in {messages:?}", rules.provider);
    }
    let found = once.repairs.into_iter().map(|repair| (repair.index, repair.call.to_string(), repair.kind));
    let found = found.collect();
    (once.history.into_messages(), found)
}

fn did(index: usize, call: &str, kind: RepairKind) -> Found {
    (index, call.into(), kind)
}

fn was(from: &str) -> RepairKind {
    RepairKind::Renamed { from: from.into() }
}

fn texts(messages: &[Message]) -> Vec<String> {
    results(messages).iter().map(|result| format!("{} {}", result.tool_call_id, result.text())).collect()
}

#[tokio::test]
async fn a2_a_call_without_a_result_is_answered_as_interrupted_and_the_run_goes_on() {
    let go = Message::user("go");
    let cut_off = [go.clone(), calls(["a", "b"]), result("a", "found a"), Message::user("are you there?")];
    let error = History::from_messages(cut_off.to_vec()).unwrap_err();
    assert!(error.to_string().contains("`History::repair`"), "{error}");

    let (messages, done) = repaired(&cut_off);
    assert_eq!(done, [did(1, "b", RepairKind::Answered)]);
    assert_eq!(texts(&messages), ["a found a".to_string(), format!("b {INTERRUPTED}")]);
    assert!(messages[3].as_tool().unwrap().is_error && messages[3].as_tool().unwrap().name == "look");
    assert_whole(&messages);
    let stage = Stage::new(ScriptedModel::new().text("yes"));
    let run = stage.harness.invoke(&(), messages).await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("yes"));
    assert_whole(&run.messages);
}

#[test]
fn a6_a_second_result_is_refused_and_dropped() {
    let whole = vec![Message::user("go"), calls(["a"]), result("a", "one"), Message::assistant("done")];
    for at in 3..=4 {
        let mut messages = whole.clone();
        messages.insert(at, result("a", "two"));
        let error = History::from_messages(messages.clone()).unwrap_err();
        assert!(error.to_string().contains("`History::repair`"), "{error}");
        assert_eq!(repaired(&messages), (whole.clone(), vec![did(at, "a", RepairKind::DroppedSecond)]));
    }
}

#[test]
fn a_result_without_its_call_is_dropped_also_if_a_later_call_has_its_id() {
    let whole = vec![calls(["a"]), result("a", "right")];
    let messages =
        [vec![result("a", "of a turn that was cut off"), result("z", "lost")], whole.clone()].concat();
    let done = vec![did(0, "a", RepairKind::DroppedOrphan), did(1, "z", RepairKind::DroppedOrphan)];
    assert_eq!(repaired(&messages), (whole, done));
    // Without a result of its own, the call is not given one that is not its own.
    let (messages, _) = repaired(&[result("a", "of a turn that was cut off"), calls(["a"])]);
    assert_eq!(texts(&messages), [format!("a {INTERRUPTED}")]);
}

#[test]
fn a7_a_result_is_paired_by_either_spelling_and_has_the_calls_id() {
    for key in ["id", "call_id", "item_id"] {
        let call = |id: &str, other: &str| {
            let provider = ProviderMetadata { provider: "openai".into(), data: json!({ key: other }) };
            ToolCall { provider: Some(provider), ..ToolCall::new(id, "look", json!({})) }
        };
        let reply =
            || Message::Assistant(AssistantMessage::calls([call("call_1", "fc_1"), call("call_2", "fc_2")]));
        let whole = vec![reply(), result("call_1", "one"), result("call_2", "two")];
        assert_eq!(repaired(&whole), (whole.clone(), vec![]));
        let (messages, done) = repaired(&[reply(), result("fc_2", "two"), result("call_1", "one")]);
        assert_eq!(messages, whole, "{key}");
        let expected = [did(1, "call_2", was("fc_2")), did(2, "call_1", RepairKind::Moved)];
        assert_eq!(done, expected);
        // Both spellings answer the same call: one is the second result.
        let (_, done) =
            repaired(&[reply(), result("call_1", "one"), result("fc_1", "one"), result("fc_2", "two")]);
        assert_eq!(done, [did(2, "fc_1", RepairKind::DroppedSecond), did(3, "call_2", was("fc_2"))]);
        // A call without an id of its own takes the other spelling.
        let reply = Message::Assistant(AssistantMessage::calls([call("", "fc_9")]));
        let (messages, done) = repaired(&[reply, result("fc_9", "nine")]);
        assert_eq!((texts(&messages), done), (vec!["fc_9 nine".to_string()], vec![did(0, "fc_9", was(""))]));
    }
}

#[test]
fn results_are_moved_right_behind_their_call_in_call_order() {
    let (user, reply) = (Message::user("meanwhile"), calls(["a", "b", "c"]));
    let whole = vec![reply.clone(), result("a", "1"), result("b", "2"), result("c", "3"), user.clone()];
    let messages = [reply, result("b", "2"), user, result("c", "3"), result("a", "1")];
    let (fixed, done) = repaired(&messages);
    assert_eq!(fixed, whole);
    assert_eq!(done, [did(3, "c", RepairKind::Moved), did(4, "a", RepairKind::Moved)]);
}

#[test]
fn a9_an_empty_result_is_filled() {
    let (messages, done) = repaired(&[calls(["a"]), result("a", "")]);
    assert_eq!(
        (texts(&messages), done),
        (vec!["a (no output)".into()], vec![did(1, "a", RepairKind::Filled)])
    );
}

#[test]
fn b11_doubled_ids_are_told_apart_on_both_sides() {
    let (messages, done) = repaired(&[
        calls(["x", "x"]),
        result("x", "1"),
        result("x", "2"),
        calls(["x", "x_d2"]),
        result("x", "3"),
        result("x_d2", "4"),
    ]);
    assert_eq!(
        texts(&messages),
        ["x 1", "x_d3 2", "x_d4 3", "x_d2 4"],
        "an id that a call has stays its own"
    );
    assert_eq!(
        done,
        [
            did(0, "x_d3", was("x")),
            did(2, "x_d3", was("x")),
            did(3, "x_d4", was("x")),
            did(4, "x_d4", was("x"))
        ]
    );
    let asked = messages[3].as_assistant().unwrap();
    assert_eq!(asked.tool_calls[0].id, "x_d4");
}

#[test]
fn b13_absent_ids_are_made_of_the_place_and_results_matched_by_name_and_order() {
    let call = |id: &str, name: &str| ToolCall::new(id, name, json!({}));
    let reply = |calls: Vec<ToolCall>| Message::Assistant(AssistantMessage::calls(calls));
    let (messages, done) = repaired(&[
        reply(vec![call("", "a"), call("", "b"), call("", "b"), call("call_1_1", "c")]),
        named("", "b", "first b"),
        named("", "a", "a"),
        named("", "b", "second b"),
        named("call_1_1", "c", "c"),
        Message::user("later"),
        named("", "a", "whose?"),
    ]);
    assert_eq!(texts(&messages), ["call_1_0 a", "call_1_1_d2 first b", "call_1_2 second b", "call_1_1 c"]);
    assert_eq!(done.last(), Some(&did(6, "", RepairKind::DroppedOrphan)));
    // A result that lost its id does not take the place of one that has it.
    let (messages, _) = repaired(&[calls(["a", "b"]), result("", "b's"), result("a", "a's")]);
    assert_eq!(texts(&messages), ["a a's", "b b's"]);
}

/// A short message from few ids, so that they meet.
fn message() -> impl Strategy<Value = Message> {
    let id = || prop::sample::select(vec!["", "a", "b", "a_d2", "fc_1", "call_1_0"]);
    let name = || prop::sample::select(vec!["look", "act"]);
    let call =
        (id(), name(), prop::option::of((prop::sample::select(vec!["id", "call_id", "item_id"]), id())));
    let call = call.prop_map(|(id, name, other)| {
        let provider =
            other.map(|(key, other)| ProviderMetadata { provider: "p".into(), data: json!({ key: other }) });
        ToolCall { provider, ..ToolCall::new(id, name, json!({})) }
    });
    let tool = (id(), name(), prop::sample::select(vec!["", "one", "two"]));
    prop_oneof![
        1 => Just(Message::user("hm")),
        1 => Just(Message::system("be kind")),
        3 => prop::collection::vec(call, 0..4).prop_map(|calls| Message::Assistant(AssistantMessage::calls(calls))),
        6 => tool.prop_map(|(id, name, text)| named(id, name, text)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Any messages become whole, once and for all; nothing but calls and results is touched, and what is lost is listed.
    #[test]
    fn any_messages_become_whole(messages in prop::collection::vec(message(), 0..14)) {
        let (fixed, done) = repaired(&messages);
        let count = |kind: &[RepairKind]| done.iter().filter(|(_, _, done)| kind.contains(done)).count();
        let dropped = count(&[RepairKind::DroppedOrphan, RepairKind::DroppedSecond]);
        let answered = count(&[RepairKind::Answered]);
        prop_assert_eq!(results(&messages).len() + answered, results(&fixed).len() + dropped);
        let others = |messages: &[Message]| -> Vec<Message> {
            let mut messages: Vec<_> = messages.iter().filter(|it| it.as_tool().is_none()).cloned().collect();
            for message in &mut messages {
                if let Message::Assistant(reply) = message {
                    reply.tool_calls.iter_mut().for_each(|call| call.id = "".into());
                }
            }
            messages
        };
        prop_assert_eq!(others(&messages), others(&fixed));
        prop_assert_eq!(History::repair(messages.clone()).history.into_messages(), fixed);
    }

    /// A whole transcript with ids of its own is found again from any order of its results.
    #[test]
    fn results_that_only_lost_their_place_all_find_it(
        turns in prop::collection::vec(0..4usize, 1..5),
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..6),
    ) {
        let mut whole = Vec::new();
        for (turn, count) in turns.iter().enumerate() {
            whole.push(Message::user(format!("{turn}")));
            let ids: Vec<String> = (0..*count).map(|n| format!("t{turn}_{n}")).collect();
            let calls = ids.iter().map(|id| ToolCall::new(id.as_str(), "look", json!({})));
            whole.push(Message::Assistant(AssistantMessage::calls(calls)));
            whole.extend(ids.iter().map(|id| result(id, id)));
        }
        let mut mixed = whole.clone();
        for (from, to) in moves {
            let from = from.index(mixed.len());
            if mixed[from].as_tool().is_some() {
                let message = mixed.remove(from);
                mixed.insert(from + to.index(mixed.len() + 1 - from), message);
            }
        }
        let (fixed, done) = repaired(&mixed);
        prop_assert_eq!(fixed, whole);
        prop_assert!(done.iter().all(|(_, _, kind)| *kind == RepairKind::Moved));
    }
}

#[test]
fn calls_that_models_really_broke_stand_in_a_history() {
    const CORPUS: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpora/malformed/malformed_args.jsonl");
    let Ok(rows) = std::fs::read_to_string(CORPUS) else {
        eprintln!("{CORPUS} is absent: nothing to import");
        return;
    };
    let raws: Vec<String> = rows
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).unwrap()["raw"].as_str().unwrap().to_owned())
        .collect();
    // All in one conversation, with one id as a weak model gives it, and every third result lost.
    let mut messages = vec![Message::user("go")];
    for (row, raw) in raws.iter().enumerate() {
        messages
            .push(Message::Assistant(AssistantMessage::calls([ToolCall::from_text("call_1", "look", raw)])));
        if row % 3 > 0 {
            messages.push(result("call_1", &format!("result {row}")));
        }
    }
    let (fixed, done) = repaired(&messages);
    assert_whole(&fixed);
    for (row, result) in results(&fixed).iter().enumerate() {
        let expected = if row % 3 > 0 { format!("result {row}") } else { INTERRUPTED.into() };
        assert_eq!(result.text(), expected, "row {row}");
    }
    let spelled_anew = ProviderRules::llama_cpp().verbatim().check(&fixed).unwrap_err().len();
    println!(
        "{} calls, {} repairs, {spelled_anew} whose arguments an adapter spells anew",
        raws.len(),
        done.len()
    );
    assert!(spelled_anew > 0);
}
