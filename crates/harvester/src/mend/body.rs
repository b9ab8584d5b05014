//! Repairs the response itself: characters, references, and text after its end.

use memchr::memchr;

use super::around::Tail;
use super::characters::Characters;
use super::lexer::{Kind, Lexer};
use super::references::References;
use super::{Remedies, Repairs};

/// Repairs everything from the first byte of the prolog that was kept.
pub(super) struct Body {
    lexer: Lexer,
    references: References,
    /// A `<` and the text after it, until it is clear if that is markup.
    opening: Vec<u8>,
    /// `None` if characters are not checked.
    characters: Option<Characters>,
    /// `None` if text after the root element is not checked.
    tail: Option<Tail>,
    /// The output that is passed on next.
    mended: Vec<u8>,
    pub(super) repairs: Repairs,
}

impl Body {
    pub(super) fn new(remedies: Remedies) -> Self {
        Self {
            lexer: Lexer::new(),
            references: References::new(remedies),
            opening: Vec::new(),
            characters: remedies.contains(Remedies::CHARACTERS).then(Characters::default),
            tail: remedies.contains(Remedies::AROUND).then(Tail::default),
            mended: Vec::new(),
            repairs: Repairs::default(),
        }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
        while !bytes.is_empty() {
            if self.lexer.is_over()
                && let Some(tail) = &mut self.tail
            {
                let Self { characters, mended, repairs, .. } = self;
                let mut kept = Vec::new();
                tail.push(bytes, repairs, &mut |bytes| kept.extend_from_slice(bytes));
                clean(characters, &kept, false, repairs, mended);
                break;
            }
            let (kind, length) = self.lexer.next(bytes);
            let (run, rest) = bytes.split_at(length);
            bytes = rest;
            if kind == Kind::NotMarkup {
                self.references.not_markup(&self.opening, &mut self.repairs, &mut self.mended);
                self.opening.clear();
            } else if kind != Kind::Opening {
                self.mended.append(&mut self.opening);
            }
            if matches!(kind, Kind::Text | Kind::Value) {
                self.text(run);
            } else if kind == Kind::Opening {
                self.references.end(&mut self.repairs, &mut self.mended);
                self.opening.extend_from_slice(run);
            } else {
                self.references.end(&mut self.repairs, &mut self.mended);
                let is_in_tag = matches!(kind, Kind::Tag | Kind::TagEnd);
                clean(&mut self.characters, run, is_in_tag, &mut self.repairs, &mut self.mended);
            }
        }
        self.hand_on(out);
    }

    pub(super) fn finish(&mut self, out: &mut dyn FnMut(&[u8])) {
        self.references.end(&mut self.repairs, &mut self.mended);
        self.mended.append(&mut self.opening);
        if let Some(tail) = &mut self.tail {
            tail.finish(&mut self.repairs);
        }
        self.hand_on(out);
    }

    pub(super) fn held(&self) -> usize {
        self.mended.capacity() + self.tail.as_ref().map_or(0, Tail::held)
    }

    /// Repairs text or a value, which can contain references.
    fn text(&mut self, mut text: &[u8]) {
        let Self { references, characters, mended, repairs, .. } = self;
        while !text.is_empty() {
            if references.has_begun() {
                let length = references.push(text, repairs, mended);
                text = &text[length..];
                continue;
            }
            let plain = if references.is_off() { None } else { memchr(b'&', text) }.unwrap_or(text.len());
            if plain > 0 {
                references.end(repairs, mended);
                clean(characters, &text[..plain], false, repairs, mended);
            }
            text = &text[plain..];
            if let Some((_, rest)) = text.split_first() {
                references.begin();
                text = rest;
            }
        }
    }

    fn hand_on(&mut self, out: &mut dyn FnMut(&[u8])) {
        if !self.mended.is_empty() {
            out(&self.mended);
            self.mended.clear();
        }
    }
}

/// Appends bytes, and replaces characters that XML does not allow if `characters` is set.
fn clean(characters: &mut Option<Characters>, bytes: &[u8], is_in_tag: bool, repairs: &mut Repairs, out: &mut Vec<u8>) {
    match characters {
        Some(characters) => characters.push(bytes, is_in_tag, repairs, out),
        None => out.extend_from_slice(bytes),
    }
}
