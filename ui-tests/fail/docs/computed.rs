//! A macro cannot read a computed comment.

use tinyagents::prelude::*;

#[doc = concat!("Does ", "a thing.")]
#[tool]
async fn take() {}

fn main() {}
