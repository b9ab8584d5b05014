//! Determines the format of a document. The media type of the response decides. If it is missing or generic (bytes,
//! text), the name and the first bytes decide. Plain text is never read as HTML, as in browsers.

use url::Url;

/// The parser for a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// HTML.
    Html,
    /// HTML by the rules of XML.
    Xhtml,
    /// SVG.
    Svg,
    /// Markdown.
    Markdown,
    /// A style sheet.
    Css,
    /// A web manifest.
    Manifest,
    /// A feed in JSON.
    JsonFeed,
    /// A feed in XML.
    Feed,
    /// A sitemap.
    Sitemap,
    /// A list of URLs.
    PlainSitemap,
    /// XML, whose root element determines the format.
    Xml,
    /// Not parsed.
    Nothing,
}

/// Media types that determine the format.
const TYPES: &[(&str, Reading)] = &[
    ("text/html", Reading::Html),
    ("application/xhtml+xml", Reading::Xhtml),
    ("image/svg+xml", Reading::Svg),
    ("text/markdown", Reading::Markdown),
    ("text/x-markdown", Reading::Markdown),
    ("text/css", Reading::Css),
    ("application/manifest+json", Reading::Manifest),
    ("application/feed+json", Reading::JsonFeed),
    ("application/rss+xml", Reading::Feed),
    ("application/atom+xml", Reading::Feed),
];

/// Extensions that determine the format if the media type does not.
const NAMES: &[(&str, Reading)] = &[
    (".md", Reading::Markdown),
    (".markdown", Reading::Markdown),
    (".css", Reading::Css),
    (".webmanifest", Reading::Manifest),
    (".svg", Reading::Svg),
    (".rss", Reading::Xml),
    (".atom", Reading::Xml),
    (".xml", Reading::Xml),
    (".rdf", Reading::Xml),
    (".html", Reading::Html),
    (".htm", Reading::Html),
    (".xhtml", Reading::Xhtml),
];

/// Returns the parser for a document with this media type, name and beginning.
pub(super) fn of(media_type: Option<&str>, url: &Url, body: &[u8]) -> Reading {
    let name = url.path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    match media_type.unwrap_or_default() {
        "" | "application/octet-stream" | "application/x-unknown" => {
            by_name(&name).or_else(|| by_beginning(body)).unwrap_or(Reading::Nothing)
        }
        "text/plain" => match by_name(&name) {
            Some(Reading::Html | Reading::Xhtml) | None => plain(&name),
            Some(reading) => reading,
        },
        "application/json" | "text/json" => match &*name {
            "manifest.json" | "site.webmanifest" => Reading::Manifest,
            _ if name.ends_with(".webmanifest") => Reading::Manifest,
            _ => Reading::JsonFeed,
        },
        "application/xml" | "text/xml" => Reading::Xml,
        other => match TYPES.iter().find(|(media_type, _)| *media_type == other) {
            Some((_, reading)) => *reading,
            None if other.ends_with("+xml") => Reading::Xml,
            None => Reading::Nothing,
        },
    }
}

/// Returns the parser for a document to which something refers as a sitemap.
pub(super) fn of_sitemap(media_type: Option<&str>, url: &Url, body: &[u8]) -> Reading {
    match of(media_type, url, body) {
        reading @ (Reading::Html | Reading::Xhtml | Reading::Xml | Reading::Feed) => reading,
        _ if body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start().starts_with(b"<") => Reading::Xml,
        _ => Reading::PlainSitemap,
    }
}

fn by_name(name: &str) -> Option<Reading> {
    let named = NAMES.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, reading)| *reading);
    named.or_else(|| Some(plain(name)).filter(|reading| *reading != Reading::Nothing))
}

fn plain(name: &str) -> Reading {
    if name.contains("sitemap") && name.ends_with(".txt") { Reading::PlainSitemap } else { Reading::Nothing }
}

fn by_beginning(body: &[u8]) -> Option<Reading> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    let starts_with =
        |start: &str| body.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()));
    if starts_with("<!doctype html") || starts_with("<html") || starts_with("<head") {
        return Some(Reading::Html);
    }
    starts_with("<?xml").then_some(Reading::Xml)
}

/// Returns the parser for XML with this beginning.
pub(super) fn of_xml(text: &str) -> Reading {
    let name = root(text).unwrap_or_default();
    let local = name.rsplit(':').next().unwrap_or_default();
    match local.to_ascii_lowercase().as_str() {
        "html" => Reading::Xhtml,
        "svg" => Reading::Svg,
        "rss" | "feed" | "rdf" => Reading::Feed,
        "urlset" | "sitemapindex" => Reading::Sitemap,
        _ => Reading::Nothing,
    }
}

/// Returns the name of the first element.
fn root(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let (_, tag) = rest.split_once('<')?;
        rest = if let Some(comment) = tag.strip_prefix("!--") {
            comment.split_once("-->")?.1
        } else if tag.starts_with('?') {
            tag.split_once("?>")?.1
        } else if tag.starts_with('!') {
            tag
        } else {
            let end = tag.find(|character: char| character.is_whitespace() || matches!(character, '>' | '/'))?;
            return Some(&tag[..end]);
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_what_the_server_says_or_what_is_obvious() {
        let of = |media_type, path: &str, body: &str| {
            of(media_type, &Url::parse("http://h.test/").expect("legal").join(path).expect("legal"), body.as_bytes())
        };
        assert_eq!(of(Some("text/html"), "a.css", ""), Reading::Html);
        assert_eq!(of(Some("text/plain"), "a.html", "<html>"), Reading::Nothing);
        assert_eq!(of(Some("text/plain"), "a", "<!doctype html>"), Reading::Nothing);
        assert_eq!(of(Some("text/plain"), "README.md", ""), Reading::Markdown);
        assert_eq!(of(Some("text/plain"), "sitemap.txt", ""), Reading::PlainSitemap);
        assert_eq!(of(None, "a.html", ""), Reading::Html);
        assert_eq!(of(None, "a", " <!DOCTYPE html>"), Reading::Html);
        assert_eq!(of(Some("application/octet-stream"), "a.CSS?x", ""), Reading::Css);
        assert_eq!(of(Some("application/octet-stream"), "a.bin", "\0"), Reading::Nothing);
        assert_eq!(of(Some("application/mathml+xml"), "a", ""), Reading::Xml);
        assert_eq!(of(Some("image/png"), "a.html", ""), Reading::Nothing);
    }

    #[test]
    fn the_root_says_what_xml_is() {
        let prolog = "<?xml version='1.0'?><!-- <rss> --><!DOCTYPE svg [ <!ENTITY a \"b\"> ]>\n";
        assert_eq!(root(&format!("{prolog}<svg:svg/>")), Some("svg:svg"));
        assert_eq!(of_xml("<rdf:RDF>"), Reading::Feed);
        assert_eq!(of_xml("<urlset>"), Reading::Sitemap);
        assert_eq!(of_xml("no"), Reading::Nothing);
        assert_eq!(of_xml("<x>"), Reading::Nothing);
    }
}
