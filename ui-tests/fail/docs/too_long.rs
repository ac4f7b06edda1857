//! A description longer than providers take.

use tinyagents::prelude::*;

/// A long line of words that goes on and on, far longer than any model should have to read. A long line of words that goes on and on, far longer than any model should have to read. A long line of words that goes on and on, far longer than any model should have to read. A long line of words that goes on and on, far longer than any model should have to read. A long line of words that goes on and on, far longer than any model should have to read. A long line of words that goes on and on, far longer than any model should have to read. 
/// And then it goes on again, since the author had so much to say about so little in the end. And then it goes on again, since the author had so much to say about so little in the end. And then it goes on again, since the author had so much to say about so little in the end. And then it goes on again, since the author had so much to say about so little in the end. And then it goes on again, since the author had so much to say about so little in the end. And then it goes on again, since the author had so much to say about so little in the end. 
#[tool]
async fn take() {}

fn main() {}
