//! Extracts the contents of pages in HTML and XHTML, and of SVG by itself or within them.
//!
//! Attributes that are references by their name alone are in the [table](super::attributes). This module contains the
//! cases that need more: the base, `link`, `meta`, style sheets, JSON-LD, documents within the document, and the text
//! of links.

use super::attributes::{self, Attribute, How};
use super::gather::{Gathered, Mark, fact};
use super::lines::Lines;
use super::resolve::Resolver;
use super::tokens::{self, Content, Dialect, Tag, Visitor, legible, local};
use super::{css, jsonld, refresh, srcset};
use crate::reference::{Kind, Leads};

/// The maximum depth of documents within documents (`srcdoc`) that are read.
const MOST_WITHIN: u8 = 3;

/// The maximum number of bytes read of the text of a link. Far more than is kept, because whitespace is folded.
const MOST_LINK_TEXT: usize = 2_000;

/// The maximum number of bytes read of JSON-LD: its tree is many times as large.
const MOST_JSON: usize = 4 << 20;

/// Reads a page. Its references are resolved by `resolver` until it declares another base.
pub(super) fn read(text: &str, dialect: Dialect, resolver: &Resolver, gathered: &mut Gathered) {
    Page::new(Lines::from(1, text), resolver, gathered).read(text, dialect);
}

/// Reads an SVG image.
pub(super) fn read_svg(text: &str, resolver: &Resolver, gathered: &mut Gathered) {
    Page { title_depth: 1, ..Page::new(Lines::from(1, text), resolver, gathered) }.read(text, Dialect::Xml);
}

/// Reads HTML within another text, which begins on this line.
pub(super) fn read_within(text: &str, line: u32, resolver: &Resolver, gathered: &mut Gathered) {
    let page = Page::new(Lines::from(line, text), resolver, gathered);
    Page { within: MOST_WITHIN, ..page }.read(text, Dialect::Html);
}

/// The state of the extraction of a page.
struct Page<'t, 'g> {
    gathered: &'g mut Gathered,
    begin: Mark,
    lines: Lines<'t>,
    resolver: Resolver,
    /// The base that a later part of the page declares, if it is read for the second time.
    later: Option<Resolver>,
    has_base: bool,
    /// True if references precede the base.
    is_base_late: bool,
    /// The number of enclosing documents.
    within: u8,
    /// The number of `svg` elements around the title of the page: images within a page have separate titles.
    title_depth: usize,
    /// The open link, by its position among the references.
    link: Option<usize>,
    link_text: Vec<u8>,
    /// The alternative text of the image within the link.
    link_image: String,
    /// The kind of the current text, if it is not visible.
    other: Other,
    other_text: Vec<u8>,
    other_line: u32,
}

/// The kinds of text that is not visible, or is not part of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    None,
    Title,
    Style,
    JsonLd,
    /// A script, or the content of a text field.
    Nothing,
}

impl<'t, 'g> Page<'t, 'g> {
    fn new(lines: Lines<'t>, resolver: &Resolver, gathered: &'g mut Gathered) -> Self {
        Self {
            begin: gathered.mark(),
            gathered,
            lines,
            resolver: resolver.clone(),
            later: None,
            has_base: false,
            is_base_late: false,
            within: 0,
            title_depth: 0,
            link: None,
            link_text: Vec::new(),
            link_image: String::new(),
            other: Other::None,
            other_text: Vec::new(),
            other_line: 0,
        }
    }

    fn read(mut self, text: &str, dialect: Dialect) {
        let first = self.resolver.clone();
        tokens::read(text, dialect, &mut self);
        self.end();
        if self.is_base_late {
            // A late base is rare, so the whole page can be read again with the known base.
            self.gathered.back_to(self.begin);
            self.lines = self.lines.again();
            self.later = Some(std::mem::replace(&mut self.resolver, first));
            (self.has_base, self.is_base_late) = (false, false);
            tokens::read(text, dialect, &mut self);
            self.end();
        }
    }

    /// Ends open elements at the end of the text.
    fn end(&mut self) {
        self.end_link();
        self.end_other();
    }

    /// Adds a reference.
    fn add(&mut self, kind: Kind, place: usize, text: &str, raw: &str) -> Option<usize> {
        let line = self.lines.at(place);
        // A browser resolves resources that it fetches immediately with the base known so far; links, when the user
        // follows them.
        let is_at_once = matches!(kind.leads(), Leads::ToPart | Leads::ToOrnament | Leads::ToSource | Leads::ToSitemap)
            || matches!(kind, Kind::Frame | Kind::Refresh);
        let resolver = match &self.later {
            Some(later) if !is_at_once => later,
            _ => &self.resolver,
        };
        self.gathered.add(resolver, kind, line, text, raw)
    }

    fn add_styles(&mut self, styles: &str, lines: &mut Lines<'_>) {
        let Self { gathered, resolver, .. } = self;
        css::read(styles, |kind, place, url| {
            gathered.add(resolver, kind, lines.at(place), "", url);
        });
    }

    /// Adds the references of a tag that are in the table.
    fn references(&mut self, tag: &Tag<'_>) {
        let element = tag.local_name();
        for (attribute, value) in tag.attributes() {
            match attribute {
                Attribute::Id => self.gathered.anchor(value),
                Attribute::Style => {
                    let line = self.lines.at(tag.start);
                    self.add_styles(value, &mut Lines::all_on(line));
                }
                _ => {
                    let Some((how, kind)) = attributes::reference(element, attribute) else { continue };
                    self.refer(tag, how, kind, value);
                }
            }
        }
    }

    fn refer(&mut self, tag: &Tag<'_>, how: How, kind: Kind, value: &str) {
        let seen = match kind {
            Kind::Image | Kind::Srcset | Kind::Area | Kind::InputImage => tag.value(Attribute::Alt),
            Kind::Frame => tag.value(Attribute::Title),
            _ => None,
        };
        let seen = seen.unwrap_or_default();
        let is_page = || tag.value(Attribute::Method).is_none_or(|method| method.trim().eq_ignore_ascii_case("get"));
        let kind = if kind == Kind::FormAction && is_page() { Kind::FormPage } else { kind };
        match how {
            How::Url if kind == Kind::Anchor => self.link = self.add(kind, tag.start, "", value),
            How::Url => {
                self.add(kind, tag.start, seen, value);
            }
            How::Srcset => srcset::read(value, |url| {
                self.add(kind, tag.start, seen, url);
            }),
            How::List => {
                for url in value.split_ascii_whitespace() {
                    self.add(kind, tag.start, seen, url);
                }
            }
        }
    }

    fn base(&mut self, tag: &Tag<'_>) {
        let Some(href) = tag.value(Attribute::Href) else { return };
        if self.has_base {
            return;
        }
        self.has_base = true;
        if let Some(resolver) = self.resolver.rebased(href) {
            self.is_base_late = self.later.is_none() && self.gathered.has_more_than(self.begin);
            self.resolver = resolver;
        }
    }

    fn link_element(&mut self, tag: &Tag<'_>) {
        let rel = tag.value(Attribute::Rel).unwrap_or_default();
        let title = tag.value(Attribute::Title).unwrap_or_default();
        if let Some(href) = tag.value(Attribute::Href)
            && let Some(kind) = attributes::relation(rel, tag.value(Attribute::Type).unwrap_or_default())
        {
            self.add(kind, tag.start, title, href);
        }
        if let Some(list) = tag.value(Attribute::ImageSrcset) {
            srcset::read(list, |url| {
                self.add(Kind::LinkImageSrcset, tag.start, title, url);
            });
        }
    }

    fn meta(&mut self, tag: &Tag<'_>) {
        // `value` is the syntax of 1994: <meta header name="Owner" value="…">.
        let content = tag.value(Attribute::Content).or_else(|| tag.value(Attribute::Value)).unwrap_or_default();
        if let Some(header) = tag.value(Attribute::HttpEquiv) {
            if header.eq_ignore_ascii_case("refresh") {
                if let Some(url) = refresh::target(content) {
                    self.add(Kind::Refresh, tag.start, "", url);
                }
            } else {
                self.fact(header, content);
            }
        }
        for name in [Attribute::Name, Attribute::Property].into_iter().filter_map(|attribute| tag.value(attribute)) {
            self.fact(name, content);
            if name.eq_ignore_ascii_case("robots") {
                let says = |word: &str| content.split(',').any(|said| said.trim().eq_ignore_ascii_case(word));
                self.gathered.page.nofollow |= self.is_outermost() && (says("nofollow") || says("none"));
            } else if let Some(kind) = attributes::meta(name)
                && !content.trim().is_empty()
            {
                self.add(kind, tag.start, "", content);
            }
        }
    }

    fn fact(&mut self, name: &str, content: &str) {
        if !self.is_outermost() {
            return;
        }
        let page = &mut self.gathered.page;
        let known = match name {
            _ if name.eq_ignore_ascii_case("owner") => &mut page.owner,
            _ if name.eq_ignore_ascii_case("expires") => &mut page.expires,
            _ => return,
        };
        if known.is_none() {
            *known = fact(content);
        }
    }

    /// Reads a document within the document: its anchors are separate, but it has the base of this page.
    fn document_within(&mut self, tag: &Tag<'_>) {
        if let Some(text) = tag.value(Attribute::SrcDoc)
            && self.within < MOST_WITHIN
        {
            let lines = Lines::all_on(self.lines.at(tag.start));
            let before = self.gathered.mark();
            let page = Page::new(lines, &self.resolver, self.gathered);
            Page { within: self.within + 1, ..page }.read(text, Dialect::Html);
            self.gathered.without_anchors_since(before);
        }
    }

    fn is_outermost(&self) -> bool {
        self.within == 0
    }

    fn end_link(&mut self) {
        let Some(link) = self.link.take() else { return };
        let text = legible(&self.link_text);
        let text = if text.trim().is_empty() { &self.link_image } else { text };
        if !text.is_empty() {
            self.gathered.describe(link, text);
        }
    }

    fn begin_other(&mut self, other: Other, tag: &Tag<'_>) {
        self.other = other;
        self.other_text.clear();
        self.other_line = self.lines.at(tag.end);
    }

    fn end_other(&mut self) {
        let other = std::mem::replace(&mut self.other, Other::None);
        let text = std::mem::take(&mut self.other_text);
        let written = legible(&text);
        match other {
            Other::None | Other::Nothing => {}
            Other::Title => {
                let title = &mut self.gathered.page.title;
                if title.is_none() {
                    *title = fact(written);
                }
            }
            Other::Style => self.add_styles(written, &mut Lines::from(self.other_line, written)),
            Other::JsonLd => {
                let (line, Self { gathered, resolver, .. }) = (self.other_line, self);
                jsonld::read(written, |url| gathered.add_thing(resolver, Kind::JsonLd, line, url));
                return;
            }
        }
        // The allocation is reused.
        self.other_text = text;
    }
}

impl Visitor for Page<'_, '_> {
    fn open(&mut self, tag: &Tag<'_>) -> Content {
        let name = tag.local_name();
        if name == b"a" {
            self.end_link();
            self.link_text.clear();
            self.link_image.clear();
            if let Some(anchor) = tag.value(Attribute::Name) {
                self.gathered.anchor(anchor);
            }
        }
        self.references(tag);
        match name {
            b"a" => {}
            b"img" | b"image" if self.link.is_some() && self.link_image.is_empty() => {
                self.link_image.push_str(tag.value(Attribute::Alt).unwrap_or_default());
            }
            b"link" => self.link_element(tag),
            b"meta" => self.meta(tag),
            b"base" => self.base(tag),
            b"title" => {
                let is_own = tag.foreign == self.title_depth && self.is_outermost();
                self.begin_other(if is_own { Other::Title } else { Other::Nothing }, tag);
                return Content::Text;
            }
            b"textarea" => {
                self.begin_other(Other::Nothing, tag);
                return Content::Text;
            }
            b"style" => {
                self.begin_other(Other::Style, tag);
                return Content::Raw;
            }
            b"script" => {
                let essence = tag.value(Attribute::Type).unwrap_or_default().split(';').next().unwrap_or_default();
                let is_data = essence.trim().eq_ignore_ascii_case("application/ld+json");
                self.begin_other(if is_data { Other::JsonLd } else { Other::Nothing }, tag);
                return Content::Script;
            }
            b"iframe" => {
                self.document_within(tag);
                self.begin_other(Other::Nothing, tag);
                return Content::Raw;
            }
            // The content of `noscript` and `noframes` is for clients that cannot show the alternative, and its links
            // must work, so it is read. The content of these two is shown as text.
            b"xmp" | b"noembed" => {
                self.begin_other(Other::Nothing, tag);
                return Content::Raw;
            }
            b"plaintext" => return Content::Plain,
            _ => {}
        }
        Content::Markup
    }

    #[inline]
    fn text(&mut self, text: &[u8]) {
        match self.other {
            Other::None if self.link.is_none() => {}
            Other::None => extend(&mut self.link_text, text, MOST_LINK_TEXT),
            Other::Nothing => {}
            Other::Title => extend(&mut self.other_text, text, MOST_LINK_TEXT),
            Other::Style => self.other_text.extend_from_slice(text),
            Other::JsonLd => extend(&mut self.other_text, text, MOST_JSON),
        }
    }

    fn close(&mut self, name: &[u8]) {
        match local(name) {
            b"a" => self.end_link(),
            b"title" | b"textarea" | b"style" | b"script" | b"iframe" | b"xmp" | b"noembed" => self.end_other(),
            _ => {}
        }
    }
}

/// Appends text, up to a limit.
fn extend(kept: &mut Vec<u8>, text: &[u8], most: usize) {
    let room = most.saturating_sub(kept.len());
    kept.extend_from_slice(&text[..text.len().min(room)]);
}
