//! Which result of an imported transcript belongs to which call.
//!
//! Guarantee: a result is paired only where its id, or its place, says whose it is. A call that is told to be
//! interrupted is better than one with another call's result.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::repair::{Repair, RepairKind, calls, other_ids};
use super::{Message, ToolMessage};

/// Which result belongs to which call.
pub(super) struct Pairing {
    /// For every call, in order, where its result stands.
    pub(super) answers: Vec<Option<usize>>,
    /// The results that do not stand right behind their reply in call order.
    pub(super) moved: HashSet<usize>,
    /// The results that belong to no call.
    pub(super) dropped: Vec<Repair>,
}

/// A result, where it stands, and which call it answers.
struct Found<'a> {
    index: usize,
    result: &'a ToolMessage,
    /// The reply that it stands right behind.
    behind: Option<usize>,
    answers: Result<usize, RepairKind>,
}

/// A call. Its position among all calls is its slot.
struct Slot<'a> {
    reply: usize,
    name: &'a str,
    has_id: bool,
    answered: bool,
}

/// The calls that have an id, of the nearest reply that has one with it.
#[derive(Default)]
struct Nearest {
    reply: usize,
    /// Slots, each with whether the id is another spelling than the call's own.
    calls: Vec<(usize, bool)>,
}

impl Pairing {
    pub(super) fn of(messages: &[Message]) -> Self {
        let (mut slots, replies, mut results) = pair_by_id(messages);
        for found in results.iter_mut().filter(|found| found.result.tool_call_id.as_str().is_empty()) {
            // Without an id, its place and its name say whose it is. The results that have one come first.
            let range = found.behind.and_then(|reply| replies.get(reply).cloned()).unwrap_or_default();
            let has_id = |slot: usize| slots.get(slot).is_some_and(|slot| slot.has_id);
            let candidates: Vec<_> = range.map(|slot| (slot, has_id(slot))).collect();
            if let Some(slot) = answer(&mut slots, candidates.into_iter(), found.result) {
                found.answers = Ok(slot);
            }
        }
        let mut out = Self { answers: vec![None; slots.len()], moved: HashSet::new(), dropped: Vec::new() };
        let mut last = None;
        for Found { index, result, behind, answers } in results {
            let slot = match answers {
                Ok(slot) => slot,
                Err(kind) => {
                    out.dropped.push(Repair { index, call: result.tool_call_id.clone(), kind });
                    continue;
                }
            };
            if let Some(answer) = out.answers.get_mut(slot) {
                *answer = Some(index);
            }
            if slots.get(slot).map(|slot| slot.reply) == behind && last.is_none_or(|last| slot > last) {
                last = Some(slot);
            } else {
                out.moved.insert(index);
            }
        }
        out
    }
}

/// Pairs the results that have an id, each with the nearest reply before it that has a call with this id. Gives all
/// calls, the calls of each reply, and all results.
fn pair_by_id(messages: &[Message]) -> (Vec<Slot<'_>>, Vec<Range<usize>>, Vec<Found<'_>>) {
    let mut slots = Vec::with_capacity(calls(messages).count());
    let (mut replies, mut results) = (Vec::new(), Vec::new());
    let mut by_id: HashMap<&str, Nearest> = HashMap::new();
    let mut behind = None;
    for (index, message) in messages.iter().enumerate() {
        match message {
            Message::Tool(result) => {
                let answers = match by_id.get(result.tool_call_id.as_str()) {
                    Some(nearest) => answer(&mut slots, nearest.calls.iter().copied(), result)
                        .ok_or(RepairKind::DroppedSecond),
                    None => Err(RepairKind::DroppedOrphan),
                };
                results.push(Found { index, result, behind, answers });
            }
            Message::Assistant(assistant) => {
                let (reply, first) = (replies.len(), slots.len());
                for call in &assistant.tool_calls {
                    let own = Some(call.id.as_str()).filter(|id| !id.is_empty());
                    let others = other_ids(call).filter(|id| Some(*id) != own).map(|id| (id, true));
                    for (id, other) in own.map(|id| (id, false)).into_iter().chain(others) {
                        let nearest = by_id.entry(id).or_default();
                        if nearest.reply != reply {
                            *nearest = Nearest { reply, calls: Vec::new() };
                        }
                        nearest.calls.push((slots.len(), other));
                    }
                    let has_id = own.is_some();
                    slots.push(Slot { reply, name: &call.name, has_id, answered: false });
                }
                replies.push(first..slots.len());
                behind = Some(reply);
            }
            Message::System { .. } | Message::User { .. } => behind = None,
        }
    }
    (slots, replies, results)
}

/// Answers the likeliest open call among candidates, each with whether it is a less likely one: before all one of the
/// result's name, then the first.
fn answer(
    slots: &mut [Slot<'_>],
    candidates: impl Iterator<Item = (usize, bool)>,
    result: &ToolMessage,
) -> Option<usize> {
    let open = candidates.filter_map(|(at, unlikely)| Some((at, unlikely, slots.get(at)?)));
    let open = open.filter(|(_, _, slot)| !slot.answered);
    let (at, _, _) =
        open.min_by_key(|(at, unlikely, slot)| (*unlikely, *slot.name != *result.name.as_str(), *at))?;
    slots.get_mut(at)?.answered = true;
    Some(at)
}
