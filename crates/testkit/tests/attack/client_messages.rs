//! Text of others that is shown to people: it must not move the cursor, reverse what is read, or hide something.

use std::process::Command;

use modoai_testkit::endpoint::{Endpoint, Reply, Script};
use modoai_testkit::process::binary;
use modoai_testkit::site::TestSite;

use crate::running::{Told, to_its_end};

/// What a terminal shows in reverse, hides, or takes for a command.
const EVIL: &str = "evil\u{202e}txt.exe\u{2066}\u{200b}\u{feff}\u{9b}2J\u{e0041}end";

fn told(arguments: &[&str]) -> String {
    let Told { out, err, .. } = to_its_end(Command::new(binary()).args(arguments)).expect("an end");
    format!("{out}{err}")
}

/// The text was shown, and nothing of it is invisible.
#[track_caller]
fn expect_harmless(shown: &str) {
    assert!(shown.contains("evil"), "not shown: {shown}");
    let bad: Vec<char> = shown.chars().filter(|c| EVIL.contains(*c) && !c.is_ascii_graphic()).collect();
    assert!(bad.is_empty(), "{bad:?} in {shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

fn harvest(endpoint: &Endpoint, sink: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().to_string_lossy().into_owned();
    let harvest = ["-v", "harvest", endpoint.url(), "--into", &into, "--sink", sink, "--format", "oai_dc"];
    let mut shown = told(&[&harvest[..], &["--attempts", "1", "--patience", "0.01"]].concat());
    shown.push_str(&told(&["status", &into]));
    shown
}

#[test]
fn an_error_of_a_repository() {
    let script = Script::default().page(|visit, page| {
        if visit.is_list() {
            page.fail("badArgument", EVIL);
        }
    });
    expect_harmless(&harvest(&Endpoint::start(script), "records"));
    let script = Script::default().page(|_, page| page.fail(EVIL, EVIL));
    expect_harmless(&harvest(&Endpoint::start(script), "records"));
}

#[test]
fn an_identifier_that_is_named_as_missing() {
    let endpoint = Endpoint::start(Script::default().page(|_, page| {
        if let Some(list) = page.list() {
            list.token = None;
            list.entries.truncate(1);
            list.entries[0].identifier = Some(EVIL.to_owned());
            list.entries[0].metadata = None;
        }
    }));
    expect_harmless(&harvest(&endpoint, "records"));
}

#[test]
fn a_redirect_and_a_content_type() {
    let script = Script::default().instead(|_| {
        let page = Reply::of(200, "text/html", format!("<html><title>{EVIL}</title></html>"));
        Some(page.with("Content-Type", &format!("text/{EVIL}")))
    });
    let endpoint = Endpoint::start(script);
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().to_string_lossy().into_owned();
    let shown = told(&["-vv", "harvest", endpoint.url(), "--into", &into, "--attempts", "1"]);
    assert!(!shown.contains('\u{202e}') && !shown.contains('\u{9b}'), "{shown}");
}

#[test]
fn what_a_judge_quotes() {
    let script = Script::default().page(|_, page| {
        if let Some(name) = page.identify("repositoryName") {
            name.push_str(EVIL);
        }
        if let Some(date) = page.identify("earliestDatestamp") {
            *date = EVIL.to_owned();
        }
    });
    expect_harmless(&told(&["validate", Endpoint::start(script).url(), "--max-requests", "30"]));
}

#[test]
fn titles_and_links_of_a_web() {
    let page = format!("<title>{EVIL}</title><a href=\"/{EVIL}\">{EVIL}</a><a href=/gone>{EVIL}</a>");
    let endpoint = Endpoint::start(Script::default().instead(move |visit| {
        Some(match visit.request.path() {
            "/" => Reply::of(200, "text/html; charset=utf-8", page.clone()),
            _ => Reply::html(404, EVIL),
        })
    }));
    let url = endpoint.url().replace("/oai", "/");
    expect_harmless(&told(&["-v", "spider", &url, "--no-table"]));
}

#[test]
fn entries_of_an_import() {
    let input = TestSite::with(&[("x.jsonl", &format!("{{\"id\": \"a\", \"title\": [\"{EVIL}\"\n{EVIL}\n"))]);
    let state = tempfile::tempdir().expect("a folder");
    let (input, into) = (input.at("x.jsonl"), state.path().join("archive"));
    let (input, into) = (input.to_string_lossy().into_owned(), into.to_string_lossy().into_owned());
    let shown = told(&["import", &input, "--into", &into]);
    assert!(!shown.contains('\u{202e}') && !shown.contains('\u{9b}'), "{shown}");
}
