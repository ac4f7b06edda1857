//! The OpenAI-compatible provider: whatever a server sends, there is a whole reply or a clear error.

pub(crate) mod answers;
mod captures;
mod failures;
mod quirks;
mod requests;
pub(crate) mod server;
