//! Fragments, by the rules of HTML.

use super::{Case, found, good};
use crate::web::Web;

const PAGE: &str = r#"<h2 id="good">Good</h2><a name="old">Old</a><pre><span id="inside-pre">x</span></pre><p id="späť">x</p>
    <p id="a b">x</p><p id="50%25">x</p><svg><g id="drawn"></g></svg><template><p id="inert">x</p></template><input name="field">"#;
const X: &str = "{here}/x";

pub(super) const CASES: &[Case] = &[
    good("one that is there", r#"<a href="/x#good">x</a>"#, page).asks_for(&["/x"]),
    good("by name", r#"<a href="/x#old">x</a>"#, page),
    good("inside pre", r#"<a href="/x#inside-pre">x</a>"#, page),
    good("in a drawing", r#"<a href="/x#drawn">x</a>"#, page),
    good("encoded", r#"<a href="/x#sp%C3%A4%C5%A5">x</a>"#, page),
    good("not encoded", r#"<a href="/x#späť">x</a>"#, page),
    good("with a blank", r#"<a href="/x#a%20b">x</a><a href="/x#a b">y</a>"#, page),
    good("with what looks encoded", r#"<a href="/x#50%25">x</a>"#, page),
    good("top", r##"<a href="/x#top">x</a><a href="#TOP">y</a><a href="/x#">z</a><a href="#">u</a>"##, page),
    good("a text", r#"<a href="/x#:~:text=Good">x</a><a href="/x#good:~:text=Good">y</a>"#, page),
    good(
        "of the page itself",
        r##"<p id="here"><a href="#here">x</a><a href="/#here">y</a><a href="{here}/#here">z</a>"##,
        page,
    ),
    good("of what is no page", r#"<a href="/x.png#xywh=1,1,2,2">x</a><a href="/x.pdf#page=2">y</a>"#, |web| {
        web.file("/x.png", "image/png", "x").file("/x.pdf", "application/pdf", "x")
    }),
    good("eight, of one page", EIGHT, page).asks_for(&["/x"]),
    found("missing", r#"<a href="/x#bad">x</a>"#, page, "fragment", X).fragment("bad"),
    found("missing in the page itself", r##"<a href="#bad">x</a>"##, page, "fragment", "{here}/").fragment("bad"),
    found("in another case", r#"<a href="/x#GOOD">x</a>"#, page, "fragment", X).fragment("GOOD"),
    found("by the name of what is no anchor", r#"<a href="/x#field">x</a>"#, page, "fragment", X).fragment("field"),
    found("missing before a text", r#"<a href="/x#bad:~:text=Good">x</a>"#, page, "fragment", X).fragment("bad"),
    found("encoded in another way", r#"<a href="/x#sp%E4t">x</a>"#, page, "fragment", X).fragment("sp%E4t"),
    found("of a page that is missing", r#"<a href="/gone#bad">x</a>"#, page, "broken", "{here}/gone").fragment("bad"),
    found(
        "only in a comment",
        r#"<a href="/x#no">x</a>"#,
        |web| web.page("/x", r#"<!-- <p id="no"> -->"#),
        "fragment",
        X,
    )
    .fragment("no"),
    found(
        "only in a script",
        r#"<a href="/x#no">x</a>"#,
        |web| web.page("/x", r#"<script>'<p id="no">'</script>"#),
        "fragment",
        X,
    )
    .fragment("no"),
    found(
        "across a move, there",
        r#"<a href="/other#good">x</a>"#,
        |web| page(web).redirect("/other", 301, "/x"),
        "moved",
        "{here}/other",
    )
    .fragment("good")
    .to(X, true),
    found(
        "across a move, missing",
        r#"<a href="/other#bad">x</a>"#,
        |web| page(web).redirect("/other", 301, "/x"),
        "fragment",
        "{here}/other",
    )
    .fragment("bad"),
    found("in XHTML, missing", r#"<a href="/x#bad">x</a>"#, xhtml, "fragment", X).fragment("bad"),
    good("in XHTML", r#"<a href="/x#good">x</a>"#, xhtml),
];

const EIGHT: &str = r#"<a href="/x#good">1</a><a href="/x#old">2</a><a href="/x#inside-pre">3</a><a href="/x#drawn">4</a>
    <a href="/x#sp%C3%A4%C5%A5">5</a><a href="/x#top">6</a><a href="/x#:~:text=x">7</a><a href="/x">8</a>"#;

fn page(web: Web) -> Web {
    web.page("/x", PAGE)
}

fn xhtml(web: Web) -> Web {
    let page = r#"<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head>
        <body><p id="good"/></body></html>"#;
    web.file("/x", "application/xhtml+xml", page)
}
