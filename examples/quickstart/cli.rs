//! The command line.

use std::path::{Path, PathBuf};

use clap::Parser;

/// An assistant that answers questions about the files of a directory.
///
/// Without --base-url and --model a scripted model works through one fixed question, without any network.
#[derive(Debug, Parser)]
#[command(name = "quickstart")]
pub(crate) struct Options {
    /// The directory to work in; this repository if left out
    #[arg(long, value_name = "PATH")]
    pub(crate) dir: Option<PathBuf>,
    /// An OpenAI-compatible server, such as http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", env = "OPENAI_BASE_URL", hide_env_values = true)]
    base_url: Option<String>,
    /// The model to use there
    #[arg(long, value_name = "NAME", env = "OPENAI_MODEL", hide_env_values = true)]
    model: Option<String>,
    /// The environment variable that holds the API key
    #[arg(long, value_name = "VARIABLE", default_value = "OPENAI_API_KEY")]
    api_key_env: String,
    /// What to ask a real model; the scripted model's question if left out
    #[arg(long, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// How often a real model is asked before the run stops with what it has
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(crate) max_turns: u32,
}

/// Who answers.
pub(crate) enum Answerer {
    /// The scripted model.
    Script,
    /// A model behind a server.
    Server {
        /// Where it is.
        base_url: String,
        /// Its name there.
        model: String,
        /// The key, if there is one.
        api_key: Option<String>,
    },
}

const OPENAI: &str = "https://api.openai.com/v1";

impl Options {
    /// The directory to work in.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.as_deref().unwrap_or(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")))
    }

    /// Who answers, or what is missing.
    pub(crate) fn answerer(&self) -> Result<Answerer, String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let (base_url, model) = match (given(&self.base_url), given(&self.model)) {
            (None, None) if self.question.is_some() => {
                return Err(
                    "--question needs a real model, because the scripted one knows only its own question; \
                            add --base-url URL --model NAME"
                        .into(),
                );
            }
            (None, None) => return Ok(Answerer::Script),
            (Some(_), None) => {
                return Err("which model? Add --model NAME or set OPENAI_MODEL".into());
            }
            (base_url, Some(model)) => (base_url.unwrap_or_else(|| OPENAI.into()), model),
        };
        let api_key = std::env::var(&self.api_key_env).ok().filter(|key| !key.is_empty());
        if api_key.is_none() && base_url == OPENAI {
            let variable = &self.api_key_env;
            return Err(format!(
                "{OPENAI} needs an API key; set {variable}, or give --base-url for another server"
            ));
        }
        Ok(Answerer::Server { base_url, model, api_key })
    }
}
