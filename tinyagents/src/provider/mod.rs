//! Models over the wire, each behind a feature of its own.
//!
//! A provider turns a [`ModelRequest`](crate::harness::model::ModelRequest) into one HTTP request and what comes
//! back into one whole [`ModelReply`](crate::harness::model::ModelReply), whatever the server's dialect.
//!
//! Guarantee: a reply is whole or it is a [`ModelError`](crate::harness::model::ModelError); a call that was cut
//! off or cannot be read arrives marked as invalid, never with guessed arguments; no secret is in any text.
//!
//! Not here: trying again, choosing between models, and running the calls (`runtime`).

#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "openai")]
mod sse;
