//! Tests generated and hostile documents: extraction must end soon, in bounded memory, and without a panic.

use std::time::Duration;

use modoai_testkit::effort::effort;
use proptest::prelude::*;
use url::Url;

use super::super::gather::MOST_REFERENCES;
use super::super::{Source, extract};
use super::page;

/// All formats.
const TYPES: &[&str] = &[
    "text/html",
    "application/xhtml+xml",
    "image/svg+xml",
    "text/css",
    "text/markdown",
    "application/manifest+json",
    "application/feed+json",
    "application/rss+xml",
    "application/xml",
    "application/json",
    "",
];

/// Ten megabytes, or less in builds without optimisation.
const LARGE: usize = if cfg!(debug_assertions) { 300_000 } else { 10_000_000 };

/// Far more than is needed, and far less than quadratic time would take.
const LONG: Duration = Duration::from_secs(60);

fn large(piece: &str) -> String {
    piece.repeat(LARGE / piece.len())
}

#[test]
fn time_grows_with_length_only() {
    for (media_type, piece) in [
        ("text/html", "<a"),
        ("text/html", "<a "),
        ("text/html", "<a href=x "),
        ("text/html", "<a href=x>"),
        ("text/html", "<a href='"),
        ("text/html", "<div>"),
        ("text/html", "<svg>"),
        ("text/html", "&"),
        ("text/html", "&a"),
        ("text/html", "<p id='&notin"),
        ("text/html", "<!--"),
        ("text/html", "<![CDATA["),
        ("text/html", "<script><!--<script>"),
        ("text/html", "<title>"),
        ("text/html", "<style>url("),
        ("text/html", "<base href=x/>"),
        ("text/html", "<a href=x><base href=y>"),
        ("text/html", "<iframe srcdoc='<iframe srcdoc="),
        ("text/html", "<script type=application/ld+json>{\"url\":["),
        ("text/html", "<p a b c d e f "),
        ("text/html", "<img srcset='a 1x, b (,"),
        ("text/css", "url("),
        ("text/css", "url('"),
        ("text/css", "\\"),
        ("text/css", "/*"),
        ("text/css", "@import"),
        ("text/css", "image-set("),
        ("text/markdown", "["),
        ("text/markdown", "[a]("),
        ("text/markdown", "![a]"),
        ("text/markdown", "*a_"),
        ("text/markdown", "`"),
        ("text/markdown", "<"),
        ("text/markdown", "<a href=x>"),
        ("text/markdown", "# a\n"),
        ("text/markdown", "> "),
        ("text/markdown", "- "),
        ("text/markdown", "[a]: b\n"),
        ("text/markdown", "|a\n-\n"),
        ("application/xml", "<urlset><url><loc>"),
        ("application/rss+xml", "<item><link>x"),
        ("application/rss+xml", "<rss xml:base='a/'>"),
        ("application/manifest+json", "[{\"icons\":"),
        ("application/feed+json", "{"),
    ] {
        let body = large(piece);
        let (_, took) = effort(|| page(media_type, &body));
        eprintln!("{media_type} {piece:?}: {} ms", took.as_millis());
        assert!(took < LONG, "{media_type} {piece:?} took {took:?}");
    }
}

#[test]
fn what_is_too_much_is_counted() {
    let body = "<a href=x>".repeat(MOST_REFERENCES + 7);
    let found = page("text/html", body);
    assert_eq!((found.references.len(), found.left_out), (MOST_REFERENCES, 7));

    // A long base makes all references long.
    let body = format!("<base href='/{}/'>{}", "b".repeat(1 << 20), "<a href=x>".repeat(10_000));
    let found = page("text/html", body);
    assert_eq!(found.references.len() as u64 + found.left_out, 10_000);
    assert!(found.references.len() < 100, "{}", found.references.len());
}

#[test]
fn of_a_page_that_is_too_long_the_beginning_is_read() {
    let body = "[a](b)\n\n".repeat(300_000);
    let found = page("text/markdown", body);
    assert_eq!(found.references.len() as u64 + found.left_out, 300_000);
    assert!(found.references.len() > 100_000 && found.left_out > 10_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_read(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_in_all_forms(&body, None);
    }

    #[test]
    fn any_markup_is_read(
        pieces in proptest::collection::vec(
            proptest::sample::select(&[
                "<", ">", "</", "/>", "a", " href=", "\"", "'", "&", "#", "amp;", "&#x110000;", "<a href='é", "<base href=", "<svg>", "<title>",
                "<script type=application/ld+json>", "{\"url\":\"x\"}", "</script>", "<style>", "url(", ")", "@import", "\\", "\\0", "/*", "*/", "\n",
                "\r", "<iframe srcdoc='", "<meta http-equiv=refresh content=", "0;url=", "<![CDATA[", "]]>", "<!--", "-->", "<link rel=x href=",
                "<img srcset=", ",", "[x](", "](", "# ", "`", "mailto:", "%", "@", "\u{0}", "\u{feff}", "<loc>", "<item>", "<link>", "</link>", "é", "𝒳",
            ][..]),
            0..40,
        ),
        charset in proptest::option::of(proptest::sample::select(&["utf-8", "utf-16be", "iso-2022-jp", "gb18030", "?"][..])),
    ) {
        read_in_all_forms(pieces.concat().as_bytes(), charset);
    }

    #[test]
    fn any_link_header_is_read(header in "[<>;,=\" a-zé\\\\]{0,60}") {
        let url = Url::parse("http://h.test/").expect("it is a URL");
        extract(&Source { url: &url, media_type: None, charset: None, links: &[&header], body: b"" });
    }
}

fn read_in_all_forms(body: &[u8], charset: Option<&str>) {
    for path in ["a", "sitemap.txt", "a.md", "a.svg"] {
        let url = Url::parse("http://h.test/d/").and_then(|base| base.join(path)).expect("it is a URL");
        for media_type in TYPES {
            let media_type = Some(*media_type).filter(|media_type| !media_type.is_empty());
            extract(&Source { url: &url, media_type, charset, links: &[], body });
        }
    }
}
