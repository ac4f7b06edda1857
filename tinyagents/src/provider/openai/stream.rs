//! A reply that comes in pieces.
//!
//! Guarantee: the reply is the same however the bytes are cut; a stream that ends before the reply did is an
//! error, never half a reply.

use super::call;
use super::error::Fault;
use super::response::{Answer, Draft};
use crate::harness::model::{DeltaSink, ModelReply};
use crate::provider::sse::{Event, EventReader, SseError};

/// The longest event. One event holds at most one whole call.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Reads a stream of chunks into a reply.
pub(super) struct StreamReader<'a> {
    events: EventReader,
    deltas: &'a DeltaSink<'a>,
    draft: Draft,
    /// The server said that nothing follows.
    done: bool,
}

impl<'a> StreamReader<'a> {
    pub(super) fn new(deltas: &'a DeltaSink<'a>) -> Self {
        Self { events: EventReader::new(MAX_EVENT_BYTES), deltas, draft: Draft::default(), done: false }
    }

    /// Takes the next bytes, and says whether more may follow.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<bool, Fault> {
        self.events.push(bytes)?;
        while let Some(event) = self.events.next() {
            if self.done {
                break;
            }
            self.take(&event)?;
        }
        Ok(!self.done)
    }

    /// Whether the reply is whole, so that what happens to the connection no longer matters.
    pub(super) fn is_whole(&self) -> bool {
        self.done || self.draft.is_finished()
    }

    /// The reply, once the bytes have ended.
    pub(super) fn finish(mut self) -> Result<ModelReply, Fault> {
        if !self.done {
            if let Some(event) = self.events.finish()? {
                // An event without its empty line counts if it is whole; else the connection was cut inside it.
                let cut =
                    event.data != "[DONE]" && serde_json::from_str::<serde_json::Value>(&event.data).is_err();
                if !cut {
                    self.take(&event)?;
                }
            }
        }
        if !self.is_whole() {
            return Err(Fault::Unreachable("the connection ended before the reply was whole".into()));
        }
        self.draft.into_reply()
    }

    fn take(&mut self, event: &Event) -> Result<(), Fault> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let chunk: Answer = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(_) if event.name == "error" => return Err(Fault::from_reported(&data.into())),
            Err(error) => {
                return Err(Fault::Protocol(format!("a chunk is not a chat completion chunk: {error}")));
            }
        };
        if let Some(fault) = chunk.reported(data, event.name == "error") {
            return Err(fault);
        }
        self.draft.take_usage(&chunk.usage);
        for choice in chunk.choices.unwrap_or_default() {
            // More than one choice is only sent to those who ask for it; the first is the reply.
            if choice.index.as_u64().unwrap_or(0) != 0 {
                continue;
            }
            let whole = choice.message.filter(|_| self.draft.is_empty());
            if let Some(mut piece) = choice.delta.or(whole) {
                self.deltas.text(&self.draft.take_message(&mut piece));
                let pieces = piece.tool_calls.unwrap_or_default();
                let several = pieces.len() > 1;
                for (place, piece) in pieces.into_iter().enumerate() {
                    let fragment = piece.into_fragment(several.then_some(place as u64));
                    call::add(&mut self.draft.calls, fragment)?;
                }
            }
            self.draft.take_finish(&choice.finish_reason);
        }
        Ok(())
    }
}

impl From<SseError> for Fault {
    fn from(error: SseError) -> Self {
        Self::Protocol(error.to_string())
    }
}
