//! A tool for each type of number and text, in every place that a type can have one.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::num::{NonZeroI64, NonZeroU8, NonZeroU64};

use tinyagents::prelude::*;

/// One of the places in which a value stands.
#[tool_type]
pub struct Places<T> {
    option: Option<T>,
    list: Option<Vec<T>>,
    map: Option<BTreeMap<String, T>>,
    pair: Option<(bool, T)>,
    kind: Option<Kind<T>>,
    untagged: Option<Untagged<T>>,
    part: Option<Part<T>>,
    newtype: Option<Newtype<T>>,
}

#[tool_type]
pub enum Kind<T> {
    Named { field: T },
    Alone(T),
}

#[tool_type]
#[serde(untagged)]
pub enum Untagged<T> {
    Only { only: T },
    Other { other: bool },
}

#[tool_type]
pub struct Part<T> {
    field: T,
}

#[tool_type]
pub struct Newtype<T>(T);

/// A value among the fields of another type.
#[tool_type]
pub struct Outer<T> {
    own: bool,
    #[serde(flatten)]
    part: Part<T>,
}

/// Documented variants make another schema than plain ones.
#[tool_type]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub enum Hue {
    /// The red one.
    Red,
    #[serde(rename = "dark-green")]
    DarkGreen,
}

macro_rules! tools {
    ($($tool:ident $in_outer:ident $type:ty;)*) => {
        pub struct Spelt;

        #[tools]
        impl Spelt {$(
            /// Echo.
            #[tool(read_only, inline)]
            pub fn $tool(plain: Option<$type>, places: Option<Places<$type>>) -> Value {
                json!({ "plain": plain, "places": places })
            }

            /// Echo.
            #[tool(read_only, inline)]
            pub fn $in_outer(outer: Outer<$type>) -> Value {
                json!({ "outer": outer })
            }
        )*}
    };
}

macro_rules! keyed {
    ($($tool:ident $type:ty;)*) => {
        pub struct Keyed;

        #[tools]
        impl Keyed {$(
            /// Echo.
            #[tool(read_only, inline)]
            pub fn $tool(keys: BTreeMap<$type, bool>) -> Value {
                json!({ "keys": keys })
            }
        )*}
    };
}

tools! {
    t_i8 o_i8 i8;
    t_i16 o_i16 i16;
    t_i32 o_i32 i32;
    t_i64 o_i64 i64;
    t_isize o_isize isize;
    t_i128 o_i128 i128;
    t_u8 o_u8 u8;
    t_u16 o_u16 u16;
    t_u32 o_u32 u32;
    t_u64 o_u64 u64;
    t_usize o_usize usize;
    t_u128 o_u128 u128;
    t_nonzero_u8 o_nonzero_u8 NonZeroU8;
    t_nonzero_i64 o_nonzero_i64 NonZeroI64;
    t_nonzero_u64 o_nonzero_u64 NonZeroU64;
    t_f32 o_f32 f32;
    t_f64 o_f64 f64;
    t_bool o_bool bool;
    t_char o_char char;
    t_string o_string String;
}

keyed! {
    k_i8 i8;
    k_i16 i16;
    k_i32 i32;
    k_i64 i64;
    k_isize isize;
    k_i128 i128;
    k_u8 u8;
    k_u16 u16;
    k_u32 u32;
    k_u64 u64;
    k_usize usize;
    k_u128 u128;
    k_bool bool;
    k_char char;
    k_string String;
    k_hue Hue;
    k_ip Ipv4Addr;
}

/// Echo.
#[tool(read_only, inline)]
pub fn borrowed(text: &str) -> Value {
    json!({ "plain": text })
}
