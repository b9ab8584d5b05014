//! Collects the contents of a document, within limits: a page of a few megabytes can contain a million references, and
//! a long base makes each of them long.

use super::resolve::Resolver;
use super::{Form, Page};
use crate::anchors::{self, Anchors};
use crate::reference::{Kind, Reference, Target};

/// The maximum number of references of a page. The largest real pages have some ten thousand.
pub(super) const MOST_REFERENCES: usize = 200_000;

/// The maximum number of bytes of URLs and text of a page.
const MOST_BYTES: usize = 32 << 20;

/// The maximum length of the text of a reference, in characters.
const MOST_TEXT: usize = 80;

/// The maximum length of a title, of an owner, of a date.
const MOST_FACT: usize = 200;

/// The contents found so far.
#[derive(Default)]
pub(super) struct Gathered {
    /// The page with everything but its anchors.
    pub page: Page,
    anchors: Vec<u64>,
    bytes: usize,
}

/// A position in the contents, to return to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    references: usize,
    anchors: usize,
    bytes: usize,
    left_out: u64,
}

impl Gathered {
    /// Adds a reference. Returns its position among the references, unless a limit is reached.
    pub(super) fn add(&mut self, to: &Resolver, kind: Kind, line: u32, text: &str, raw: &str) -> Option<usize> {
        if self.page.references.len() >= MOST_REFERENCES || self.bytes >= MOST_BYTES {
            self.page.left_out += 1;
            return None;
        }
        let place = self.page.references.len();
        let is_padded = raw.len() != raw.trim_ascii().len();
        let reference = Reference { kind, line, text: folded(text, MOST_TEXT), target: to.resolve(raw), is_padded };
        self.bytes += reference.text.len() + length(&reference.target);
        self.page.references.push(reference);
        Some(place)
    }

    /// Adds a reference whose fragment identifies a thing, not a part of a page.
    pub(super) fn add_thing(&mut self, to: &Resolver, kind: Kind, line: u32, raw: &str) {
        if let Some(place) = self.add(to, kind, line, "", raw)
            && let Target::Web { fragment, .. } = &mut self.page.references[place].target
        {
            *fragment = None;
        }
    }

    /// Sets the text of a reference that was added.
    pub(super) fn describe(&mut self, place: usize, text: &str) {
        if let Some(reference) = self.page.references.get_mut(place) {
            reference.text = folded(text, MOST_TEXT);
            self.bytes += reference.text.len();
        }
    }

    /// Adds an anchor.
    pub(super) fn anchor(&mut self, name: &str) {
        if !name.is_empty() {
            self.anchors.push(anchors::hash(name));
        }
    }

    /// Returns the current position.
    pub(super) fn mark(&self) -> Mark {
        let Page { references, left_out, .. } = &self.page;
        Mark { references: references.len(), anchors: self.anchors.len(), bytes: self.bytes, left_out: *left_out }
    }

    /// Removes the references and anchors that were added since.
    pub(super) fn back_to(&mut self, mark: Mark) {
        self.page.references.truncate(mark.references);
        self.anchors.truncate(mark.anchors);
        self.bytes = mark.bytes;
        self.page.left_out = mark.left_out;
    }

    /// Returns true if references were added since.
    pub(super) fn has_more_than(&self, mark: Mark) -> bool {
        self.page.references.len() > mark.references
    }

    /// Removes the anchors that were added since.
    pub(super) fn without_anchors_since(&mut self, mark: Mark) {
        self.anchors.truncate(mark.anchors);
    }

    /// Returns the page, which was read in this format.
    pub(super) fn into_page(self, form: Form) -> Page {
        Page { form, anchors: Anchors::from_hashes(self.anchors), ..self.page }
    }
}

/// Returns a title, owner or date of a page, unless it is empty.
pub(super) fn fact(text: &str) -> Option<Box<str>> {
    Some(folded(text, MOST_FACT)).filter(|fact| !fact.is_empty())
}

/// Folds the whitespace of a text, and cuts it to a number of characters.
fn folded(text: &str, most: usize) -> Box<str> {
    // Most strings are short, ASCII, and need no folding.
    let bytes = text.as_bytes();
    let is_folded = bytes.len() <= most
        && bytes.first() != Some(&b' ')
        && bytes.last() != Some(&b' ')
        && !bytes.windows(2).any(|pair| pair == b"  ")
        && bytes.iter().all(|byte| matches!(byte, 0x20..0x7f));
    if is_folded {
        return text.into();
    }
    let mut folded = String::new();
    let mut left = most;
    for word in text.split_whitespace().filter(|word| !word.chars().all(char::is_control)) {
        if !folded.is_empty() {
            if left <= 1 {
                folded.push('…');
                return folded.into();
            }
            folded.push(' ');
            left -= 1;
        }
        for character in word.chars().filter(|character| !character.is_control()) {
            if left == 0 {
                folded.push('…');
                return folded.into();
            }
            folded.push(character);
            left -= 1;
        }
    }
    folded.into()
}

fn length(target: &Target) -> usize {
    match target {
        Target::Web { url, fragment } => url.len() + fragment.as_ref().map_or(0, |fragment| fragment.len()),
        Target::Mail { url, .. } | Target::Elsewhere { url } => url.len(),
        Target::Invalid { text, .. } => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_and_cut() {
        assert_eq!(&*folded("", 80), "");
        assert_eq!(&*folded("  a\n\t b ", 80), "a b");
        assert_eq!(&*folded("a  b", 80), "a b");
        assert_eq!(&*folded("žluťoučký kůň", 5), "žluťo…");
        assert_eq!(&*folded("12345", 5), "12345");
        assert_eq!(&*folded("12345 6", 5), "12345…");
        assert_eq!(&*folded("1234 56", 5), "1234…");
        assert_eq!(&*folded("123456", 5), "12345…");
        assert_eq!(&*folded("a\u{7}b \u{7} c", 80), "ab c");
    }
}
