//! What users of other tool macros ran into, case by case: a test's name begins with the id of its case.
//!
//! A case that is about the compiler's answer has its program in `ui-tests/fail`; here only what it begins with is
//! checked, so that no case is lost. Two cases wait in part for what would have to exist first:
//!
//! - M41: `strict` belongs to the view of a schema that one provider gets; no provider offers that view yet. What holds
//!   today is that no tool knows the word.
//! - M43: a number written as a text (`"5"`) is an error until the answer path repairs arguments by their schema, for
//!   all tools alike; an integral float is an integer today.

/// What stands in the attribute and in the signature.
mod signature;
/// Schemas of parameter types.
mod schema;
/// What a call sends, and what comes of it.
mod call;
/// Answers of the compiler.
mod answers;
