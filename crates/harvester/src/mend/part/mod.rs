//! Checks that one metadata element is valid in one of modoai's responses.
//!
//! Harvested metadata is stored unmodified, and the parser checks only its nesting. Before it is served to others, it
//! must be valid XML, because one invalid byte would make a whole page unreadable for them: legal UTF-8, legal
//! characters, well-formed, and with every prefix declared, by itself or by inherited declarations. [`PartCheck`]
//! changes nothing, and reports the first error of an invalid element; [`PartMender`] repairs the errors that can be
//! repaired.

mod mender;
mod tags;
mod text;

pub use mender::PartMender;
use tags::Tags;
pub(crate) use tags::{is_name, may_be_declared};
use text::TextCheck;

use modoai_protocol::xml::is_legal;

use super::lexer::{Kind, Lexer};

/// The first error in an element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wrong} (byte {offset})")]
pub struct Offence {
    /// Its offset from the start of the element. For markup, that of its beginning.
    pub offset: u64,
    /// The error.
    pub wrong: Wrong,
}

/// The kinds of errors in an element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// Bytes that are not UTF-8.
    #[error("invalid UTF-8")]
    NotUtf8,
    /// A character that XML does not allow.
    #[error("the character U+{0:04X}, which XML does not allow")]
    Character(u32),
    /// An ampersand that begins no reference, or a reference to an undefined entity or an illegal character.
    #[error("unknown reference '{0}'")]
    Reference(String),
    /// Invalid text in place of a name.
    #[error("invalid name '{0}'")]
    Name(String),
    /// An undeclared prefix.
    #[error("the namespace prefix '{0}' is not declared")]
    Prefix(String),
    /// An attribute that a tag has twice, by its name or by its namespace.
    #[error("the attribute '{0}' is repeated")]
    Repeated(String),
    /// An end tag does not match the open element.
    #[error("'{open}' is closed as '{close}'")]
    Mismatch {
        /// The open element.
        open: String,
        /// The name in the end tag.
        close: String,
    },
    /// Anything else that is not XML.
    #[error("XML is not well-formed: {0}")]
    IllFormed(&'static str),
    /// The element does not end.
    #[error("the element is incomplete")]
    Incomplete,
    /// More data than may be held in memory.
    #[error("more than {limit} {what}")]
    Limit {
        /// The data, with its unit.
        what: &'static str,
        /// The maximum.
        limit: usize,
    },
}

impl Wrong {
    fn at(self, offset: u64) -> Offence {
        Offence { offset, wrong: self }
    }
}

/// The maximum number of bytes in one tag, in the names of all open elements, and in all namespace declarations in
/// scope.
const LONGEST: usize = 1024 * 1024;

/// Checks one element. Its input is pieces cut anywhere; the result does not depend on the cuts.
///
/// ```
/// use modoai_harvester::mend::PartCheck;
///
/// let mut check = PartCheck::new(&[("dc", "http://purl.org/dc/elements/1.1/")]);
/// check.push(b"<dc:title>Smith &am")?;
/// check.push(b"p; Sons</dc:title>")?;
/// check.finish()?;
/// # Ok::<(), modoai_harvester::mend::Offence>(())
/// ```
pub struct PartCheck {
    lexer: Lexer,
    tags: Tags,
    text: TextCheck,
    /// The incomplete UTF-8 sequence at the end of the previous piece.
    cut: Vec<u8>,
    /// The tag that is being read; of an instruction, only the name.
    markup: Vec<u8>,
    /// The offset of the present or last markup.
    start: u64,
    /// The number of dashes just read, inside a comment.
    dashes: u8,
    /// The state of its name, inside an instruction.
    target: Target,
    /// The offset of the next byte.
    offset: u64,
    failed: Option<Offence>,
}

/// The state of the name of an instruction.
#[derive(Clone, Copy)]
enum Target {
    Arriving,
    /// A `?` ended it, so the end must follow.
    Ended,
    Known,
}

impl PartCheck {
    /// Returns a check for an element that inherits these namespace declarations: prefix, empty for the default, and
    /// URI.
    pub fn new(namespaces: &[(&str, &str)]) -> Self {
        Self {
            lexer: Lexer::new(),
            tags: Tags::new(namespaces),
            text: TextCheck::default(),
            cut: Vec::new(),
            markup: Vec::new(),
            start: 0,
            dashes: 0,
            target: Target::Arriving,
            offset: 0,
            failed: None,
        }
    }

    /// Checks a complete element.
    pub fn whole(element: &[u8], namespaces: &[(&str, &str)]) -> Result<(), Offence> {
        let mut check = Self::new(namespaces);
        check.push(element)?;
        check.finish()
    }

    /// Checks a piece of the element. After an error, nothing more is read, and every call returns the same error.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Offence> {
        match &self.failed {
            Some(offence) => Err(offence.clone()),
            None => self.read(bytes).inspect_err(|offence| self.failed = Some(offence.clone())),
        }
    }

    /// Checks that the element is complete.
    pub fn finish(self) -> Result<(), Offence> {
        match self.failed {
            Some(offence) => Err(offence),
            None if !self.cut.is_empty() => Err(Wrong::NotUtf8.at(self.offset)),
            None if self.lexer.is_over() && self.lexer.is_between_markup() => Ok(()),
            None => Err(Wrong::Incomplete.at(self.offset)),
        }
    }

    /// Returns the number of bytes held: a small multiple of a megabyte at most, regardless of the element.
    pub fn held(&self) -> usize {
        self.markup.capacity() + self.tags.held()
    }

    /// Passes on complete sequences of UTF-8.
    fn read(&mut self, mut bytes: &[u8]) -> Result<(), Offence> {
        while !self.cut.is_empty() {
            let Some((&next, rest)) = bytes.split_first() else { return Ok(()) };
            self.cut.push(next);
            match std::str::from_utf8(&self.cut) {
                Ok(_) => {
                    let sequence = std::mem::take(&mut self.cut);
                    self.characters(&sequence)?;
                }
                Err(error) if error.error_len().is_some() => return Err(Wrong::NotUtf8.at(self.offset)),
                Err(_) => {}
            }
            bytes = rest;
        }
        let Err(error) = std::str::from_utf8(bytes) else { return self.characters(bytes) };
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        self.characters(valid)?;
        if error.error_len().is_some() {
            return Err(Wrong::NotUtf8.at(self.offset));
        }
        self.cut = rest.to_vec();
        Ok(())
    }

    /// Checks UTF-8 text for characters that XML does not allow.
    fn characters(&mut self, bytes: &[u8]) -> Result<(), Offence> {
        let mut from = 0;
        while let Some(found) = bytes[from..].iter().position(|byte| *byte < 0x20 || *byte == 0xef) {
            let at = from + found;
            let character = match bytes[at..] {
                [0xef, second, third, ..] => 0xf000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f),
                _ => u32::from(bytes[at]),
            };
            if !char::from_u32(character).is_some_and(is_legal) {
                self.markup(&bytes[..at])?;
                return Err(Wrong::Character(character).at(self.offset));
            }
            from = at + 1;
        }
        self.markup(bytes)
    }

    /// Divides legal characters into markup and text.
    fn markup(&mut self, mut bytes: &[u8]) -> Result<(), Offence> {
        while !bytes.is_empty() {
            if self.lexer.is_over() {
                return Err(Wrong::IllFormed("content after the root element").at(self.offset));
            }
            let (kind, length) = self.lexer.next(bytes);
            let (run, rest) = bytes.split_at(length);
            self.run(kind, run)?;
            self.offset += length as u64;
            bytes = rest;
        }
        Ok(())
    }

    fn run(&mut self, kind: Kind, run: &[u8]) -> Result<(), Offence> {
        let wrong = |what: &'static str, offset: u64| Err(Wrong::IllFormed(what).at(offset));
        let is_outside = self.tags.depth() == 0;
        match kind {
            Kind::Opening => {
                if run == b"<" {
                    self.text.end()?;
                    self.start = self.offset;
                    self.markup.clear();
                    self.dashes = 0;
                    self.target = Target::Arriving;
                }
                self.keep(run)
            }
            Kind::NotMarkup => wrong("'<' does not start a tag", self.start),
            Kind::Tag | Kind::Value => self.keep(run),
            Kind::TagEnd => {
                self.keep(run)?;
                self.tags.tag(&self.markup).map_err(|wrong| wrong.at(self.start))
            }
            Kind::Doctype => wrong("a document type declaration", self.start),
            _ if is_outside => wrong("content before the root element", self.offset),
            Kind::Text => self.text.push(run, self.offset),
            Kind::Cdata => Ok(()),
            Kind::Comment => {
                for &byte in run {
                    if self.dashes == 2 && byte != b'>' {
                        return wrong("'--' inside a comment", self.start);
                    }
                    self.dashes = if byte == b'-' { self.dashes + 1 } else { 0 };
                }
                Ok(())
            }
            Kind::Instruction => run.iter().try_for_each(|byte| self.instruction(*byte)),
        }
    }

    /// Reads the next byte of an instruction.
    fn instruction(&mut self, byte: u8) -> Result<(), Offence> {
        match self.target {
            Target::Known => {}
            Target::Ended if byte == b'>' => self.target = Target::Known,
            Target::Ended => return Err(Wrong::IllFormed("a processing instruction without a name").at(self.start)),
            Target::Arriving if super::is_space(byte) || byte == b'?' => {
                tags::target(&self.markup[2..]).map_err(|wrong| wrong.at(self.start))?;
                self.target = if byte == b'?' { Target::Ended } else { Target::Known };
            }
            Target::Arriving => self.keep(&[byte])?,
        }
        Ok(())
    }

    fn keep(&mut self, run: &[u8]) -> Result<(), Offence> {
        if self.markup.len() + run.len() > LONGEST {
            return Err(Wrong::Limit { what: "bytes in a tag", limit: LONGEST }.at(self.start));
        }
        self.markup.extend_from_slice(run);
        Ok(())
    }
}

/// Returns foreign text truncated for a message.
fn quoted(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(80)]).into_owned()
}

#[cfg(test)]
mod tests;
