//! A recursive tool starts runs within its call

use tinyagents::prelude::*;

/// Ask another agent.
#[tool(recursive)]
async fn ask(question: String, #[inject] runs: ChildRuns) -> tinyagents::Result<Option<String>> {
    let agent = SubAgent::new("expert", "Knows.").with_tools(["look"]);
    let run = runs.run(&agent, vec![Message::user(question)]).await?;
    Ok(run.answer())
}

fn main() {
    assert!(Tool::<()>::is_recursive(&Ask));
    assert_eq!(Ask::PARAMETERS, ["question"]);
    let injected = &Ask::spec().injected[0];
    assert_eq!((injected.name.as_str(), injected.kind.as_str()), ("runs", "ChildRuns"));
}
