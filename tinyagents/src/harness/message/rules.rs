//! What providers accept as a transcript, as data.
//!
//! Guarantee: a transcript that the loop continued from a message of a person's breaks no rule of any provider.
//!
//! Some rules are about how things are spelled on the wire (the characters of an id, the arguments of a call that was
//! no JSON). A provider's adapter spells those anew in every request, so they say nothing about a history; they stand
//! in [`WireRules`], and are looked at only on request.
//!
//! Not here: looking (`check`), and mending (`repair`).

use std::borrow::Cow;

/// What a provider accepts as a transcript.
///
/// Some rules hold for all and have no field: results stand right behind the reply that made the calls, one for each
/// call, in call order; a result has content; an id is not empty, and stands for one call of its reply.
///
/// ```
/// use tinyagents::harness::message::{History, Message, ProviderRules};
///
/// let history = History::from_messages(vec![Message::assistant("How can I help?"), Message::user("Hi")])?;
/// assert!(history.check(&ProviderRules::open_ai()).is_ok());
/// let problems = history.check(&ProviderRules::anthropic()).unwrap_err();
/// assert_eq!(problems[0].to_string(), "message 0: the first message after the instructions must be a user's");
/// # Ok::<(), tinyagents::harness::message::HistoryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRules {
    /// The provider.
    pub provider: Cow<'static, str>,
    /// Whether the first message that is not a system message must be a user's.
    pub user_first: bool,
    /// Whether an id must stand for one call of the whole history, not only of its reply.
    pub unique_ids: bool,
    /// What the provider's adapter spells anew in every request.
    pub wire: WireRules,
    /// Whether a transcript is held against [`wire`](Self::wire) too, because it is sent as it stands.
    pub verbatim: bool,
}

/// What an adapter spells anew in every request, so that a history need not fit it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireRules {
    /// The ids of calls. An adapter maps ids that do not fit, and the results with them.
    pub ids: Option<Spelling>,
    /// The names of past calls. A model may have made one up; an adapter replaces what is not accepted.
    pub names: Option<Spelling>,
    /// Whether the arguments of past calls must be a JSON object. The arguments of a call that was no JSON are kept
    /// as a string; an adapter sends `{}`, and the result says what was wrong.
    pub object_arguments: bool,
    /// Whether every message needs content or calls. An adapter leaves a message out that has neither.
    pub no_empty_message: bool,
    /// Whether a reply must stand between results and the next user message. A run that ended early, and a message
    /// that was queued while tools ran, leave none; an adapter adds a short one.
    pub reply_after_results: bool,
    /// Whether a reply with calls must not follow another reply. An adapter sends the two as one.
    pub calls_after_input: bool,
    /// How many calls a reply may have. An adapter splits a longer one, with its results.
    pub max_calls: Option<usize>,
}

/// How an id or a name may be spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    /// The characters that may stand beside ASCII letters and digits; `None`: any.
    pub also: Option<Cow<'static, str>>,
    /// The fewest characters.
    pub min: usize,
    /// The most characters.
    pub max: usize,
    /// Whether the first character must be a letter or `_`.
    pub word: bool,
}

impl Spelling {
    pub(crate) const fn of(also: &'static str, min: usize, max: usize) -> Self {
        Self { also: Some(Cow::Borrowed(also)), min, max, word: false }
    }

    /// What every provider takes as the name of a tool, for one whose rule is not known: a letter or `_`, and then up
    /// to 63 of `a-zA-Z0-9_-`.
    pub fn portable() -> Self {
        Self { word: true, ..Self::of("_-", 1, 64) }
    }

    /// Whether a character may stand in the text.
    pub(crate) fn accepts_char(&self, c: char) -> bool {
        self.also.as_ref().is_none_or(|also| c.is_ascii_alphanumeric() || also.contains(c))
    }

    /// Whether a text is spelled so.
    pub fn accepts(&self, text: &str) -> bool {
        let length = text.chars().count();
        (self.min..=self.max).contains(&length)
            && text.chars().all(|c| self.accepts_char(c))
            && !(self.word && text.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_'))
    }
}

impl ProviderRules {
    /// The rules that hold for every provider, and no other.
    pub fn new(provider: impl Into<Cow<'static, str>>) -> Self {
        Self {
            provider: provider.into(),
            user_first: false,
            unique_ids: false,
            wire: WireRules::default(),
            verbatim: false,
        }
    }

    /// OpenAI's chat completions, and servers that follow them strictly. On the wire, an id has at most 40 characters
    /// of any kind (reports; later ones say 64, and the smaller number is safe), a name at most 64 of `a-zA-Z0-9_-`
    /// (specification), and a reply at most 128 calls (reports). Arguments are a text, and need not be JSON.
    pub fn open_ai() -> Self {
        let wire = WireRules {
            ids: Some(Spelling { also: None, ..Spelling::of("", 1, 40) }),
            names: Some(Spelling::of("_-", 1, 64)),
            max_calls: Some(128),
            ..WireRules::default()
        };
        Self { wire, ..Self::new("openai") }
    }

    /// Anthropic's messages: the first message is a user's, and an id stands for one call of the whole conversation.
    /// On the wire, an id is of `a-zA-Z0-9_-`, without a known limit, a name has at most 128 of these (reports), the
    /// input of a past call is an object, and a text is not empty.
    pub fn anthropic() -> Self {
        let wire = WireRules {
            ids: Some(Spelling::of("_-", 1, usize::MAX)),
            names: Some(Spelling::of("_-", 1, 128)),
            object_arguments: true,
            no_empty_message: true,
            ..WireRules::default()
        };
        Self { user_first: true, unique_ids: true, wire, ..Self::new("anthropic") }
    }

    /// Gemini's `generateContent`: the first content is a user's. On the wire, a name begins with a letter or `_` and
    /// has at most 64 of `a-zA-Z0-9_.:-` (specification; servers refuse the 128 that the SDK allows), the arguments of
    /// a past call are an object, and a turn with calls follows a user's turn or results. Ids are optional and free:
    /// results are matched by order, which every history has.
    pub fn gemini() -> Self {
        let wire = WireRules {
            names: Some(Spelling { word: true, ..Spelling::of("_.:-", 1, 64) }),
            object_arguments: true,
            no_empty_message: true,
            calls_after_input: true,
            ..WireRules::default()
        };
        Self { user_first: true, wire, ..Self::new("gemini") }
    }

    /// Mistral's chat completions. On the wire, an id is exactly nine letters and digits, and a name has at most 64 of
    /// `a-zA-Z0-9_-` (SDK); a message has content or calls, and a user's message does not follow a result.
    pub fn mistral() -> Self {
        let wire = WireRules {
            ids: Some(Spelling::of("", 9, 9)),
            names: Some(Spelling::of("_-", 1, 64)),
            no_empty_message: true,
            reply_after_results: true,
            ..WireRules::default()
        };
        Self { wire, ..Self::new("mistral") }
    }

    /// Bedrock's Converse: the first message is a user's. On the wire, an id has at most 64 of `a-zA-Z0-9_.:-`, a name
    /// at most 64 of `a-zA-Z0-9_-` (specification), the input of a past call is an object, and a text is not blank.
    pub fn bedrock() -> Self {
        let wire = WireRules {
            ids: Some(Spelling::of("_.:-", 1, 64)),
            names: Some(Spelling::of("_-", 1, 64)),
            object_arguments: true,
            no_empty_message: true,
            ..WireRules::default()
        };
        Self { user_first: true, wire, ..Self::new("bedrock") }
    }

    /// Groq's chat completions: the names and ids of OpenAI.
    pub fn groq() -> Self {
        Self { provider: "groq".into(), ..Self::open_ai() }
    }

    /// DeepSeek's chat completions: the names and ids of OpenAI.
    pub fn deepseek() -> Self {
        Self { provider: "deepseek".into(), ..Self::open_ai() }
    }

    /// Ollama: ids and names are free. On the wire, the arguments of a past call are an object.
    pub fn ollama() -> Self {
        let wire = WireRules { object_arguments: true, ..WireRules::default() };
        Self { wire, ..Self::new("ollama") }
    }

    /// llama.cpp's server: ids and names are free. On the wire, the arguments of a past call are parsed, and used as an
    /// object by chat templates.
    pub fn llama_cpp() -> Self {
        Self { provider: "llama.cpp".into(), ..Self::ollama() }
    }

    /// vLLM: ids and names are free.
    pub fn vllm() -> Self {
        Self::new("vllm")
    }

    /// The rules of every provider above. Each has its name in [`provider`](Self::provider).
    pub fn all() -> Vec<Self> {
        vec![
            Self::open_ai(),
            Self::anthropic(),
            Self::gemini(),
            Self::mistral(),
            Self::bedrock(),
            Self::groq(),
            Self::deepseek(),
            Self::ollama(),
            Self::llama_cpp(),
            Self::vllm(),
        ]
    }

    /// The rules of the provider of that name, if it is one of [`all`](Self::all). `google` is another name for
    /// `gemini`, and `llama_cpp` and `llamacpp` are for `llama.cpp`.
    pub fn of(provider: &str) -> Option<Self> {
        let provider = match provider {
            "google" => "gemini",
            "llama_cpp" | "llamacpp" => "llama.cpp",
            other => other,
        };
        Self::all().into_iter().find(|rules| rules.provider == provider)
    }

    /// The same rules for a transcript that is sent as it stands, without an adapter that mends its spelling.
    pub fn verbatim(mut self) -> Self {
        self.verbatim = true;
        self
    }
}
