//! The one door from text to arguments, beside a reader that knows nothing of it.

use proptest::prelude::*;
use tinyagents::harness::message::{ArgumentsError, parse_arguments};
use tinyagents::serde_json::{self, Value, json};

/// A text of one JSON value, with the spaces and escapes that a model might write. Keys may stand twice.
fn json_text() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has no others", |number| number.is_finite())
            .prop_map(|n| format!("{n:e}")),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
    ];
    let text = prop::collection::vec(
        prop_oneof![
            4 => "[ -!#-\\[\\]-~]{0,6}",
            1 => Just("\\n\\\"\\\\\\/".to_string()),
            1 => Just("é✓🦀".to_string()),
            1 => "\\\\u[0-9a-fA-F]{4}",
            1 => Just("\\ud83e\\udd80".to_string()),
        ],
        0..3,
    )
    .prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    let key = prop_oneof![3 => "\"[a-d]\"", 1 => text.clone()];
    let leaf = prop_oneof![number, text, "true|false|null", "\\[\\]|\\{\\}"];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let space = "[ \t\n\r]{0,2}";
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), space)
                .prop_map(|(items, space)| format!("[{space}{}{space}]", items.join(&format!("{space},")))),
            (prop::collection::vec((key.clone(), inner), 0..4), space).prop_map(|(entries, space)| {
                let entries: Vec<_> =
                    entries.iter().map(|(key, value)| format!("{key}{space}:{value}")).collect();
                format!("{{{space}{}}}", entries.join(&format!(",{space}")))
            }),
        ]
    })
}

/// A text with something done to it, at a place that is a character's.
fn broken(text: &str, how: u8, at: prop::sample::Index, piece: &str) -> String {
    let places: Vec<usize> = text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
    let place = *at.get(&places);
    let (before, after) = text.split_at(place);
    match how % 4 {
        0 => text.to_string(),
        1 => before.to_string(),
        2 => format!("{before}{piece}{after}"),
        _ => format!("{before}{}", after.chars().skip(1).collect::<String>()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    #[test]
    fn what_is_read_is_what_the_text_says(
        text in json_text(),
        how in any::<u8>(),
        at in any::<prop::sample::Index>(),
        piece in "[\\]\\[{}\":,0-9a-z\\\\ ]{1,3}",
    ) {
        let text = broken(&text, how, at, &piece);
        let reference = serde_json::from_str::<Value>(&text);
        match (parse_arguments(&text), reference) {
            (Ok(read), _) if read.had_lone_surrogate() => prop_assert!(text.contains("\\u"), "{text}"),
            (Ok(read), Ok(reference)) => prop_assert_eq!(&*read, &reference, "{}", text),
            (Ok(read), Err(_)) => {
                prop_assert!(text.trim().is_empty(), "{text} was read as {read}");
                prop_assert_eq!(&*read, &json!({}));
            }
            // What only the door refuses is a key that stands twice, whose last value the other reader takes.
            (Err(ArgumentsError::NotJson { reason }), Ok(_)) => {
                prop_assert!(reason.contains("appears twice"), "{text}: {reason}");
            }
            (Err(error), Ok(_)) => prop_assert!(false, "{text}: {error}"),
            (Err(error), Err(_)) => {
                let is_prefix = matches!(error, ArgumentsError::Truncated { .. });
                prop_assert!(!is_prefix || how % 4 != 0, "{text}: {error}");
            }
        }
    }

    #[test]
    fn no_bytes_stop_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = parse_arguments(&text) {
            prop_assert!(error.to_string().len() < 1_000, "{error}");
        }
    }
}

#[test]
fn text_without_measure_is_refused_or_read_and_never_stops_the_program() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse_arguments(&deep(127)).is_ok());
    for depth in [128, 100_000, 5_000_000] {
        let error = parse_arguments(&deep(depth)).unwrap_err().to_string();
        assert!(error.len() < 300, "{error}");
    }
    assert!(parse_arguments(&"[".repeat(1_000_000)).is_err());
    assert!(parse_arguments(&"{\"a\":".repeat(1_000_000)).is_err());

    let wide: Vec<_> = (0..200_000).map(|key| format!("\"{key}\":{key}")).collect();
    assert_eq!(parse_arguments(&format!("{{{}}}", wide.join(","))).unwrap()["199999"], 199_999);
    let long = "x".repeat(20_000_000);
    assert_eq!(parse_arguments(&format!("{{\"a\":\"{long}\"}}")).unwrap()["a"], long.as_str());
    let surrogates = "\\ud800".repeat(1_000_000);
    let read = parse_arguments(&format!("[\"{surrogates}\"]")).unwrap();
    assert_eq!(read[0].as_str().unwrap().chars().count(), 1_000_000);

    // What is said of a key does not grow with the key.
    let error = parse_arguments(&format!("{{\"{long}\":1,\"{long}\":2}}")).unwrap_err().to_string();
    assert!(error.len() < 1_000, "{}", error.len());
}
