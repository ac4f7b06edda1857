//! The type is as visible as its function.

mod kit {
    use tinyagents::prelude::*;

    /// Inside.
    #[tool]
    pub(super) async fn inner(a: u8) -> u8 {
        a
    }

    pub mod deep {
        use tinyagents::prelude::*;

        /// Deep inside.
        #[tool]
        pub fn deepest() {}
    }
}

fn main() {
    let _ = (kit::Inner, kit::deep::Deepest);
    assert_eq!((kit::Inner::NAME, kit::Inner::PARAMETERS), ("inner", &["a"][..]));
    assert_eq!((kit::deep::Deepest::NAME, kit::deep::Deepest::PARAMETERS), ("deepest", &[][..]));
}
