//! The generated type can be imported under another name, and re-exported.

mod kit {
    /// A message.
    #[tinyagents::tool]
    pub fn message(to: String) -> String {
        to
    }
}

pub use kit::Message as SendMessage;

fn main() {
    assert_eq!((SendMessage::NAME, SendMessage::PARAMETERS), ("message", &["to"][..]));
}
