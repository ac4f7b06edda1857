//! How often the parts of a schema meet a value in full validation, which has no bounds of its own.
//!
//! Guarantee: never counted too low, as if nothing were left out once a part has failed. What would check one value
//! without end, or very often, without a step into it is refused at registration. The rest is counted for each value,
//! at the price of a look at its size where no schema contains itself.
//!
//! Not here: what a check finds.

mod found;
mod keywords;

use foldhash::{HashMap, HashMapExt};
use serde_json::Value;

use super::check::{MAX_LEVELS, MAX_STEPS};
use super::number::size;

/// The most pairs of a part and a value that are looked at to count.
const MAX_PAIRS: usize = 1_000_000;
/// One schema in the schema, by the others that it leads to.
#[derive(Debug, Default)]
struct Part {
    /// Its own checks.
    weight: u64,
    /// Whether it asks which parts of a value were left unevaluated, which takes the checks of the value anew.
    unevaluated: bool,
    /// Whether it has parts that apply under a condition.
    conditional: bool,
    in_place: Vec<usize>,
    /// What each reference may mean: one of the parts of its list.
    references: Vec<Vec<usize>>,
    properties: HashMap<String, usize>,
    any_property: Vec<usize>,
    names: Vec<usize>,
    prefix: Vec<usize>,
    items: Vec<usize>,
}

impl Part {
    /// The parts that check a value in the value.
    fn below(&self) -> impl Iterator<Item = &usize> {
        let lists = [&self.any_property, &self.names, &self.prefix, &self.items];
        lists.into_iter().flatten().chain(self.properties.values())
    }
}

/// The checks of one value, those of the values in it included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checks {
    pub(super) steps: u64,
    /// What it takes once more to know which parts of the value were evaluated.
    marks: u64,
    /// How deep they are within each other.
    pub(super) levels: u32,
}

/// How often the crate asks for one condition: once for each list of what depends on it, of which it holds 64 at most,
/// and when it checks and marks.
const CONDITION: u64 = 66;

impl Checks {
    const NONE: Self = Self { steps: 0, marks: 0, levels: 0 };
    const TOO_MANY: Self = Self { steps: u64::MAX, marks: u64::MAX, levels: 0 };

    fn of_part(part: &Part) -> Self {
        Self { steps: part.weight, marks: 1, levels: 1 }
    }

    /// Adds those of the same value by a part that `part` leads to.
    fn and_in_place(&mut self, part: &Part, below: Self) {
        let times = if part.conditional { CONDITION } else { 1 };
        self.marks = self.marks.saturating_add(below.steps.saturating_mul(times)).saturating_add(below.marks);
        self.add(below);
    }

    /// Adds those of a value in the value.
    fn and_below(&mut self, below: Self) {
        self.marks = self.marks.saturating_add(below.steps);
        self.add(below);
    }

    fn add(&mut self, below: Self) {
        self.steps = self.steps.saturating_add(below.steps);
        self.levels = self.levels.max(below.levels + 1);
    }

    fn with_unevaluated(mut self, part: &Part) -> Self {
        if part.unevaluated {
            self.steps = self.steps.saturating_add(self.marks);
        }
        self
    }

    fn or(self, other: Self) -> Self {
        Self {
            steps: self.steps.max(other.steps),
            marks: self.marks.max(other.marks),
            levels: self.levels.max(other.levels),
        }
    }

    /// Whether so many are made.
    pub(super) fn are_made(self) -> bool {
        self.steps <= u64::from(MAX_STEPS) && self.levels <= MAX_LEVELS
    }
}

/// What a schema may cost.
#[derive(Debug)]
pub(super) struct Cost {
    parts: Vec<Part>,
    /// The most checks of any value in a value, if the schema does not contain itself.
    of_each: Option<Checks>,
    /// How many patterns there are.
    pub(super) patterns: usize,
}

impl Cost {
    /// At least as many as the checks of a value.
    pub(super) fn of_value(&self, value: &Value) -> Checks {
        let size = size(value);
        if size == usize::MAX {
            return Checks::TOO_MANY;
        }
        if let Some(each) = self.of_each {
            let most = Checks { steps: each.steps.saturating_mul(size as u64), ..each };
            if most.are_made() {
                return most;
            }
        }
        Count { parts: &self.parts, known: HashMap::new() }.of(0, value, 0)
    }
}

/// Counts the checks of a value.
struct Count<'c> {
    parts: &'c [Part],
    known: HashMap<(usize, usize), Checks>,
}

impl Count<'_> {
    fn of(&mut self, id: usize, value: &Value, level: u32) -> Checks {
        static SCALAR: Value = Value::Null;
        let value = if value.is_array() || value.is_object() { value } else { &SCALAR };
        // The address tells values apart, since none is moved meanwhile.
        let key = (id, std::ptr::from_ref(value) as usize);
        if let Some(checks) = self.known.get(&key) {
            return *checks;
        }
        let Some(part) = self.parts.get(id).filter(|_| level <= MAX_LEVELS && self.known.len() < MAX_PAIRS)
        else {
            return Checks::TOO_MANY;
        };
        let level = level + 1;
        let mut sum = Checks::of_part(part);
        for below in &part.in_place {
            sum.and_in_place(part, self.of(*below, value, level));
        }
        for choice in &part.references {
            let checks = choice.iter().map(|below| self.of(*below, value, level));
            sum.and_in_place(part, checks.fold(Checks::NONE, Checks::or));
        }
        match value {
            Value::Object(object) => {
                for (name, value) in object {
                    for below in part.properties.get(name).into_iter().chain(&part.any_property) {
                        sum.and_below(self.of(*below, value, level));
                    }
                    for below in &part.names {
                        sum.and_below(self.of(*below, &SCALAR, level));
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    for below in part.prefix.get(index).into_iter().chain(&part.items) {
                        sum.and_below(self.of(*below, item, level));
                    }
                }
            }
            _ => {}
        }
        let sum = sum.with_unevaluated(part);
        self.known.insert(key, sum);
        sum
    }
}
