//! Fragments of calls, put together again.
//!
//! Guarantee: a fragment goes to one call or is refused, never dropped; arguments that are no JSON stay as they
//! came; the work is linear in the bytes.
//!
//! Not here: whether a name exists and arguments fit (`executor`).

use serde_json::Value;

use super::error::Fault;
use crate::harness::message::ToolCall;

/// A piece of a call as it came. What was not sent is empty.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// A call that is being put together.
#[derive(Debug, Default)]
pub(super) struct CallDraft {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    progress: Progress,
    resent: Resent,
}

impl From<Fragment> for CallDraft {
    fn from(first: Fragment) -> Self {
        let mut draft = Self { index: first.index, id: first.id, name: first.name, ..Self::default() };
        draft.append(first.arguments);
        draft
    }
}

impl CallDraft {
    fn append(&mut self, arguments: String) {
        self.progress.read(&arguments);
        self.arguments.push_str(&arguments);
        self.resent.note(arguments);
    }

    /// The call. `cut_off` says why the reply ended too early, if it did; then its last call is not trusted even if
    /// it parses, because the model was not done.
    pub(super) fn into_call(self, cut_off: Option<&str>, last: bool) -> Result<ToolCall, Fault> {
        if self.name.is_empty() {
            return Err(Fault::Protocol("a tool call has no name".into()));
        }
        let call = ToolCall::from_text(self.id.as_str(), self.name.as_str(), &self.arguments);
        if let Some(reason) = cut_off.filter(|_| last || call.invalid.is_some()) {
            return Ok(ToolCall::invalid(self.id, self.name, self.arguments, reason));
        }
        match self.resent.whole() {
            Some(whole) if call.invalid.is_some() => Ok(ToolCall::from_text(self.id, self.name, whole)),
            _ => Ok(call),
        }
    }

    /// Whether a fragment that may continue this call begins another one instead.
    fn ends_before(&self, next: &Fragment) -> bool {
        if next.name.is_empty() {
            // An unknown id without a name is noise of servers that make up an id for every fragment.
            return false;
        }
        if !next.id.is_empty() && !self.id.is_empty() && next.id != self.id {
            // Index 0 for every parallel call.
            return true;
        }
        if next.name != self.name {
            // Before the arguments it is the rest of the name.
            return self.progress.begun();
        }
        // The name is repeated in every fragment. Without ids, new arguments after whole ones are a new call.
        next.id.is_empty()
            && self.progress.complete()
            && next.arguments.trim_start().starts_with('{')
            && !self.repeats(&next.arguments)
    }

    fn extend(&mut self, next: Fragment) {
        if self.id.is_empty() {
            self.id = next.id;
        }
        if self.name != next.name {
            self.name.push_str(&next.name);
        }
        let over = self.progress.complete();
        if !over || !(next.arguments.trim().is_empty() || self.repeats(&next.arguments)) {
            self.append(next.arguments);
        }
    }

    /// Whether these are the arguments once more, as some servers send them after the fragments.
    fn repeats(&self, arguments: &str) -> bool {
        let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
        arguments == self.arguments
            || parse(arguments).is_some_and(|value| parse(&self.arguments) == Some(value))
    }
}

/// Adds a fragment to the calls so far.
pub(super) fn add(calls: &mut Vec<CallDraft>, next: Fragment) -> Result<(), Fault> {
    let may_continue =
        |call: &CallDraft| next.index.is_none() || call.index.is_none() || call.index == next.index;
    let same_id = |call: &CallDraft| !next.id.is_empty() && call.id == next.id;
    let open = calls
        .iter()
        .rposition(|call| may_continue(call) && same_id(call))
        .or_else(|| calls.iter().rposition(may_continue));
    match open.and_then(|at| calls.get_mut(at)) {
        Some(call) if !call.ends_before(&next) => call.extend(next),
        None if next.id.is_empty() && next.name.is_empty() => {
            return Err(Fault::Protocol("a fragment of a tool call belongs to no call".into()));
        }
        _ => calls.push(next.into()),
    }
    Ok(())
}

/// How far a JSON object or list has come, without parsing it again for every fragment.
#[derive(Debug, Default)]
struct Progress {
    depth: usize,
    in_string: bool,
    escaped: bool,
    state: State,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    #[default]
    Before,
    Inside,
    Complete,
    /// More came after the end, or it was no object or list to begin with.
    Broken,
}

impl Progress {
    fn begun(&self) -> bool {
        self.state != State::Before
    }

    fn complete(&self) -> bool {
        self.state == State::Complete
    }

    fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match (&self.state, byte) {
                (State::Broken, _) => return,
                (_, b' ' | b'\t' | b'\n' | b'\r') => {}
                (State::Before, b'{' | b'[') => {
                    self.depth = 1;
                    self.state = State::Inside;
                }
                (State::Before | State::Complete, _) => self.state = State::Broken,
                (State::Inside, b'{' | b'[') => self.depth += 1,
                (State::Inside, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.state = State::Complete;
                    }
                }
                (State::Inside, b'"') => self.in_string = true,
                (State::Inside, _) => {}
            }
        }
    }
}

/// Notices servers that send with every fragment all arguments so far.
#[derive(Debug, Default)]
struct Resent {
    last: String,
    pieces: usize,
    broken: bool,
}

impl Resent {
    fn note(&mut self, piece: String) {
        if self.broken || piece.trim().is_empty() {
            return;
        }
        if self.pieces > 0 && !piece.starts_with(&self.last) {
            self.broken = true;
            self.last = String::new();
            return;
        }
        self.pieces += 1;
        self.last = piece;
    }

    /// The last piece, if each one held all of the piece before it and it is an object.
    fn whole(&self) -> Option<&str> {
        let cumulative = !self.broken && self.pieces > 1 && self.last.trim_start().starts_with('{');
        (cumulative && serde_json::from_str::<Value>(&self.last).is_ok()).then_some(self.last.as_str())
    }
}
