//! Only a recursive tool starts nested runs

use tinyagents::prelude::*;

struct ChildRuns;

/// Ask another agent.
#[tool]
async fn ask(question: String, #[inject] runs: ChildRuns) -> String {
    let ChildRuns = runs;
    question
}

fn main() {}
