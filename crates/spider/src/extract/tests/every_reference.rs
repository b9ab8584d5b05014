//! One document of each format with all known kinds of references, each to a separate target. Other spiders were
//! measured with such a page: of its sixty references, the best found 47.

use std::collections::BTreeSet;

use super::{page, references, with_links};
use crate::reference::{KINDS, Kind};

/// Markup, kind, and target. `%` is replaced by the target, whose number is that of the row.
const HTML: &[(&str, Kind)] = &[
    ("<a href='/%'>link</a>", Kind::Anchor),
    ("<A HREF=/%>unquoted</A>", Kind::Anchor),
    ("<a rel=nofollow href='/%'>untrusted</a>", Kind::Anchor),
    ("<pre><a href='/%'>in pre</a></pre>", Kind::Anchor),
    ("<code><a href='/%'>in code</a></code>", Kind::Anchor),
    ("<noscript><a href='/%'>for those without</a></noscript>", Kind::Anchor),
    ("<noframes><a href='/%'>for those without</a></noframes>", Kind::Anchor),
    ("<template><a href='/%'>later</a></template>", Kind::Anchor),
    ("<a href='\\%'>backslash</a>", Kind::Anchor),
    ("<a href='&#47;%'>numeric entity</a>", Kind::Anchor),
    ("<a href='&sol;%'>named entity</a>", Kind::Anchor),
    ("<a href='\n /%\t'>white space</a>", Kind::Anchor),
    ("<a href='//h.test/%'>without scheme</a>", Kind::Anchor),
    ("<a href=# ping='/%'>ping</a>", Kind::Ping),
    ("<map><area href='/%'></map>", Kind::Area),
    ("<link rel=alternate hreflang=cs href='/%'>", Kind::LinkDocument),
    ("<link rel=canonical href='/%'>", Kind::LinkDocument),
    ("<link rel=next href='/%'>", Kind::LinkDocument),
    ("<link rel=stylesheet href='/%'>", Kind::Stylesheet),
    ("<link rel='shortcut icon' href='/%'>", Kind::LinkPart),
    ("<link rel=preload as=font href='/%'>", Kind::LinkPart),
    ("<link rel=modulepreload href='/%'>", Kind::LinkPart),
    ("<link rel=preload as=image imagesrcset='/% 2x'>", Kind::LinkImageSrcset),
    ("<link rel=manifest href='/%'>", Kind::Manifest),
    ("<link rel=alternate type='application/rss+xml' href='/%'>", Kind::FeedFile),
    ("<link rel=sitemap href='/%'>", Kind::SitemapFile),
    ("<img src='/%'>", Kind::Image),
    ("<img srcset='/% 2x'>", Kind::Srcset),
    ("<picture><source srcset='/% 100w, data:,x 1x'></picture>", Kind::Srcset),
    ("<img longdesc='/%'>", Kind::LongDescription),
    ("<script src='/%'></script>", Kind::Script),
    ("<iframe src='/%'></iframe>", Kind::Frame),
    ("<iframe srcdoc='&lt;a href=&quot;/%&quot;>within&lt;/a>'></iframe>", Kind::Anchor),
    ("<frame src='/%'>", Kind::Frame),
    ("<form action='/%'></form>", Kind::FormPage),
    ("<form action='/%' method=POST></form>", Kind::FormAction),
    ("<button formaction='/%'>go</button>", Kind::ButtonAction),
    ("<input type=submit formaction='/%'>", Kind::ButtonAction),
    ("<input type=image src='/%'>", Kind::InputImage),
    ("<object data='/%'></object>", Kind::Object),
    ("<embed src='/%'>", Kind::Embed),
    ("<video src='/%'></video>", Kind::Video),
    ("<video poster='/%'></video>", Kind::Poster),
    ("<audio src='/%'></audio>", Kind::Audio),
    ("<audio><source src='/%'></audio>", Kind::Source),
    ("<video><track src='/%'></video>", Kind::Track),
    ("<svg><image href='/%'/></svg>", Kind::SvgImage),
    ("<svg><image xlink:href='/%'/></svg>", Kind::SvgImage),
    ("<svg><use href='/%'/></svg>", Kind::SvgUse),
    ("<svg><a xlink:href='/%'><text>svg</text></a></svg>", Kind::Anchor),
    ("<meta http-equiv=refresh content='600; url=/%'>", Kind::Refresh),
    ("<meta property='og:image' content='/%'>", Kind::OpenGraph),
    ("<meta name='twitter:image' content='/%'>", Kind::TwitterCard),
    ("<script type='application/ld+json'>{\"url\": \"/%\"}</script>", Kind::JsonLd),
    ("<style>@import '/%';</style>", Kind::CssImport),
    ("<style>@import url(/%);</style>", Kind::CssImport),
    ("<style>a { background: url('/%') }</style>", Kind::CssUrl),
    ("<p style='background: url(/%)'>", Kind::CssUrl),
    ("<blockquote cite='/%'></blockquote>", Kind::Cite),
    ("<q cite='/%'></q><ins></ins>", Kind::Cite),
    ("<del cite='/%'></del>", Kind::Cite),
    ("<body background='/%'>", Kind::Background),
    ("<table background='/%'></table>", Kind::Background),
    ("<html manifest='/%'>", Kind::Background),
];

/// Markup that looks like a reference but is not one.
const NO_REFERENCES: &str = "<!-- <a href=/no></a> --> <script>'<a href=/no>'</script> <textarea><a href=/no></textarea>
    <link rel=preconnect href=/no> <link rel=dns-prefetch href=//no.test> <p data-href=/no cite=/no src=/no>
    <style>/* url(/no) */ @namespace url(/no); a { b: url(data:,) }</style> <style/>a{}</style>
    <script type='application/json'>{\"url\": \"/no\"}</script> <meta name=description content=/no> <meta property=og:title content=/no>";

/// Kinds, and their targets.
type Found = &'static [(Kind, &'static str)];

/// The other formats: media type, body, and expected references.
const OTHERS: &[(&str, &str, Found)] = &[
    (
        "application/xhtml+xml",
        "<?xml version='1.0'?><h:html xmlns:h='http://www.w3.org/1999/xhtml'><h:head><h:title/><h:script src='/1'/>
         <h:style>/*<![CDATA[*/ a { b: url(/2) } /*]]>*/</h:style></h:head><h:body><h:a href='/3'/><h:img src='/4'/></h:body></h:html>",
        &[(Kind::Script, "/1"), (Kind::CssUrl, "/2"), (Kind::Anchor, "/3"), (Kind::Image, "/4")],
    ),
    ("text/css", "@import \"/1\"; a { b: url(/2) }", &[(Kind::CssImport, "/1"), (Kind::CssUrl, "/2")]),
    (
        "text/markdown",
        "# One\n[a](/1) ![b](/2 'c') <http://h.test/3> [d][e]\n\n[e]: /4\n\n<p><a\nhref=/5></a></p>\n\nx <img src=/6>\n",
        &[
            (Kind::MarkdownLink, "/1"),
            (Kind::MarkdownImage, "/2"),
            (Kind::MarkdownLink, "/3"),
            (Kind::MarkdownLink, "/4"),
            (Kind::Anchor, "/5"),
            (Kind::Image, "/6"),
        ],
    ),
    (
        "application/manifest+json",
        r#"{"start_url": "/1", "icons": [{"src": "/2"}], "screenshots": [{"src": "/3"}],
            "shortcuts": [{"name": "x", "url": "/4", "icons": [{"src": "/5"}]}]}"#,
        &[
            (Kind::ManifestStart, "/1"),
            (Kind::ManifestIcon, "/2"),
            (Kind::ManifestIcon, "/3"),
            (Kind::ManifestStart, "/4"),
            (Kind::ManifestIcon, "/5"),
        ],
    ),
    (
        "application/xml",
        "<?xml version='1.0'?><urlset><url><loc> http://h.test/1?a&amp;b </loc><xhtml:link rel='alternate' href='/2'/>
         <image:image><image:loc>/3</image:loc></image:image><video:video><video:content_loc><![CDATA[/4]]></video:content_loc></video:video></url></urlset>",
        &[(Kind::Sitemap, "/1?a&b"), (Kind::Sitemap, "/2"), (Kind::Image, "/3"), (Kind::Video, "/4")],
    ),
    (
        "text/xml",
        "<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>/1</s:loc></s:sitemap></s:sitemapindex>",
        &[(Kind::SitemapFile, "/1")],
    ),
    (
        "application/rss+xml",
        "<rss><channel><title>T</title><link>/1</link><image><url>/2</url><title>no</title><link>/3</link></image><atom:link rel='self' href='/4'/>
         <item><title>E</title><link><![CDATA[/5]]></link><guid isPermaLink='false'>no</guid><enclosure url='/6'/><comments>/7</comments></item>
         <item><guid>http://h.test/8</guid><media:thumbnail url='/9'/></item></channel></rss>",
        &[
            (Kind::Feed, "/1"),
            (Kind::FeedPart, "/2"),
            (Kind::Feed, "/3"),
            (Kind::FeedFile, "/4"),
            (Kind::Feed, "/5"),
            (Kind::FeedPart, "/6"),
            (Kind::Feed, "/7"),
            (Kind::Feed, "/8"),
            (Kind::FeedPart, "/9"),
        ],
    ),
    (
        "application/atom+xml",
        "<feed xml:base='http://h.test/sub/'><title>T</title><icon>/1</icon><link rel='hub' href='/no'/><link href='2'/>
         <entry><title>E</title><link rel='enclosure' href='/3'/><content src='/4'/><author><uri>/5</uri></author></entry></feed>",
        &[
            (Kind::FeedPart, "/1"),
            (Kind::Feed, "/sub/2"),
            (Kind::FeedPart, "/3"),
            (Kind::Feed, "/4"),
            (Kind::Feed, "/5"),
        ],
    ),
    (
        "application/rdf+xml",
        "<rdf:RDF><channel><link>/1</link></channel><item><title>E</title><link>/2</link></item></rdf:RDF>",
        &[(Kind::Feed, "/1"), (Kind::Feed, "/2")],
    ),
    (
        "application/feed+json",
        r#"{"version": "https://jsonfeed.org/version/1.1", "home_page_url": "/1", "items": [{"url": "/2", "attachments": [{"url": "/3"}]}]}"#,
        &[(Kind::Feed, "/1"), (Kind::Feed, "/2"), (Kind::FeedPart, "/3")],
    ),
    (
        "image/svg+xml",
        "<svg xmlns:xlink='x'><title>T</title><style>a { fill: url(#x) } b { c: url(/1) }</style><a xlink:href='/2'/><image href='/3'/></svg>",
        &[(Kind::CssUrl, "/1"), (Kind::Anchor, "/2"), (Kind::SvgImage, "/3")],
    ),
];

#[test]
fn every_reference_of_a_page_is_found() {
    let mut body = String::from("<!doctype html>\n");
    for (number, (markup, _)) in HTML.iter().enumerate() {
        body += &format!("{}\n", markup.replace('%', &format!("missing/{number}")));
    }
    body += NO_REFERENCES;
    let page = with_links("text/html", body, &["</missing/header>; rel=help"]);
    let found = references(&page);
    assert!(found.contains(&(Kind::LinkHeader, "http://h.test/missing/header".to_owned())));
    for (number, (markup, kind)) in HTML.iter().enumerate() {
        let url = format!("http://h.test/missing/{number}");
        let kinds: Vec<_> = found.iter().filter(|(_, there)| *there == url).map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [*kind], "{markup}");
    }
    // The additional ones are a link to the page itself, and an image that is not a file.
    assert_eq!(found.len(), HTML.len() + 3, "{found:?}");
    assert!(found.iter().all(|(_, url)| !url.contains("no")), "{found:?}");
    // Lines never decrease.
    let lines: Vec<_> = page.references.iter().map(|reference| reference.line).filter(|line| *line > 0).collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn every_reference_of_other_forms_is_found() {
    for (media_type, body, expected) in OTHERS {
        let expected: Vec<_> = expected.iter().map(|(kind, path)| (*kind, format!("http://h.test{path}"))).collect();
        assert_eq!(references(&page(media_type, body)), expected, "{media_type}");
    }
}

#[test]
fn every_kind_is_found_somewhere() {
    let mut found: BTreeSet<Kind> = HTML.iter().map(|(_, kind)| *kind).collect();
    found.extend(OTHERS.iter().flat_map(|(.., expected)| expected.iter().map(|(kind, _)| *kind)));
    found.insert(Kind::LinkHeader);
    let missing: Vec<_> = KINDS.iter().filter(|kind| !found.contains(kind)).collect();
    // Not a reference in a document.
    assert_eq!(missing, [&Kind::Top]);
}
