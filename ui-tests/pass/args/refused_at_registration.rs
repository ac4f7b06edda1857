//! What only values and types tell is refused when the tool is registered, with the reason and the way out.

#![allow(unused_variables)]

use std::collections::HashMap;

use tinyagents::harness::tool::ToolRegistry;
use tinyagents::prelude::*;
use tinyagents::schemars::JsonSchema;
use tinyagents::serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Account {
    name: String,
    logins: Vec<Login>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Login {
    password: String,
}

type Text = String;
type Number = u32;
type Texts = Vec<String>;
const LIMIT: u32 = 60;

/// A range of a text.
#[tool]
fn range_of_a_text(#[arg(range = 1..)] text: Text) {}

/// A length of a number.
#[tool]
fn length_of_a_number(#[arg(len = 1..)] number: Number) {}

/// A pattern of a list.
#[tool]
fn pattern_of_a_list(#[arg(pattern = "a")] texts: Texts) {}

/// Values of a list.
#[tool]
fn values_of_a_list(#[arg(one_of = ["a"])] texts: Texts) {}

/// A default.
#[tool]
fn outside(#[arg(default = LIMIT, range = ..=50)] limit: u32) {}

/// An example.
#[tool]
fn odd_example(#[arg(example = "x", len = 2..)] text: String) {}

/// A value.
#[tool]
fn odd_value(#[arg(one_of = [1, 2])] text: String) {}

/// A secret.
#[tool]
fn secret(account: Account) {}

/// No secret.
#[tool]
fn no_secret(#[arg(not_secret)] account: Account) {}

/// A map.
#[tool]
fn map(#[arg(flatten)] map: HashMap<String, u8>) {}

/// A text.
#[tool]
fn flat_text(#[arg(flatten)] text: String) {}

/// A clash.
#[tool]
fn clash(name: String, #[arg(flatten, not_secret)] account: Account) {}

/// A clash with what the run gives.
#[tool]
fn hidden(#[arg(flatten, not_secret)] account: Account, #[inject] name: RunId) {}

fn refused(tool: impl Tool<()> + 'static) -> String {
    ToolRegistry::<()>::new().register(tool).unwrap_err().to_string()
}

fn main() {
    assert_eq!(
        refused(RangeOfAText),
        "tool `range_of_a_text`: parameter `text`: its `range` bounds numbers, and this is shown as `string`; use `len`, \
         or `one_of`, or remove it"
    );
    assert_eq!(
        refused(LengthOfANumber),
        "tool `length_of_a_number`: parameter `number`: its `len` bounds texts, lists and maps, and this is shown as \
         `integer`; use `range`, or remove it"
    );
    assert_eq!(
        refused(PatternOfAList),
        "tool `pattern_of_a_list`: parameter `texts`: its `pattern` describes texts, and this is shown as `array`; take a \
         `String`, or remove it"
    );
    assert_eq!(
        refused(ValuesOfAList),
        "tool `values_of_a_list`: parameter `texts`: its `one_of` lists the values of the parameter itself, and this is \
         shown as `array`; take a list of an enum type instead"
    );
    assert_eq!(
        refused(Outside),
        "tool `outside`: parameter `limit`: its `default` is not what it declares: expected a number between 0 and 50, got \
         60; change one of the two"
    );
    assert_eq!(
        refused(OddExample),
        "tool `odd_example`: parameter `text`: its `example` is not what it declares: expected at least 2 characters, got \
         1 characters; change one of the two"
    );
    assert!(
        refused(OddValue).contains("its `one_of` is not what it declares: expected string, got integer 1")
    );
    assert_eq!(
        refused(Secret),
        "tool `secret`: parameter `account`: its field `account.logins.password` looks like a credential, which a model \
         must neither see nor choose; take it from the state with `#[inject]`, rename the field for what it is, or write \
         `#[arg(not_secret)]` before the parameter"
    );
    assert!(ToolRegistry::<()>::new().register(NoSecret).is_ok());
    let flatten = "`flatten` needs a struct with named fields, and";
    assert!(
        refused(Map).contains(&format!("{flatten} `std::collections::hash::map::HashMap<")),
        "{}",
        refused(Map)
    );
    assert!(refused(FlatText).contains(&format!("{flatten} `alloc::string::String` is not shown as one")));
    let clash =
        "parameter `account`: its field `name` has the name of another parameter; rename one of the two";
    assert_eq!(refused(Clash), format!("tool `clash`: {clash}"));
    assert_eq!(refused(Hidden), format!("tool `hidden`: {clash}"));
}
