//! Underscores before, between and behind the words of a name are kept for the model.

use tinyagents::prelude::*;

/// Before.
#[tool]
fn _before() {}

/// Between.
#[tool(name = "two__between")]
fn two_between() {}

/// Behind.
#[tool]
fn behind_() {}

/// Nothing else but a digit.
#[tool(name = "_7")]
fn seven() {}

fn main() {
    assert_eq!([Before::NAME, TwoBetween::NAME, Behind::NAME, Seven::NAME], ["_before", "two__between", "behind_", "_7"]);
}
