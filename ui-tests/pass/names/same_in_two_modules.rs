//! Two modules may each have a tool of one name; only one harness may not.

use tinyagents::prelude::*;

mod files {
    /// Search files.
    #[tinyagents::tool]
    pub fn search(path: String) -> String {
        path
    }
}

mod web {
    /// Search the web.
    #[tinyagents::tool]
    pub fn search(url: String) -> String {
        url
    }
}

fn main() {
    assert_eq!((files::Search::NAME, files::Search::PARAMETERS), ("search", &["path"][..]));
    assert_eq!((web::Search::NAME, web::Search::PARAMETERS), ("search", &["url"][..]));
    let mut registry: ToolRegistry<()> = ToolRegistry::new();
    registry.register(files::Search).unwrap();
    assert!(registry.register(web::Search).is_err());
}
