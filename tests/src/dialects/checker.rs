//! What each provider refuses, from its documentation, SDK or error reports. Shares nothing with the library.

use serde_json::{Map, Value};

/// What one provider takes.
struct Takes {
    keywords: &'static str,
    formats: Option<&'static str>,
    /// Every object closed, every property required.
    closed: bool,
    all_required: bool,
    /// Every schema names its type.
    typed: bool,
    type_lists: bool,
    references: bool,
    reference_alone: bool,
    text_enums: bool,
    property: fn(&str) -> bool,
}

const STRUCTURE: &str = " type description properties required items enum anyOf ";
const WIDE: &str = " type description properties required additionalProperties patternProperties propertyNames \
    minProperties maxProperties dependentRequired dependentSchemas items prefixItems minItems maxItems uniqueItems \
    contains minContains maxContains enum const anyOf oneOf allOf not if then else $ref $defs default format pattern \
    minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ";
const OPENAI: &str = " type description properties required items enum anyOf additionalProperties const $ref $defs \
    format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems ";
const ANTHROPIC: &str = " type description properties required items enum anyOf additionalProperties const $ref \
    $defs format pattern minItems default ";
const DEEPSEEK: &str =
    " type description properties required items enum anyOf additionalProperties $ref $defs format ";
const GEMINI: &str = " type description properties required items enum anyOf nullable format default minItems \
    maxItems minLength maxLength pattern minimum maximum minProperties maxProperties ";
const GEMINI_JSON: &str = " type description properties required items enum anyOf oneOf additionalProperties $ref \
    $defs prefixItems format default minItems maxItems minLength maxLength pattern minimum maximum ";
const SDK_FORMATS: &str = " date-time time date duration email hostname ipv4 ipv6 uuid ";

fn any_name(_: &str) -> bool {
    true
}

fn gemini_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn claude_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

fn takes(dialect: &str) -> Takes {
    let plain = Takes {
        keywords: WIDE,
        formats: None,
        closed: false,
        all_required: false,
        typed: false,
        type_lists: true,
        references: true,
        reference_alone: false,
        text_enums: false,
        property: any_name,
    };
    let strict = Takes { formats: Some(SDK_FORMATS), closed: true, typed: true, ..plain };
    match dialect {
        "openai-strict" => Takes { keywords: OPENAI, all_required: true, reference_alone: true, ..strict },
        "anthropic-strict" => Takes { keywords: ANTHROPIC, property: claude_name, ..strict },
        "deepseek-strict" => Takes {
            keywords: DEEPSEEK,
            formats: Some(" email hostname ipv4 ipv6 uuid "),
            all_required: true,
            type_lists: false,
            ..strict
        },
        "gemini" => Takes {
            keywords: GEMINI,
            formats: Some(" int32 int64 float double enum date-time "),
            typed: true,
            type_lists: false,
            references: false,
            text_enums: true,
            property: gemini_name,
            ..plain
        },
        "gemini-json" => {
            Takes { keywords: GEMINI_JSON, formats: Some(" int32 int64 float double "), ..plain }
        }
        "ollama" => Takes { keywords: STRUCTURE, references: false, formats: Some(" "), ..plain },
        "bedrock" => Takes { references: false, property: claude_name, ..plain },
        "anthropic" => Takes { property: claude_name, ..plain },
        "vllm" => Takes { formats: Some(SDK_FORMATS), ..plain },
        "openai" | "mistral" | "groq" | "deepseek" | "llama.cpp" => plain,
        other => panic!("no checker for {other}"),
    }
}

/// Why a provider would refuse a schema.
pub(crate) fn refusal(dialect: &str, schema: &Value) -> Option<String> {
    let takes = takes(dialect);
    let root = schema.as_object()?;
    if root.get("type").is_none_or(|name| name != "object") || !root.contains_key("properties") {
        return Some("the root is no object with properties".into());
    }
    for keyword in ["anyOf", "oneOf", "allOf", "enum", "not", "$ref"] {
        if root.contains_key(keyword) {
            return Some(format!("`{keyword}` at the root"));
        }
    }
    let check = Check { dialect, takes, root: schema };
    check.schema(schema, "#", &mut Vec::new()).err()
}

struct Check<'c> {
    dialect: &'c str,
    takes: Takes,
    root: &'c Value,
}

impl<'c> Check<'c> {
    fn schema(&self, schema: &'c Value, at: &str, within: &mut Vec<&'c str>) -> Result<(), String> {
        let fail = |what: &str| Err(format!("{}: {at}: {what}: {schema}", self.dialect));
        let Value::Object(object) = schema else { return fail("a boolean schema") };
        for keyword in object.keys() {
            if !self.takes.keywords.contains(&format!(" {keyword} ")) {
                return fail(&format!("`{keyword}` is not known"));
            }
        }
        if object.get("default").is_some_and(Value::is_null) {
            return fail("a default of null");
        }
        if let Some(format) = object.get("format").and_then(Value::as_str) {
            let known = self.takes.formats.is_none_or(|known| known.contains(&format!(" {format} ")));
            if !known || format.starts_with("uint") {
                return fail("the format");
            }
        }
        if !self.takes.type_lists && object.get("type").is_some_and(Value::is_array) {
            return fail("a list of types");
        }
        let typed = ["type", "anyOf", "$ref"].iter().any(|keyword| object.contains_key(*keyword));
        if self.takes.typed && !typed {
            return fail("no type");
        }
        if self.takes.typed
            && object.get("type").is_some_and(|name| name == "array")
            && !object.contains_key("items")
        {
            return fail("an array of unknown items");
        }
        if let (true, Some(Value::Array(values))) = (self.takes.text_enums, object.get("enum")) {
            if !values.iter().all(Value::is_string) || object["type"] != "string" {
                return fail("an enum of other values than texts");
            }
        }
        self.own_rules(object).or_else(fail)?;
        self.object(object).or_else(fail)?;
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            let pointer = target.strip_prefix("#/$defs/").unwrap_or("~");
            if !self.takes.references || self.root.pointer(&format!("/$defs/{pointer}")).is_none() {
                return fail("a reference");
            }
            if self.takes.reference_alone && object.len() > 1 {
                return fail("something beside a reference");
            }
            if self.dialect == "anthropic-strict" {
                if within.contains(&target) {
                    return fail("a type that contains itself");
                }
                within.push(target);
                self.schema(self.root.pointer(&target[1..]).unwrap(), at, within)?;
                within.pop();
            }
        }
        for (keyword, value) in object {
            let at = format!("{at}/{keyword}");
            match (keyword.as_str(), value) {
                ("additionalProperties", Value::Bool(_)) => {}
                (
                    "items"
                    | "additionalProperties"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "contains"
                    | "propertyNames",
                    one,
                ) => self.schema(one, &at, within)?,
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                    if list.is_empty() {
                        return fail("an empty list of schemas");
                    }
                    for one in list {
                        let is_reference = one.get("$ref").is_some();
                        if self.dialect == "deepseek-strict" && is_reference {
                            return fail("a reference in `anyOf`");
                        }
                        self.schema(one, &at, within)?;
                    }
                }
                ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                    for (name, one) in named {
                        self.schema(one, &format!("{at}/{name}"), within)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn object(&self, object: &Map<String, Value>) -> Result<(), &'static str> {
        let is_object = object.get("type").is_some_and(|name| {
            name == "object" || name.as_array().is_some_and(|names| names.iter().any(|name| name == "object"))
        });
        let required: Vec<_> =
            object.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        let properties = object.get("properties").and_then(Value::as_object);
        if properties.is_some_and(|properties| !properties.keys().all(|name| (self.takes.property)(name))) {
            return Err("the name of a property");
        }
        if !is_object {
            return Ok(());
        }
        if self.takes.closed && object.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Err("an open object");
        }
        let Some(properties) = properties else {
            return if self.takes.closed { Err("an object without properties") } else { Ok(()) };
        };
        if self.takes.all_required && required.len() != properties.len() {
            return Err("an optional property");
        }
        let declared = |name: &&Value| name.as_str().is_some_and(|name| properties.contains_key(name));
        if self.takes.typed && !required.iter().all(declared) {
            return Err("a required property that is not declared");
        }
        Ok(())
    }

    /// What is known of one provider only.
    fn own_rules(&self, object: &Map<String, Value>) -> Result<(), &'static str> {
        let number = |keyword: &str| object.get(keyword).and_then(Value::as_u64).unwrap_or(0);
        let has = |keyword: &str| object.contains_key(keyword);
        match self.dialect {
            "anthropic-strict" if number("minItems") > 1 => Err("`minItems` above 1"),
            "openai-strict" | "anthropic-strict"
                if object.get("pattern").and_then(Value::as_str).is_some_and(|text| text.contains("(?")) =>
            {
                Err("a pattern that looks around")
            }
            "llama.cpp" if number("minLength").max(number("maxLength")) >= 2_000 => Err("a length of 2000"),
            "vllm"
                if (has("pattern") || has("format")) && (has("minLength") || has("maxLength"))
                    || ["multipleOf", "uniqueItems", "contains", "patternProperties", "propertyNames"]
                        .iter()
                        .any(|keyword| has(keyword)) =>
            {
                Err("what no grammar is made of")
            }
            "gemini-json" if has("const") || has("exclusiveMinimum") || has("uniqueItems") => {
                Err("an unknown name")
            }
            "bedrock" if has("additionalProperties") => Err("`additionalProperties`"),
            _ => Ok(()),
        }
    }
}
