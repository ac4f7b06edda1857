//! 64 bytes are the most that every provider takes, and they are taken.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn a_name_of_sixty_four_bytes_which_is_as_long_as_a_name_may_be_now() {}

fn main() {
    assert_eq!(ANameOfSixtyFourBytesWhichIsAsLongAsANameMayBeNow::NAME.len(), 64);
}
