//! What is asked of a feature that is off is refused, and the text says how to switch it on. What another crate of a
//! program switches on changes nothing.
//!
//! The workspace as a whole is tested with every feature; `.ci/run` runs this file without any, and with serde_json's
//! `arbitrary_precision`.

#![cfg(not(feature = "full-validation"))]
#![allow(missing_docs, clippy::unwrap_used)]

use tinyagents::harness::message::parse_arguments;
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::{Arguments, DynTool, ToolError, ToolRegistry, Validation, Validator};
use tinyagents::serde_json::json;

#[test]
fn full_validation_without_its_feature_is_refused_by_name() {
    let schema = json!({ "type": "object" });
    let error = Validator::compile(&schema, Validation::Full).unwrap_err();
    for words in ["`Validation::Full`", "the feature `full-validation`", "`Validation::Subset`"] {
        assert!(error.reason.contains(words), "{error}");
    }
    let body = |_: Arguments, _| async { Ok::<_, ToolError>("done") };
    let tool =
        DynTool::new("outside", schema, ToolPolicy::read_only(), body).with_validation(Validation::Full);
    let mut registry: ToolRegistry<()> = ToolRegistry::new();
    let refused = registry.register_external(tool).unwrap_err().to_string();
    assert_eq!(refused, format!("tool `outside`: {error}"));
    assert!(registry.is_empty());
}

#[test]
fn numbers_are_read_alike_whatever_serde_json_is_built_with() {
    for (text, value) in [
        ("1.5", json!(1.5)),
        ("-0.25e1", json!(-2.5)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
    ] {
        let read = parse_arguments(&format!("{{\"v\": [{text}]}}")).unwrap();
        assert_eq!(read["v"][0], value, "{text}");
        assert_eq!(read["v"][0].is_f64(), value.is_f64(), "{text}");
    }
    assert!(parse_arguments("[1e400]").unwrap_err().to_string().contains("out of range"));
}
