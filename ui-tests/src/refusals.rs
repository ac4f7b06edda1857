//! What `#[tool]` promises to refuse, each with the programs that show it and words of the answer: the list cannot
//! drift from the programs.

use std::fs;
use std::path::Path;

/// A promise; a program; words of its answer.
const REFUSED: &[(&str, &str, &str)] = &[
    ("a name that is not ASCII", "names/not_ascii", "write one in ASCII"),
    ("a name that is not snake_case", "names/not_snake_case", "is not snake_case"),
    ("a name of more than 64 bytes", "names/too_long", "at most 64"),
    ("a name that begins with a digit", "names/leading_digit", "not beginning with a digit"),
    ("no description", "docs/no_description", "has no description"),
    ("a description of more than 1024 characters", "docs/too_long", "at most 1024"),
    ("a pattern as a parameter", "args/pattern", "write a plain name here"),
    ("`self` without `#[tools]`", "methods/m05_without_tools", "needs `#[tools]` on its impl block"),
    ("`impl Trait`", "args/impl_trait", "one concrete type in place of `impl Trait`"),
    ("a generic type parameter", "generics/type_parameter", "generic tools are not supported"),
    ("`dyn` as a parameter", "args/trait_object", "a trait object cannot be read from JSON"),
    ("a variadic function", "generics/variadic", "in place of `...`"),
    ("an `unsafe fn`", "generics/kinds_of_function", "cannot uphold the promises"),
    ("a `const fn`", "generics/kinds_of_function", "cannot be a `const fn`"),
    ("an `extern fn`", "generics/kinds_of_function", "remove `extern`"),
    ("a parameter without a schema", "args/no_schema", "cannot be a parameter that the model chooses"),
    ("an injectable type without `#[inject]`", "inject/forgotten", "this looks like a runtime value"),
    ("`#[inject]` of what the state does not have", "inject/not_provided", "does not provide `Index`"),
    ("the same in a set", "sets/not_provided", "does not provide `Index`"),
    ("`#[inject]` of what nothing makes", "inject/not_injectable", "cannot be injected into a tool"),
    ("`#[inject]` together with `#[arg]`", "inject/with_arg", "keep one of the two"),
    ("optional before required by position", "args/optional_before_required", "move `query` before `limit`"),
    (
        "`read_only` with an effect that writes",
        "policy/read_only_that_writes",
        "`read_only` says that nothing does",
    ),
    ("`retries` alone", "policy/retries_without_idempotent", "add `idempotent`"),
    ("`inline` on an `async fn`", "async/inline", "remove `inline`"),
    ("a timeout that does not parse", "policy/bad_timeouts", "is not a time"),
    ("a timeout of zero", "policy/bad_timeouts", "a timeout of zero"),
    ("a timeout on an `inline` tool", "policy/timeout_on_inline", "nothing can interrupt"),
    ("sandbox \"required\" with workspace \"any\"", "policy/sandbox_with_any", "cannot reach everything"),
    ("two parameters with one name", "args/one_name_twice", "two parameters are named"),
    ("a return type that is no output", "async/no_output", "cannot be the result of a tool"),
    ("an error that has no text", "async/error_without_a_text", "cannot be the error of a tool"),
    ("a future that is not `Send`", "async/not_send", "future cannot be sent between threads safely"),
    ("`# Arguments` that names no parameter", "docs/drifted_arguments", "`# Arguments` names"),
    ("a name like a credential's", "args/credential", "looks like a credential"),
    (
        "`#[tools]` on a generic impl",
        "methods/generic_block",
        "the tools of a generic type are not known here",
    ),
    ("two tools of one name in a set", "sets/one_name_twice", "has the same name as"),
    ("an unknown word", "policy/unknown_word", "did you mean `read_only`?"),
    ("a doubled word", "args/doubled_word", "stands here twice"),
    ("`#[serde]` on a parameter", "args/foreign_attribute", "no derive reads `#[serde]`"),
    ("`flatten` by position", "args/flattened_by_position", "tells parameters by position"),
    ("a default outside its own range", "args/default_outside_its_range", "outside its own range"),
    ("`ChildRuns` without `recursive`", "inject/child_runs_without_recursive", "add `recursive`"),
];

#[test]
fn every_promise_has_its_program() {
    for (promise, program, words) in REFUSED {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fail/{program}.stderr"));
        let answer = fs::read_to_string(&path);
        let kept = answer.as_ref().is_ok_and(|answer| answer.contains(words));
        assert!(kept, "{promise}: fail/{program}.rs should be answered with: {words}");
    }
}
