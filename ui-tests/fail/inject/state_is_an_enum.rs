//! Only a struct with named fields has parts to lend.

use tinyagents::prelude::*;

#[derive(ToolState)]
enum App {
    One,
}

#[derive(ToolState)]
struct Pair(u8, u16);

fn main() {}
