//! What each provider would be shown of a few tools, without asking one: `cargo run --example explain`.

mod tools;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use tinyagents::harness::tool::dialect::SchemaDialect;
use tinyagents::prelude::*;
use tinyagents::serde_json;

/// Shows what a provider would be sent of this program's tools, what is lost on the way, and what the rules decide.
#[derive(Debug, Parser)]
#[command(name = "explain")]
struct Options {
    /// The dialect, such as openai-strict or gemini
    #[arg(long, value_name = "NAME", default_value = "openai-strict")]
    dialect: String,
    /// Write JSON, with the whole schemas
    #[arg(long)]
    json: bool,
    /// List the dialects
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        // A reader that has seen enough is no failure.
        Ok(text) => writeln!(io::stdout(), "{text}").map_or(ExitCode::SUCCESS, |()| ExitCode::SUCCESS),
        Err(error) => {
            writeln!(io::stderr(), "explain: {error}").map_or(ExitCode::FAILURE, |()| ExitCode::FAILURE)
        }
    }
}

fn run(options: &Options) -> std::result::Result<String, Box<dyn std::error::Error>> {
    let dialects = SchemaDialect::all();
    let names: Vec<_> = dialects.iter().map(|dialect| dialect.name).collect();
    if options.list {
        return Ok(names.join("\n"));
    }
    let Some(dialect) = dialects.iter().find(|dialect| dialect.name == options.dialect) else {
        return Err(format!("no dialect `{}`; there are: {}", options.dialect, names.join(", ")).into());
    };
    let explanation = harness()?.explain(dialect);
    Ok(if options.json { serde_json::to_string_pretty(&explanation)? } else { explanation.to_string() })
}

fn harness() -> tinyagents::Result<AgentHarness<()>> {
    let mut harness = AgentHarness::new();
    harness.register_tool(tools::SearchNotes)?;
    harness.register_tool(tools::SendMail)?;
    harness.register_tool(tools::RunScript)?;
    harness.register_tool(tools::SetLabels)?;
    harness.register_external(tools::imported())?;
    Ok(harness)
}
