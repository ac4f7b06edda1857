//! A parameter's name longer than any provider takes.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(a_parameter_whose_name_is_a_good_deal_longer_than_sixty_four_bytes: u8) -> u8 {
    a_parameter_whose_name_is_a_good_deal_longer_than_sixty_four_bytes
}

fn main() {}
