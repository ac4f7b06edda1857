//! Values near those that a type writes: some of them are still its own.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Every place in a value, as JSON Pointers.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| places(item, &format!("{at}/{index}"), all));
        }
        Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            places(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), all);
        }),
        _ => {}
    }
}

/// What may be put somewhere: near every shape, and at the ends of every width.
fn pieces() -> Vec<Value> {
    let texts = [
        "",
        "a",
        "ab",
        "é",
        "Red",
        "Unit",
        "Newtype",
        "Struct",
        "::1",
        "10.0.0.1",
        "1",
        "-1",
        "2025-01-31T09:30:00Z",
    ];
    let mut all: Vec<Value> = texts.into_iter().map(Value::from).collect();
    let whole: [i64; 14] =
        [0, 1, -1, 127, 128, -129, 255, 256, 32_768, -32_769, 65_536, 2_147_483_648, 4_294_967_296, i64::MIN];
    all.extend(whole.map(Value::from));
    all.extend([i64::MAX.into(), json!(1_u64 << 63), json!(u64::MAX), json!(9_007_199_254_740_993_u64)]);
    let floats = [
        5.0,
        2.5,
        -0.0,
        5e-324,
        9_007_199_254_740_992.0,
        1e19,
        3.5e38,
        f64::from(f32::MAX),
        f64::MAX,
        f64::MIN,
    ];
    all.extend(floats.map(Value::from));
    all.extend([
        json!(null),
        json!(true),
        json!([]),
        json!([1, "a"]),
        json!([1, 2, 3]),
        json!({}),
        json!({ "x": 1 }),
        json!({ "type": "Newtype", "x": 1 }),
        json!({ "t": "Unit" }),
        json!({ "Newtype": 1 }),
        json!({ "Ok": 1 }),
        json!({ "Ok": 1, "Err": "a" }),
        json!({ "secs": u64::MAX, "nanos": 4_294_967_295_u32 }),
        json!({ "value": 1, "children": [], "parent": null }),
    ]);
    all
}

/// One change: where (of all places), what to do there, and with which piece.
pub type Change = (prop::sample::Index, u8, prop::sample::Index);

pub fn changed(mut value: Value, changes: &[Change]) -> Value {
    let pieces = pieces();
    for (place, what, piece) in changes {
        let mut all = Vec::new();
        places(&value, "", &mut all);
        let (at, piece) = (place.get(&all), piece.get(&pieces).clone());
        match (what % 4, value.pointer_mut(at).expect("a place")) {
            (0, Value::Object(object)) => {
                let keys = ["x", "shape", "type", "c", "a", "7", "4294967296", "-1", "extra"];
                object.insert(keys[usize::from(*what) % keys.len()].into(), piece);
            }
            (1, Value::Object(object)) => {
                let first = object.keys().next().cloned();
                first.and_then(|key| object.shift_remove(&key));
            }
            (0, Value::Array(items)) => items.push(piece),
            (1, Value::Array(items)) => drop(items.pop()),
            (_, there) => *there = piece,
        }
    }
    value
}
