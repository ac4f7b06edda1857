//! In which order the calls of a turn run: a pure function.

use std::ops::Range;

/// How a call is admitted: what may run beside it, and which permits it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Admission {
    /// It only reads: runs beside neighbouring reads.
    Read,
    /// It may change something: runs alone in its run, and no other such body runs in the whole tree.
    Mutate,
    /// It may change something, and the application says that it may run beside its like.
    Overlap,
    /// It drives a nested run: runs beside neighbours of its kind.
    Nested,
    /// It drives a nested run whose tools only read: runs beside neighbouring reads, and takes a nested run's permits.
    NestedRead,
    /// It has its result already, and runs nothing: refused, unknown, a repetition. Never a barrier.
    Instant,
}

impl Admission {
    /// Whether the call drives a nested run.
    pub fn is_nested(self) -> bool {
        matches!(self, Self::Nested | Self::NestedRead)
    }

    /// Whether the call changes nothing, itself or by the run that it drives.
    pub fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::NestedRead)
    }

    /// Whether two neighbours may run side by side.
    fn runs_beside(self, other: Self) -> bool {
        let group = |kind| if kind == Self::NestedRead { Self::Read } else { kind };
        self != Self::Mutate && group(self) == group(other)
    }
}

/// Cuts a turn into segments: the calls of one may run side by side, and the next opens only when every call of the
/// one before is settled. So no call overtakes an earlier one across a boundary between reading and writing.
///
/// A segment is a range of call indexes. `Instant` calls within it run nothing, and a turn of nothing else has none.
///
/// ```
/// use tinyagents::harness::executor::{Admission::*, plan};
///
/// assert_eq!(plan(&[Read, NestedRead, Mutate, Mutate, Overlap, Instant, Overlap]), [0..2, 2..3, 3..4, 4..7]);
/// ```
pub fn plan(calls: &[Admission]) -> Vec<Range<usize>> {
    let mut segments: Vec<Range<usize>> = Vec::new();
    let mut last = Admission::Instant;
    for (index, &kind) in calls.iter().enumerate() {
        if kind == Admission::Instant {
            continue;
        }
        match segments.last_mut() {
            Some(segment) if last.runs_beside(kind) => segment.end = index + 1,
            _ => segments.push(index..index + 1),
        }
        last = kind;
    }
    segments
}
