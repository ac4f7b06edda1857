//! Every shape that schemars emits has one canonical schema, as a parameter and as a field, or is refused with a way
//! out.
//!
//! `data/schemars/canonical.json` holds the schemas; `emitted.json` beside it is what schemars 1.2 wrote for types of
//! the same names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::{DynTool, ToolError, ToolRegistry, ToolSpec};
use tinyagents::prelude::*;
use tinyagents::schemars::JsonSchema;
use tinyagents::serde::{Deserialize, Serialize};

/// Plain derives: what other crates' types have.
macro_rules! shape {
    ($($item:item)*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(crate = "tinyagents::serde")]
        #[schemars(crate = "tinyagents::schemars")]
        $item
    )*};
}

shape! {
    pub struct Inner {
        pub x: i32,
    }

    /// Plain enum.
    pub enum Color {
        /// The red one.
        Red,
        Blue,
        #[serde(rename = "dark-green")]
        DarkGreen,
    }

    pub enum PlainColor {
        Red,
        Blue,
    }

    /// Externally tagged.
    pub enum External {
        Unit,
        Newtype(u32),
        Tuple(i32, String),
        Struct { a: bool },
    }

    #[serde(tag = "type")]
    pub enum Internal {
        Unit,
        Struct { a: bool },
        Newtype(Inner),
    }

    #[serde(tag = "t", content = "c")]
    pub enum Adjacent {
        Unit,
        Newtype(u32),
        Struct { a: bool },
    }

    #[serde(untagged)]
    pub enum Untagged {
        Number(i64),
        Text(String),
        Inner(Inner),
    }

    pub struct Enums {
        pub e: External,
        pub i: Internal,
        pub a: Adjacent,
        pub u: Untagged,
    }

    /// Unsigned and signed integers.
    pub struct Ints {
        pub a: u8,
        pub b: u16,
        pub c: u32,
        pub d: u64,
        pub e: usize,
        pub f: i8,
        pub g: i32,
        pub h: i64,
        pub i: isize,
        pub j: u128,
        pub k: std::num::NonZeroU32,
        pub l: std::num::NonZeroI16,
        pub m: i128,
        pub n: i16,
    }

    pub struct Floats {
        pub a: f32,
        pub b: f64,
    }

    pub struct Strings {
        pub s: String,
        pub c: char,
        pub p: std::path::PathBuf,
    }

    pub struct Options {
        #[serde(default)]
        pub a: Option<u32>,
        pub b: Option<String>,
        pub c: Option<Color>,
        pub d: Option<Inner>,
        #[serde(default = "five")]
        pub e: u32,
        pub f: Option<bool>,
        pub g: Vec<Option<Inner>>,
        pub h: Option<External>,
        pub i: (Option<u8>, bool),
    }

    pub struct Nested {
        /// Documented inner.
        pub inner: Inner,
        pub list: Vec<Inner>,
        pub color: Color,
    }

    /// A recursive tree.
    pub struct Tree {
        pub value: i32,
        pub children: Vec<Tree>,
        pub parent: Option<Box<Tree>>,
    }

    pub struct HasTree {
        pub root: Tree,
    }

    pub struct Maps {
        pub a: BTreeMap<String, u32>,
        pub b: HashMap<String, Inner>,
        pub c: BTreeSet<String>,
        pub d: [u8; 3],
        pub e: (i32, String),
        pub f: Vec<Vec<f64>>,
        pub g: BTreeMap<u32, String>,
        pub h: BTreeMap<i8, bool>,
        pub i: BTreeMap<String, Option<u8>>,
    }

    pub struct Any {
        pub v: Value,
        pub m: HashMap<String, Value>,
        pub u: (),
        pub l: Vec<Value>,
    }

    pub struct Empty {}

    pub struct Deny {
        pub a: bool,
    }

    pub struct Base {
        pub id: u32,
    }

    pub struct Flat {
        #[serde(flatten)]
        pub base: Base,
        pub name: String,
        #[serde(flatten)]
        pub extra: BTreeMap<String, String>,
    }

    pub struct FlatTagged {
        pub name: String,
        #[serde(flatten)]
        pub kind: Internal,
    }

    pub struct Ext {
        pub ip: IpAddr,
        pub v4: std::net::Ipv4Addr,
        pub v6: std::net::Ipv6Addr,
        pub dur: Duration,
        #[schemars(extend("format" = "date-time"))]
        pub at: String,
    }

    pub struct Renamed {
        #[serde(rename = "longFieldName")]
        pub long_field_name: String,
        #[serde(rename = "$weird name")]
        pub weird: u8,
        pub n: u8,
    }

    pub struct Generic<T> {
        pub item: T,
    }

    pub struct UsesGeneric {
        pub a: Generic<u32>,
        pub b: Generic<String>,
        pub r: Result<u32, String>,
    }

    pub struct NewtypeU32(pub u32);

    pub struct TupleS(pub u32, pub String);

    pub struct Unit;
}

fn five() -> u32 {
    5
}

/// A type in which each shape is a field.
#[tool_type]
#[derive(Debug, Clone, PartialEq)]
pub struct InField<T> {
    pub shape: T,
}

macro_rules! tools {
    ($($tool:ident $name:ident $(<$arg:ty>)?, $field:ident;)*) => {
        /// Each shape as a parameter.
        pub struct Parameter;

        #[tools]
        impl Parameter {$(
            /// Echo.
            #[tool(read_only, inline)]
            pub fn $tool(value: $name $(<$arg>)?) -> $name $(<$arg>)? {
                value
            }
        )*}

        /// Each shape in a field.
        pub struct InAField;

        #[tools]
        impl InAField {$(
            /// Echo.
            #[tool(read_only, inline)]
            pub fn $field(value: InField<$name $(<$arg>)?>) -> InField<$name $(<$arg>)?> {
                value
            }
        )*}
    };
}

tools! {
    adjacent Adjacent, in_adjacent;
    any Any, in_any;
    color Color, in_color;
    deny Deny, in_deny;
    empty Empty, in_empty;
    enums Enums, in_enums;
    ext Ext, in_ext;
    external External, in_external;
    flat Flat, in_flat;
    flat_tagged FlatTagged, in_flat_tagged;
    floats Floats, in_floats;
    has_tree HasTree, in_has_tree;
    internal Internal, in_internal;
    ints Ints, in_ints;
    maps Maps, in_maps;
    nested Nested, in_nested;
    newtype_u32 NewtypeU32, in_newtype_u32;
    options Options, in_options;
    plain_color PlainColor, in_plain_color;
    renamed Renamed, in_renamed;
    strings Strings, in_strings;
    tree Tree, in_tree;
    tuple_s TupleS, in_tuple_s;
    unit Unit, in_unit;
    untagged Untagged, in_untagged;
    uses_generic UsesGeneric, in_uses_generic;
}

fn specs(tools: Toolset<(), ()>) -> Vec<ToolSpec> {
    tools.into_iter().map(|tool| tool.spec()).collect()
}

/// A file of schemas by name.
pub fn data(file: &str) -> serde_json::Map<String, Value> {
    let path = format!("{}/data/schemars/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap_or_else(|_| "{}".into())).unwrap()
}

#[test]
fn every_shape_has_one_canonical_schema_as_a_parameter() {
    let expected = data("canonical.json");
    let specs = specs(Parameter::tools::<(), ()>());
    let found: serde_json::Map<String, Value> =
        specs.iter().map(|spec| (spec.name.to_string(), (*spec.input_schema).clone())).collect();
    for (name, schema) in &found {
        println!("{}: {schema}", json!(name));
    }
    for (name, schema) in &found {
        let expected = expected.get(name).map(Value::to_string);
        assert_eq!(Some(schema.to_string()), expected, "{name}: byte for byte");
    }
    println!("{} shapes", found.len());
    assert_eq!(found.len(), expected.len());
}

#[test]
fn a_shape_is_shown_the_same_in_a_field() {
    let parameters = specs(Parameter::tools::<(), ()>());
    let fields = specs(InAField::tools::<(), ()>());
    for (parameter, field) in parameters.iter().zip(&fields) {
        let own = &parameter.input_schema["properties"]["value"];
        let holder = &field.input_schema["properties"]["value"];
        assert_eq!(holder["properties"]["shape"].to_string(), own.to_string(), "{}", field.name);
        assert_eq!(holder["required"], json!(["shape"]), "{}", field.name);
        assert_eq!(holder["additionalProperties"], json!(false), "{}", field.name);
        assert_eq!(field.input_schema.get("$defs"), parameter.input_schema.get("$defs"), "{}", field.name);
    }
    assert_eq!(parameters.len(), fields.len());
}

/// Every schema below one, with whether it stands where a value's schema stands.
fn each_schema<'s>(schema: &'s Value, see: &mut dyn FnMut(&'s Value)) {
    see(schema);
    let Value::Object(object) = schema else { return };
    for (keyword, value) in object {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas.values().for_each(|schema| each_schema(schema, see));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| each_schema(schema, see));
            }
            ("items" | "not", schema) => each_schema(schema, see),
            ("additionalProperties", schema) if schema.is_object() => each_schema(schema, see),
            _ => {}
        }
    }
}

#[test]
fn d35_d37_a_canonical_schema_is_closed_and_whole_at_every_depth() {
    let (mut seen, mut references) = (0, 0);
    for spec in specs(Parameter::tools::<(), ()>()).iter().chain(&specs(InAField::tools::<(), ()>())) {
        let root: &Value = &spec.input_schema;
        assert_eq!(root["additionalProperties"], json!(false));
        each_schema(root, &mut |schema| {
            seen += 1;
            let object = schema.as_object().unwrap_or_else(|| panic!("{}: {schema} is no object", spec.name));
            for keyword in ["title", "$schema", "nullable"] {
                assert!(!object.contains_key(keyword), "{}: `{keyword}` in {schema}", spec.name);
            }
            assert!(object.get("default").is_none_or(|value| !value.is_null()), "{}: {schema}", spec.name);
            let format = object.get("format").and_then(Value::as_str).unwrap_or_default();
            assert!(
                !format.contains("int") && !["float", "double"].contains(&format),
                "{}: {schema}",
                spec.name
            );
            assert!(std::ptr::eq(schema, root) || !object.contains_key("$defs"), "{}: {schema}", spec.name);
            if let Some(target) = object.get("$ref") {
                references += 1;
                let name =
                    target.as_str().unwrap().strip_prefix("#/$defs/").expect("a definition at the root");
                assert!(root["$defs"].get(name).is_some(), "{}: {target} leads nowhere", spec.name);
            }
            let optional = object.get("properties").and_then(Value::as_object).into_iter().flatten();
            let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            for (name, schema) in optional.filter(|(name, _)| !required.contains(&json!(name))) {
                let takes_null =
                    schema["type"].as_array().is_some_and(|types| types.contains(&json!("null")))
                        || schema["anyOf"]
                            .as_array()
                            .is_some_and(|arms| arms.contains(&json!({ "type": "null" })));
                assert!(!takes_null, "{}: `{name}` shows null: {schema}", spec.name);
            }
        });
    }
    println!("{seen} schemas, {references} references");
    assert!(references > 0);
}

#[test]
fn what_schemars_wrote_registers_by_hand_or_is_refused_with_a_way_out() {
    let (mut registered, mut refused) = (Vec::new(), Vec::new());
    for (name, schema) in data("emitted.json") {
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        let tool = DynTool::new("shape", schema.clone(), ToolPolicy::read_only(), |_, _| async {
            Ok::<_, ToolError>("done")
        });
        let mut registry: ToolRegistry<()> = ToolRegistry::new();
        match registry.register(tool) {
            Ok(()) => {
                assert!(is_object, "{name}");
                assert_eq!(
                    registry.spec("shape").unwrap().input_schema,
                    schema,
                    "a foreign schema stays as it is"
                );
                registered.push(name);
            }
            Err(error) => {
                assert!(!is_object, "{name}: {error}");
                let text = error.to_string();
                assert!(text.contains("tool `shape`") && text.contains("\"type\": \"object\""), "{text}");
                assert!(text.contains("put the value into a property"), "{text}");
                refused.push(name);
            }
        }
    }
    println!("{} registered: {registered:?}", registered.len());
    println!("{} refused, for their root is no object: {refused:?}", refused.len());
    assert_eq!(registered.len() + refused.len(), 24);
    assert_eq!(
        refused,
        ["Adjacent", "External", "Internal", "NewtypeU32", "PlainColor", "TupleS", "Unit", "Untagged"]
    );
}
