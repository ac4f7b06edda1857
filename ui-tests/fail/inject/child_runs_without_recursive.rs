//! Only a recursive tool starts nested runs

use tinyagents::prelude::*;

/// Ask another agent.
#[tool]
async fn ask(question: String, #[inject] runs: ChildRuns) -> String {
    drop(runs);
    question
}

fn main() {}
