//! The names that a provider is shown in place of tools' own.
//!
//! Guarantee: every tool of a set has one name that the provider takes, no two the same, and none that is the own name
//! of another tool. The names depend on the set and the rule alone, not on the order of registration.
//!
//! Not here: which names a provider takes ([`ProviderRules`]), and mapping back (`registry`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::ToolName;
use crate::harness::message::{ProviderRules, Spelling};

/// The longest name that is made up, so that it fits wherever any alias does.
const LONGEST: usize = ToolName::MAX_BYTES;
/// `_` and eight hexadecimal digits.
const MARK: usize = 9;

/// What a provider takes as the name of a tool; `None` if it takes any. Of an unknown provider, what all take.
pub(crate) fn names_of(provider: &str) -> Option<Spelling> {
    ProviderRules::of(provider).map_or(Some(Spelling::portable()), |rules| rules.wire.names)
}

/// What to write instead of an alias that a provider is known to refuse. What an unknown one takes, the application
/// knows best.
pub(super) fn refused(provider: &str, alias: &str) -> Option<String> {
    let rule = ProviderRules::of(provider)?.wire.names?;
    (!rule.accepts(alias)).then(|| fitted(alias, &rule).into_owned())
}

/// A name in the form that a rule asks for: other characters become `_`, and one that is too long is cut and ends in a
/// hash of the whole. Two names may become the same.
pub(crate) fn fitted<'a>(name: &'a str, rule: &Spelling) -> Cow<'a, str> {
    if rule.accepts(name) {
        return name.into();
    }
    let plain = replaced(name, rule);
    match rule.accepts(&plain) {
        true => plain.into(),
        false => marked(name, rule, 0).into(),
    }
}

/// A name with `_` for what a rule does not take, and before a first character that it does not take there.
pub(super) fn replaced(name: &str, rule: &Spelling) -> String {
    let mut out: String = name.chars().map(|c| if rule.accepts_char(c) { c } else { '_' }).collect();
    if rule.word && !out.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        out.insert(0, '_');
    }
    out
}

/// As [`fitted`], always with the hash; `copy` makes another one.
pub(crate) fn marked(name: &str, rule: &Spelling, copy: u32) -> String {
    let room = rule.max.min(LONGEST).saturating_sub(MARK);
    let mut out: String = replaced(name, rule).chars().take(room).collect();
    let hash = stable_hash(name, copy);
    let folded = (hash >> 32) ^ (hash & u64::from(u32::MAX));
    out.push_str(&format!("_{folded:08x}"));
    out
}

/// FNV-1a: the same on every machine and in every version.
pub(crate) fn stable_hash(text: &str, copy: u32) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let copies = copy.to_le_bytes();
    let salt: &[u8] = if copy == 0 { &[] } else { &copies };
    text.as_bytes().iter().chain(salt).fold(0xcbf2_9ce4_8422_2325, fold)
}

/// Own names to the names that a provider is shown, where they differ. What the application chose stays as it is.
pub(super) fn aliases<'a>(
    names: impl Iterator<Item = &'a ToolName>,
    mut chosen: BTreeMap<ToolName, String>,
    rule: Option<&Spelling>,
) -> BTreeMap<ToolName, String> {
    let Some(rule) = rule else { return chosen };
    let names: Vec<&ToolName> = names.collect();
    let own: HashSet<&str> = names.iter().map(|name| name.as_str()).collect();
    let mut open: Vec<&ToolName> =
        names.iter().copied().filter(|name| !rule.accepts(name.as_str())).collect();
    open.retain(|name| !chosen.contains_key(*name));
    if open.is_empty() {
        return chosen;
    }
    open.sort();
    let mut wanted: HashMap<String, u32> = HashMap::default();
    for name in &open {
        *wanted.entry(fitted(name.as_str(), rule).into_owned()).or_default() += 1;
    }
    let mut taken: HashSet<String> = chosen.values().cloned().collect();
    for name in open {
        let plain = fitted(name.as_str(), rule).into_owned();
        // Of two names that become the same neither gets the plain form, whichever came first.
        let alone = wanted.get(&plain) == Some(&1);
        let is_free = |name: &str| !own.contains(name) && !taken.contains(name);
        let alias = if alone && is_free(&plain) {
            plain
        } else {
            let others = (0..).map(|copy| marked(name.as_str(), rule, copy));
            // Another tool may still want this form as its plain one.
            let mut free = others.filter(|alias| is_free(alias) && !wanted.contains_key(alias));
            free.next().unwrap_or(plain)
        };
        taken.insert(alias.clone());
        chosen.insert(name.clone(), alias);
    }
    chosen
}
