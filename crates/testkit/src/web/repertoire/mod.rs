//! Links, what is behind them, and what a spider must say about each: one row for each. The tests take a row at its word: a
//! front page has that one link, the spider is run, and must find that and nothing else.
//!
//! Rows are sorted by what they are about: verdicts, redirects, HEAD, fragments.

mod fragments;
mod heads;
mod redirects;
mod verdicts;

use super::Web;

/// Every group of rows, by its name.
pub const REPERTOIRE: &[(&str, &[Case])] = &[
    ("verdicts", verdicts::CASES),
    ("redirects", redirects::CASES),
    ("heads", heads::CASES),
    ("fragments", fragments::CASES),
];

/// One link.
pub struct Case {
    /// What it is about.
    pub name: &'static str,
    /// The body of the front page, `/`; `{here}` is where the host is, `{there}` another host with the same answers that is
    /// not part of what is traversed.
    pub front: &'static str,
    /// What else there is.
    pub web: fn(Web) -> Web,
    /// What must be found, and nothing else.
    pub finding: Option<Finding>,
    /// What the spider is asked for, beyond the ordinary.
    pub arguments: &'static [&'static str],
    /// How often each URL may be asked for, HEAD and GET together.
    pub most: usize,
    /// What must have been asked for.
    pub asked: &'static [&'static str],
}

/// What must be found.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// The verdict.
    pub verdict: &'static str,
    /// Where the link leads, without a fragment, by the same words.
    pub target: &'static str,
    /// The fragment.
    pub fragment: Option<&'static str>,
    /// The status that must be told; any, if none.
    pub status: Option<u16>,
    /// The new address.
    pub to: Option<&'static str>,
    /// Whether a move is for good.
    pub permanent: bool,
    /// A word of the reason.
    pub reason: &'static str,
}

/// A row in which all is well, and everything is asked for once.
const fn good(name: &'static str, front: &'static str, web: fn(Web) -> Web) -> Case {
    Case { name, front, web, finding: None, arguments: &[], most: 1, asked: &[] }
}

/// A row in which something is found.
const fn found(
    name: &'static str,
    front: &'static str,
    web: fn(Web) -> Web,
    verdict: &'static str,
    target: &'static str,
) -> Case {
    let finding = Finding { verdict, target, fragment: None, status: None, to: None, permanent: false, reason: "" };
    Case { finding: Some(finding), ..good(name, front, web) }
}

impl Case {
    const fn told(mut self, change: Finding) -> Self {
        self.finding = Some(change);
        self
    }

    const fn status(self, status: u16) -> Self {
        match self.finding {
            Some(finding) => self.told(Finding { status: Some(status), ..finding }),
            None => self,
        }
    }

    const fn because(self, reason: &'static str) -> Self {
        match self.finding {
            Some(finding) => self.told(Finding { reason, ..finding }),
            None => self,
        }
    }

    const fn to(self, to: &'static str, permanent: bool) -> Self {
        match self.finding {
            Some(finding) => self.told(Finding { to: Some(to), permanent, ..finding }),
            None => self,
        }
    }

    const fn fragment(self, fragment: &'static str) -> Self {
        match self.finding {
            Some(finding) => self.told(Finding { fragment: Some(fragment), ..finding }),
            None => self,
        }
    }

    const fn asked_with(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }

    /// Each URL may be asked for so often: where something is tried again.
    const fn at_most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    const fn asks_for(mut self, paths: &'static [&'static str]) -> Self {
        self.asked = paths;
        self
    }
}
