//! Permits with a witness, who knows only what was asked and told.

use std::collections::{BTreeMap, BTreeSet};

use proptest::sample::Index;
use tinyagents::harness::executor::{Claim, Permits, Resource, Standing};

#[derive(Debug, Clone)]
pub(super) enum Act {
    Ask(Claim),
    Release(Index),
    Abandon(Index),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Waiting,
    Granted,
    Abandoned,
    Gone,
}

/// What a ticket holds and waits for.
type Snapshot = BTreeMap<u64, (Vec<Resource>, Option<Resource>)>;

#[derive(Default)]
pub(super) struct Watch {
    permits: Permits,
    claims: Vec<Claim>,
    seen: Vec<Seen>,
    /// Who waits for what. Those who came to a line at once stand side by side.
    lines: Vec<(Resource, Vec<BTreeSet<u64>>)>,
}

impl Watch {
    pub(super) fn act(&mut self, act: Act) {
        let before = self.snapshot();
        let mut told = Vec::new();
        let mut hear = |ticket: u64, standing: Standing| told.push((ticket, standing));
        let actor = match act {
            Act::Ask(claim) => {
                let ticket = number(self.seen.len());
                self.claims.push(claim.clone());
                self.seen.push(Seen::Waiting);
                let standing = self.permits.ask(ticket, claim, &mut hear);
                if standing != Standing::Waiting {
                    told.push((ticket, standing));
                }
                None
            }
            Act::Release(index) if !self.seen.is_empty() => {
                let actor = index.index(self.seen.len());
                self.seen[actor] = Seen::Gone;
                self.permits.release(number(actor), &mut hear);
                Some(actor)
            }
            Act::Abandon(index) if !self.seen.is_empty() => {
                let actor = index.index(self.seen.len());
                self.seen[actor] = match self.seen[actor] {
                    Seen::Granted | Seen::Abandoned => Seen::Abandoned,
                    Seen::Waiting | Seen::Gone => Seen::Gone,
                };
                self.permits.abandon(number(actor), &mut hear);
                Some(actor)
            }
            Act::Release(_) | Act::Abandon(_) => None,
        };
        for (ticket, standing) in told {
            self.hear(ticket, &standing);
        }
        self.check_books();
        self.check_lines(actor, &before);
    }

    /// Gives everything back, threads that were given up on last.
    pub(super) fn drain(mut self) {
        while let Some(granted) = self.seen.iter().rposition(|seen| *seen == Seen::Granted) {
            self.release(granted);
        }
        assert!(!self.seen.contains(&Seen::Waiting), "somebody waits for a thread that may never end");
        while let Some(abandoned) = self.seen.iter().position(|seen| *seen == Seen::Abandoned) {
            assert!(!self.permits.is_idle() || self.claims[abandoned].parts().next().is_none());
            self.release(abandoned);
        }
        assert!(self.permits.is_idle());
        assert!(self.resources().iter().all(|(resource, _)| self.permits.held(resource) == 0));
    }

    fn release(&mut self, ticket: usize) {
        let mut told = Vec::new();
        self.seen[ticket] = Seen::Gone;
        self.permits.release(number(ticket), &mut |ticket, standing| told.push((ticket, standing)));
        for (ticket, standing) in told {
            self.hear(ticket, &standing);
        }
        self.check_books();
    }

    /// Who waits is told once.
    fn hear(&mut self, ticket: u64, standing: &Standing) {
        let at = usize::try_from(ticket).unwrap();
        assert_eq!(self.seen[at], Seen::Waiting, "{ticket} is told {standing:?}");
        self.seen[at] = match standing {
            Standing::Waiting => panic!("{ticket} is told that it waits"),
            Standing::Granted => Seen::Granted,
            Standing::Refused(resource) => {
                assert_eq!(self.abandoned(resource), self.cap(resource), "{ticket} is refused in vain");
                Seen::Gone
            }
        };
    }

    /// What tickets hold is what they were told, and no permit is free, or lost, while someone waits for it.
    fn check_books(&self) {
        for (at, seen) in self.seen.iter().enumerate() {
            let (ticket, claimed) = (number(at), self.claims[at].parts().map(|(resource, _)| resource));
            let held: Vec<_> = self.permits.holding(ticket).collect();
            let awaited = self.permits.awaited(ticket);
            match seen {
                Seen::Waiting => {
                    let awaited = awaited.unwrap_or_else(|| panic!("{ticket} has everything, untold"));
                    assert!(held.iter().all(|held| held.rank() < awaited.rank()));
                    assert_eq!(self.permits.held(awaited), self.cap(awaited), "{awaited:?} is free");
                    assert!(self.abandoned(awaited) < self.cap(awaited), "{ticket} waits for threads");
                }
                Seen::Granted | Seen::Abandoned => assert_eq!(held, claimed.collect::<Vec<_>>()),
                Seen::Gone => assert!(held.is_empty() && awaited.is_none()),
            }
        }
        for (resource, cap) in self.resources() {
            let holders = (0..self.seen.len())
                .filter(|at| self.permits.holding(number(*at)).any(|held| *held == resource))
                .count();
            assert_eq!(usize::try_from(self.permits.held(&resource)), Ok(holders));
            assert!(self.permits.held(&resource) <= cap);
        }
    }

    /// Who gets a permit passes nobody who waited for it before, but those who left.
    fn check_lines(&mut self, actor: Option<usize>, before: &Snapshot) {
        let after = self.snapshot();
        let stays = |ticket: &u64, resource: &Resource| {
            after.get(ticket).is_some_and(|(_, awaited)| awaited.as_ref() == Some(resource))
        };
        for (ticket, (held, _)) in &after {
            let had = before.get(ticket).map(|(held, _)| held.as_slice()).unwrap_or_default();
            for resource in held.iter().filter(|resource| !had.contains(resource)) {
                let line = self.lines.iter().find(|(other, _)| other == resource);
                let ahead = line.into_iter().flat_map(|(_, line)| line);
                let ahead = ahead.take_while(|side_by_side| !side_by_side.contains(ticket)).flatten();
                let passed: Vec<_> = ahead.filter(|other| stays(other, resource)).collect();
                assert!(passed.is_empty(), "{ticket} got {resource:?} before {passed:?} ({actor:?} acted)");
            }
        }
        for (resource, _) in self.resources() {
            let known = self.lines.iter().position(|(other, _)| *other == resource);
            let at = known.unwrap_or_else(|| {
                self.lines.push((resource.clone(), Vec::new()));
                self.lines.len() - 1
            });
            let line = &mut self.lines[at].1;
            for side_by_side in line.iter_mut() {
                side_by_side.retain(|ticket| stays(ticket, &resource));
            }
            let came = after.keys().filter(|ticket| stays(ticket, &resource));
            let came = came.filter(|ticket| !line.iter().any(|before| before.contains(ticket))).copied();
            let came = came.collect();
            line.push(came);
            line.retain(|side_by_side| !side_by_side.is_empty());
        }
    }

    fn snapshot(&self) -> Snapshot {
        let of = |ticket| {
            let held = self.permits.holding(ticket).cloned().collect();
            (ticket, (held, self.permits.awaited(ticket).cloned()))
        };
        (0..number(self.seen.len())).map(of).collect()
    }

    /// Everything that was ever claimed, with its cap.
    fn resources(&self) -> Vec<(Resource, u32)> {
        let mut all = Vec::new();
        for part in self.claims.iter().flat_map(Claim::parts) {
            if !all.contains(part) {
                all.push(part.clone());
            }
        }
        all
    }

    fn cap(&self, resource: &Resource) -> u32 {
        self.resources().into_iter().find(|(other, _)| other == resource).unwrap().1
    }

    fn abandoned(&self, resource: &Resource) -> u32 {
        let gone = self.seen.iter().zip(&self.claims).filter(|(seen, _)| **seen == Seen::Abandoned);
        let holds = |claim: &&Claim| claim.parts().any(|(held, _)| held == resource);
        u32::try_from(gone.map(|(_, claim)| claim).filter(holds).count()).unwrap()
    }
}

fn number(ticket: usize) -> u64 {
    u64::try_from(ticket).unwrap()
}
