//! The report on a terminal: what a person sees first. It is bounded, because nobody reads ten thousand lines that fly by;
//! what is left out is counted, and the end says where to find it.
//!
//! Broken links and fragments are counted apart from everything else, so that a hundred links that could not be tested
//! never hide the one that is broken.

use std::collections::BTreeMap;
use std::io::Write;

use jiff::Timestamp;

use super::words::{self, TOLD, Told};
use super::writing;
use crate::foreign::{Printable, cut};
use crate::results::{Finding, Mended, Results, Run, Summary, Visit};
use crate::verdict::Verdict;

/// How it is to look, and how much is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether with colours.
    pub colour: bool,
    /// How many characters fit into a line. Texts are cut to it; URLs never are, so that they can be copied.
    pub width: usize,
    /// How many findings of one page are shown.
    pub per_page: usize,
    /// How many faults are shown in all.
    pub faults: usize,
    /// How many other findings are shown in all.
    pub others: usize,
    /// What to say about where the rest is, if anything is left out or wrong.
    pub next: Option<String>,
}

impl Default for Look {
    fn default() -> Self {
        let next = "--html report.html writes all of it as a page to read, --json as lines for programs".to_owned();
        Self { colour: false, width: 100, per_page: 20, faults: 200, others: 40, next: Some(next) }
    }
}

impl Look {
    /// Everything, as for a file.
    pub fn whole() -> Self {
        let all = usize::MAX;
        Self { colour: false, width: 160, per_page: all, faults: all, others: all, next: None }
    }
}

pub(super) fn write_all(results: &dyn Results, out: &mut dyn Write) -> Visit {
    write(results, &Look::whole(), out)
}

/// Writes the report.
pub fn write(results: &dyn Results, look: &Look, out: &mut dyn Write) -> Visit {
    let run = results.run();
    let mut list = List { look, now: run.ended, has_before: run.before.is_some(), ..List::new(look, out) };
    results.findings(None, &mut |finding| list.finding(finding))?;
    list.page_end()?;
    let List { shown, total, untested, .. } = list;

    let mut text = String::new();
    mended(results, look, &mut text)?;
    reasons(&untested, look, &mut text);
    remarks(run, look, &mut text);
    summary(run, results.infostructures().len(), look, &mut text);
    ending(run, (shown, total), look, &mut text);
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(writing("the report"))
}

/// Findings as they come, page by page.
struct List<'a> {
    look: &'a Look,
    out: &'a mut dyn Write,
    now: Timestamp,
    has_before: bool,
    page: String,
    on_page: usize,
    left_out_on_page: u64,
    is_page_told: bool,
    faults: usize,
    others: usize,
    shown: u64,
    total: u64,
    /// Why links were not tested, and how many; only so many reasons.
    untested: BTreeMap<String, u64>,
}

impl<'a> List<'a> {
    fn new(look: &'a Look, out: &'a mut dyn Write) -> Self {
        Self {
            look,
            out,
            now: Timestamp::UNIX_EPOCH,
            has_before: false,
            page: String::new(),
            on_page: 0,
            left_out_on_page: 0,
            is_page_told: false,
            faults: 0,
            others: 0,
            shown: 0,
            total: 0,
            untested: BTreeMap::new(),
        }
    }

    fn finding(&mut self, finding: &Finding) -> Visit {
        let Some(told) = words::told(finding.verdict) else { return Ok(()) };
        if self.page != finding.page {
            self.page_end()?;
            self.page.clone_from(&finding.page);
        }
        self.total += 1;
        if finding.verdict == Verdict::NotTested {
            note_reason(&mut self.untested, &finding.reason);
        }
        let (spent, most) = match told.is_fault() {
            true => (&mut self.faults, self.look.faults),
            false => (&mut self.others, self.look.others),
        };
        if *spent >= most || self.on_page >= self.look.per_page {
            self.left_out_on_page += 1;
            return Ok(());
        }
        *spent += 1;
        self.on_page += 1;
        self.shown += 1;
        let mut text = String::new();
        if !self.is_page_told {
            self.is_page_told = true;
            self.heading(finding, &mut text);
        }
        self.entry(finding, told, &mut text);
        self.out.write_all(text.as_bytes()).map_err(writing("the report"))
    }

    /// What of a page was left out is told below it, if anything of it was shown.
    fn page_end(&mut self) -> Visit {
        let mut text = String::new();
        if self.is_page_told {
            if self.left_out_on_page > 0 {
                let more = format!("  … and {} more on this page", words::number(self.left_out_on_page));
                self.look.line(&more, "2", &mut text);
            }
            text.push('\n');
        }
        self.on_page = 0;
        self.left_out_on_page = 0;
        self.is_page_told = false;
        self.out.write_all(text.as_bytes()).map_err(writing("the report"))
    }

    fn heading(&self, finding: &Finding, text: &mut String) {
        text.push_str(&self.look.paint(&Printable(&finding.page).to_string(), "1"));
        let room = self.look.width.saturating_sub(finding.page.chars().count() + 2);
        if let Some(title) = finding.title.as_deref().filter(|title| !title.trim().is_empty() && room > 10) {
            text.push_str("  ");
            text.push_str(&self.look.paint(&cut(&Printable(title).to_string(), room), "2"));
        }
        text.push('\n');
        if let Some(owner) = &finding.owner {
            self.look.line(&format!("  owned by {}", Printable(owner)), "2", text);
        }
    }

    fn entry(&self, finding: &Finding, told: &Told, text: &mut String) {
        const MARGIN: &str = "                ";
        let name = format!("  {:<14}", format!("{} {}", told.sign, told.verdict.name()));
        text.push_str(&self.look.paint(&name, told.colour));
        let is_link = told.is_of_a_link();
        if is_link {
            let mut what = match finding.line {
                0 => finding.element.to_owned(),
                line => format!("line {line}, {}", finding.element),
            };
            if !finding.text.trim().is_empty() {
                let room = self.look.width.saturating_sub(MARGIN.len() + what.chars().count() + 3).max(20);
                put!(&mut what, " “{}”", cut(&Printable(&finding.text).to_string(), room));
            }
            let target = words::aim(&finding.target, finding.fragment.as_deref());
            put!(text, "{what}\n{MARGIN}{}\n{MARGIN}", Printable(&target));
        }
        text.push_str(&Printable(&finding.reason).to_string());
        if is_link && finding.is_new && self.has_before {
            text.push_str(", ");
            text.push_str(&self.look.paint("new", "1"));
        } else if let Some(since) = finding.since {
            put!(text, ", {}", words::since(since, self.now));
        }
        text.push('\n');
        if let Some(to) = &finding.to {
            put!(text, "{MARGIN}→ {}\n", Printable(to));
        }
    }
}

impl Look {
    fn paint(&self, text: &str, colour: &str) -> String {
        if self.colour { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn line(&self, line: &str, colour: &str, text: &mut String) {
        text.push_str(&self.paint(line, colour));
        text.push('\n');
    }
}

/// Details (which rule of robots.txt, which fault of a connection) would make every reason another one.
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

fn reasons(untested: &BTreeMap<String, u64>, look: &Look, text: &mut String) {
    if untested.is_empty() {
        return;
    }
    look.line("Why links were not tested", "1", text);
    let mut sorted: Vec<_> = untested.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in sorted {
        put!(text, "{:>9}  {}\n", words::number(*count), Printable(reason));
    }
    text.push('\n');
}

fn remarks(run: &Run, look: &Look, text: &mut String) {
    if run.remarks.is_empty() {
        return;
    }
    look.line("Worth knowing", "1", text);
    for remark in &run.remarks {
        put!(text, "  {}\n", Printable(remark));
    }
    text.push('\n');
}

fn mended(results: &dyn Results, look: &Look, text: &mut String) -> Visit {
    let (mut shown, mut rest) = (0, 0_u64);
    results.mended(None, &mut |mended: &Mended| {
        if shown >= look.others {
            rest += 1;
            return Ok(());
        }
        if shown == 0 {
            look.line("Mended since the run before", "1", text);
        }
        shown += 1;
        let target = words::aim(&mended.target, mended.fragment.as_deref());
        put!(text, "  {} {}\n      on {}\n", look.paint("✓", "32"), Printable(&target), Printable(&mended.page));
        Ok(())
    })?;
    if rest > 0 {
        look.line(&format!("  … and {} more", words::number(rest)), "2", text);
    }
    if shown > 0 {
        text.push('\n');
    }
    Ok(())
}

fn summary(run: &Run, infostructures: usize, look: &Look, text: &mut String) {
    let Summary { pages, links, urls, requests, bytes, new, mended, .. } = &run.summary;
    let whose = if infostructures > 1 { format!(" in {infostructures} infostructures") } else { String::new() };
    put!(
        text,
        "{}{whose} with {} to {}; {} and {} in {}\n",
        words::counted(*pages, ("document", "documents")),
        words::counted(*links, ("link", "links")),
        words::counted(*urls, ("URL", "URLs")),
        words::counted(*requests, ("request", "requests")),
        words::size(*bytes),
        words::took(run.began, run.ended),
    );
    let counts: Vec<_> =
        TOLD.iter().map(|told| (told, words::count(&run.summary, told.verdict))).filter(|(_, n)| *n > 0).collect();
    if counts.is_empty() {
        look.line("✓ nothing needs attention", "32", text);
    }
    for (told, count) in counts {
        let line = format!(
            "{:>9}  {} {}",
            words::number(count),
            told.sign,
            if count == 1 { told.counted.0 } else { told.counted.1 }
        );
        look.line(&line, told.colour, text);
    }
    if let Some(before) = run.before {
        put!(
            text,
            "Since the run of {}: {} new, {} mended\n",
            words::minute(before),
            words::number(*new),
            words::number(*mended)
        );
    }
}

fn ending(run: &Run, (shown, total): (u64, u64), look: &Look, text: &mut String) {
    if shown < total {
        put!(
            text,
            "{} of {} are shown here, and {} more were found\n",
            words::number(shown),
            words::counted(total, ("finding", "findings")),
            words::number(total - shown)
        );
    }
    if let Some(next) = look.next.as_ref().filter(|_| total > 0) {
        put!(text, "{next}\n");
    }
    match &run.cut_short {
        None => text.push_str("The run is complete: everything was visited that there was to visit\n"),
        Some(why) => {
            let line = format!("The run was cut short: {}. What was not visited is not in this report", Printable(why));
            look.line(&line, "1;31", text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    fn shown(results: &dyn Results, look: &Look) -> String {
        let mut out = Vec::new();
        write(results, look, &mut out).expect("memory takes everything");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_finding_says_where_it_is_and_what_to_do() {
        let text = shown(&Fixture::small(), &Look::default());
        let expected = "\
https://tidewater.example/  Tidewater: a field station on the coast
  owned by maria
  ✗ broken      line 31, a href “Annual report 2024”
                https://tidewater.example/reports/2024.pdf
                404 not found, new
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("→ https://home.tides.example/\n"), "{text}");
        assert!(text.contains("since 2026-10-02 (44 days)"), "{text}");
        assert!(text.ends_with("The run is complete: everything was visited that there was to visit\n"), "{text}");
    }

    #[test]
    fn a_first_run_calls_nothing_new() {
        let mut fixture = Fixture::small();
        fixture.run.before = None;
        assert!(!shown(&fixture, &Look::default()).contains("new\n"));
    }

    #[test]
    fn colours_are_there_only_if_asked_for() {
        assert!(!shown(&Fixture::small(), &Look::default()).contains('\u{1b}'));
        let coloured = shown(&Fixture::small(), &Look { colour: true, ..Look::default() });
        assert!(coloured.contains("\u{1b}[31m  ✗ broken"), "{coloured}");
    }

    #[test]
    fn untested_links_never_hide_broken_ones() {
        let fixture = Fixture::small();
        let example = |verdict| fixture.findings.iter().find(|f| f.verdict == verdict).expect("one of each").clone();
        let mut findings = Vec::new();
        for n in 0..1_000 {
            findings.push(Finding { page: format!("https://a.example/{n:04}"), ..example(Verdict::NotTested) });
        }
        findings.push(Finding { page: "https://a.example/z".to_owned(), ..example(Verdict::Broken) });
        let text = shown(&Fixture { findings, ..fixture }, &Look::default());
        assert!(text.contains("https://a.example/z"), "{text}");
        assert!(text.contains("41 of 1,001 findings are shown here, and 960 more were found"), "{text}");
        assert!(text.lines().count() < 300, "{}", text.lines().count());
    }

    #[test]
    fn a_page_with_many_findings_does_not_take_all_the_room() {
        let fixture = Fixture::small();
        let findings = vec![fixture.findings[0].clone(); 50];
        let text = shown(&Fixture { findings, ..fixture }, &Look::default());
        assert!(text.contains("  … and 30 more on this page\n"), "{text}");
        assert!(
            shown(
                &Fixture { findings: vec![Fixture::small().findings[0].clone(); 50], ..Fixture::small() },
                &Look::whole()
            )
            .lines()
            .all(|line| !line.contains("more on this page"))
        );
    }

    #[test]
    fn strangers_do_not_write_to_the_terminal() {
        let text = shown(&Fixture::hostile(), &Look::default());
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }

    #[test]
    fn a_clean_run_says_so() {
        let text = shown(&Fixture::clean(), &Look::default());
        assert!(text.contains("✓ nothing needs attention\n"), "{text}");
        assert!(!text.contains("--html"), "{text}");
    }
}
