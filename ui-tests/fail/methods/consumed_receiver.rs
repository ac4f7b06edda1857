//! `self` by value, and in other pointers.

use std::rc::Rc;

use tinyagents::prelude::*;

struct Job(u8);

#[tools]
impl Job {
    /// Run.
    #[tool]
    fn run(self) -> u8 {
        self.0
    }

    /// Run in a box.
    #[tool]
    fn boxed(self: Box<Self>) -> u8 {
        self.0
    }

    /// Run shared.
    #[tool]
    fn shared(self: &Rc<Self>) -> u8 {
        self.0
    }
}

fn main() {
    let _ = (Job(1).run(), JobBoxed::NAME);
}
