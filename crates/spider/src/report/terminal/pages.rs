//! Writes the second part of the report on a terminal: page by page, the links that are not on most pages.

use std::collections::BTreeMap;
use std::io::Write;

use super::super::words::{self, VerdictText};
use super::super::writing;
use super::{MARGIN, ReportStyle};
use crate::foreign::{Printable, cut};
use crate::results::{Finding, Run, Visit};
use crate::targets::Targets;
use crate::verdict::Verdict;

/// Writes findings while they are visited, page by page.
pub(super) struct List<'a> {
    targets: &'a Targets,
    run: &'a Run,
    style: &'a ReportStyle,
    out: &'a mut dyn Write,
    is_headed: bool,
    page: String,
    on_page: usize,
    left_out_on_page: u64,
    is_page_shown: bool,
    faults: usize,
    others: usize,
    pub(super) shown: u64,
    pub(super) total: u64,
    /// The number of links that were not tested, by reason. The number of reasons is limited.
    pub(super) untested: BTreeMap<String, u64>,
}

impl<'a> List<'a> {
    pub(super) fn new(targets: &'a Targets, run: &'a Run, style: &'a ReportStyle, out: &'a mut dyn Write) -> Self {
        Self {
            targets,
            run,
            style,
            out,
            is_headed: false,
            page: String::new(),
            on_page: 0,
            left_out_on_page: 0,
            is_page_shown: false,
            faults: 0,
            others: 0,
            shown: 0,
            total: 0,
            untested: BTreeMap::new(),
        }
    }

    pub(super) fn finding(&mut self, finding: &Finding) -> Visit {
        let Some(wording) = words::wording(finding.verdict) else { return Ok(()) };
        if self.page != finding.page {
            self.page_end()?;
            self.page.clone_from(&finding.page);
        }
        self.total += 1;
        if finding.verdict == Verdict::NotTested {
            note_reason(&mut self.untested, &finding.reason);
        }
        if self.targets.is_site_wide(finding.verdict, &finding.target, finding.fragment.as_deref()) {
            self.shown += 1;
            return Ok(());
        }
        let (spent, most) = match wording.is_fault() {
            true => (&mut self.faults, self.style.faults),
            false => (&mut self.others, self.style.others),
        };
        if *spent >= most || self.on_page >= self.style.per_page {
            self.left_out_on_page += 1;
            return Ok(());
        }
        *spent += 1;
        self.on_page += 1;
        self.shown += 1;
        let mut text = String::new();
        if !std::mem::replace(&mut self.is_headed, true) {
            self.style.line("Pages", "1", &mut text);
        }
        if !self.is_page_shown {
            self.is_page_shown = true;
            self.heading(finding, &mut text);
        }
        self.entry(finding, wording, &mut text);
        self.out.write_all(text.as_bytes()).map_err(writing("the report"))
    }

    /// Writes the number of findings of a page that were left out, if any finding of it was shown.
    pub(super) fn page_end(&mut self) -> Visit {
        let mut text = String::new();
        if self.is_page_shown {
            if self.left_out_on_page > 0 {
                let more = format!("  … and {} more on this page", words::number(self.left_out_on_page));
                self.style.line(&more, "2", &mut text);
            }
            text.push('\n');
        }
        self.on_page = 0;
        self.left_out_on_page = 0;
        self.is_page_shown = false;
        self.out.write_all(text.as_bytes()).map_err(writing("the report"))
    }

    fn heading(&self, finding: &Finding, text: &mut String) {
        text.push_str(&self.style.paint(&Printable(&finding.page).to_string(), "1"));
        let room = self.style.width.saturating_sub(finding.page.chars().count() + 2);
        if let Some(title) = finding.title.as_deref().filter(|title| !title.trim().is_empty() && room > 10) {
            text.push_str("  ");
            text.push_str(&self.style.paint(&cut(&Printable(title).to_string(), room), "2"));
        }
        text.push('\n');
        if let Some(owner) = &finding.owner {
            self.style.line(&format!("  owned by {}", Printable(owner)), "2", text);
        }
    }

    fn entry(&self, finding: &Finding, wording: &VerdictText, text: &mut String) {
        let name = format!("  {:<14}", format!("{} {}", wording.sign, wording.verdict.name()));
        text.push_str(&self.style.paint(&name, wording.colour));
        let is_link = wording.is_of_a_link() || finding.page != finding.target;
        if is_link {
            let mut what = match finding.line {
                0 => finding.element.to_owned(),
                line => format!("line {line}, {}", finding.element),
            };
            if !finding.text.trim().is_empty() {
                let room = self.style.width.saturating_sub(MARGIN.len() + what.chars().count() + 3).max(20);
                put!(&mut what, " “{}”", cut(&Printable(&finding.text).to_string(), room));
            }
            let target = words::aim(&finding.target, finding.fragment.as_deref());
            put!(text, "{what}\n{MARGIN}{}\n{MARGIN}", Printable(&target));
        }
        text.push_str(&Printable(&finding.reason).to_string());
        if is_link && finding.is_new && self.run.before.is_some() {
            text.push_str(", ");
            text.push_str(&self.style.paint("new", "1"));
        } else if let Some(since) = finding.since {
            put!(text, ", {}", words::since(since, self.run.ended));
        }
        text.push('\n');
        if let Some(to) = &finding.to {
            put!(text, "{MARGIN}→ {}\n", Printable(to));
        }
    }
}

/// Counts a reason without its details (the rule of robots.txt, the cause of a connection failure), which would make
/// every reason unique.
fn note_reason(reasons: &mut BTreeMap<String, u64>, reason: &str) {
    const REASONS: usize = 20;
    let general = reason.split_once(": ").map_or(reason, |(general, _)| general);
    let general = general.split_once(" (").map_or(general, |(general, _)| general);
    if let Some(count) = reasons.get_mut(general) {
        *count += 1;
    } else if reasons.len() < REASONS {
        reasons.insert(general.to_owned(), 1);
    } else {
        *reasons.entry("other reasons".to_owned()).or_default() += 1;
    }
}
