//! A block of methods gives one set; each tool holds the receiver, and other methods stay as they are.

use std::sync::Arc;

use tinyagents::prelude::*;
use tinyagents::testkit;

struct GitHub {
    owner: String,
}

#[tools]
impl GitHub {
    /// What is no tool.
    fn full(&self, repo: &str) -> String {
        format!("{}/{repo}", self.owner)
    }

    /// Count the issues.
    #[tool(read_only)]
    async fn issues(&self, repo: String) -> String {
        format!("{} has 3", self.full(&repo))
    }

    /// Close an issue.
    ///
    /// # Arguments
    ///
    /// * `number` - which
    #[tool(external_service, name = "close_issue")]
    fn close(self: &Arc<Self>, repo: &str, number: u32, #[inject] app: &App) -> Result<String, ToolError> {
        Ok(format!("{} closed {number} for {}", self.full(repo), app.user))
    }

    /// Read a file.
    #[tool(read_only)]
    async fn read(self: Arc<Self>, #[arg(default = Self::MAIN.to_string())] path: String, #[inject] id: ToolCallId) -> String {
        format!("{}:{path}:{id}", self.owner)
    }

    /// Says that it works.
    #[tool(inline, read_only)]
    fn ping() -> &'static str {
        "pong"
    }

    const MAIN: &'static str = "main.rs";
}

#[derive(Clone)]
struct App {
    user: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tinyagents::Result<()> {
    assert_eq!(GitHubIssues::NAME, "issues");
    assert_eq!(GitHubClose::NAME, "close_issue");
    assert_eq!(GitHubClose::PARAMETERS, ["repo", "number"]);
    assert_eq!(GitHubClose::spec().input_schema["properties"]["number"]["description"], "which");
    assert_eq!(GitHubRead::spec().input_schema["properties"]["path"]["default"], "main.rs");
    assert!(GitHubIssues::policy().is_read_only() && !GitHubClose::policy().is_read_only());
    assert_eq!(GitHubClose::spec().injected[0].kind, "state");

    let github = Arc::new(GitHub { owner: "rust".into() });
    let mut harness: AgentHarness<App> = AgentHarness::new();
    harness.register_tools(github.tools())?;
    let names: Vec<_> = harness.tools().names().map(|name| name.to_string()).collect();
    assert_eq!(names, ["issues", "close_issue", "read", "ping"]);

    let app = App { user: "ada".into() };
    let issues = GitHubIssues(Arc::clone(&github));
    assert_eq!(format!("{:?}", issues.clone()), "GitHubIssues");
    let text = |result: ToolResult| result.content.iter().map(said).collect::<String>();
    assert_eq!(text(testkit::call(&issues, &app, json!({ "repo": "book" })).await?), "rust/book has 3");
    let close = GitHubClose(Arc::clone(&github));
    let result = testkit::call(&close, &app, json!({ "repo": "book", "number": 7 })).await?;
    assert_eq!(text(result), "rust/book closed 7 for ada");
    assert!(close_is_blocking(&close) && !close_is_blocking(&GitHubPing));
    assert!(text(testkit::call(&GitHubRead(github), &app, json!({})).await?).starts_with("rust:main.rs:"));
    assert_eq!(text(testkit::call(&GitHubPing, &app, json!({})).await?), "pong");
    Ok(())
}

fn said(block: &ContentBlock) -> &str {
    match block {
        ContentBlock::Text { text } => text,
        _ => "",
    }
}

fn close_is_blocking(tool: &impl Tool<App>) -> bool {
    tool.is_blocking()
}
