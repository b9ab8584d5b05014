//! Extracts the references of feeds: all versions of RSS, Atom, and JSON Feed. HTML content of entries is skipped,
//! since the pages contain it too.

use serde_json::Value;

use super::attributes::Attribute;
use super::gather::{Gathered, fact};
use super::lines::Lines;
use super::resolve::{Resolver, starts_with};
use super::tokens::{self, Content, Dialect, Tag, Visitor, legible};
use crate::reference::Kind;

/// The maximum number of bytes read of one URL or title.
const MOST_TEXT: usize = 64 * 1024;

/// The maximum number of bytes read of a JSON Feed: its tree is many times as large.
const MOST_JSON: usize = 8 << 20;

/// Reads a feed in XML.
pub(super) fn read(text: &str, resolver: &Resolver, gathered: &mut Gathered) {
    let mut feed = Feed {
        gathered,
        resolver: resolver.clone(),
        lines: Lines::from(1, text),
        has_root: false,
        is_in_entry: false,
        is_in_image: false,
        open: None,
        name: Vec::new(),
        text: Vec::new(),
        title: String::new(),
        links: Vec::new(),
    };
    tokens::read(text, Dialect::Xml, &mut feed);
}

/// Reads a JSON Feed; returns false if it is not one. JSON has no line numbers.
pub(super) fn read_json(text: &str, resolver: &Resolver, gathered: &mut Gathered) -> bool {
    let feed = text.get(..text.len().min(MOST_JSON)).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(feed) =
        feed.filter(|feed| feed["version"].as_str().is_some_and(|version| version.contains("jsonfeed.org")))
    else {
        return false;
    };
    gathered.page.title = feed["title"].as_str().and_then(fact);
    let mut add = |kind, title: &Value, url: &Value| {
        if let Some(url) = url.as_str() {
            gathered.add(resolver, kind, 0, title.as_str().unwrap_or_default(), url);
        }
    };
    for (name, kind) in [
        ("home_page_url", Kind::Feed),
        ("feed_url", Kind::FeedFile),
        ("next_url", Kind::FeedFile),
        ("icon", Kind::FeedPart),
        ("favicon", Kind::FeedPart),
    ] {
        add(kind, &Value::Null, &feed[name]);
    }
    for item in feed["items"].as_array().into_iter().flatten() {
        for (name, kind) in [
            ("url", Kind::Feed),
            ("external_url", Kind::Feed),
            ("image", Kind::FeedPart),
            ("banner_image", Kind::FeedPart),
        ] {
            add(kind, &item["title"], &item[name]);
        }
        for attachment in item["attachments"].as_array().into_iter().flatten() {
            add(Kind::FeedPart, &attachment["title"], &attachment["url"]);
        }
    }
    true
}

struct Feed<'t, 'g> {
    gathered: &'g mut Gathered,
    resolver: Resolver,
    lines: Lines<'t>,
    has_root: bool,
    is_in_entry: bool,
    /// True in the image of a channel, which has a separate title and link.
    is_in_image: bool,
    /// The kind of the current text, and its line.
    open: Option<(Text, u32)>,
    /// The name of its element, which may contain others.
    name: Vec<u8>,
    text: Vec<u8>,
    /// The title of the entry.
    title: String,
    /// The references of the entry, which get its title when it ends.
    links: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Title,
    Url(Kind),
    /// An identifier that may be a URL.
    Identifier,
}

impl Feed<'_, '_> {
    fn add(&mut self, kind: Kind, line: u32, url: &str) {
        let url = url.trim();
        if !url.is_empty()
            && let Some(place) = self.gathered.add(&self.resolver, kind, line, "", url)
            && self.is_in_entry
        {
            self.links.push(place);
        }
    }

    fn end_entry(&mut self) {
        self.is_in_entry = false;
        for place in std::mem::take(&mut self.links) {
            self.gathered.describe(place, &self.title);
        }
        self.title.clear();
    }

    /// Adds the references in attributes.
    fn references(&mut self, tag: &Tag<'_>) {
        let (attribute, kind) = match tag.name {
            b"link" | b"atom:link" | b"atom10:link" => (Attribute::Href, relation(tag)),
            b"enclosure" | b"media:content" | b"media:thumbnail" | b"media:player" => {
                (Attribute::Url, Some(Kind::FeedPart))
            }
            b"itunes:image" => (Attribute::Href, Some(Kind::FeedPart)),
            b"content" | b"atom:content" => (Attribute::Src, Some(Kind::Feed)),
            b"source" => (Attribute::Url, Some(Kind::FeedFile)),
            b"generator" => (Attribute::Uri, Some(Kind::Feed)),
            _ => return,
        };
        if let Some(kind) = kind
            && let Some(url) = tag.value(attribute)
        {
            let line = self.lines.at(tag.start);
            self.add(kind, line, url);
        }
    }
}

/// Returns the kind of reference of an Atom link.
fn relation(tag: &Tag<'_>) -> Option<Kind> {
    match tag.value(Attribute::Rel).unwrap_or("alternate") {
        "self" | "first" | "last" | "next" | "previous" | "prev-archive" | "next-archive" | "current" => {
            Some(Kind::FeedFile)
        }
        "enclosure" => Some(Kind::FeedPart),
        "hub" | "edit" | "edit-media" | "search" => None,
        _ => Some(Kind::Feed),
    }
}

impl Visitor for Feed<'_, '_> {
    fn open(&mut self, tag: &Tag<'_>) -> Content {
        match tag.name {
            b"item" | b"entry" | b"atom:entry" => {
                self.end_entry();
                self.is_in_entry = true;
            }
            b"image" => self.is_in_image = true,
            // The base of the root element. Bases of inner elements are rare, and ignored.
            b"feed" | b"atom:feed" | b"rss" if !self.has_root => {
                self.has_root = true;
                if let Some(base) = tag.value(Attribute::XmlBase).and_then(|base| self.resolver.rebased(base)) {
                    self.resolver = base;
                }
            }
            _ => {}
        }
        self.references(tag);
        let text = match tag.name {
            b"title" | b"atom:title" if !self.is_in_image => Text::Title,
            b"link" | b"comments" | b"uri" | b"atom:uri" => Text::Url(Kind::Feed),
            b"url" if self.is_in_image => Text::Url(Kind::FeedPart),
            b"icon" | b"logo" | b"atom:icon" | b"atom:logo" => Text::Url(Kind::FeedPart),
            b"guid" if !tag.value(Attribute::IsPermaLink).is_some_and(|value| value.eq_ignore_ascii_case("false")) => {
                Text::Identifier
            }
            _ => return Content::Markup,
        };
        self.open = Some((text, self.lines.at(tag.start)));
        self.name.clear();
        self.name.extend_from_slice(tag.name);
        self.text.clear();
        Content::Markup
    }

    fn text(&mut self, text: &[u8]) {
        if self.open.is_some() && self.text.len() < MOST_TEXT {
            self.text.extend_from_slice(text);
        }
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"item" | b"entry" | b"atom:entry" => return self.end_entry(),
            b"image" => self.is_in_image = false,
            _ => {}
        }
        if name != self.name {
            return;
        }
        let Some((kind, line)) = self.open.take() else { return };
        let bytes = std::mem::take(&mut self.text);
        let text = legible(&bytes).trim();
        match kind {
            Text::Title if self.is_in_entry => text.clone_into(&mut self.title),
            Text::Title => {
                let title = &mut self.gathered.page.title;
                if title.is_none() {
                    *title = fact(text);
                }
            }
            Text::Url(kind) => self.add(kind, line, text),
            Text::Identifier if starts_with(text, "http://") || starts_with(text, "https://") => {
                self.add(Kind::Feed, line, text);
            }
            Text::Identifier => {}
        }
        self.text = bytes;
    }
}
