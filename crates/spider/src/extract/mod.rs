//! What a document says: its references, its anchors, its title and who owns it.
//!
//! Pure: bytes in, facts out. No request is made here, and whatever the bytes are, extraction ends and does not fail: a
//! document that makes no sense simply has no references.

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

/// A document as it came.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Where it came from: the base of its references unless it names another.
    pub url: &'a Url,
    /// The media type of Content-Type, lower case, without parameters; none if there was none.
    pub media_type: Option<&'a str>,
    /// The charset of Content-Type.
    pub charset: Option<&'a str>,
    /// The `Link` headers.
    pub links: &'a [&'a str],
    /// Its bytes, decoded.
    pub body: &'a [u8],
}

/// What it says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// What kind of text it was read as.
    pub form: Form,
    /// Its title, white space folded, cut if it is long.
    pub title: Option<Box<str>>,
    /// Its owner: `<meta name=owner>`, or the element of 1994, `<meta header name="Owner" value="…">`.
    pub owner: Option<Box<str>>,
    /// When it expires, as written: `<meta http-equiv=expires>`, or that of 1994.
    pub expires: Option<Box<str>>,
    /// Its references, in the order of the document.
    pub references: Vec<Reference>,
    /// What fragments can point at.
    pub anchors: Anchors,
    /// Whether `<meta name=robots>` asks that references not be followed.
    pub nofollow: bool,
    /// How many more references it has, about, than are kept: there is a limit, so that no page can fill the memory.
    pub left_out: u64,
}

/// What kind of text a document is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// HTML or XHTML: fragments mean something.
    Html,
    /// Markdown.
    Markdown,
    /// A style sheet.
    Css,
    /// A web manifest.
    Manifest,
    /// A site map, or an index of site maps.
    Sitemap,
    /// RSS or Atom.
    Feed,
    /// SVG by itself.
    Svg,
    /// Nothing that is read.
    #[default]
    Other,
}

/// Whether a document of this media type and name may be one that is read; its bytes may still say otherwise.
pub fn is_read(media_type: Option<&str>, url: &Url) -> bool {
    media_type.is_none_or(|media_type| media_type == "application/octet-stream")
        || form::of(media_type, url, b"") != Reading::Nothing
}

/// What a document says.
pub fn extract(source: &Source<'_>) -> Page {
    let mut gathered = Gathered::default();
    link_header::read(source.links, source.url, &mut gathered);
    let form = read(source, form::of(source.media_type, source.url, source.body), &mut gathered);
    gathered.into_page(form)
}

/// Extracts a document that something refers to as a sitemap, whatever its name and media type are: in XML or as a list of URLs,
/// compressed or not. At most `limit` bytes of it are decompressed. Returns true if that is all of it.
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
        // Its root says what to read it as, which is never XML in general again.
        Reading::Xml => read(source, form::of_xml(&charset::xml(body, charset).0), gathered),
        Reading::Nothing => Form::Other,
    }
}
