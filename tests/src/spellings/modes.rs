//! One tool under each setting of repair, and what must hold of a call.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tinyagents::async_trait;
use tinyagents::harness::context::{ArgumentRepair, RunConfig};
use tinyagents::harness::tool::{ToolRuntime, ToolSpec};
use tinyagents::prelude::*;
use tokio::runtime::Runtime;

use crate::repair::policy;

/// A tool that shows what its body got.
struct Watched {
    inner: Arc<dyn Tool<()>>,
    got: Arc<Mutex<Option<Value>>>,
}

#[async_trait]
impl Tool<()> for Watched {
    fn spec(&self) -> ToolSpec {
        self.inner.spec()
    }

    async fn call(
        &self,
        state: &(),
        runtime: ToolRuntime<'_>,
        call: ToolCall,
    ) -> tinyagents::Result<ToolResult> {
        *self.got.lock().unwrap() = Some(call.arguments.to_value());
        self.inner.call(state, runtime, call).await
    }

    fn policy(&self) -> ToolPolicy {
        self.inner.policy()
    }

    fn __generated(&self) -> Option<&'static tinyagents::__private::ToolDef> {
        self.inner.__generated()
    }
}

fn words(result: &ToolResult) -> String {
    result.content.iter().map(|block| format!("{block:?}")).collect()
}

/// What came of a call.
#[derive(Debug, PartialEq)]
pub enum Came {
    Refused(String),
    /// The body started with these arguments, and this is what its parameters were.
    Read {
        arguments: Value,
        seen: Value,
        repaired: bool,
    },
}

/// A harness with one tool, for many calls.
pub struct Bench {
    runtime: Runtime,
    harness: AgentHarness<()>,
    name: String,
    got: Arc<Mutex<Option<Value>>>,
    repairs: Arc<Mutex<Vec<bool>>>,
}

impl Bench {
    fn new(tool: &Arc<dyn Tool<()>>, repair: ArgumentRepair) -> Self {
        let (got, repairs) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(Vec::new())));
        let mut harness = AgentHarness::new();
        harness.with_policy(policy(repair));
        harness.register_tool(Watched { inner: Arc::clone(tool), got: Arc::clone(&got) }).unwrap();
        let applied = Arc::clone(&repairs);
        harness.with_listener(move |record: &EventRecord| {
            if let AgentEvent::ArgumentsRepaired { applied: is, .. } = record.event {
                applied.lock().unwrap().push(is);
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, harness, name: tool.spec().name.to_string(), got, repairs }
    }

    /// Calls the tool with a model's text. A body that started has read its arguments.
    pub fn call(&self, text: &str) -> Came {
        let call = ToolCall::from_text("c", self.name.as_str(), text);
        let ctx = self.harness.context(RunConfig::default(), ());
        let result = self.runtime.block_on(self.harness.call_tool(&(), ctx, call));
        let repaired = std::mem::take(&mut *self.repairs.lock().unwrap()).contains(&true);
        match self.got.lock().unwrap().take() {
            None => {
                assert!(result.is_error && !repaired, "{}: {text}: {}", self.name, words(&result));
                Came::Refused(words(&result))
            }
            Some(arguments) => {
                assert!(!result.is_error, "{}: {text} started, and: {}", self.name, words(&result));
                Came::Read { arguments, seen: result.value.unwrap(), repaired }
            }
        }
    }
}

/// A number as its text says it: digits, and the power of ten that they are multiplied by.
fn exactly(text: &str) -> Option<i128> {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let shorter = digits.trim_end_matches('0');
    let zeros = power.parse::<i64>().ok()? - fraction.len() as i64 + (digits.len() - shorter.len()) as i64;
    match shorter.trim_start_matches('-').is_empty() {
        true => Some(0),
        false if (0..=38).contains(&zeros) => format!("{shorter}{}", "0".repeat(zeros as usize)).parse().ok(),
        false => None,
    }
}

/// Whether what a body saw is what a text says.
fn says(text: &str, seen: &Value, is_single: bool) -> bool {
    let inner: Option<String> = serde_json::from_str(text).ok();
    let text = inner.as_deref().unwrap_or(text).trim();
    match seen {
        Value::String(seen) => inner.is_some_and(|inner| inner == *seen),
        Value::Bool(seen) => text.eq_ignore_ascii_case(&seen.to_string()),
        Value::Number(seen) if seen.is_f64() => {
            let (seen, double) = (seen.as_f64().unwrap(), text.parse::<f64>().unwrap());
            // A text becomes a double first, except that of an integer.
            let singles = [f64::from(double as f32), f64::from(text.parse::<f32>().unwrap())];
            if is_single { singles.contains(&seen) } else { seen == double }
        }
        Value::Number(seen) => {
            let seen: i128 = seen.to_string().parse().unwrap();
            // With a point or an exponent it is a float, which is one integer below 2^53 only.
            let is_float = text.contains(['.', 'e', 'E']) && seen.abs() < 1 << 53;
            exactly(text) == Some(seen) || (is_float && text.parse::<f64>().unwrap() == seen as f64)
        }
        _ => false,
    }
}

/// The least and the greatest that a type of integers holds, of those that JSON has.
fn range(tool: &str) -> Option<(i128, i128)> {
    let name = tool.split_once('_').map_or(tool, |(_, name)| name);
    Some(match name {
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" | "nonzero_i64" => (i64::MIN.into(), i64::MAX.into()),
        "i128" => (i64::MIN.into(), u64::MAX.into()),
        "u8" | "nonzero_u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "u64" | "u128" | "usize" | "nonzero_u64" => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// Whether a text is a plain value of a tool's type, so that refusing it would be a fault.
pub fn must_be_read(tool: &str, text: &str, at: &str) -> bool {
    // Where serde keeps a value before it knows the type, it has no place for 128 bits.
    if tool.ends_with("128") && (at.contains("untagged") || at.contains("outer")) {
        return false;
    }
    let plain =
        text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()).then(|| text.parse::<i128>().ok());
    match (range(tool), plain.flatten()) {
        (Some((least, most)), Some(plain)) => {
            (least..=most).contains(&plain) && !(plain == 0 && tool.contains("nonzero"))
        }
        (None, _) if tool.ends_with("f64") => serde_json::from_str::<f64>(text).is_ok(),
        (None, _) if tool.ends_with("f32") => {
            serde_json::from_str::<f64>(text).is_ok_and(|number| number.abs() <= f64::from(f32::MAX))
        }
        (None, _) if tool.ends_with("bool") => matches!(text, "true" | "false"),
        (None, _) if tool.ends_with("string") => text.starts_with('"'),
        _ => false,
    }
}

#[derive(Default)]
pub struct Counts {
    pub read: u32,
    pub repaired: u32,
    pub refused: u32,
}

/// One tool under each setting of repair.
pub struct Modes {
    pub name: String,
    pub all: [Bench; 3],
}

impl Modes {
    pub fn of(tool: &Arc<dyn Tool<()>>) -> Self {
        let modes = [ArgumentRepair::Off, ArgumentRepair::Observe, ArgumentRepair::On];
        Self { name: tool.spec().name.to_string(), all: modes.map(|repair| Bench::new(tool, repair)) }
    }

    /// Calls it with the same text under each; `spelt` is what stands at `at`.
    pub fn judge(&self, text: &str, spelt: &str, at: &str, counts: &mut Counts) {
        let [off, observed, on] = [0, 1, 2].map(|mode| self.all[mode].call(text));
        assert_eq!(off, observed, "{}: {text}: observing changes nothing", self.name);
        if let Came::Read { repaired, .. } = &off {
            assert!(!repaired, "{}: {text}", self.name);
            assert_eq!(off, on, "{}: {text}: a valid call is left as it is", self.name);
        } else {
            assert!(!must_be_read(&self.name, spelt, at), "{}: {text}: {off:?}", self.name);
        }
        match &on {
            Came::Refused(_) => counts.refused += 1,
            Came::Read { arguments, seen, repaired } => {
                counts.read += 1;
                counts.repaired += u32::from(*repaired);
                let again = self.all[2].call(&arguments.to_string());
                let same = Came::Read { arguments: arguments.clone(), seen: seen.clone(), repaired: false };
                assert_eq!(again, same, "{}: {text}: repair is idempotent", self.name);
                match seen.pointer(at) {
                    // "Left out" has two other spellings.
                    Some(Value::Null) | None => assert!(
                        spelt.contains("null") || spelt.contains("None"),
                        "{}: {text}: {seen}",
                        self.name
                    ),
                    // A single item where a list is wanted is no matter of spelling.
                    Some(there) => {
                        assert!(
                            says(spelt, there, self.name.ends_with("f32")) || spelt == "[5]",
                            "{}: {text}: {there}",
                            self.name
                        )
                    }
                }
            }
        }
    }
}
