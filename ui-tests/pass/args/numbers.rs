//! Integers are shown with the bounds of their type and without a Rust-specific format.

use tinyagents::prelude::*;

/// Every width.
#[tool]
fn widths(a: i8, b: i16, c: i32, d: i64, e: isize, f: u8, g: u16, h: u32, i: u64, j: usize, k: f32, l: f64) -> f64 {
    let signed = a as f64 + b as f64 + c as f64 + d as f64 + e as f64;
    signed + f as f64 + g as f64 + h as f64 + i as f64 + j as f64 + k as f64 + l
}

fn main() {
    let expected = json!({
        "a": { "type": "integer", "minimum": -128, "maximum": 127 },
        "b": { "type": "integer", "minimum": -32768, "maximum": 32767 },
        "c": { "type": "integer", "minimum": -2147483648, "maximum": 2147483647 },
        "d": { "type": "integer" },
        "e": { "type": "integer" },
        "f": { "type": "integer", "minimum": 0, "maximum": 255 },
        "g": { "type": "integer", "minimum": 0, "maximum": 65535 },
        "h": { "type": "integer", "minimum": 0, "maximum": 4294967295_u32 },
        "i": { "type": "integer", "minimum": 0 },
        "j": { "type": "integer", "minimum": 0 },
        "k": { "type": "number", "minimum": f32::MIN, "maximum": f32::MAX },
        "l": { "type": "number" }
    });
    assert_eq!(Widths::spec().input_schema["properties"], expected);
}
