//! HEAD for what is not read, and what servers make of it.

use std::time::Duration;

use super::{Case, found, good};
use crate::web::{Reply, Visit, Web};

const PART: &str = r#"<img src="/x.png" alt="a picture">"#;
const X: &str = "{here}/x.png";

pub(super) const CASES: &[Case] = &[
    good("a part", PART, |web| web.file("/x.png", "image/png", "x")).asks_for(&["/x.png"]),
    found("a missing part", PART, |web| web, "broken", X).status(404).at_most(2),
    good("404 by HEAD", PART, |web| lying(web, 404)).at_most(2),
    good("403 by HEAD", PART, |web| lying(web, 403)).at_most(2),
    good("405 by HEAD", PART, |web| lying(web, 405)).at_most(2),
    good("500 by HEAD", PART, |web| lying(web, 500)).at_most(4),
    good("501 by HEAD", PART, |web| lying(web, 501)).at_most(2),
    good("400 by HEAD", PART, |web| lying(web, 400)).at_most(2),
    good("HEAD that hangs", PART, |web| {
        web.on("/x.png", |visit| {
            let wait = if visit.is_head() { Duration::from_secs(120) } else { Duration::ZERO };
            picture().after(wait)
        })
    })
    .asked_with(&["--timeout", "2"])
    .at_most(4),
    good("HEAD that closes the connection", PART, |web| {
        web.on("/x.png", |visit| {
            let bare = || Reply::of(200, "", "").delivered(crate::web::Delivery::Bare);
            if visit.is_head() { bare() } else { picture() }
        })
    })
    .at_most(4),
    // Nobody sends a form to see whether it is taken.
    good("405 for a form", r#"<form action="/x.png" method="post"></form>"#, |web| web.status("/x.png", 405))
        .at_most(2),
    good("a form that takes only POST", r#"<form action="/x.png" method="post"></form>"#, |web| {
        web.on("/x.png", |visit| Reply::html(if visit.request.method == "POST" { 200 } else { 405 }, "Posted"))
    })
    .at_most(2),
    // A route that only takes POST says the same.
    found("a missing form", r#"<form action="/x.png" method="post"></form>"#, |web| web, "not tested", X).at_most(2),
];

/// A picture that is there, whatever is said to those who only ask for its head.
fn lying(web: Web, status: u16) -> Web {
    web.on("/x.png", move |visit: &Visit<'_>| if visit.is_head() { Reply::html(status, "No") } else { picture() })
}

fn picture() -> Reply {
    Reply::of(200, "image/png", "x")
}
