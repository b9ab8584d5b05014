//! Extracts the contents of pages in Markdown, with the anchors that GitHub generates for headings.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::{memmem, memrchr};
use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use super::gather::{Gathered, fact};
use super::html;
use super::lines::Lines;
use super::resolve::Resolver;
use super::tokens;
use crate::anchors;
use crate::reference::Kind;

/// The maximum number of bytes of the text of a link or heading.
const MOST_TEXT: usize = 2_000;

/// The maximum number of bytes read of a page: its tree is up to sixty times as large. Pages for readers are much
/// smaller.
const MOST: usize = 2 << 20;

/// Reads a page. Beyond the limit, only the number of probable links is counted.
pub(super) fn read(text: &str, resolver: &Resolver, gathered: &mut Gathered) {
    let (text, rest) = text.split_at(whole_lines(text));
    gathered.page.left_out += memmem::find_iter(rest.as_bytes(), "](").count() as u64;
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut page = Page {
        gathered,
        resolver,
        lines: Lines::from(1, text),
        open: Vec::new(),
        heading: None,
        slugs: HashMap::new(),
        block: None,
        is_in_metadata: false,
    };
    for (event, place) in Parser::new_ext(text, options).into_offset_iter() {
        page.event(event, place.start);
    }
}

/// Returns the length of the beginning of a page that is read: whole lines, if possible.
fn whole_lines(text: &str) -> usize {
    if text.len() <= MOST {
        return text.len();
    }
    let line = memrchr(b'\n', &text.as_bytes()[..MOST]).map(|end| end + 1);
    line.unwrap_or_else(|| tokens::beginning(text, MOST).len())
}

struct Page<'t, 'g> {
    gathered: &'g mut Gathered,
    resolver: &'g Resolver,
    lines: Lines<'t>,
    /// The open links and images: their positions among the references, and their text. An image may be in a link.
    open: Vec<(Option<usize>, String)>,
    heading: Option<(HeadingLevel, String)>,
    /// The number of uses of each slug, by its hash.
    slugs: HashMap<u64, u32>,
    /// The HTML block and its line.
    block: Option<(u32, String)>,
    is_in_metadata: bool,
}

impl Page<'_, '_> {
    fn event(&mut self, event: Event<'_>, place: usize) {
        match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                let is_bare = link_type == LinkType::Email && !dest_url.starts_with("mailto:");
                let url = if is_bare { format!("mailto:{dest_url}") } else { dest_url.into_string() };
                self.begin_link(Kind::MarkdownLink, place, &url);
            }
            Event::Start(Tag::Image { dest_url, .. }) => self.begin_link(Kind::MarkdownImage, place, &dest_url),
            Event::End(TagEnd::Link | TagEnd::Image) => self.end_link(),
            Event::Start(Tag::Heading { level, id, .. }) => {
                if let Some(id) = id {
                    self.gathered.anchor(&id);
                }
                self.heading = Some((level, String::new()));
            }
            Event::End(TagEnd::Heading(_)) => self.end_heading(),
            Event::Start(Tag::HtmlBlock) => self.block = Some((self.lines.at(place), String::new())),
            Event::End(TagEnd::HtmlBlock) => {
                if let Some((line, block)) = self.block.take() {
                    html::read_within(&block, line, self.resolver, self.gathered);
                }
            }
            Event::Html(markup) => {
                if let Some((_, block)) = &mut self.block {
                    block.push_str(&markup);
                }
            }
            Event::InlineHtml(markup) => {
                let line = self.lines.at(place);
                html::read_within(&markup, line, self.resolver, self.gathered);
            }
            Event::Start(Tag::MetadataBlock(_)) => self.is_in_metadata = true,
            Event::End(TagEnd::MetadataBlock(_)) => self.is_in_metadata = false,
            Event::Text(text) | Event::Code(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.is_in_metadata {
            return;
        }
        let heading = self.heading.iter_mut().map(|(_, kept)| kept);
        for kept in self.open.last_mut().map(|(_, kept)| kept).into_iter().chain(heading) {
            if kept.len() < MOST_TEXT {
                kept.push_str(text);
            }
        }
    }

    fn begin_link(&mut self, kind: Kind, place: usize, url: &str) {
        let line = self.lines.at(place);
        let place = self.gathered.add(self.resolver, kind, line, "", url);
        self.open.push((place, String::new()));
    }

    fn end_link(&mut self) {
        let Some((place, text)) = self.open.pop() else { return };
        if let Some(place) = place {
            self.gathered.describe(place, &text);
        }
        // The text of a link that shows an image is the image's alternative text.
        if let Some((_, outer)) = self.open.last_mut()
            && outer.is_empty()
        {
            *outer = text;
        }
    }

    fn end_heading(&mut self) {
        let Some((level, text)) = self.heading.take() else { return };
        if level == HeadingLevel::H1 && self.gathered.page.title.is_none() {
            self.gathered.page.title = fact(&text);
        }
        let slug = slug(&text);
        let first = anchors::hash(&slug);
        let (mut name, mut hash) = (Cow::Borrowed(&slug), first);
        while self.slugs.contains_key(&hash) {
            let times = self.slugs.entry(first).or_default();
            *times += 1;
            name = Cow::Owned(format!("{slug}-{times}"));
            hash = anchors::hash(&name);
        }
        self.gathered.anchor(&name);
        self.slugs.insert(hash, 0);
    }
}

/// Returns GitHub's anchor for a heading: lower case, without punctuation, with a dash for each space.
fn slug(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .flat_map(char::to_lowercase)
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ => character.is_alphanumeric().then_some(character),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_become_slugs() {
        for (heading, expected) in [
            ("Getting started", "getting-started"),
            ("What's new in 2.0?", "whats-new-in-20"),
            ("A & B", "a--b"),
            ("snake_case-and", "snake_case-and"),
            ("Žluťoučký kůň", "žluťoučký-kůň"),
        ] {
            assert_eq!(slug(heading), expected);
        }
    }
}
