//! The rooms of the harness, in the order a call walks through them.
//!
//! A room may use what stands above it in this list, never what stands below; a test holds it.

pub mod id;
pub mod source;
pub mod message;
pub mod event;
pub mod workspace;
pub mod context;
pub mod policy;
pub mod store;
pub mod credential;
pub mod resource;
pub mod tool;
pub mod model;
pub mod middleware;
pub mod executor;
pub mod runtime;
