//! Whatever is behind a link: what is said about it is right, and nothing else is said.
//!
//! `MODOAI_CASE=part-of-a-name` runs only the rows of that name.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use modoai_testkit::web::repertoire::{Case, Finding, REPERTOIRE};
use modoai_testkit::web::{Host, Web};
use serde_json::Value;

use super::Spider;

/// Rows at the same time: most of what they do is waiting.
const AT_ONCE: usize = 6;

#[test]
fn good_broken_and_not_tested() {
    judge("verdicts");
}

#[test]
fn moved_to_somewhere_or_nowhere() {
    judge("redirects");
}

#[test]
fn heads_that_lie() {
    judge("heads");
}

#[test]
fn fragments_by_the_rules_of_html() {
    judge("fragments");
}

/// Runs all rows of a group, a few at a time, and tells of all that fail.
fn judge(group: &str) {
    let (_, cases) = REPERTOIRE.iter().find(|(name, _)| *name == group).expect("a group of that name");
    let only = std::env::var("MODOAI_CASE").unwrap_or_default();
    let chosen: Vec<&Case> = cases.iter().filter(|case| case.name.contains(&only)).collect();
    let (next, complaints) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = chosen.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if let Err(complaint) = examine(case) {
                        complaints.lock().expect("nobody panics").push(format!("{}: {complaint}", case.name));
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("nobody panics");
    let (failed, all) = (complaints.len(), chosen.len());
    assert!(complaints.is_empty(), "{failed} of {all} rows fail\n\n{}", complaints.join("\n"));
}

/// Two hosts with the same answers, one of which is traversed.
fn examine(case: &Case) -> Result<(), String> {
    let there = (case.web)(Web::default()).start();
    let front = case.front.replace("{there}", there.url());
    let host = (case.web)(Web::default()).page("/", &front).start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).with(case.arguments).run()?;
    // A page of the site that could not be tested could not be read, either: the run is incomplete.
    let is_unread = case.finding.as_ref().is_some_and(|expected| expected.verdict == "not tested")
        && ended.code == Some(3)
        && ended.count("unread") == 1;
    if !ended.is_complete() && !is_unread {
        return Err(format!("not complete\n{}", ended.said));
    }
    let findings: Vec<&Value> = ended.findings.iter().collect();
    let asked = host.log().iter().chain(&there.log()).map(|asked| format!("{asked}\n")).collect::<String>();
    let complain = |what: String| Err(format!("{what}\n{}{asked}", ended.said));
    match (&case.finding, &findings[..]) {
        (None, []) => {}
        (Some(expected), [found]) => {
            if let Some(difference) = difference(expected, found, &host, &there) {
                return complain(difference);
            }
        }
        (expected, found) => return complain(format!("{} findings instead of {expected:?}", found.len())),
    }
    for host in [&host, &there] {
        if let Some((target, times)) = host.repeated().into_iter().find(|(_, times)| *times > case.most) {
            return complain(format!("{target} was asked for {times} times"));
        }
    }
    if let Some(path) = case.asked.iter().find(|path| host.times(path) == 0) {
        return complain(format!("{path} was never asked for"));
    }
    Ok(())
}

/// Says how a finding differs from what it should be.
fn difference(expected: &Finding, found: &Value, host: &Host, there: &Host) -> Option<String> {
    let placed = |text: &str| text.replace("{here}", host.url()).replace("{there}", there.url());
    let mut wanted = vec![
        ("page", Value::from(host.at("/"))),
        ("verdict", expected.verdict.into()),
        ("target", placed(expected.target).into()),
        ("fragment", expected.fragment.into()),
        ("is_new", true.into()),
    ];
    if let Some(status) = expected.status {
        wanted.push(("status", status.into()));
    }
    if let Some(to) = expected.to {
        wanted.extend([("to", placed(to).into()), ("permanent", expected.permanent.into())]);
    }
    let other = wanted.into_iter().find(|(name, value)| found[*name] != *value);
    let other = other.map(|(name, value)| format!("{name} is {}, not {value}", found[name]));
    let reason = found["reason"].as_str().unwrap_or_default();
    other.or_else(|| (!reason.contains(expected.reason)).then(|| format!("the reason lacks '{}'", expected.reason)))
}
