//! The result for a window, and how it is stored.

use super::Op;
use super::facts::{Facts, Lacking};
use crate::quirks::{self, Quirk};
use crate::state::{Change, List, OpenWindow, Progress};
use crate::window::Window;

/// The result for a window, as the list needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is complete, with this number of records.
    Closed(u64),
    /// It was replaced by smaller ones.
    Divided,
    /// It was given up for this run.
    GivenUp,
    /// It was given up, as all that is left has to be: the server is down.
    Down,
}

/// A decision about a window. Without a gap and without parts, it is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The reason that the window is not complete: it stays as a gap.
    pub(super) gap: Option<String>,
    /// The server is down: all that is left is a gap.
    pub(super) is_down: bool,
    /// Windows that take its place, or are added if it stays.
    pub(super) parts: Vec<(Window, String)>,
    /// The errors of the server, with an example each.
    pub(super) notes: Vec<(&'static Quirk, String)>,
}

impl Decision {
    pub(super) fn complete() -> Self {
        Self::default()
    }

    pub(super) fn gap(why: impl Into<String>) -> Self {
        Self { gap: Some(why.into()), ..Self::default() }
    }

    pub(super) fn down(why: &str) -> Self {
        Self { is_down: true, ..Self::gap(why) }
    }

    pub(super) fn divided(open: &OpenWindow, parts: Vec<Window>) -> Self {
        Self { parts: parts.into_iter().map(|part| (part, open.set.clone())).collect(), ..Self::default() }
    }

    pub(super) fn noting(mut self, quirk: &'static Quirk, example: &impl ToString) -> Self {
        self.notes.push((quirk, example.to_string()));
        self
    }

    fn fate(&self, open: &OpenWindow) -> Fate {
        match &self.gap {
            _ if !self.parts.is_empty() => Fate::Divided,
            None => Fate::Closed(open.progress.delivered),
            Some(_) if self.is_down => Fate::Down,
            Some(_) => Fate::GivenUp,
        }
    }
}

impl Facts {
    /// Stores a decision.
    pub(super) fn carry_out(&mut self, list: &List, open: &OpenWindow, decision: &Decision) -> Lacking<Fate> {
        let Decision { gap, parts, notes, .. } = decision;
        let is_whole = open.progress.is_pass && !open.progress.size_refuted && gap.is_none() && !parts.is_empty();
        self.number(Op::Change(Change {
            list: list.number,
            closed: if gap.is_none() { vec![open.number] } else { Vec::new() },
            given_up: gap.clone().map(|why| (open.number, why)),
            announced: open.progress.size.filter(|_| is_whole),
            reason: notes.first().filter(|_| gap.is_none() && !parts.is_empty()).map(|(_, example)| example.clone()),
            added: parts.iter().map(|(part, set)| (*part, set.clone(), Progress::default())).collect(),
        }))?;
        for (quirk, example) in notes {
            self.repairs.note(quirk, example);
        }
        Ok(decision.fate(open))
    }

    /// Begins a window again.
    pub(super) fn restart(&mut self, list: &List, open: &OpenWindow) -> Lacking<OpenWindow> {
        let Progress { restarts, is_pass, .. } = open.progress;
        let progress = Progress { restarts: restarts + 1, is_pass, ..Progress::default() };
        let added = vec![(open.window, open.set.clone(), progress.clone())];
        let change = Change { list: list.number, closed: vec![open.number], added, ..Change::default() };
        let number = self.number(Op::Change(change))?;
        Ok(OpenWindow { progress, ..OpenWindow::new(number, open.window, &open.set) })
    }
}

/// The note on a window that could not be delivered.
pub(super) fn noted(open: &OpenWindow, why: &str) -> String {
    format!("{}: {why}", open.window)
}

/// The decision that only single records of a window are affected.
pub(super) fn fetched_one_by_one(open: &OpenWindow, quirk: &'static Quirk, why: &str) -> Decision {
    let decision = Decision::complete().noting(quirk, &noted(open, why));
    if quirk == quirks::BAD_RECORD { decision } else { decision.noting(quirks::BAD_RECORD, &open.window) }
}
