//! What is asked of a feature that is off is refused, and the text says how to switch it on.
//!
//! The workspace as a whole is tested with every feature; `.ci/run` runs this file without any.

#![cfg(not(feature = "full-validation"))]
#![allow(missing_docs, clippy::unwrap_used)]

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
