//! What spiders drown in: webs without an end, pages without an end, pages that are bombs.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Delivery, Reply, Visit, Web, html};

/// A calendar in which every day has a next one and one before, each with a query of its own.
pub fn calendar() -> Web {
    let day = |visit: &Visit<'_>| {
        let number: i64 = visit.request.argument("day").and_then(|day| day.parse().ok()).unwrap_or(0);
        let (before, after) = (number - 1, number + 1);
        html(&format!(
            r#"<a href="/calendar?day={before}">before</a> <a href="/calendar?day={after}">after</a> <a href="/missing">x</a>"#
        ))
    };
    Web::default().page("/", r#"<a href="/calendar">today</a>"#).below("/calendar", day)
}

/// Folders in folders, because a relative link is one level off.
pub fn ever_deeper() -> Web {
    Web::default()
        .page("/", r#"<a href="/deeper/">deeper</a>"#)
        .below("/deeper/", |_| html(r#"<a href="deeper/">deeper</a>"#))
}

/// Folders in which every page leads to three more, under the same names and under numbers.
pub fn branches() -> Web {
    let branch = |_: &Visit<'_>| html(r#"<a href="left/">l</a><a href="right/">r</a><a href="middle/">m</a>"#);
    let numbers = |visit: &Visit<'_>| {
        let here = visit.request.target.trim_end_matches('/').to_owned();
        html(&(0..3).map(|number| format!("<a href=\"{here}/{number}/\">x</a>")).collect::<String>())
    };
    Web::default()
        .page("/", r#"<a href="/tree/">1</a><a href="/numbers/">2</a><a href="/missing">3</a>"#)
        .below("/tree/", branch)
        .below("/numbers/", numbers)
}

/// One page with this many links to as many places, none of which may be asked for.
pub fn link_bomb(links: usize) -> Web {
    let page: String = (0..links).map(|number| format!("<a href=\"/bomb/{number}\">x</a>\n")).collect();
    Web::default()
        .page("/", r#"<a href="/large">large</a><a href="/missing">missing</a>"#)
        .on("/large", move |_| html(&page))
        .robots("User-agent: *\nDisallow: /bomb/\n")
}

/// One page of so many megabytes, most of it text; it has a link at its beginning.
pub fn large_page(megabytes: u64) -> Web {
    let mut body = br#"<a href="/missing-1">x</a><p>"#.to_vec();
    body.resize(1 << 20, b'x');
    let page = Reply::of(200, "text/html", body).delivered(Delivery::Repeated(megabytes));
    Web::default()
        .page("/", r#"<a href="/large">large</a><a href="/missing-2">missing</a>"#)
        .on("/large", move |_| page.clone())
}

/// One page that is a megabyte on the line, and so many when it is unpacked.
pub fn gzip_bomb(megabytes: usize) -> Web {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let block = vec![b' '; 1 << 20];
    for _ in 0..megabytes {
        packed.write_all(&block).expect("memory takes it");
    }
    let page = Reply::of(200, "text/html", packed.finish().expect("memory takes it")).with("Content-Encoding", "gzip");
    Web::default()
        .page("/", r#"<a href="/large">large</a><a href="/missing">missing</a>"#)
        .on("/large", move |_| page.clone())
}

/// One page of elements in elements, so many deep, with a link in the innermost.
pub fn nesting(depth: usize) -> Web {
    let page = format!("{}<a href=\"/missing\">x</a>", "<div>".repeat(depth));
    Web::default().page("/", r#"<a href="/deep">deep</a>"#).on("/deep", move |_| html(&page))
}

/// Attributes, comments, names and texts that do not end.
pub fn without_end() -> Web {
    let long = "x".repeat(4 << 20);
    let pages = [
        format!("<a href=\"/{long}\">x</a>"),
        format!("<a href=\"/missing\" title=\"{long}"),
        format!("<!-- {long}"),
        format!("<{long}"),
        format!("<title>{long}"),
        format!("<style>@import '{long}"),
        format!("<a href=\"/missing\">{long}</a>"),
        format!("<img srcset=\"{}\">", "/there 1x,".repeat(100_000)),
        format!("<script type=\"application/ld+json\">{}", "[".repeat(1 << 20)),
    ];
    let links: String = (0..pages.len()).map(|number| format!("<a href=\"/page/{number}\">x</a>\n")).collect();
    let web = Web::default().page("/", &links).page("/there", "x");
    pages
        .into_iter()
        .enumerate()
        .fold(web, |web, (number, page)| web.on(&format!("/page/{number}"), move |_| html(&page)))
}
