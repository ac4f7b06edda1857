//! Tools are values: copied, printed, boxed, listed, shared.

use std::sync::Arc;

use tinyagents::prelude::*;

/// One.
#[tool]
fn one() {}

/// Two.
#[tool]
fn two() {}

fn list<S: Send + Sync + 'static>() -> Vec<Arc<dyn Tool<S>>> {
    vec![Arc::new(One), Arc::new(Two)]
}

fn main() {
    fn is_plain<T: Copy + Clone + std::fmt::Debug + Send + Sync + 'static>(_: T) -> usize {
        size_of::<T>()
    }
    assert_eq!(is_plain(One), 0);
    let names: Vec<_> = list::<String>().iter().map(|tool| tool.spec().name.to_string()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(format!("{One:?} {Two:?}"), "One Two");
}
