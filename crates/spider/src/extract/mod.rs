//! What a document says: its references, its anchors, its title and who owns it.
//!
//! Pure: bytes in, facts out. No request is made here, and whatever the bytes are, extraction ends and does not fail: a
//! document that makes no sense simply has no references.

use url::Url;

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
