//! Findings for build servers: JUnit XML, as Jenkins, GitLab and many others read it.
//!
//! One suite for each infostructure, one case for each page. A page with broken links or fragments fails; a page with
//! untested links, but without problems, is skipped. A link on most pages is a separate case, so that it does not make
//! all of them fail. Readers differ in the number of failures of a case that they show, so each case has one, which
//! lists all. The numbers of a suite precede its cases, so the documents are visited twice. An incomplete run is a
//! separate error, because all other cases may have passed.

use std::io::Write;

use super::{words, writing};
use crate::foreign::Legal;
use crate::results::{Document, Infostructure, Referenced, Results, Run, Visit};
use crate::targets::{Target, Targets};
use crate::verdict::Verdict;

/// The maximum number of links that a failure lists. Users would not read ten thousand.
const LISTED: usize = 500;

pub(super) fn write(results: &dyn Results, out: &mut dyn Write) -> Visit {
    send(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"modoai spider\">\n")?;
    for (at, infostructure) in results.infostructures().iter().enumerate() {
        suite(results, at, infostructure, out)?;
    }
    send(out, "</testsuites>\n")?;
    out.flush().map_err(writing("JUnit XML"))
}

fn send(out: &mut dyn Write, text: &str) -> Visit {
    out.write_all(text.as_bytes()).map_err(writing("JUnit XML"))
}

fn suite(results: &dyn Results, at: usize, infostructure: &Infostructure, out: &mut dyn Write) -> Visit {
    let targets = Targets::gather(results, Some(at))?;
    let shared: Vec<&Target> =
        targets.all().iter().filter(|target| target.is_site_wide && is_fault(target.first.verdict)).collect();
    let shared_count = shared.len() as u64;
    let (mut tests, mut failures, mut skipped) = (1 + shared_count, shared_count, 0_u64);
    results.documents(at, &mut |_, references| {
        tests += 1;
        match Case::of(references, &targets) {
            Case { faults, .. } if !faults.is_empty() => failures += 1,
            Case { untested, .. } if !untested.is_empty() => skipped += 1,
            Case { .. } => {}
        }
        Ok(())
    })?;

    let Run { number, began, ended, .. } = results.run();
    let incomplete = results.run().incomplete();
    let name = Legal(&infostructure.task.name);
    let errors = u8::from(incomplete.is_some());
    let seconds = ended.as_second().saturating_sub(began.as_second()).max(0);
    send(
        out,
        &format!(
            "<testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" \
             time=\"{seconds}\" timestamp=\"{}\">\n<properties>\n<property name=\"run\" value=\"{number}\"/>\n\
             <property name=\"complete\" value=\"{}\"/>\n</properties>\n",
            began.strftime("%Y-%m-%dT%H:%M:%S"),
            incomplete.is_none(),
        ),
    )?;
    send(out, &format!("<testcase classname=\"{name}\" name=\"every page was read\" time=\"{seconds}\""))?;
    match &incomplete {
        None => send(out, "/>\n")?,
        Some(why) => {
            let why = Legal(why);
            send(out, &format!(">\n<error type=\"incomplete\" message=\"{why}\"/>\n</testcase>\n"))?;
        }
    }
    let mut text = String::new();
    for target in shared {
        shared_case(&name, target, targets.documents(), &mut text);
    }
    send(out, &text)?;
    results.documents(at, &mut |document, references| {
        text.clear();
        case(&name, document, &Case::of(references, &targets), &mut text);
        send(out, &text)
    })?;
    send(out, "</testsuite>\n")
}

/// The problems of a page itself: its links without those on most pages.
struct Case<'a> {
    faults: Vec<&'a Referenced>,
    untested: Vec<&'a Referenced>,
}

impl<'a> Case<'a> {
    fn of(references: &'a [Referenced], targets: &Targets) -> Self {
        let own = |of: fn(Verdict) -> bool| {
            let is_own = |reference: &&Referenced| {
                of(reference.verdict)
                    && !reference.is_skipped
                    && !targets.is_site_wide(reference.verdict, &reference.target, reference.fragment.as_deref())
            };
            references.iter().filter(is_own).collect()
        };
        Self { faults: own(is_fault), untested: own(|verdict| verdict == Verdict::NotTested) }
    }
}

/// A link on most pages.
fn shared_case(suite: &Legal<'_>, target: &Target, documents: u64, xml: &mut String) {
    let (url, reason) = (target.url(), &target.first.reason);
    let (url, reason) = (Legal(&url), Legal(reason));
    put!(xml, "<testcase classname=\"{suite}\" name=\"site-wide link {url}\" time=\"0\">\n");
    let spread = words::spread(target, documents);
    put!(xml, "<failure type=\"{}\" message=\"{reason}, {spread}\">", target.first.verdict.name());
    for place in &target.places {
        put!(xml, "\n{}", Legal(&place.page));
    }
    put!(xml, "\n</failure>\n</testcase>\n");
}

fn is_fault(verdict: Verdict) -> bool {
    words::wording(verdict).is_some_and(words::VerdictText::is_fault)
}

fn case(suite: &Legal<'_>, document: &Document, Case { faults, untested }: &Case<'_>, xml: &mut String) {
    put!(xml, "<testcase classname=\"{suite}\" name=\"{}\" time=\"0\"", Legal(&document.url));
    if faults.is_empty() && untested.is_empty() {
        xml.push_str("/>\n");
        return;
    }
    xml.push_str(">\n");
    if !faults.is_empty() {
        let broken = faults.iter().filter(|reference| reference.verdict == Verdict::Broken).count();
        let what = if broken > 0 { Verdict::Broken } else { Verdict::Fragment };
        let message = [(broken, "broken link"), (faults.len() - broken, "missing fragment")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| words::counted(count as u64, (name, &format!("{name}s"))))
            .collect::<Vec<_>>()
            .join(", ");
        put!(xml, "<failure type=\"{}\" message=\"{message}\">", what.name());
        list(faults, xml);
        xml.push_str("</failure>\n");
    } else {
        let message = words::counted(untested.len() as u64, ("link was not tested", "links were not tested"));
        put!(xml, "<skipped message=\"{message}\"/>\n");
    }
    if !untested.is_empty() {
        xml.push_str("<system-out>");
        list(untested, xml);
        xml.push_str("</system-out>\n");
    }
    xml.push_str("</testcase>\n");
}

fn list(references: &[&Referenced], xml: &mut String) {
    for reference in references.iter().take(LISTED) {
        let target = words::aim(&reference.target, reference.fragment.as_deref());
        let reason = reference.reason.as_deref().unwrap_or_default();
        xml.push('\n');
        if reference.line > 0 {
            put!(xml, "line {}: ", reference.line);
        }
        put!(xml, "{} {}: {}", reference.kind.name(), Legal(&target), Legal(reason));
        if !reference.text.is_empty() {
            put!(xml, " (“{}”)", Legal(&reference.text));
        }
        if let Some(since) = reference.since {
            put!(xml, ", since {}", words::day(since));
        }
    }
    if references.len() > LISTED {
        put!(xml, "\nand {} more", references.len() - LISTED);
    }
    xml.push('\n');
}

#[cfg(test)]
mod tests {
    use quick_xml::Reader;
    use quick_xml::events::{BytesStart, Event};

    use super::super::fixture::{Fixture, written};
    use super::super::named;

    fn attribute(element: &BytesStart<'_>, name: &str) -> String {
        let found = element.try_get_attribute(name).expect("readable").unwrap_or_else(|| panic!("{name}"));
        found.value.into_owned()
    }

    /// Parses it completely, and counts elements by name.
    fn count(xml: &str, name: &str) -> usize {
        let mut reader = Reader::from_str(xml);
        let mut found = 0;
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Start(element) | Event::Empty(element) if element.name().as_ref() == name => found += 1,
                Event::Eof => return found,
                _ => {}
            }
        }
    }

    #[test]
    fn the_numbers_of_a_suite_are_those_of_its_cases() {
        let fixture = Fixture::small();
        let xml = written(named("junit").expect("a format"), &fixture);
        assert_eq!(count(&xml, "testsuite"), fixture.infostructures.len());
        let mut reader = Reader::from_str(&xml);
        let suite = loop {
            match reader.read_event().expect("well-formed") {
                Event::Start(element) if element.name().as_ref() == "testsuite" => break element,
                _ => {}
            }
        };
        assert_eq!(attribute(&suite, "tests"), count(&xml, "testcase").to_string());
        assert_eq!(attribute(&suite, "failures"), count(&xml, "failure").to_string());
        assert_eq!(attribute(&suite, "skipped"), count(&xml, "skipped").to_string());
        assert_eq!(attribute(&suite, "errors"), "0");
        assert!(count(&xml, "failure") > 0 && count(&xml, "skipped") > 0);
        assert!(xml.contains("message=\"2 broken links, 1 missing fragment\""), "{xml}");
    }

    #[test]
    fn a_dead_link_in_the_template_fails_once() {
        let xml = written(named("junit").expect("a format"), &Fixture::templated(3_000));
        assert_eq!((count(&xml, "failure"), count(&xml, "testcase")), (2, 3_002));
    }

    #[test]
    fn a_run_that_was_cut_short_is_an_error() {
        let mut fixture = Fixture::clean();
        fixture.run.cut_short = Some("interrupted".to_owned());
        let xml = written(named("junit").expect("a format"), &fixture);
        assert_eq!(count(&xml, "error"), 1);
        assert_eq!(count(&xml, "failure"), 0);
    }

    #[test]
    fn whatever_strangers_write_it_stays_well_formed() {
        let xml = written(named("junit").expect("a format"), &Fixture::hostile());
        assert!(count(&xml, "testcase") > 1);
        assert!(!xml.chars().any(|c| c.is_control() && c != '\n'), "{xml}");
    }
}
