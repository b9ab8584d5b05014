//! Extracts the contents of a document: its references, its anchors, its title and its owner.
//!
//! It makes no requests, and it ends without an error for any bytes: an unreadable document has no references.

mod attributes;
mod charset;
mod css;
mod feed;
mod form;
mod gather;
mod html;
mod jsonld;
mod lines;
mod link_header;
mod mailto;
mod manifest;
mod markdown;
mod refresh;
mod resolve;
mod sitemap;
mod srcset;
mod tel;
#[cfg(test)]
mod tests;
mod tokens;

use url::Url;

use self::form::Reading;
use self::gather::Gathered;
use self::lines::Lines;
use self::resolve::Resolver;
use self::tokens::Dialect;
use crate::anchors::Anchors;
use crate::reference::Reference;

/// A document as received.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its URL: the base of its references unless it declares another.
    pub url: &'a Url,
    /// The media type of Content-Type, lower case, without parameters; `None` if the header is missing.
    pub media_type: Option<&'a str>,
    /// The charset of Content-Type.
    pub charset: Option<&'a str>,
    /// The `Link` headers.
    pub links: &'a [&'a str],
    /// Its bytes, decoded.
    pub body: &'a [u8],
}

/// The contents of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The format in which it was read.
    pub form: Form,
    /// Its title, with whitespace folded, cut if it is long.
    pub title: Option<Box<str>>,
    /// Its owner: `<meta name=owner>`, or the element of 1994, `<meta header name="Owner" value="…">`.
    pub owner: Option<Box<str>>,
    /// Its expiry, as written: `<meta http-equiv=expires>`, or the element of 1994.
    pub expires: Option<Box<str>>,
    /// Its references, in the order of the document.
    pub references: Vec<Reference>,
    /// The possible targets of fragments.
    pub anchors: Anchors,
    /// True if `<meta name=robots>` contains `nofollow`.
    pub nofollow: bool,
    /// The approximate number of references that were left out: a limit ensures that no page exhausts the memory.
    pub left_out: u64,
}

/// The format of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// HTML or XHTML, in which fragments can be checked.
    Html,
    /// Markdown.
    Markdown,
    /// A style sheet.
    Css,
    /// A web manifest.
    Manifest,
    /// A sitemap, or an index of sitemaps.
    Sitemap,
    /// RSS or Atom.
    Feed,
    /// SVG by itself.
    Svg,
    /// A format that is not read.
    #[default]
    Other,
}

/// Returns true if a document of this media type and name may be readable; its bytes may still show that it is not.
pub fn is_read(media_type: Option<&str>, url: &Url) -> bool {
    media_type.is_none_or(|media_type| media_type == "application/octet-stream")
        || form::of(media_type, url, b"") != Reading::Nothing
}

/// Extracts the contents of a document.
pub fn extract(source: &Source<'_>) -> Page {
    let mut gathered = Gathered::default();
    link_header::read(source.links, source.url, &mut gathered);
    let form = read(source, form::of(source.media_type, source.url, source.body), &mut gathered);
    gathered.into_page(form)
}

/// Extracts a document to which something refers as a sitemap, regardless of its name and media type: in XML or as a
/// list of URLs, compressed or not. At most `limit` bytes of it are decompressed. Returns true if all of it was read.
pub fn extract_sitemap(source: &Source<'_>, limit: usize) -> (Page, bool) {
    let (body, is_whole) = sitemap::unpacked(source.body, limit);
    let source = Source { body: &body, ..*source };
    let mut gathered = Gathered::default();
    link_header::read(source.links, source.url, &mut gathered);
    let form = read(&source, form::of_sitemap(source.media_type, source.url, &body), &mut gathered);
    (gathered.into_page(form), is_whole)
}

fn read(source: &Source<'_>, reading: Reading, gathered: &mut Gathered) -> Form {
    let Source { url, charset, body, .. } = *source;
    match reading {
        Reading::Html => {
            let (text, encoding) = charset::html(body, charset);
            html::read(&text, Dialect::Html, &Resolver::with_encoding(url, encoding), gathered);
            Form::Html
        }
        Reading::Xhtml => {
            let (text, encoding) = charset::xml(body, charset);
            html::read(&text, Dialect::Xml, &Resolver::with_encoding(url, encoding), gathered);
            Form::Html
        }
        Reading::Svg => {
            let (text, encoding) = charset::xml(body, charset);
            html::read_svg(&text, &Resolver::with_encoding(url, encoding), gathered);
            Form::Svg
        }
        Reading::Markdown => {
            markdown::read(&charset::plain(body, charset), &Resolver::new(url), gathered);
            Form::Markdown
        }
        Reading::Css => {
            let text = charset::css(body, charset);
            let (resolver, mut lines) = (Resolver::new(url), Lines::from(1, &text));
            css::read(&text, |kind, place, raw| {
                gathered.add(&resolver, kind, lines.at(place), "", raw);
            });
            Form::Css
        }
        Reading::Manifest => {
            manifest::read(&charset::plain(body, charset), &Resolver::new(url), gathered);
            Form::Manifest
        }
        Reading::JsonFeed => {
            let is_feed = feed::read_json(&charset::plain(body, charset), &Resolver::new(url), gathered);
            if is_feed { Form::Feed } else { Form::Other }
        }
        Reading::Feed => {
            feed::read(&charset::xml(body, charset).0, &Resolver::new(url), gathered);
            Form::Feed
        }
        Reading::Sitemap => {
            sitemap::read(&charset::xml(body, charset).0, &Resolver::new(url), gathered);
            Form::Sitemap
        }
        Reading::PlainSitemap => {
            sitemap::read_plain(&charset::plain(body, charset), &Resolver::new(url), gathered);
            Form::Sitemap
        }
        // The root element determines the format, which is not `Xml` again.
        Reading::Xml => read(source, form::of_xml(&charset::xml(body, charset).0), gathered),
        Reading::Nothing => Form::Other,
    }
}
