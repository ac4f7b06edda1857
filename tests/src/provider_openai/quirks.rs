//! What servers really send, each as its own test.

use tinyagents::harness::message::{ContentBlock, ToolCall};
use tinyagents::harness::model::{FinishReason, ModelError, ModelReply, Usage};
use tinyagents::serde_json::{Value, json};

use super::answers::*;
use super::server::{Server, ask, hello, read};

/// The calls of a streamed reply.
async fn streamed(fragments: &[Value]) -> Vec<ToolCall> {
    let mut chunks: Vec<Value> = fragments.iter().map(calls).collect();
    chunks.push(finish("tool_calls"));
    read(stream(&chunks)).await.reply().message.tool_calls
}

fn paris() -> Value {
    json!({ "city": "Paris" })
}

fn named(calls: &[ToolCall]) -> Vec<(&str, &str, Value)> {
    calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.to_value())).collect()
}

#[tokio::test]
async fn text_arrives_in_pieces_and_whole_with_usage_in_a_chunk_without_choices() {
    let answer = stream(&[
        delta(&json!({ "role": "assistant", "content": null })),
        delta(&json!({ "content": "Hel" })),
        delta(&json!({ "content": "lo" })),
        finish("stop"),
        json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 2 } }),
    ]);
    let outcome = read(answer).await;
    assert_eq!(outcome.deltas, ["Hel", "lo"]);
    let ModelReply { message, finish, usage } = outcome.reply();
    assert_eq!(message.content, [ContentBlock::text("Hello")]);
    assert_eq!((finish, usage), (FinishReason::Stop, Usage { input_tokens: 7, output_tokens: 2 }));
}

#[tokio::test]
async fn fragments_are_joined_by_index() {
    let calls = streamed(&[
        json!([{ "index": 0, "id": "a", "type": "function", "function": { "name": "weather", "arguments": "" } }]),
        json!([{ "index": 1, "id": "b", "type": "function", "function": { "name": "time", "arguments": "{" } }]),
        json!([{ "index": 0, "function": { "arguments": "{\"city\": " } }]),
        json!([{ "index": 1, "function": { "arguments": "}" } }, { "index": 0, "function": { "arguments": "\"Paris\"}" } }]),
    ])
    .await;
    assert_eq!(named(&calls), [("a", "weather", paris()), ("b", "time", json!({}))]);
}

#[tokio::test]
async fn a_missing_index_a_missing_type_and_a_missing_id_are_understood() {
    let calls = streamed(&[
        json!([{ "id": "a", "function": { "name": "weather", "arguments": "{\"city\":" } }]),
        json!([{ "function": { "arguments": "\"Paris\"}" } }]),
        json!([{ "id": "b", "function": { "name": "weather", "arguments": "{}" } }]),
    ])
    .await;
    assert_eq!(named(&calls), [("a", "weather", paris()), ("b", "weather", json!({}))]);

    let calls = streamed(&[
        json!([{ "index": 0, "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } }]),
        json!([{ "index": 1, "function": { "name": "weather", "arguments": "{}" } }]),
    ])
    .await;
    assert_eq!(named(&calls), [("", "weather", paris()), ("", "weather", json!({}))]);
}

#[tokio::test]
async fn whole_calls_in_one_chunk_need_neither_index_nor_id() {
    let calls = streamed(&[json!([
        { "function": { "name": "weather", "arguments": "" } },
        { "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } },
        { "function": { "name": "time", "arguments": "" } },
    ])])
    .await;
    assert_eq!(
        named(&calls),
        [("", "weather", json!({})), ("", "weather", paris()), ("", "time", json!({}))]
    );
}

#[tokio::test]
async fn index_0_for_every_parallel_call_is_told_apart_by_ids() {
    let calls = streamed(&[
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{\"city\":" } }]),
        json!([{ "index": 0, "function": { "arguments": "\"Paris\"}" } }]),
        json!([{ "index": 0, "id": "b", "function": { "name": "weather", "arguments": "{" } }]),
        json!([{ "index": 0, "function": { "arguments": "}" } }]),
    ])
    .await;
    assert_eq!(named(&calls), [("a", "weather", paris()), ("b", "weather", json!({}))]);
}

#[tokio::test]
async fn index_0_for_every_parallel_call_without_ids_is_told_apart_by_whole_arguments() {
    let calls = streamed(&[
        json!([{ "index": 0, "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } }]),
        json!([{ "index": 0, "function": { "name": "weather", "arguments": "{\"city\":\"London\"}" } }]),
        json!([{ "index": 0, "function": { "name": "time", "arguments": "{}" } }]),
    ])
    .await;
    let london = json!({ "city": "London" });
    assert_eq!(named(&calls), [("", "weather", paris()), ("", "weather", london), ("", "time", json!({}))]);
}

#[tokio::test]
async fn interleaved_fragments_with_ids_find_their_call() {
    let calls = streamed(&[
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{\"city\":" } }]),
        json!([{ "index": 0, "id": "b", "function": { "name": "time", "arguments": "{" } }]),
        json!([{ "index": 0, "id": "a", "function": { "arguments": "\"Paris\"}" } }]),
        json!([{ "index": 0, "id": "b", "function": { "arguments": "}" } }]),
    ])
    .await;
    assert_eq!(named(&calls), [("a", "weather", paris()), ("b", "time", json!({}))]);
}

#[tokio::test]
async fn a_name_repeated_in_every_fragment_is_one_name() {
    let calls = streamed(&[
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{\"city\":" } }]),
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "\"Paris\"" } }]),
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "}" } }]),
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "" } }]),
    ])
    .await;
    assert_eq!(named(&calls), [("a", "weather", paris())]);
}

#[tokio::test]
async fn a_name_in_fragments_is_joined_and_a_late_id_is_taken() {
    let calls = streamed(&[
        json!([{ "index": 0, "function": { "name": "wea" } }]),
        json!([{ "index": 0, "function": { "name": "ther" } }]),
        json!([{ "index": 0, "id": "a", "function": { "arguments": "{\"city\":\"Paris\"}" } }]),
    ])
    .await;
    assert_eq!(named(&calls), [("a", "weather", paris())]);
}

#[tokio::test]
async fn a_new_id_in_every_fragment_is_noise() {
    let calls = streamed(&[
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{\"city\":" } }]),
        json!([{ "index": 0, "id": "x", "function": { "name": "", "arguments": "\"Paris\"}" } }]),
        json!([{ "index": 0, "id": "y", "function": { "name": null, "arguments": "" } }]),
    ])
    .await;
    assert_eq!(named(&calls), [("a", "weather", paris())]);
}

#[tokio::test]
async fn whole_arguments_sent_once_more_count_once() {
    for again in ["{\"city\": \"Paris\"}", "{\"city\":\"Paris\"}"] {
        let calls = streamed(&[
            json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{\"city\":" } }]),
            json!([{ "index": 0, "function": { "arguments": " \"Paris\"}" } }]),
            json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": again } }]),
        ])
        .await;
        assert_eq!(named(&calls), [("a", "weather", paris())], "{again}");
    }
}

#[tokio::test]
async fn b12_cumulative_arguments_count_once() {
    let pieces = ["{", "{\"city\":", "{\"city\":\"Paris\"", "{\"city\":\"Paris\"}"];
    let fragments = pieces
        .map(|text| json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": text } }]));
    assert_eq!(named(&streamed(&fragments).await), [("a", "weather", paris())]);
}

#[tokio::test]
async fn b12_snapshots_of_all_calls_so_far_count_once() {
    let call = |index: usize, id: &str, arguments: &str| json!({ "index": index, "id": id, "function": { "name": "weather", "arguments": arguments } });
    let (whole, other) = ("{\"city\":\"Paris\"}", "{\"city\":\"London\"}");
    let snapshots = |a: &str, b: &str| {
        [
            json!([call(0, a, "{\"city\":")]),
            json!([call(0, a, whole)]),
            json!([call(0, a, whole), call(1, b, "")]),
            json!([call(0, a, whole), call(1, b, "{\"city\":\"Lon")]),
            json!([call(0, a, whole), call(1, b, other)]),
            json!([call(0, a, whole), call(1, b, other)]),
        ]
    };
    let london = json!({ "city": "London" });
    for (a, b) in [("a", "b"), ("", "")] {
        let calls = streamed(&snapshots(a, b)).await;
        assert_eq!(named(&calls), [(a, "weather", paris()), (b, "weather", london.clone())]);
    }
}

#[tokio::test]
async fn two_different_objects_in_a_row_are_an_invalid_call_with_both_kept() {
    let calls = streamed(&[
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } }]),
        json!([{ "index": 0, "function": { "arguments": "{\"city\":\"London\"}" } }]),
    ])
    .await;
    assert_eq!(calls[0].arguments, json!("{\"city\":\"Paris\"}{\"city\":\"London\"}"));
    assert!(calls[0].invalid.is_some());
}

#[tokio::test]
async fn arguments_may_be_an_object_or_empty_or_null() {
    let calls = streamed(&[json!([
        { "index": 0, "id": "a", "function": { "name": "weather", "arguments": { "city": "Paris" } } },
        { "index": 1, "id": "b", "function": { "name": "time", "arguments": "" } },
        { "index": 2, "id": "c", "function": { "name": "time", "arguments": null } },
        { "index": 3, "id": "d", "function": { "name": "time" } },
    ])])
    .await;
    let none = json!({});
    assert_eq!(
        named(&calls),
        [
            ("a", "weather", paris()),
            ("b", "time", none.clone()),
            ("c", "time", none.clone()),
            ("d", "time", none)
        ]
    );
}

#[tokio::test]
async fn the_same_shapes_are_understood_in_a_whole_reply() {
    let message = json!({ "role": "assistant", "content": "", "tool_calls": [
        { "id": "a", "type": "function", "function": { "name": "weather", "arguments": { "city": "Paris" } } },
        { "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } },
        { "id": "c", "function": { "name": "time", "arguments": "" } },
        { "id": "d", "function": { "name": "time", "arguments": "{\"zone\": " } },
    ] });
    let reply = read(completion(&message, "stop")).await.reply();
    let calls = &reply.message.tool_calls;
    assert_eq!(
        named(&calls[..3]),
        [("a", "weather", paris()), ("", "weather", paris()), ("c", "time", json!({}))]
    );
    assert_eq!(calls[3].arguments, json!("{\"zone\": "));
    assert!(calls[3].invalid.as_ref().unwrap().contains("end in the middle"), "{:?}", calls[3].invalid);
    assert_eq!(reply.finish, FinishReason::ToolCalls, "calls decide, not the finish reason");
}

#[tokio::test]
async fn a3_text_that_is_no_json_makes_an_invalid_call_with_the_raw_text_kept() {
    let calls = streamed(&[
        json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "city=" } }]),
        json!([{ "index": 0, "function": { "arguments": "Paris" } }]),
    ])
    .await;
    assert_eq!(calls[0].arguments, json!("city=Paris"));
    assert!(calls[0].invalid.as_ref().unwrap().contains("not valid JSON"));
}

#[test]
fn a8_the_guide_says_how_invalid_calls_come_about() {
    let guide = include_str!("../../../tinyagents/docs/openai.md");
    let section =
        guide.split("\n# ").find(|section| section.starts_with("Arguments that are not JSON\n")).unwrap();
    assert!(
        section.contains("ToolCall::from_text")
            && section.contains("truncated: the reply hit the token limit")
    );
}

#[tokio::test]
async fn the_token_limit_makes_the_last_call_and_every_unreadable_one_invalid() {
    let truncated = Some("truncated: the reply hit the token limit; send a smaller payload".to_owned());
    let fragments = json!([
        { "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } },
        { "index": 1, "id": "b", "function": { "name": "weather", "arguments": "{\"city\":" } },
        { "index": 2, "id": "c", "function": { "name": "weather", "arguments": "{\"city\":\"Paris\"}" } },
    ]);
    let whole = completion(&json!({ "content": null, "tool_calls": fragments }), "length");
    for answer in [stream(&[calls(&fragments), finish("length")]), whole] {
        let reply = read(answer).await.reply();
        assert_eq!(reply.finish, FinishReason::Length);
        let calls = reply.message.tool_calls;
        assert_eq!((&calls[0].arguments, &calls[0].invalid), (&paris().into(), &None));
        assert_eq!((calls[1].arguments.clone(), &calls[1].invalid), (json!("{\"city\":").into(), &truncated));
        assert_eq!(
            (calls[2].arguments.clone(), &calls[2].invalid),
            (json!("{\"city\":\"Paris\"}").into(), &truncated)
        );
    }
}

#[tokio::test]
async fn a_reply_that_the_provider_broke_off_has_no_trusted_last_call() {
    let fragments = json!([
        { "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{}" } },
        { "index": 1, "id": "b", "function": { "name": "weather", "arguments": "{}" } },
    ]);
    for (reason, expected) in [
        ("content_filter", FinishReason::ContentFilter),
        ("error", FinishReason::Other("error".into())),
        ("insufficient_system_resource", FinishReason::Other("insufficient_system_resource".into())),
        ("model_length", FinishReason::Length),
    ] {
        let reply = read(stream(&[calls(&fragments), finish(reason)])).await.reply();
        assert_eq!(reply.finish, expected);
        let trusted: Vec<bool> = reply.message.tool_calls.iter().map(|call| call.invalid.is_none()).collect();
        assert_eq!(trusted, [true, false], "{reason}");
    }
    let reply = read(stream(&[calls(&fragments), finish("eos")])).await.reply();
    assert_eq!(reply.finish, FinishReason::ToolCalls, "a word for a good end that is not known");
    assert!(reply.message.tool_calls.iter().all(|call| call.invalid.is_none()));
}

#[tokio::test]
async fn an_orphan_fragment_and_a_call_without_a_name_are_errors() {
    for (fragments, words) in [
        (json!([{ "index": 0, "function": { "arguments": "{}" } }]), "belongs to no call"),
        (json!([{ "function": { "arguments": "{}" } }]), "belongs to no call"),
        (json!([{ "index": 0, "id": "a", "function": { "arguments": "{}" } }]), "has no name"),
    ] {
        let error = read(stream(&[calls(&fragments), finish("tool_calls")])).await.error();
        assert!(matches!(&error, ModelError::Protocol { reason, .. } if reason.contains(words)), "{error}");
    }
    let other = [
        calls(&json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{}" } }])),
        calls(&json!([{ "index": 1, "function": { "arguments": "{}" } }])),
    ];
    assert!(matches!(read(stream(&other)).await.error(), ModelError::Protocol { .. }));
}

#[tokio::test]
async fn content_parts_refusals_and_reasoning_are_read() {
    let parts = json!({ "content": [
        { "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] },
        { "type": "text", "text": "Hel" }, { "type": "text", "text": "lo" },
    ] });
    let thought = |text: &str| ContentBlock::Reasoning { text: text.into() };
    let reply = read(completion(&parts, "stop")).await.reply();
    assert_eq!(reply.message.content, [thought("Hm."), ContentBlock::text("Hello")]);

    let refusal = json!({ "content": null, "refusal": "I will not." });
    let reply = read(completion(&refusal, "stop")).await.reply();
    assert_eq!(reply.message.content, [ContentBlock::text("I will not.")]);

    for field in ["reasoning_content", "reasoning"] {
        let answer = stream(&[
            delta(&json!({ field: "Let me " })),
            delta(&json!({ field: "see." })),
            delta(&json!({ "content": "Hello" })),
            finish("stop"),
        ]);
        let outcome = read(answer).await;
        assert_eq!(outcome.deltas, ["Hello"], "reasoning is no text");
        assert_eq!(outcome.reply().message.content, [thought("Let me see."), ContentBlock::text("Hello")]);
    }
}

#[tokio::test]
async fn comments_blank_events_and_every_line_ending_are_understood() {
    let body = "\u{feff}: keep-alive\r\n\r\nevent: message\rdata: {\"choices\":[{\"delta\":\r\ndata:{\"content\":\"Hé\"}}]}\r\n\r\n\
                data:\n\nid: 7\nretry: 10\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n: bye\n\ndata: [DONE]\n\n";
    assert_eq!(read(pieces(&[body.as_bytes()])).await.reply().message.content, [ContentBlock::text("Hé")]);
}

#[tokio::test]
async fn a_finish_reason_or_done_ends_a_reply_and_one_is_enough() {
    let text = delta(&json!({ "content": "Hello" }));
    let without_done = events(&[text.clone(), finish("stop")]);
    let without_finish = format!("{}data: [DONE]\n\n", events(std::slice::from_ref(&text)));
    let without_blank_line = events(&[text.clone(), finish("stop")]).trim_end().to_owned();
    for body in [without_done, without_finish, without_blank_line] {
        let reply = read(pieces(&[body.as_bytes()])).await.reply();
        assert_eq!(reply.message.content, [ContentBlock::text("Hello")], "{body}");
        assert_eq!(reply.finish, FinishReason::Stop);
    }
}

#[tokio::test]
async fn the_answer_decides_whether_it_is_a_stream() {
    let server = Server::start(vec![
        completion(&json!({ "content": "whole" }), "stop"),
        stream(&[delta(&json!({ "content": "streamed" })), finish("stop")]),
    ])
    .await;
    let outcome = ask(&server.model(), &hello()).await;
    assert_eq!(outcome.deltas, ["whole"]);
    assert_eq!(outcome.reply().message.content, [ContentBlock::text("whole")]);
    let outcome = ask(&server.model().streaming(false), &hello()).await;
    assert_eq!(outcome.reply().message.content, [ContentBlock::text("streamed")]);
}

#[tokio::test]
async fn only_the_first_choice_is_the_reply() {
    let answer = stream(&[
        json!({ "choices": [{ "index": 1, "delta": { "content": "other" } }, { "index": 0, "delta": { "content": "this" } }] }),
        finish("stop"),
    ]);
    assert_eq!(read(answer).await.reply().message.content, [ContentBlock::text("this")]);
}

#[tokio::test]
async fn how_the_bytes_are_cut_never_changes_the_reply() {
    let mut body = ": hi\r\n\r\n".to_owned();
    body += &events(&[
        delta(&json!({ "content": "Grüße, " })),
        delta(&json!({ "content": "世界 🌍" })),
        calls(
            &json!([{ "index": 0, "id": "a", "function": { "name": "weather", "arguments": "{\"city\":" } }]),
        ),
        calls(&json!([{ "index": 0, "function": { "arguments": "\"Zürich\"}" } }])),
    ])
    .replace("\n\n", "\r\n\r\n");
    body += &events(&[finish("tool_calls")]);
    body += "data: [DONE]\n\n";
    let bytes = body.as_bytes();
    let answers = (0..=bytes.len()).map(|at| pieces(&[&bytes[..at], &bytes[at..]])).collect();
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    let server = Server::start(answers).await;
    let (model, request) = (server.model(), hello());
    let first = ask(&model, &request).await;
    assert_eq!(first.deltas, ["Grüße, ", "世界 🌍"]);
    let first = first.reply();
    assert_eq!(named(&first.message.tool_calls), [("a", "weather", json!({ "city": "Zürich" }))]);
    for at in 1..=bytes.len() {
        assert_eq!(ask(&model, &request).await.reply(), first, "cut at byte {at}");
    }
    assert_eq!(read(pieces(&single)).await.reply(), first, "every byte by itself");
}
