//! Faults at every step, and the run's future dropped at every await.
//!
//! Guarantee: whatever fails, panics, hangs, cancels or goes away, every stored transcript is one that every provider
//! accepts, every call has exactly one terminal event, every turn and every run that began ends, async bodies do not
//! outlive their run, and a run ends within its time and its grace.
//!
//! Not here: a listener, a schema or a blocking call that never returns; nothing can take a thread back.

mod cancelled;
mod draining;
mod dropped;
mod injected;
mod judge;
mod parts;
mod scene;
mod steps;
