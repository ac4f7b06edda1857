//! How a tool is shown; p-type carries the parameters in order, without the injected ones.

use tinyagents::harness::tool::ToolFormat;
use tinyagents::prelude::*;

/// By default.
#[tool]
async fn json_tool(a: u8) -> u8 {
    a
}

/// As tags.
#[tool(format = "xml")]
async fn xml_tool(a: u8) -> u8 {
    a
}

/// By position.
#[tool(format = "ptype")]
async fn ptype_tool(query: String, #[inject] n: &u8, #[arg(default = 5)] limit: u32, note: Option<String>) -> String {
    format!("{query}{n}{limit}{note:?}")
}

fn main() {
    assert_eq!(JsonTool::spec().format, ToolFormat::Json);
    assert_eq!(XmlTool::spec().format, ToolFormat::Xml);
    let parameters = vec!["query".to_string(), "limit".into(), "note".into()];
    assert_eq!(PtypeTool::spec().format, ToolFormat::PType { parameters });
    assert_eq!(PtypeTool::PARAMETERS, ["query", "limit", "note"]);
}
