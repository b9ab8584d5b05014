//! Checks text and values: references, and the end of a CDATA section without a beginning.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::super::characters::{Numbered, numbered};
use super::{Offence, Wrong, quoted};

/// The maximum length of a reference; real ones are shorter.
const LONGEST: usize = 64;

/// Checks text while it arrives.
#[derive(Default)]
pub(super) struct TextCheck {
    /// The reference that is being read.
    reference: Vec<u8>,
    /// Its offset.
    start: u64,
    /// The number of closing brackets just read.
    brackets: u8,
}

impl TextCheck {
    /// Checks a piece of text, which begins at `offset`.
    pub(super) fn push(&mut self, text: &[u8], offset: u64) -> Result<(), Offence> {
        let mut at = 0;
        while at < text.len() {
            if self.reference.is_empty() && self.brackets == 0 {
                let Some(next) = memchr2(b'&', b']', &text[at..]) else { return Ok(()) };
                at += next;
            }
            let (byte, here) = (text[at], offset + at as u64);
            if !self.reference.is_empty() {
                self.reference.push(byte);
                if byte == b';' {
                    resolve_one(&self.reference).map_err(|wrong| wrong.at(self.start))?;
                    self.reference.clear();
                } else if self.reference.len() == LONGEST {
                    return self.end();
                }
            } else {
                match byte {
                    b'>' if self.brackets == 2 => return Err(Wrong::IllFormed("']]>' in text").at(here)),
                    b']' => self.brackets = 2.min(self.brackets + 1),
                    _ => self.brackets = 0,
                }
                if byte == b'&' {
                    self.reference.push(byte);
                    self.start = here;
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// Ends the text, because markup follows.
    pub(super) fn end(&mut self) -> Result<(), Offence> {
        self.brackets = 0;
        if self.reference.is_empty() {
            return Ok(());
        }
        Err(no_reference(&self.reference).at(self.start))
    }
}

/// Returns a value with its references resolved.
pub(super) fn resolve(value: &str) -> Result<Cow<'_, str>, Wrong> {
    let Some(mut at) = memchr(b'&', value.as_bytes()) else { return Ok(Cow::Borrowed(value)) };
    let mut resolved = String::with_capacity(value.len());
    let mut from = 0;
    loop {
        resolved.push_str(&value[from..at]);
        let beginning = &value.as_bytes()[at..value.len().min(at + LONGEST)];
        let length = memchr(b';', beginning).ok_or_else(|| no_reference(beginning))? + 1;
        resolved.push(resolve_one(&beginning[..length])?);
        from = at + length;
        match memchr(b'&', &value.as_bytes()[from..]) {
            Some(next) => at = from + next,
            None => break,
        }
    }
    resolved.push_str(&value[from..]);
    Ok(Cow::Owned(resolved))
}

/// Resolves a reference, given from `&` to `;`.
fn resolve_one(reference: &[u8]) -> Result<char, Wrong> {
    match &reference[1..reference.len() - 1] {
        b"lt" => Ok('<'),
        b"gt" => Ok('>'),
        b"amp" => Ok('&'),
        b"quot" => Ok('"'),
        b"apos" => Ok('\''),
        [b'#', number @ ..] if !number.starts_with(b"X") => match numbered(number) {
            Some(Numbered::Legal(character)) => Ok(character),
            _ => Err(no_reference(reference)),
        },
        _ => Err(no_reference(reference)),
    }
}

fn no_reference(reference: &[u8]) -> Wrong {
    Wrong::Reference(quoted(&reference[..reference.len().min(16)]))
}
