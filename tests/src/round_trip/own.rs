//! Types of `#[tool_type]`, with what serde lets an author say of them.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};
use tinyagents::prelude::*;

use super::{Came, call, float, of, single, text};

#[tool_type]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct Cased {
    max_items: u8,
    #[serde(rename = "$id")]
    id: u64,
    #[serde(alias = "colour")]
    color: Hue,
    #[serde(skip)]
    #[expect(dead_code, reason = "no model sees it")]
    hidden: Unseen,
    #[serde(default)]
    old_list: Vec<i64>,
    #[serde(default = "five")]
    number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    maybe: Option<f32>,
}

/// Has no schema, and needs none where it is skipped.
#[derive(Debug, Clone, Default)]
pub struct Unseen;

fn five() -> u32 {
    5
}

/// A colour.
#[tool_type]
#[derive(Debug, Clone)]
#[serde(rename_all = "kebab-case")]
pub enum Hue {
    /// The red one.
    DarkRed,
    /// The other.
    #[serde(alias = "azure")]
    LightBlue,
}

#[tool_type]
#[derive(Debug, Clone)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Tagged {
    /// Nothing more.
    NoMore,
    Held(Cased),
    #[serde(rename_all = "camelCase")]
    Named {
        some_name: String,
        size: Option<u64>,
    },
}

#[tool_type]
#[derive(Debug, Clone)]
#[serde(tag = "t", content = "c")]
pub enum Beside {
    Unit,
    Number(i64),
    Pair(u8, f64),
    Named { hue: Hue },
}

#[tool_type]
#[derive(Debug, Clone)]
#[serde(untagged)]
pub enum Either {
    Number(u64),
    Float(f64),
    Text(String),
    Many(Vec<Tagged>),
}

#[tool_type]
#[derive(Debug, Clone)]
pub enum Outside {
    Unit,
    Number(u16),
    Pair(bool, char),
    Named { meters: Meters },
}

#[tool_type]
#[derive(Debug, Clone)]
pub struct Meters(f64);

#[tool_type]
#[derive(Debug, Clone)]
#[serde(transparent)]
pub struct Through {
    all: BTreeMap<u16, Meters>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub struct Two<A, B> {
    first: A,
    second: Option<B>,
}

#[tool_type]
#[derive(Debug, Clone)]
pub struct Flat {
    own: bool,
    #[serde(flatten)]
    cased: Cased,
    #[serde(flatten)]
    kind: Tagged,
}

/// A tree of alternatives.
#[tool_type]
#[derive(Debug, Clone)]
#[serde(rename_all = "lowercase")]
pub enum Formula {
    Number(f64),
    Not(Box<Formula>),
    Sum(Vec<Formula>),
}

macro_rules! tools {
    ($($tool:ident $type:ty;)*) => {
        pub struct Own;

        #[tools]
        impl Own {$(
            /// Echo.
            #[tool(read_only, inline)]
            pub fn $tool(value: $type) -> $type {
                value
            }
        )*}
    };
}

tools! {
    own_cased Cased;
    own_hue Hue;
    own_tagged Tagged;
    own_beside Beside;
    own_either Either;
    own_outside Outside;
    own_through Through;
    own_two Two<Vec<Hue>, Two<Meters, i64>>;
    own_flat Flat;
    own_formula Formula;
}

fn hue() -> impl Strategy<Value = Hue> + Clone {
    prop_oneof![Just(Hue::DarkRed), Just(Hue::LightBlue)]
}

fn cased() -> impl Strategy<Value = Cased> {
    let whole = (whole!(u8), whole!(u64), whole!(u32), vec(whole!(i64), 0..3));
    (whole, hue(), prop::option::of(single())).prop_map(
        |((max_items, id, number, old_list), color, maybe)| Cased {
            max_items,
            id,
            color,
            hidden: Unseen,
            old_list,
            number,
            maybe,
        },
    )
}

fn tagged() -> impl Strategy<Value = Tagged> {
    prop_oneof![
        Just(Tagged::NoMore),
        cased().prop_map(Tagged::Held),
        (text(), prop::option::of(whole!(u64)))
            .prop_map(|(some_name, size)| Tagged::Named { some_name, size }),
    ]
}

fn formula() -> impl Strategy<Value = Formula> {
    let leaf = float().prop_map(Formula::Number);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Formula::Not(Box::new(inner))),
            vec(inner, 0..3).prop_map(Formula::Sum),
        ]
    })
}

/// A value of each type as it writes it, with the name of its tool.
pub fn written() -> Vec<BoxedStrategy<(&'static str, Value)>> {
    let beside = prop_oneof![
        Just(Beside::Unit),
        whole!(i64).prop_map(Beside::Number),
        (whole!(u8), float()).prop_map(|(number, float)| Beside::Pair(number, float)),
        hue().prop_map(|hue| Beside::Named { hue }),
    ];
    let either = prop_oneof![
        whole!(u64).prop_map(Either::Number),
        float().prop_map(Either::Float),
        text().prop_map(Either::Text),
        vec(tagged(), 0..3).prop_map(Either::Many),
    ];
    let outside = prop_oneof![
        Just(Outside::Unit),
        whole!(u16).prop_map(Outside::Number),
        any::<(bool, char)>().prop_map(|(yes, letter)| Outside::Pair(yes, letter)),
        float().prop_map(|meters| Outside::Named { meters: Meters(meters) }),
    ];
    let through = btree_map(whole!(u16), float().prop_map(Meters), 0..3).prop_map(|all| Through { all });
    let second = (float(), prop::option::of(whole!(i64)))
        .prop_map(|(first, second)| Two { first: Meters(first), second });
    let two = (vec(hue(), 0..3), prop::option::of(second)).prop_map(|(first, second)| Two { first, second });
    let kind = (text(), prop::option::of(whole!(u64)))
        .prop_map(|(some_name, size)| Tagged::Named { some_name, size });
    let flat = (any::<bool>(), cased(), prop_oneof![Just(Tagged::NoMore), kind])
        .prop_map(|(own, cased, kind)| Flat { own, cased, kind });
    vec![
        of("own_cased", cased()),
        of("own_hue", hue()),
        of("own_tagged", tagged()),
        of("own_beside", beside),
        of("own_either", either),
        of("own_outside", outside),
        of("own_through", through),
        of("own_two", two),
        of("own_flat", flat),
        of("own_formula", formula()),
    ]
}

#[test]
fn an_alias_of_a_field_is_no_name_that_a_model_may_use() {
    let tool = super::tool(Own::tools(), "own_cased");
    let arguments = |name: &str| json!({ "value": { "maxItems": 1, "$id": 2, name: "dark-red" } });
    assert!(matches!(call(&tool, arguments("color")), Came::Back(_)));
    let Came::Refused(text) = call(&tool, arguments("colour")) else { panic!("an alias was taken") };
    assert!(text.contains("`value.colour`: expected one of `color`"), "{text}");
    let Came::Refused(text) = call(&super::tool(Own::tools(), "own_hue"), json!({ "value": "azure" })) else {
        panic!("an alias was taken")
    };
    assert!(text.contains("light-blue"), "{text}");
}
