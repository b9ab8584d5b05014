//! Tests titles, owners and dates of pages, their bases and charsets, and the lines and text of references.

use url::Url;

use super::super::{Form, Source, extract};
use super::{page, references, urls};
use crate::anchors::Fragment;
use crate::reference::Kind;

fn html(body: &str) -> super::Page {
    page("text/html", body)
}

#[test]
fn facts_are_read() {
    let page = html(
        "<html><head><title> A\n <b>title</b> &amp; more </title><meta header name=\"Owner\" value=\"Web_Team\">
         <meta http-equiv=Expires content='Tue, 01 Dec 2026 16:00:00 GMT'><meta name=ROBOTS content='noindex, NoFollow'>
         <svg><title>not this</title></svg><title>nor this</title><meta name=owner content=later>",
    );
    assert_eq!(page.form, Form::Html);
    assert_eq!(page.title.as_deref(), Some("A <b>title</b> & more"));
    assert_eq!(page.owner.as_deref(), Some("Web_Team"));
    assert_eq!(page.expires.as_deref(), Some("Tue, 01 Dec 2026 16:00:00 GMT"));
    assert!(page.nofollow);

    let page = html("<meta name=Owner content='Jana Nováková'><a href=x rel=nofollow>");
    assert_eq!(page.owner.as_deref(), Some("Jana Nováková"));
    assert_eq!((page.title, page.expires, page.nofollow), (None, None, false));
}

#[test]
fn titles_of_other_forms_are_read() {
    let title = |media_type, body: &str| page(media_type, body).title;
    assert_eq!(title("image/svg+xml", "<svg><title>T</title><g/></svg>").as_deref(), Some("T"));
    assert_eq!(
        title("application/rss+xml", "<rss><channel><title>T &amp; U</title></channel></rss>").as_deref(),
        Some("T & U")
    );
    assert_eq!(
        title("application/atom+xml", "<feed><title type='xhtml'><div>T <b>u</b> v</div></title></feed>").as_deref(),
        Some("T u v")
    );
    assert_eq!(title("text/markdown", "---\nx: y\n---\n## no\n# T `u`\n").as_deref(), Some("T u"));
    assert_eq!(title("application/manifest+json", "{\"name\": \"T\"}").as_deref(), Some("T"));
}

#[test]
fn anchors_are_ids_and_names_of_links() {
    let page = html(
        "<p id=one><pre><span id='two'></pre><a name='three'>x</a><p name=no><a id='p&eacute;t'>
         <iframe srcdoc='<p id=within>'></iframe><!-- <p id=hidden> --><svg><g id=drawn></g></svg><p id><p id=''>",
    );
    for there in ["one", "two", "three", "p%C3%A9t", "drawn", "top", ""] {
        assert!(page.anchors.have(Fragment::new(there)), "{there}");
    }
    for missing in ["no", "within", "hidden", "ONE", "id"] {
        assert!(!page.anchors.have(Fragment::new(missing)), "{missing}");
    }
    let page = super::page("text/markdown", "# Same\n## Same\n## Same\n# Other {#own}\n\n<a name=html></a>\n");
    for there in ["same", "same-1", "same-2", "own", "other", "html"] {
        assert!(page.anchors.have(Fragment::new(there)), "{there}");
    }
}

#[test]
fn the_first_base_counts_for_all_that_is_followed_later() {
    let page = html(
        "<link rel=stylesheet href=s><a href=a></a><base target=x><base href='../b/'><base href='/c/'>
         <a href=d></a><a href='#f'></a><img src=i><a href=''></a>",
    );
    let expected = ["http://h.test/d/s", "b/a", "b/d", "b/#f", "b/i", "b/"];
    let expected =
        expected.map(|url| if url.starts_with("http") { url.into() } else { format!("http://h.test/{url}") });
    assert_eq!(urls(&page), expected);
    let lines: Vec<_> = page.references.iter().map(|reference| reference.line).collect();
    assert_eq!(lines, [1, 1, 2, 2, 2, 2]);

    assert_eq!(urls(&html("<base href='http://['><a href=a>")), ["http://h.test/d/a"]);
    assert_eq!(urls(&html("<base href='data:,x'><a href=a>")), ["http://h.test/d/a"]);
    assert_eq!(
        urls(&html("<base href='//o.test'><iframe srcdoc='<a href=a></a><base href=/w/><a href=b></a>'>"))[0],
        "http://o.test/w/a"
    );
}

#[test]
fn pages_in_other_charsets_lead_to_the_same_places() {
    let expected = ["http://h.test/d/caf%C3%A9?q=%E9"];
    assert_eq!(urls(&page("text/html", b"<meta charset=iso-8859-1><a href='caf\xe9?q=\xe9'>")), expected);
    assert_eq!(urls(&page("text/html", b"<a href='caf\xe9?q=\xe9'>")), expected);
    assert_eq!(urls(&page("text/html", b"<meta charset=iso-8859-1><a href='caf&eacute;?q=&#233;'>")), expected);
    let url = Url::parse("http://h.test/d/page").expect("it is a URL");
    let links = &[];
    let body = b"<a href='caf\xe9?q=\xe9'>";
    let source = Source { url: &url, media_type: Some("text/html"), charset: Some("Latin1"), links, body };
    assert_eq!(urls(&extract(&source)), expected);
    let utf8 = page("text/html", "<meta charset=utf-8><a href='café?q=é'>");
    assert_eq!(urls(&utf8), ["http://h.test/d/caf%C3%A9?q=%C3%A9"]);
    let wide: Vec<u8> = "\u{feff}<a href='é'>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(urls(&page("text/html", wide)), ["http://h.test/d/%C3%A9"]);
}

#[test]
fn targets_are_told_apart() {
    let found = urls(&html(
        "<a href=''>self</a><a href='#top'><a href='#:~:text=x'><a href='http://['><a href='mailto:a@b.test?subject=x'>
         <a href='mailto:nobody'><a href='TEL:1'><a href='java\nscript:x()'><a href><img src='data:image/png;base64,AA'>",
    ));
    let expected = [
        "http://h.test/d/page",
        "http://h.test/d/page#top",
        "http://h.test/d/page",
        "invalid http://[",
        "mail mailto:a@b.test?subject=x",
        "mail mailto:nobody with a fault",
        "elsewhere tel:1",
        "elsewhere javascript:x()",
        "http://h.test/d/page",
        "elsewhere data:image/png;base64,AA",
    ];
    assert_eq!(found, expected);
}

#[test]
fn of_equal_attributes_the_first_counts() {
    assert_eq!(urls(&html("<a href=/1 HREF=/2 href=/3></a href=/4>")), ["http://h.test/1"]);
}

#[test]
fn texts_are_what_readers_see() {
    let texts = |body: &str| -> Vec<String> {
        html(body).references.iter().map(|reference| reference.text.to_string()).collect()
    };
    assert_eq!(texts("<a href=1>\n the <b>text</b>\t&amp; more </a> not this"), ["the text & more"]);
    assert_eq!(texts("<a href=1><img src=2 alt='a picture'> </a>"), ["a picture", "a picture"]);
    assert_eq!(texts("<a href=1>words <img src=2 alt='a picture'></a>"), ["words", "a picture"]);
    assert_eq!(texts("<a href=1>one<a href=2>two<a name=x>three</a>"), ["one", "two"]);
    assert_eq!(texts("<a href=1>a<script>no</script><style>no</style>b</a>"), ["ab"]);
    assert_eq!(texts("<a href=1>unclosed"), ["unclosed"]);
    assert_eq!(texts("<area href=1 alt=part><link href=2 title=Next>"), ["part", "Next"]);
    let long = texts(&format!("<a href=1>{}</a>", "ž ".repeat(5_000)));
    assert_eq!(long[0].chars().count(), 80);
    let markdown = page("text/markdown", "[one *two* `three`](1) [![four](2)](3) <a@b.test>");
    let found: Vec<_> = markdown.references.iter().map(|reference| &*reference.text).collect();
    assert_eq!(found, ["one two three", "four", "four", "a@b.test"]);
    assert_eq!(urls(&markdown)[3], "mail mailto:a@b.test");
}

#[test]
fn entries_of_feeds_are_known_by_their_titles() {
    let feed = page(
        "application/rss+xml",
        "<rss><channel><link>/0</link>\n<item><link>/1</link>\n<title>One &amp;amp; more</title></item><item><title>Two</title><link>/2</link></item>",
    );
    let found: Vec<_> = feed.references.iter().map(|reference| (reference.line, &*reference.text)).collect();
    assert_eq!(found, [(1, ""), (2, "One &amp; more"), (3, "Two")]);
}

#[test]
fn lines_are_those_of_the_tag() {
    let body = "<p>\r\n<a\nhref=1>x\n</a><a href=2>\n<style>\n\na{b:url(3)}\n c{d:url(4)}</style>\n&amp;<p style='a:\nurl(5)'>\n\
                <script type=application/ld+json>\n{\"url\":\"6\"}</script>\n<iframe srcdoc='\n<a href=7>'></iframe>\n<a href=8>";
    let lines: Vec<_> = html(body).references.iter().map(|reference| reference.line).collect();
    assert_eq!(lines, [2, 4, 7, 8, 9, 11, 13, 15]);
    let markdown = page("text/markdown", "a\n\n- [b](1)\n  [c](2)\n\n<p>\n<a href=3></a>\n</p>\n\nx <a href=4>\n");
    let lines: Vec<_> = markdown.references.iter().map(|reference| reference.line).collect();
    assert_eq!(lines, [3, 4, 7, 10]);
    let sheet = page("text/css", "a{}\nb{c:url(1)}\n\n@import '2';");
    assert_eq!(sheet.references.iter().map(|reference| reference.line).collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn documents_within_documents_are_read_three_deep() {
    let mut body = "<a href=x></a>".to_owned();
    for _ in 0..4 {
        let escaped = body.replace('&', "&amp;").replace('"', "&quot;");
        body = format!("<a href=y></a><iframe srcdoc=\"{escaped}\"></iframe>");
    }
    let found = urls(&html(&body));
    assert_eq!(found, ["http://h.test/d/y"; 4]);
}

#[test]
fn identifiers_of_json_ld_have_no_fragments() {
    let page = html("<script type='application/ld+json'>{\"@id\": \"http://h.test/#me\"}</script>");
    assert_eq!(references(&page), [(Kind::JsonLd, "http://h.test/".to_owned())]);
}

#[test]
fn xml_within_html_is_read_as_such() {
    let page = html("<svg><style/><title/><script/><a href=1/><![CDATA[ <a href=no> ]]></svg><a href=2>x</a>");
    assert_eq!(urls(&page), ["http://h.test/d/1/", "http://h.test/d/2"]);
}

#[test]
fn plain_text_has_no_references_unless_its_name_says_so() {
    assert_eq!(page("text/plain", "<html><a href=x>").form, Form::Other);
    let url = Url::parse("http://h.test/sitemap.txt").expect("it is a URL");
    let body = b"http://h.test/1\r\nno\n https://h.test/2 \n";
    let source = Source { url: &url, media_type: Some("text/plain"), charset: None, links: &[], body };
    let map = extract(&source);
    assert_eq!((map.form, urls(&map)), (Form::Sitemap, vec!["http://h.test/1".into(), "https://h.test/2".into()]));
    assert_eq!(map.references[1].line, 3);
}
