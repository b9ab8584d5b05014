//! Extracts the URLs of sitemaps: in XML, with the images, videos and translations of each page, or as a list of URLs
//! in plain text; compressed with gzip or not.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::read::MultiGzDecoder;

use super::attributes::Attribute;
use super::gather::Gathered;
use super::lines::Lines;
use super::resolve::{Resolver, starts_with};
use super::tokens::{self, Content, Dialect, Tag, Visitor, legible, local};
use crate::reference::Kind;

/// The maximum number of bytes of one URL.
const MOST_URL: usize = 64 * 1024;

/// Decompresses a sitemap if it is compressed, up to a limit. Returns true if all of it was decompressed.
pub(super) fn unpacked(body: &[u8], limit: usize) -> (Cow<'_, [u8]>, bool) {
    if !body.starts_with(&[0x1f, 0x8b]) {
        return (Cow::Borrowed(body), true);
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(body).take(limit as u64 + 1).read_to_end(&mut unpacked);
    let is_whole = read.is_ok() && unpacked.len() <= limit;
    unpacked.truncate(limit);
    (Cow::Owned(unpacked), is_whole)
}

/// Reads a sitemap in XML, or an index of sitemaps.
pub(super) fn read(text: &str, resolver: &Resolver, gathered: &mut Gathered) {
    let mut map =
        Map { gathered, resolver, lines: Lines::from(1, text), is_in_index: false, open: None, text: Vec::new() };
    tokens::read(text, Dialect::Xml, &mut map);
}

/// Reads a sitemap in plain text: a URL on each line.
pub(super) fn read_plain(text: &str, resolver: &Resolver, gathered: &mut Gathered) {
    for (line, url) in (1..).zip(text.lines()) {
        let url = url.trim();
        if starts_with(url, "http://") || starts_with(url, "https://") {
            gathered.add(resolver, Kind::Sitemap, line, "", url);
        }
    }
}

struct Map<'t, 'g> {
    gathered: &'g mut Gathered,
    resolver: &'g Resolver,
    lines: Lines<'t>,
    /// True if it lists sitemaps instead of pages.
    is_in_index: bool,
    open: Option<(Kind, u32)>,
    text: Vec<u8>,
}

impl Visitor for Map<'_, '_> {
    fn open(&mut self, tag: &Tag<'_>) -> Content {
        let is_prefixed = tag.name.contains(&b':');
        let kind = match tag.local_name() {
            b"sitemapindex" => {
                self.is_in_index = true;
                None
            }
            b"loc" if tag.name.starts_with(b"image:") => Some(Kind::Image),
            b"loc" if self.is_in_index => Some(Kind::SitemapFile),
            b"loc" => Some(Kind::Sitemap),
            b"content_loc" => Some(Kind::Video),
            b"player_loc" => Some(Kind::Embed),
            b"thumbnail_loc" => Some(Kind::Image),
            b"link" if is_prefixed => {
                if let Some(href) = tag.value(Attribute::Href) {
                    let line = self.lines.at(tag.start);
                    self.gathered.add(self.resolver, Kind::Sitemap, line, "", href);
                }
                None
            }
            _ => None,
        };
        if let Some(kind) = kind {
            self.open = Some((kind, self.lines.at(tag.start)));
            self.text.clear();
        }
        Content::Markup
    }

    fn text(&mut self, text: &[u8]) {
        if self.open.is_some() && self.text.len() < MOST_URL {
            self.text.extend_from_slice(text);
        }
    }

    fn close(&mut self, name: &[u8]) {
        let name = local(name);
        if (name == b"loc" || name.ends_with(b"_loc"))
            && let Some((kind, line)) = self.open.take()
        {
            let url = legible(&self.text).trim();
            if !url.is_empty() {
                self.gathered.add(self.resolver, kind, line, "", url);
            }
        }
    }
}
