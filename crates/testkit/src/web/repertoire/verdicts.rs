//! Good, broken, and not tested: a failure to test is never called a broken link.

use std::time::Duration;

use super::{Case, found, good};
use crate::web::{Delivery, Reply, Visit, html};

const LINK: &str = r#"<a href="/x">a link</a>"#;
const X: &str = "{here}/x";
const THERE: &str = r#"<a href="{there}/x">a link</a>"#;
const THERE_X: &str = "{there}/x";
/// How often something is tried again at most, with what came before.
const TRIES: usize = 6;
/// No test waits as long as people would.
const HASTE: &[&str] = &["--timeout", "2"];

pub(super) const CASES: &[Case] = &[
    good("200", LINK, |web| web.page("/x", "here")).asks_for(&["/x"]),
    good("200 without a body", LINK, |web| web.file("/x", "text/html", "")),
    good("200 without a type", LINK, |web| {
        web.on("/x", |_| {
            let mut reply = html("here");
            reply.headers.clear();
            reply
        })
    }),
    good("204", LINK, |web| web.on("/x", |_| Reply::of(204, "text/html", ""))),
    good(
        "the same link often",
        r#"<a href="/x">1</a><a href="/x">2</a><a href="x">3</a><a href="./x">4</a><img src="/x">"#,
        |web| web.page("/x", r#"<a href="/x">myself</a><a href="/">back</a>"#),
    )
    .asks_for(&["/x", "/robots.txt"]),
    found("404", LINK, |web| web, "broken", X).status(404).because("404"),
    found("410", LINK, |web| web.status("/x", 410), "broken", X).status(410).because("410"),
    found(
        "401",
        LINK,
        |web| web.on("/x", |_| Reply::html(401, "Who?").with("WWW-Authenticate", "Basic realm=x")),
        "not tested",
        X,
    )
    .status(401)
    .because("login")
    .at_most(2),
    // At home, a refusal is a defect; elsewhere it may be meant for programs only.
    found("403", LINK, |web| web.status("/x", 403), "broken", X).status(403).at_most(2),
    found("403 elsewhere", THERE, |web| web.status("/x", 403), "not tested", THERE_X)
        .status(403)
        .because("refused")
        .at_most(2),
    // The same goes for what always fails, but only if it was asked for again.
    found("500", LINK, |web| web.status("/x", 500), "broken", X).status(500).at_most(TRIES),
    found("500 elsewhere", THERE, |web| web.status("/x", 500), "not tested", THERE_X)
        .status(500)
        .because("server error")
        .at_most(TRIES),
    found("404 elsewhere", THERE, |web| web, "broken", THERE_X).status(404).at_most(2),
    good("200 elsewhere", THERE, |web| web.page("/x", r#"<a href="/missing">x</a>"#)),
    found("502", LINK, |web| web.status("/x", 502), "not tested", X).status(502).because("server error").at_most(TRIES),
    good("500 once", LINK, |web| web.on("/x", |visit| nth(visit, 1, || Reply::html(500, "Oh")))).at_most(TRIES),
    found("503 for ever", LINK, |web| web.status("/x", 503), "not tested", X).status(503).at_most(TRIES),
    good("503 with a wait of a second, twice, then fine", LINK, |web| {
        web.on("/x", |visit| nth(visit, 2, || Reply::html(503, "Busy").with("Retry-After", "1")))
    })
    .at_most(4),
    good("429 with a wait of a second, twice, then fine", LINK, |web| {
        web.on("/x", |visit| nth(visit, 2, || Reply::html(429, "Slow down").with("Retry-After", "1")))
    })
    .at_most(4),
    good("429 for each of many, then fine", MANY, |web| {
        web.below("/many/", |visit| nth(visit, 1, || Reply::html(429, "Slow down").with("Retry-After", "1")))
    })
    .at_most(4),
    found(
        "429 for ever",
        LINK,
        |web| web.on("/x", |_| Reply::html(429, "No").with("Retry-After", "1")),
        "not tested",
        X,
    )
    .status(429)
    .because("busy")
    .at_most(20),
    found(
        "429 for a day",
        LINK,
        |web| web.on("/x", |_| Reply::html(429, "No").with("Retry-After", "86400")),
        "not tested",
        X,
    )
    .status(429)
    .at_most(2),
    found(
        "no answer in time",
        LINK,
        |web| web.on("/x", |_| html("late").after(Duration::from_secs(120))),
        "not tested",
        X,
    )
    .asked_with(HASTE)
    .because("timeout")
    .at_most(TRIES),
    found(
        "no rest of the answer in time",
        LINK,
        |web| web.on("/x", |_| html("late").delivered(Delivery::StallAt(20))),
        "not tested",
        X,
    )
    .asked_with(HASTE)
    .at_most(TRIES),
    found("closed without an answer", LINK, |web| web.on("/x", |_| bare("")), "not tested", X).at_most(TRIES),
    found(
        "cut short",
        LINK,
        |web| web.on("/x", |_| html("half of it is missing").delivered(Delivery::CutAt(60))),
        "not tested",
        X,
    )
    .at_most(TRIES),
    found(
        "reset",
        LINK,
        |web| web.on("/x", |_| html("half of it is missing").delivered(Delivery::ResetAt(60))),
        "not tested",
        X,
    )
    .at_most(TRIES),
    found("garbage", LINK, |web| web.on("/x", |_| bare("220 ftp.example.org ready\r\n")), "not tested", X)
        .at_most(TRIES),
    found(
        "a port where nobody is",
        r#"<a href="http://127.0.0.1:1/x">x</a>"#,
        |web| web,
        "not tested",
        "http://127.0.0.1:1/x",
    ),
    found("a URL that is none", r#"<a href="http://[">x</a>"#, |web| web, "broken", "http://["),
    found(
        "a port that is none",
        r#"<a href="http://127.0.0.1:99999/">x</a>"#,
        |web| web,
        "broken",
        "http://127.0.0.1:99999/",
    ),
    found(
        "an address that is none",
        r#"<a href="mailto:nobody at all">x</a>"#,
        |web| web,
        "broken",
        "mailto:nobody at all",
    ),
    good(
        "an address",
        r#"<a href="mailto:a.b@example.org?subject=x">x</a><a href="tel:+1-2">y</a><a href="javascript:void(0)">z</a>"#,
        |web| web,
    ),
    good("a page that cannot be parsed", LINK, |web| {
        web.file("/x", "text/html", b"<<<\0\xff<a href=/ <p <!-- ".to_vec())
    }),
];

const MANY: &str = r#"<a href="/many/1">1</a><a href="/many/2">2</a><a href="/many/3">3</a><a href="/many/4">4</a><a href="/many/5">5</a><a href="/many/6">6</a>"#;

/// The first so many times one answer, then a page.
fn nth(visit: &Visit<'_>, times: usize, instead: impl Fn() -> Reply) -> Reply {
    if visit.times < times { instead() } else { html("fine") }
}

/// Bytes that are no answer.
fn bare(text: &str) -> Reply {
    Reply::of(200, "", text).delivered(Delivery::Bare)
}
