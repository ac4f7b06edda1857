//! A tuple struct has no named parts.

use tinyagents::prelude::*;

#[derive(ToolState)]
struct App(String, u8);

fn main() {}
