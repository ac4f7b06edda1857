//! Two blocks of one type, each with a set of its own name and visibility.

use std::sync::Arc;

use tinyagents::prelude::*;

mod github {
    use tinyagents::prelude::*;

    pub struct GitHub;

    #[tools]
    impl GitHub {
        /// Count the issues.
        #[tool(read_only)]
        pub async fn issues(&self) -> u8 {
            3
        }

        /// Count the branches.
        #[tool(read_only)]
        async fn branches(&self) -> u8 {
            4
        }
    }

    #[tools(pub(crate) fn admin_tools)]
    impl GitHub {
        /// Delete the repository.
        #[tool(destructive)]
        async fn delete(&self) {}
    }
}

fn main() {
    let github = Arc::new(github::GitHub);
    // As visible as the most visible of its tools.
    let reading: Toolset<()> = github.tools();
    let writing: Toolset<()> = github.admin_tools();
    assert_eq!((reading.len(), writing.len()), (2, 1));
    assert_eq!(github::GitHubIssues::NAME, "issues");
}
