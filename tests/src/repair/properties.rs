//! What holds of every repair, whatever a model sends.

use proptest::prelude::*;
use serde_json::{Value, json};
use tinyagents::harness::context::ArgumentRepair;
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::tool::Validation;

use super::{call_as, policy};

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("5".to_string()),
        Just("4.0".into()),
        Just("true".into()),
        Just("null".into()),
        Just("[1, \"2\"]".into()),
        Just("{\"n\": \"7\"}".into()),
        Just(" Celsius".into()),
        Just(String::new()),
        "[a-z0-9 {\\[\"]{0,6}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop_oneof![
            Just("n"),
            Just("N"),
            Just("s"),
            Just("l"),
            Just("-l"),
            Just("o"),
            Just("e"),
            Just("x"),
            Just("f")
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(k, v)| (k.to_string(), v)).collect()
            )),
        ]
    })
}

fn any_schema() -> Value {
    let inner = json!({
        "n": { "type": "integer" },
        "s": { "type": "string" },
        "f": { "type": "number" },
        "e": { "type": "string", "enum": ["celsius", "kelvin"] },
        "l": { "type": "array", "items": { "type": "integer" } },
        "x": { "anyOf": [{ "type": "boolean" }, { "type": "array", "items": { "type": "string" } }] }
    });
    let mut outer = inner.clone();
    outer["o"] = json!({ "type": "object", "properties": inner });
    json!({ "type": "object", "properties": outer, "required": ["s"], "additionalProperties": false })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// What was repaired is valid, needs no second repair, and a call that is valid is not touched.
    #[test]
    fn repair_is_idempotent_and_never_touches_a_valid_call(value in any_json()) {
        let rt = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let run = |repair, value: &Value| {
            let call = ToolCall::new("c", "t", value.clone());
            rt.block_on(call_as(policy(repair), &any_schema(), Validation::Declared, call))
        };
        let off = run(ArgumentRepair::Off, &value);
        let on = run(ArgumentRepair::On, &value);
        if let Ok(valid) = &off.got {
            prop_assert_eq!(on.got.as_ref(), Ok(valid));
            prop_assert_eq!(&on.steps, &[]);
        }
        if let Ok(once) = &on.got {
            let again = run(ArgumentRepair::On, once);
            prop_assert_eq!(again.got.as_ref(), Ok(once));
            prop_assert_eq!(&again.steps, &[]);
            let unaided = run(ArgumentRepair::Off, once);
            prop_assert_eq!(unaided.got.as_ref(), Ok(once));
        }
    }
}
