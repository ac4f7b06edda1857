//! An assistant over a real directory: four tools, one harness, and a model that is scripted or real.
//!
//! `cargo run --example quickstart` works without network and key; `-- --help` shows how to use a real model.
//! Start reading at `tools.rs`, then `start` here.

mod cli;
mod files;
mod script;
mod show;
mod tools;

use std::io::{self, ErrorKind, IsTerminal, StdoutLock, Write};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use tinyagents::TinyAgentsError;
use tinyagents::harness::model::ModelError;
use tinyagents::prelude::*;
use tinyagents::provider::openai::OpenAi;

use cli::{Answerer, Options};
use files::Files;
use show::Show;

const SYSTEM: &str =
    "You answer questions about the files of a directory. Use the tools, then answer briefly.";
/// The exit code that shells use for Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Why the program ends early.
enum Failure {
    /// The command line asks for what cannot be.
    Usage(String),
    /// The run ended with an error.
    Run(TinyAgentsError),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<TinyAgentsError> for Failure {
    fn from(error: TinyAgentsError) -> Self {
        Self::Run(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let (code, text) = match start(&Options::parse()).await {
        Ok(code) => return code,
        // Whoever reads the output has seen enough, as with `| head`.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) => (1, error.to_string()),
        Err(Failure::Usage(text)) => (2, text),
        Err(Failure::Run(error)) => (1, format!("{error}{}", advice(&error))),
    };
    // When not even this can be written, the exit code has to do.
    drop(writeln!(io::stderr(), "error: {text}"));
    ExitCode::from(code)
}

/// What to do about an error, where more can be said than the error does.
fn advice(error: &TinyAgentsError) -> &'static str {
    match error {
        TinyAgentsError::Model(ModelError::Unreachable { .. }) => {
            "\nStart it, or correct --base-url (OPENAI_BASE_URL); with neither URL nor model a scripted model answers."
        }
        TinyAgentsError::Model(ModelError::Status { status: 401 | 403, .. }) => {
            "\nSet the API key in OPENAI_API_KEY, or name its variable with --api-key-env."
        }
        _ => "",
    }
}

/// Builds the harness, and runs it on the question.
async fn start(options: &Options) -> Result<ExitCode, Failure> {
    let files = Arc::new(Files::open(options.dir()).map_err(Failure::Usage)?);

    let mut harness: AgentHarness<Files> = AgentHarness::new();
    harness
        .register_tool(tools::ListFiles)?
        .register_tool(tools::ReadFile)?
        .register_tool(tools::SearchText)?
        .register_tool(tools::CountLines)?
        .with_workspace(WorkspaceDescriptor::new(files.root()))
        .with_payload_capture(PayloadCapture::On);
    // A call that cannot run is answered with what was wrong, so that the model can mend it.
    let mut policy = RunPolicy::recovering();
    let model = match options.answerer().map_err(Failure::Usage)? {
        Answerer::Script => {
            harness.register_model("default", script::model())?;
            "scripted model: no network, the steps are fixed, the numbers come from the tools".to_string()
        }
        Answerer::Server { base_url, model, api_key } => {
            let mut server = OpenAi::new(&base_url, &model);
            if let Some(key) = api_key {
                server = server.api_key(key);
            }
            server.check().map_err(|error| Failure::Usage(error.to_string()))?;
            // A small model may call tools for ever.
            policy.limits.max_model_calls = options.max_turns;
            policy.limits.behavior = LimitBehavior::StopWithPartial;
            harness.register_model("default", server)?.with_settings(ModelSettings {
                system: Some(SYSTEM.into()),
                temperature: Some(0.0),
                max_tokens: Some(512),
                ..ModelSettings::default()
            });
            format!("{model} at {base_url}")
        }
    };
    harness.with_policy(policy);

    let question = options.question.as_deref().unwrap_or(script::QUESTION);
    let stdout = io::stdout();
    let color = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut show = Show::new(stdout.lock(), color);
    show.fact("directory:", &files.root().display().to_string())?;
    show.fact("model:", &model)?;
    show.tools(harness.tools())?;
    show.fact("\nquestion:", question)?;
    run(&harness, files, question, &mut show).await
}

/// Streams the run to the terminal until it ends, and listens for Ctrl-C meanwhile.
async fn run(
    harness: &AgentHarness<Files>,
    files: Arc<Files>,
    question: &str,
    show: &mut Show<StdoutLock<'_>>,
) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let mut stream = harness.invoke_stream(files, ctx, vec![Message::user(question)])?;
    let mut interrupt = pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            biased; // Ctrl-C is listened for before the run starts
            heard = &mut interrupt => {
                heard?;
                if handle.is_cancelled() {
                    std::process::exit(INTERRUPTED.into());
                }
                interrupt.set(tokio::signal::ctrl_c());
                handle.cancel();
                show.interrupted()?;
            }
            event = stream.next_event() => match event {
                Some(record) => show.event(&record)?,
                None => break,
            },
        }
    }
    let result = stream.result().await;
    // The handle has the transcript however the run ended.
    let transcript = handle.transcript();
    let (end, code) = match &result {
        Err(_) => ("failed".to_string(), ExitCode::FAILURE),
        Ok(run) if run.finish == RunFinish::Cancelled => (run.finish.to_string(), INTERRUPTED.into()),
        Ok(run) => (run.finish.to_string(), ExitCode::SUCCESS),
    };
    if let Some(answer) = result.as_ref().ok().and_then(AgentRun::answer) {
        show.answer(&answer)?;
    }
    show.summary(&end, &transcript, started.elapsed())?;
    result?;
    Ok(code)
}
