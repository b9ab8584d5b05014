//! Moved: for good or for now, to somewhere or to nowhere.

use super::{Case, found, good};
use crate::web::{Reply, Web, html};

const LINK: &str = r#"<a href="/x">a link</a>"#;
const X: &str = "{here}/x";
const Y: &str = "{here}/y";

pub(super) const CASES: &[Case] = &[
    found("301", LINK, |web| web.redirect("/x", 301, "{here}/y").page("/y", "y"), "moved", X).to(Y, true),
    found("302", LINK, |web| web.redirect("/x", 302, "{here}/y").page("/y", "y"), "moved", X).to(Y, false),
    found("303", LINK, |web| web.redirect("/x", 303, "{here}/y").page("/y", "y"), "moved", X).to(Y, false),
    found("307", LINK, |web| web.redirect("/x", 307, "{here}/y").page("/y", "y"), "moved", X).to(Y, false),
    found("308", LINK, |web| web.redirect("/x", 308, "{here}/y").page("/y", "y"), "moved", X).to(Y, true),
    found("relative", LINK, |web| web.redirect("/x", 301, "y").page("/y", "y"), "moved", X).to(Y, true),
    found("with a query only", LINK, |web| web.redirect("/x", 301, "?q").page("/x?q", "y"), "moved", X)
        .to("{here}/x?q", true),
    found(
        "of a part, by HEAD",
        r#"<img src="/x">"#,
        |web| web.redirect("/x", 301, "/y").file("/y", "image/png", "y"),
        "moved",
        X,
    )
    .to(Y, true),
    found("to a fragment", LINK, |web| web.redirect("/x", 301, "/y#there").page("/y", "<p id=there>"), "moved", X)
        .to(Y, true),
    // Where a chain of moves leads is what a link should be changed to; one that is for now makes the whole so.
    found(
        "twice",
        LINK,
        |web| web.redirect("/x", 301, "/between").redirect("/between", 301, "/y").page("/y", "y"),
        "moved",
        X,
    )
    .to(Y, true),
    found(
        "for good, then for now",
        LINK,
        |web| web.redirect("/x", 301, "/between").redirect("/between", 302, "/y").page("/y", "y"),
        "moved",
        X,
    )
    .to("{here}/between", true),
    found("fifteen times", LINK, |web| chain(web, 15), "moved", X).to(Y, true),
    found("on and on", LINK, |web| web.below("/on/", onwards).redirect("/x", 302, "/on/0"), "broken", X)
        .because("redirect loop"),
    found("to itself", LINK, |web| web.redirect("/x", 302, "/x"), "broken", X).because("redirect loop"),
    found("in a circle", LINK, |web| web.redirect("/x", 302, "/y").redirect("/y", 302, "/x"), "broken", X)
        .because("redirect loop"),
    found(
        "in a circle, with a cookie",
        LINK,
        |web| {
            web.on("/x", |_| Reply::of(302, "text/html", "").with("Location", "/y").with("Set-Cookie", "seen=1"))
                .redirect("/y", 302, "/x")
        },
        "not tested",
        X,
    )
    .because("cookies"),
    found(
        "to a fragment, of a link with another",
        r##"<a href="/x#old">a link</a>"##,
        |web| web.redirect("/x", 301, "/y#new").page("/y", "<p id=new>"),
        "moved",
        X,
    )
    .fragment("old")
    .to(Y, true),
    found("to nothing", LINK, |web| web.status("/x", 301), "broken", X).because("invalid redirect target"),
    found("to what is no URL", LINK, |web| web.redirect("/x", 301, "http://["), "broken", X)
        .because("invalid redirect target"),
    found("to an address", LINK, |web| web.redirect("/x", 301, "mailto:a@example.org"), "broken", X)
        .because("invalid redirect target"),
    found("to what is missing", LINK, |web| web.redirect("/x", 301, "/y"), "broken", X).status(404),
    found(
        "to what is gone, twice",
        LINK,
        |web| web.redirect("/x", 301, "/y").redirect("/y", 302, "/z").status("/z", 410),
        "broken",
        X,
    )
    .status(410),
    found("to trouble", LINK, |web| web.redirect("/x", 301, "/y").status("/y", 502), "not tested", X).at_most(4),
    good("by a page that is nobody's link", r#"<meta http-equiv="refresh" content="0; url=/x">"#, |web| {
        web.page("/x", "x")
    }),
];

/// So many redirects, the last of them to a page.
fn chain(web: Web, length: usize) -> Web {
    let web = web.redirect("/x", 301, "/chain/2").page("/y", "y");
    (2..=length).fold(web, |web, step| {
        let next = if step == length { "/y".to_owned() } else { format!("/chain/{}", step + 1) };
        web.redirect(&format!("/chain/{step}"), 301, &next)
    })
}

/// Always one further.
fn onwards(visit: &crate::web::Visit<'_>) -> Reply {
    let step: u64 = visit.request.path().trim_start_matches("/on/").parse().unwrap_or(0);
    match step {
        // No spider should ever come so far; if one does, the test is to end.
        1_000.. => html("the end"),
        _ => Reply::html(302, "On").with("Location", &format!("/on/{}", step + 1)),
    }
}
