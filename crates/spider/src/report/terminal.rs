//! Writes the report on a terminal: first the targets with a finding, each once with its pages; then, page by page, the
//! links that are not on most pages. Its length is limited, because users cannot read ten thousand lines on a terminal.
//! The rest is counted, and the end names the full report.
//!
//! Broken links and fragments have a separate limit, so that a hundred links that could not be tested never hide the
//! broken one.

mod pages;

use std::collections::BTreeMap;
use std::io::Write;

use super::words::{self, VERDICTS, VerdictText};
use super::writing;
use crate::foreign::Printable;
use crate::results::{Earlier, Results, Run, State, Summary, Visit};
use crate::targets::{Target, Targets};
use pages::List;

/// The layout, and the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportStyle {
    /// True to use colours.
    pub colour: bool,
    /// The number of characters in a line. Text is cut to it; URLs never are, so that they can be copied.
    pub width: usize,
    /// The maximum number of findings of one page.
    pub per_page: usize,
    /// The maximum number of errors, as targets and again as links on pages.
    pub faults: usize,
    /// The same for other findings.
    pub others: usize,
    /// The maximum number of pages of a target.
    pub places: usize,
    /// The hint about the full report, shown if anything is left out or wrong.
    pub next: Option<String>,
}

impl Default for ReportStyle {
    fn default() -> Self {
        Self { colour: false, width: 100, per_page: 20, faults: 100, others: 30, places: 3, next: None }
    }
}

impl ReportStyle {
    /// Returns a layout without limits, as for a file.
    pub fn whole() -> Self {
        let all = usize::MAX;
        Self { colour: false, width: 160, per_page: all, faults: all, others: all, places: 10, next: None }
    }
}

pub(super) fn write_all(results: &dyn Results, out: &mut dyn Write) -> Visit {
    write(results, &ReportStyle::whole(), out)
}

/// Writes the report.
pub fn write(results: &dyn Results, style: &ReportStyle, out: &mut dyn Write) -> Visit {
    let run = results.run();
    // An incomplete run is reported first, regardless of its findings, and again at the end.
    if let Some(why) = run.incomplete() {
        let mut text = String::new();
        style.line(&format!("Incomplete: {}", Printable(&why)), "1;31", &mut text);
        text.push('\n');
        out.write_all(text.as_bytes()).map_err(writing("the report"))?;
    }
    let targets = Targets::gather(results, None)?;
    write_targets(&targets, run, style, out)?;
    let mut list = List::new(&targets, run, style, out);
    results.findings(None, &mut |finding| list.finding(finding))?;
    list.page_end()?;
    let List { shown, total, untested, .. } = list;

    let mut text = String::new();
    earlier(results, &targets, style, &mut text)?;
    reasons(&untested, style, &mut text);
    remarks(run, style, &mut text);
    summary(run, results.infostructures().len(), style, &mut text);
    ending(run, (shown, total), style, &mut text);
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(writing("the report"))
}

/// Writes the targets with a finding: verdict, URL, reason, number of pages, first pages. Documents that changed or
/// expire have no links to group.
fn write_targets(targets: &Targets, run: &Run, style: &ReportStyle, out: &mut dyn Write) -> Visit {
    let mut text = String::new();
    let (mut left_out, mut is_headed) = (0, false);
    for wording in VERDICTS.iter().filter(|wording| wording.is_of_a_link()) {
        let of = targets.of(wording.verdict);
        let most = if wording.is_fault() { style.faults } else { style.others };
        left_out += of.len().saturating_sub(most);
        for target in of.into_iter().take(most) {
            if !std::mem::replace(&mut is_headed, true) {
                style.line("Targets", "1", &mut text);
            }
            row(target, wording, targets, run, style, &mut text);
        }
        out.write_all(text.as_bytes()).map_err(writing("the report"))?;
        text.clear();
    }
    if left_out > 0 {
        style.line(&format!("  … and {} more", words::counted(left_out as u64, ("target", "targets"))), "2", &mut text);
    }
    if is_headed {
        text.push('\n');
    }
    out.write_all(text.as_bytes()).map_err(writing("the report"))
}

/// The indentation of details below a finding.
const MARGIN: &str = "                ";

fn row(target: &Target, wording: &VerdictText, targets: &Targets, run: &Run, style: &ReportStyle, text: &mut String) {
    let name = format!("  {:<14}", format!("{} {}", wording.sign, wording.verdict.name()));
    text.push_str(&style.paint(&name, wording.colour));
    put!(text, "{}\n{MARGIN}{}", Printable(&target.url()), Printable(&target.first.reason));
    if target.is_new && run.before.is_some() {
        text.push_str(", ");
        text.push_str(&style.paint("new", "1"));
    } else if let Some(since) = target.since {
        put!(text, ", {}", words::since(since, run.ended));
    }
    put!(text, "\n{MARGIN}{}", words::spread(target, targets.documents()));
    let most = if target.is_site_wide { 1 } else { style.places };
    let before = if target.is_site_wide { ", first " } else { ": " };
    for (at, place) in target.places.iter().take(most).enumerate() {
        put!(text, "{}{}", if at == 0 { before } else { " " }, Printable(&place.page));
    }
    if !target.is_site_wide && target.pages > most.min(target.places.len()) as u64 {
        text.push_str(" …");
    }
    text.push('\n');
    if let Some(to) = &target.first.to {
        put!(text, "{MARGIN}→ {}\n", Printable(to));
    }
}

impl ReportStyle {
    fn paint(&self, text: &str, colour: &str) -> String {
        if self.colour { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn line(&self, line: &str, colour: &str, text: &mut String) {
        text.push_str(&self.paint(line, colour));
        text.push('\n');
    }
}

fn reasons(untested: &BTreeMap<String, u64>, style: &ReportStyle, text: &mut String) {
    if untested.is_empty() {
        return;
    }
    style.line("Why links were not tested", "1", text);
    let mut sorted: Vec<_> = untested.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in sorted {
        put!(text, "{:>9}  {}\n", words::number(*count), Printable(reason));
    }
    text.push('\n');
}

fn remarks(run: &Run, style: &ReportStyle, text: &mut String) {
    if run.remarks.is_empty() {
        return;
    }
    style.line("Notes", "1", text);
    for remark in &run.remarks {
        put!(text, "  {}\n", Printable(remark));
    }
    text.push('\n');
}

/// Writes the fixed and removed targets. A target about which other pages still have a finding is neither.
fn earlier(results: &dyn Results, targets: &Targets, style: &ReportStyle, text: &mut String) -> Visit {
    for (state, heading) in [
        (State::Fixed, "Fixed since the previous run"),
        (State::Removed, "Links removed since the previous run, or removed with their page"),
    ] {
        let (mut shown, mut rest) = (0, 0_u64);
        results.earlier(None, &mut |earlier: &Earlier| {
            let Earlier { verdict, target, fragment, .. } = earlier;
            if earlier.state != state || targets.has(*verdict, target, fragment.as_deref()) {
                return Ok(());
            }
            if shown >= style.others {
                rest += 1;
                return Ok(());
            }
            if shown == 0 {
                style.line(heading, "1", text);
            }
            shown += 1;
            let target = words::aim(&earlier.target, earlier.fragment.as_deref());
            put!(text, "  {} {}\n      on {}\n", style.paint("✓", "32"), Printable(&target), Printable(&earlier.page));
            Ok(())
        })?;
        if rest > 0 {
            style.line(&format!("  … and {} more", words::number(rest)), "2", text);
        }
        if shown > 0 {
            text.push('\n');
        }
    }
    Ok(())
}

fn summary(run: &Run, infostructures: usize, style: &ReportStyle, text: &mut String) {
    let Summary { pages, links, urls, requests, bytes, .. } = &run.summary;
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
    let counts: Vec<_> = VERDICTS
        .iter()
        .map(|wording| (wording, words::count(&run.summary, wording.verdict)))
        .filter(|(_, n)| *n > 0)
        .collect();
    if counts.is_empty() && run.incomplete().is_none() && *pages > 0 {
        style.line("✓ nothing needs attention", "32", text);
    }
    for (wording, count) in counts {
        let line = format!(
            "{:>9}  {} {}",
            words::number(count),
            wording.sign,
            if count == 1 { wording.counted.0 } else { wording.counted.1 }
        );
        style.line(&line, wording.colour, text);
    }
    if let Some(before) = run.before {
        put!(text, "Targets since the run of {}: {}\n", words::minute(before), words::since_before(&run.summary));
    }
}

fn ending(run: &Run, (shown, total): (u64, u64), style: &ReportStyle, text: &mut String) {
    if shown < total {
        put!(
            text,
            "showing {} of {}\n",
            words::number(shown),
            words::counted(total, ("link with a finding", "links with a finding")),
        );
    }
    if let Some(next) = style.next.as_ref().filter(|_| total > 0) {
        put!(text, "{next}\n");
    }
    match run.incomplete() {
        None if run.summary.pages == 0 => style.line("No page was read", "1;31", text),
        None => text.push_str("Run complete: all reachable documents were checked\n"),
        Some(why) => {
            let line = format!("Incomplete: {}. Links on other pages are not included in this report", Printable(&why));
            style.line(&line, "1;31", text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::results::{Finding, Unread};
    use crate::verdict::Verdict;

    fn shown(results: &dyn Results, style: &ReportStyle) -> String {
        let mut out = Vec::new();
        write(results, style, &mut out).expect("memory takes everything");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_finding_says_where_it_is_and_what_to_do() {
        let text = shown(&Fixture::small(), &ReportStyle::default());
        let targets = "\
Targets
  ✗ broken      https://tidewater.example/reports/2024.pdf
                404 not found, new
                on 1 page: https://tidewater.example/
";
        assert!(text.starts_with(targets), "{text}");
        let expected = "\
Pages
https://tidewater.example/  Tidewater: a field station on the coast
  owned by maria
  ✗ broken      line 31, a href “Annual report 2024”
                https://tidewater.example/reports/2024.pdf
                404 not found, new
";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("→ https://home.tides.example/\n"), "{text}");
        assert!(text.contains("since 2026-10-02 (44 days)"), "{text}");
        assert!(text.ends_with("Run complete: all reachable documents were checked\n"), "{text}");
    }

    #[test]
    fn a_first_run_calls_nothing_new() {
        let mut fixture = Fixture::small();
        fixture.run.before = None;
        assert!(!shown(&fixture, &ReportStyle::default()).contains("new\n"));
    }

    #[test]
    fn colours_are_there_only_if_asked_for() {
        assert!(!shown(&Fixture::small(), &ReportStyle::default()).contains('\u{1b}'));
        let coloured = shown(&Fixture::small(), &ReportStyle { colour: true, ..ReportStyle::default() });
        assert!(coloured.contains("\u{1b}[31m  ✗ broken"), "{coloured}");
    }

    #[test]
    fn untested_links_never_hide_broken_ones() {
        let mut fixture = Fixture::small();
        fixture.run.summary.pages = 10_000;
        let example = |verdict| fixture.findings.iter().find(|f| f.verdict == verdict).expect("one of each").clone();
        let mut findings = Vec::new();
        for n in 0..1_000 {
            findings.push(Finding { page: format!("https://a.example/{n:04}"), ..example(Verdict::NotTested) });
        }
        findings.push(Finding { page: "https://a.example/z".to_owned(), ..example(Verdict::Broken) });
        let text = shown(&Fixture { findings, ..fixture }, &ReportStyle::default());
        assert!(text.contains("https://a.example/z"), "{text}");
        assert!(text.contains("showing 31 of 1,001 links with a finding"), "{text}");
        assert!(text.lines().count() < 300, "{}", text.lines().count());
    }

    #[test]
    fn a_dead_link_in_the_template_is_shown_once() {
        let text = shown(&Fixture::templated(3_000), &ReportStyle::default());
        assert_eq!(text.matches("https://templated.example/imprint").count(), 1, "{text}");
        assert!(text.contains("on 2,990 of 3,000 pages: in the site's template"), "{text}");
        assert!(text.contains("Pages\nhttps://templated.example/page-0042\n  ✗ broken"), "{text}");
        assert!(!text.contains("showing "), "nothing is left out\n{text}");
        assert!(text.lines().count() < 30, "{text}");
    }

    #[test]
    fn a_page_with_many_findings_does_not_take_all_the_room() {
        let fixture = Fixture::small();
        let findings = vec![fixture.findings[0].clone(); 50];
        let text = shown(&Fixture { findings, ..fixture }, &ReportStyle::default());
        assert!(text.contains("  … and 30 more on this page\n"), "{text}");
        assert!(
            shown(
                &Fixture { findings: vec![Fixture::small().findings[0].clone(); 50], ..Fixture::small() },
                &ReportStyle::whole()
            )
            .lines()
            .all(|line| !line.contains("more on this page"))
        );
    }

    #[test]
    fn strangers_do_not_write_to_the_terminal() {
        let text = shown(&Fixture::hostile(), &ReportStyle::default());
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }

    #[test]
    fn unread_pages_are_reported_first_and_nothing_is_called_fine() {
        let mut fixture = Fixture::clean();
        fixture.run.summary.unread = 1;
        fixture.run.unread = vec![Unread { reason: "server is busy (429)".to_owned(), pages: 1 }];
        let text = shown(&fixture, &ReportStyle::default());
        let first = "Incomplete: 1 of 5 pages (20%) could not be read: server is busy (429)\n\n";
        assert!(text.starts_with(first), "{text}");
        assert!(!text.contains("nothing needs attention") && !text.contains("The run is complete"), "{text}");
    }

    #[test]
    fn a_run_without_a_page_is_not_called_fine() {
        let mut fixture = Fixture::clean();
        fixture.run.summary.pages = 0;
        let text = shown(&fixture, &ReportStyle::default());
        assert!(!text.contains("nothing needs attention") && !text.contains("The run is complete"), "{text}");
    }

    #[test]
    fn a_clean_run_says_so() {
        let text = shown(&Fixture::clean(), &ReportStyle::default());
        assert!(text.contains("✓ nothing needs attention\n"), "{text}");
    }
}
