//! Schema and type are the same set of values: what a type writes validates, and what validates is read.
//!
//! The shapes are those of `schemars_shapes` and those of `own`; extreme numbers are always among the values.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::{btree_map, btree_set, hash_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};
use tinyagents::prelude::*;
use tinyagents::serde::Serialize;
use tinyagents::testkit;
use tokio::runtime::Runtime;

use changes::{Change, changed};

use crate::schemars_shapes::*;

/// Any integer of a type, its ends more often than chance has them.
macro_rules! whole {
    ($type:ty) => {
        prop_oneof![any::<$type>(), Just(<$type>::MIN), Just(<$type>::MAX), Just(1)]
    };
}

mod changes;
mod own;

fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..4).prop_map(|chars| chars.into_iter().collect())
}

fn float() -> impl Strategy<Value = f64> {
    let finite = any::<f64>().prop_filter("JSON has no other", |float| float.is_finite());
    prop_oneof![
        finite,
        Just(f64::MAX),
        Just(f64::MIN),
        Just(f64::MIN_POSITIVE),
        Just(-0.0),
        Just(5.0),
        Just(1e16)
    ]
}

fn single() -> impl Strategy<Value = f32> {
    let finite = any::<f32>().prop_filter("JSON has no other", |float| float.is_finite());
    prop_oneof![finite, Just(f32::MAX), Just(f32::MIN), Just(f32::MIN_POSITIVE), Just(-2.0)]
}

fn inner() -> impl Strategy<Value = Inner> {
    whole!(i32).prop_map(|x| Inner { x })
}

fn color() -> impl Strategy<Value = Color> {
    prop_oneof![Just(Color::Red), Just(Color::Blue), Just(Color::DarkGreen)]
}

fn external() -> impl Strategy<Value = External> {
    prop_oneof![
        Just(External::Unit),
        whole!(u32).prop_map(External::Newtype),
        (whole!(i32), text()).prop_map(|(number, text)| External::Tuple(number, text)),
        any::<bool>().prop_map(|a| External::Struct { a }),
    ]
}

fn internal() -> impl Strategy<Value = Internal> {
    prop_oneof![
        Just(Internal::Unit),
        any::<bool>().prop_map(|a| Internal::Struct { a }),
        inner().prop_map(Internal::Newtype),
    ]
}

fn adjacent() -> impl Strategy<Value = Adjacent> {
    prop_oneof![
        Just(Adjacent::Unit),
        whole!(u32).prop_map(Adjacent::Newtype),
        any::<bool>().prop_map(|a| Adjacent::Struct { a }),
    ]
}

fn untagged() -> impl Strategy<Value = Untagged> {
    prop_oneof![
        whole!(i64).prop_map(Untagged::Number),
        text().prop_map(Untagged::Text),
        inner().prop_map(Untagged::Inner),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = whole!(i32).prop_map(|value| Tree { value, children: Vec::new(), parent: None });
    leaf.prop_recursive(3, 12, 3, |inner| {
        (whole!(i32), vec(inner.clone(), 0..3), prop::option::of(inner))
            .prop_map(|(value, children, parent)| Tree { value, children, parent: parent.map(Box::new) })
    })
}

fn ints() -> impl Strategy<Value = Ints> {
    let small = (whole!(u8), whole!(u16), whole!(u32), whole!(u64), whole!(usize), whole!(i8), whole!(i32));
    // JSON as `Value` has it ends at 64 bits.
    let wide = (whole!(u64).prop_map(u128::from), whole!(i64).prop_map(i128::from));
    let never_zero = (whole!(u32), whole!(i16));
    (small, whole!(i64), whole!(isize), whole!(i16), wide, never_zero).prop_map(
        |((a, b, c, d, e, f, g), h, i, n, (j, m), (k, l))| Ints {
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k: k.try_into().unwrap_or(std::num::NonZeroU32::MAX),
            l: l.try_into().unwrap_or(std::num::NonZeroI16::MIN),
            m,
            n,
        },
    )
}

fn options() -> impl Strategy<Value = Options> {
    use prop::option::of;
    let first = (of(whole!(u32)), of(text()), of(color()), of(inner()), whole!(u32), of(any::<bool>()));
    (first, vec(of(inner()), 0..3), of(external()), of(whole!(u8)), any::<bool>())
        .prop_map(|((a, b, c, d, e, f), g, h, i, on)| Options { a, b, c, d, e, f, g, h, i: (i, on) })
}

fn maps() -> impl Strategy<Value = Maps> {
    let first =
        (btree_map(text(), whole!(u32), 0..3), hash_map(text(), inner(), 0..3), btree_set(text(), 0..3));
    let second = (any::<[u8; 3]>(), whole!(i32), text(), vec(vec(float(), 0..3), 0..3));
    let by_number = (btree_map(whole!(u32), text(), 0..3), btree_map(whole!(i8), any::<bool>(), 0..3));
    let maybe = btree_map(text(), prop::option::of(whole!(u8)), 0..3);
    (first, second, by_number, maybe).prop_map(|((a, b, c), (d, number, text, f), (g, h), i)| Maps {
        a,
        b,
        c,
        d,
        e: (number, text),
        f,
        g,
        h,
        i,
    })
}

/// JSON of any shape.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        whole!(i64).prop_map(Value::from),
        whole!(u64).prop_map(Value::from),
        float().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(text(), inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn anys() -> impl Strategy<Value = Any> {
    (anything(), hash_map(text(), anything(), 0..3), vec(anything(), 0..3)).prop_map(|(v, m, l)| Any {
        v,
        m,
        u: (),
        l,
    })
}

fn ext() -> impl Strategy<Value = Ext> {
    let v4 = any::<u32>().prop_map(Ipv4Addr::from);
    let v6 = any::<u128>().prop_map(Ipv6Addr::from);
    let ip = prop_oneof![v4.clone().prop_map(IpAddr::from), v6.clone().prop_map(IpAddr::from)];
    let duration = (whole!(u64), 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Duration::new(secs, nanos));
    (ip, v4, v6, duration).prop_map(|(ip, v4, v6, dur)| Ext {
        ip,
        v4,
        v6,
        dur,
        at: "2025-01-31T09:30:00Z".into(),
    })
}

fn of<T: Serialize + std::fmt::Debug>(
    name: &'static str,
    values: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<(&'static str, Value)> {
    values.prop_map(move |value| (name, serde_json::to_value(value).unwrap())).boxed()
}

/// A value of each shape as its type writes it, with the name of its tool.
fn written() -> impl Strategy<Value = (&'static str, Value)> {
    let flat = (whole!(u32), text(), btree_map("[a-z]{3}", text(), 0..3))
        .prop_map(|(id, name, extra)| Flat { base: Base { id }, name, extra });
    let uses = (whole!(u32), text(), prop::result::maybe_ok(whole!(u32), text()))
        .prop_map(|(a, b, r)| UsesGeneric { a: Generic { item: a }, b: Generic { item: b }, r });
    let shapes = [
        of("adjacent", adjacent()),
        of("any", anys()),
        of("color", color()),
        of("deny", any::<bool>().prop_map(|a| Deny { a })),
        of("empty", Just(Empty {})),
        of(
            "enums",
            (external(), internal(), adjacent(), untagged()).prop_map(|(e, i, a, u)| Enums { e, i, a, u }),
        ),
        of("ext", ext()),
        of("external", external()),
        of("flat", flat),
        of("flat_tagged", (text(), internal()).prop_map(|(name, kind)| FlatTagged { name, kind })),
        of("floats", (single(), float()).prop_map(|(a, b)| Floats { a, b })),
        of("has_tree", tree().prop_map(|root| HasTree { root })),
        of("internal", internal()),
        of("ints", ints()),
        of("maps", maps()),
        of(
            "nested",
            (inner(), vec(inner(), 0..3), color()).prop_map(|(inner, list, color)| Nested {
                inner,
                list,
                color,
            }),
        ),
        of("newtype_u32", whole!(u32).prop_map(NewtypeU32)),
        of("options", options()),
        of("plain_color", prop_oneof![Just(PlainColor::Red), Just(PlainColor::Blue)]),
        of(
            "renamed",
            (text(), whole!(u8), whole!(u8)).prop_map(|(long_field_name, weird, n)| Renamed {
                long_field_name,
                weird,
                n,
            }),
        ),
        of("strings", (text(), any::<char>(), text()).prop_map(|(s, c, p)| Strings { s, c, p: p.into() })),
        of("tree", tree()),
        of("tuple_s", (whole!(u32), text()).prop_map(|(number, text)| TupleS(number, text))),
        of("unit", Just(Unit)),
        of("untagged", untagged()),
        of("uses_generic", uses),
    ];
    prop::strategy::Union::new(shapes.into_iter().chain(own::written()))
}

fn tool(set: Toolset<(), ()>, name: &str) -> Arc<dyn Tool<()>> {
    set.iter().find(|tool| tool.spec().name.as_str() == name).cloned().expect("a tool for each shape")
}

/// The tools that take a shape: as a parameter, and in a field of a `#[tool_type]`, each with the arguments that hold
/// `value`.
fn tools(name: &str, value: &Value) -> Vec<(Arc<dyn Tool<()>>, Value)> {
    let alone = json!({ "value": value });
    if name.starts_with("own_") {
        return vec![(tool(own::Own::tools(), name), alone)];
    }
    let in_field = tool(InAField::tools(), &format!("in_{name}"));
    vec![(tool(Parameter::tools(), name), alone), (in_field, json!({ "value": { "shape": value } }))]
}

thread_local! {
    static RUNTIME: Runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
}

/// What came of a call.
enum Came {
    /// What the tool read, as its type writes it.
    Back(Value),
    /// The schema refused it.
    Refused(String),
    /// The schema let it through, and the type did not take it.
    Unread(String),
}

fn call(tool: &Arc<dyn Tool<()>>, arguments: Value) -> Came {
    let result =
        RUNTIME.with(|runtime| runtime.block_on(testkit::call(tool, &(), arguments))).expect("a result");
    let text = format!("{:?}", result.content);
    match (result.is_error, result.value) {
        (false, value) => Came::Back(value.unwrap_or(Value::Null)),
        (true, _) if text.contains("invalid arguments") => Came::Refused(text),
        (true, _) => Came::Unread(text),
    }
}

/// Equal as numbers: `5.0` is `5`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, rng_seed: prop::test_runner::RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_type_writes_validates_and_comes_back((name, value) in written()) {
        for (index, (tool, arguments)) in tools(name, &value).into_iter().enumerate() {
            match call(&tool, arguments) {
                // A tool that gives back a text or nothing does so in words.
                Came::Back(came) => prop_assert!(
                    index == 0 || same(&came["shape"], &value),
                    "{}: {} came back as {}", name, value, came
                ),
                Came::Refused(text) | Came::Unread(text) => {
                    return Err(TestCaseError::fail(format!("{name}: {value}: {text}")));
                }
            }
        }
    }

    #[test]
    fn what_validates_is_read((name, value) in written(), changes in vec(any::<Change>(), 1..4)) {
        let value = changed(value, &changes);
        for (tool, arguments) in tools(name, &value) {
            if let Came::Unread(text) = call(&tool, arguments) {
                return Err(TestCaseError::fail(format!("{name}: {value}: {text}")));
            }
        }
    }
}
