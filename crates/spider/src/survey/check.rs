//! Derives the verdict of a reference from the outcome of its target.

use std::borrow::Cow;

use url::Url;

use super::Survey;
use crate::anchors::Fragment;
use crate::reference::untested_scheme;
use crate::table::codec::{Kept, KeptTarget};
use crate::traverse::plan::web::Stage;
use crate::verdict::{Fault, Outcome, Reason, Verdict};

/// The verdict of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckResult {
    pub(super) verdict: Verdict,
    pub(super) status: Option<u16>,
    /// The node whose outcome it is: the end of a chain of redirects.
    pub(super) end: Option<u32>,
    /// The new address.
    pub(super) to: Option<u32>,
    pub(super) is_permanent: bool,
    pub(super) is_small_move: bool,
    /// True if it is not reported: avoided, external, a small move that is muted, or not reached.
    pub(super) is_muted: bool,
}

impl CheckResult {
    const GOOD: Self = Self {
        verdict: Verdict::Good,
        status: None,
        end: None,
        to: None,
        is_permanent: false,
        is_small_move: false,
        is_muted: false,
    };

    /// Returns true if the settings exclude it from testing.
    pub(super) fn is_skipped(&self) -> bool {
        self.verdict == Verdict::NotTested && self.is_muted
    }

    /// Returns true if it is a finding.
    pub(super) fn is_reported(&self) -> bool {
        self.verdict != Verdict::Good && !self.is_muted
    }
}

impl Survey {
    /// Returns the verdict of a reference.
    pub(super) fn check(&self, kept: &Kept<'_>) -> CheckResult {
        match kept.target {
            KeptTarget::Node { id, fragment } => self.check_node(id, fragment),
            KeptTarget::Invalid { .. } | KeptTarget::Mail { fault: Some(_), .. } => {
                CheckResult { verdict: Verdict::Broken, ..CheckResult::GOOD }
            }
            KeptTarget::Elsewhere { url } if untested_scheme(url).is_some() => {
                CheckResult { verdict: Verdict::NotTested, ..CheckResult::GOOD }
            }
            KeptTarget::Mail { fault: None, .. } | KeptTarget::Elsewhere { .. } => CheckResult::GOOD,
        }
    }

    pub(super) fn check_node(&self, id: u32, fragment: Option<&str>) -> CheckResult {
        let Some(first) = self.web.nodes.get(id as usize) else { return CheckResult::GOOD };
        let Some(end) = self.web.end_of(id) else {
            let status = Some(first.status).filter(|status| *status != 0);
            let verdict = if self.web.is_cookie_circle(id) { Verdict::NotTested } else { Verdict::Broken };
            return CheckResult { verdict, status, end: Some(id), ..CheckResult::GOOD };
        };
        let node = self.web.node(end.node);
        let checked = CheckResult {
            status: Some(node.status).filter(|status| *status != 0),
            end: Some(end.node),
            to: end.replacement.or((end.hops > 0).then_some(end.node)),
            is_permanent: end.replacement.is_some(),
            ..CheckResult::GOOD
        };
        if node.stage != Stage::Done {
            return CheckResult { verdict: Verdict::NotTested, is_muted: true, ..checked };
        }
        match node.code {
            0 => {}
            10..=19 => return CheckResult { verdict: Verdict::Broken, ..checked },
            code => {
                let is_muted = matches!(
                    Outcome::from_code(code, None, 0),
                    Outcome::NotTested(Reason::Avoided | Reason::Outside | Reason::Similar | Reason::Interrupted)
                );
                return CheckResult { verdict: Verdict::NotTested, is_muted, ..checked };
            }
        }
        if let Some(fragment) = fragment
            && self.missing.contains(&(id, Fragment::new(fragment)))
        {
            return CheckResult { verdict: Verdict::Fragment, ..checked };
        }
        match checked.to {
            Some(to) => {
                let is_small_move = is_small_move(self.web.names.name(id), self.web.names.name(to));
                let is_muted = is_small_move && self.mutes_small_moves;
                let status = Some(first.status);
                CheckResult { verdict: Verdict::Moved, status, is_small_move, is_muted, ..checked }
            }
            None => checked,
        }
    }

    /// Returns the target as text, and its fragment.
    pub(super) fn named<'a>(&'a self, target: &KeptTarget<'a>) -> (Cow<'a, str>, Option<&'a str>) {
        match target {
            KeptTarget::Node { id, fragment } if (*id as usize) < self.web.nodes.len() => {
                (Cow::Borrowed(self.web.names.name(*id)), *fragment)
            }
            KeptTarget::Node { .. } => (Cow::Borrowed(""), None),
            KeptTarget::Mail { url: text, .. }
            | KeptTarget::Elsewhere { url: text }
            | KeptTarget::Invalid { text, .. } => (Cow::Borrowed(*text), None),
        }
    }

    /// Returns the reason in words, unless the verdict is good.
    pub(super) fn reason(&self, kept: &Kept<'_>, checked: &CheckResult) -> String {
        match (kept.target, checked.verdict) {
            (KeptTarget::Invalid { fault, .. }, _) => format!("invalid URL: {fault}"),
            (KeptTarget::Mail { fault: Some(fault), .. }, _) => format!("invalid email address: {fault}"),
            (KeptTarget::Elsewhere { url }, _) => {
                untested_scheme(url).map_or_else(String::new, |scheme| format!("scheme {scheme}"))
            }
            (_, Verdict::Fragment) => "fragment not found in the page".to_owned(),
            (_, Verdict::Moved) if checked.is_permanent => "moved permanently".to_owned(),
            (_, Verdict::Moved) => "redirected temporarily".to_owned(),
            (KeptTarget::Node { id, .. }, _) => match checked.end {
                Some(end) => {
                    let outcome = self.outcome(end);
                    let is_circle =
                        checked.to.is_none() && self.web.node(id).redirect != crate::traverse::plan::web::NONE;
                    match outcome {
                        _ if is_circle && checked.verdict == Verdict::NotTested => Reason::Cookies.to_string(),
                        _ if is_circle => Fault::RedirectLoop.to_string(),
                        outcome if checked.to.is_some() => format!("redirect target: {outcome}"),
                        outcome => outcome.to_string(),
                    }
                }
                None => String::new(),
            },
            _ => String::new(),
        }
    }

    /// Returns the outcome of a node, without the details that are only in the table.
    pub(super) fn outcome_in_memory(&self, number: u32) -> Outcome {
        let node = self.web.node(number);
        Outcome::from_code(node.code, None, node.status)
    }

    /// Returns the complete outcome of a node.
    pub(super) fn outcome(&self, number: u32) -> Outcome {
        let node = self.web.node(number);
        if node.stage != Stage::Done {
            return Outcome::NotTested(Reason::Interrupted);
        }
        let in_memory = self.outcome_in_memory(number);
        if matches!(
            in_memory,
            Outcome::NotTested(Reason::Avoided | Reason::Outside | Reason::Similar)
                | Outcome::Broken(Fault::RedirectLoop)
        ) {
            return in_memory;
        }
        // A read error was reported before; the code in memory is sufficient.
        self.table.test(number).ok().flatten().map_or(in_memory, |test| test.outcome)
    }
}

/// Returns true if a move only adds or removes a final slash, or changes http to https.
fn is_small_move(from: &str, to: &str) -> bool {
    let (Ok(mut from), Ok(mut to)) = (Url::parse(from), Url::parse(to)) else { return false };
    for url in [&mut from, &mut to] {
        if url.scheme() == "http" {
            // Cannot fail between the two; if it did, the move would not be a small one.
            let _ = url.set_scheme("https");
        }
        let path = format!("{}/", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    from == to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_moves_are_told_from_others() {
        for (from, to) in [
            ("http://a/x", "http://a/x/"),
            ("http://a/x/", "http://a/x"),
            ("http://a/x?q=1", "https://a/x/?q=1"),
            ("http://a/", "https://a/"),
        ] {
            assert!(is_small_move(from, to), "{from} {to}");
        }
        for (from, to) in [("http://a/x", "http://a/y"), ("http://a/", "http://www.a/"), ("http://a/x", "http://a/x?q")]
        {
            assert!(!is_small_move(from, to), "{from} {to}");
        }
    }
}
