//! Reads an OAI-PMH answer as it arrives, in bounded memory, without losing a byte of its metadata.
//!
//! A [`Reader`] is pushed pieces of any size, cut anywhere, and tells what they complete as [`Event`]s. It does no I/O.
//! The protocol's own elements are recognised by namespace and their texts are decoded; what a foreign server may get
//! wrong stays text, for the caller to judge. Metadata and other foreign elements are handed on as the exact bytes
//! received, never re-serialised: only their nesting is checked, so that one record's ill-formed end cannot swallow the
//! next.
//!
//! It is not a validating parser, nor a general one: names are not checked letter by letter, document types and their
//! entities are not read (which is also why no answer can blow up), and foreign bytes may be in no encoding at all.
//!
//! | file | what it knows |
//! |---|---|
//! | `scanner` | where markup begins and ends in a stream cut anywhere |
//! | `tags` | names, attributes, nesting, namespaces |
//! | `text` | references and line ends |
//! | `outside` | what may stand before and after the root element |
//! | `elements` | which of the protocol's elements stands where |
//! | `answer` | what they mean: tags and text in, events out |
//! | `fault` | why an answer could not be read |
//! | `fragment` | the foreign elements themselves, for those who want to look inside |

mod answer;
mod elements;
mod fault;
pub mod fragment;
mod outside;
mod scanner;
mod tags;
#[cfg(test)]
mod tests;
mod text;

pub use fault::{Fault, ReadError};

use crate::query::Arguments;
use crate::verb::Verb;
use answer::{Answer, Step};
use scanner::{Scanner, Token};

/// How much of anything an answer may make the reader hold in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in one tag, and in the names of all open elements together. Metadata with images in attributes exists.
    pub tag: usize,
    /// Bytes in one text of the protocol's own, and in all texts of one header, set or format together.
    pub text: usize,
    /// Elements open at once. Real metadata stays below a few dozen.
    pub depth: usize,
    /// Namespace declarations in scope.
    pub namespaces: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tag: 1024 * 1024, text: 1024 * 1024, depth: 1024, namespaces: 256 }
    }
}

/// What an answer says, in the order in which it says it. Texts are as written, white space included; a text that is
/// missing is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// When the answer was made.
    ResponseDate(&'a str),
    /// The request as the repository understood it.
    Request {
        /// Where it was sent.
        url: &'a str,
        /// Its arguments; none if they were illegal.
        arguments: &'a Arguments,
    },
    /// The request failed.
    Error {
        /// The protocol's code.
        code: &'a str,
        /// For people.
        message: &'a str,
    },
    /// The element that answers a verb begins.
    Verb(Verb),
    /// One of the texts in Identify.
    Identify {
        /// The element's name.
        name: &'static str,
        /// Its text.
        text: &'a str,
    },
    /// A metadata format.
    Format {
        /// Its short name.
        prefix: &'a str,
        /// Where its schema is.
        schema: &'a str,
        /// Its namespace.
        namespace: &'a str,
    },
    /// A set; its descriptions have come before.
    Set {
        /// Its place in the hierarchy.
        spec: &'a str,
        /// For people.
        name: &'a str,
    },
    /// A record begins.
    RecordStart,
    /// A header, in a record or on its own.
    Header {
        /// Of the item.
        identifier: &'a str,
        /// When it changed.
        datestamp: &'a str,
        /// The sets it is in.
        sets: &'a [String],
        /// Whether it is gone.
        deleted: bool,
    },
    /// A foreign element begins. The schema allows one in each container; if there are more, each is a part.
    PartStart {
        /// In which container.
        kind: PartKind,
        /// Prefix and URI of the namespace declarations that the fragment inherits and does not replace in its first
        /// tag. The default namespace has an empty prefix.
        namespaces: &'a [(&'a str, &'a str)],
    },
    /// More of the foreign element, from the `<` of its start tag to the `>` of its end tag.
    PartBytes(&'a [u8]),
    /// The foreign element is complete.
    PartEnd,
    /// A record is complete.
    RecordEnd,
    /// The list goes on where this says, or is complete if the value is empty.
    Token {
        /// To be sent back.
        value: &'a str,
        /// How many came before this page.
        cursor: Option<&'a str>,
        /// How many there are.
        size: Option<&'a str>,
        /// Until when it is valid.
        expiration: Option<&'a str>,
    },
    /// Something that does not belong where it stands, and was skipped with all it holds: the name of an element,
    /// `#text`, or `?xml` for a declaration that is not the very first thing.
    Stray(&'a str),
}

/// The containers of foreign elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A record's metadata.
    Metadata,
    /// What is said about a record's metadata.
    About,
    /// What Identify says beyond its own fields.
    Description,
    /// What is said about a set.
    SetDescription,
}

/// Reads one answer. See the [module](self).
///
/// ```
/// use modoai_protocol::xml::reader::{Event, Reader};
///
/// let answer = br#"<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">
///     <error code="badVerb">no verb</error></OAI-PMH>"#;
/// let mut reader = Reader::default();
/// let mut codes = Vec::new();
/// for piece in answer.chunks(7) {
///     reader.push(piece, &mut |event| {
///         if let Event::Error { code, .. } = event {
///             codes.push(code.to_owned());
///         }
///     })?;
/// }
/// reader.finish()?;
/// assert_eq!(codes, ["badVerb"]);
/// # Ok::<(), modoai_protocol::xml::reader::ReadError>(())
/// ```
pub struct Reader {
    scanner: Scanner,
    answer: Answer,
    failed: Option<ReadError>,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Reader {
    /// A reader at the start of an answer.
    pub fn new(limits: Limits) -> Self {
        Self { scanner: Scanner::new(limits.tag), answer: Answer::new(limits), failed: None }
    }

    /// The same for answers whose namespace is missing or misspelt: they are read as if it were right.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.answer.is_lenient = true;
        self
    }

    /// The namespace that stands in place of the protocol's, if a lenient reader met another.
    pub fn misspelt_namespace(&self) -> Option<&str> {
        self.answer.own_namespace.as_deref()
    }

    /// Takes more of the answer and tells `sink` what that completes.
    ///
    /// The events and the error, if any, do not depend on how the answer is cut into pieces, with one exception:
    /// of a part that an error interrupts, more or fewer bytes may have been handed on. After an error nothing more is
    /// read, and every call returns it again.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<(), ReadError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.read(bytes, sink).inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// The answer has ended: was it whole?
    pub fn finish(self) -> Result<(), ReadError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.answer.finish(self.scanner.is_between_markup(), self.scanner.end()),
        }
    }

    /// Bytes of memory held: a small multiple of the limits at most, whatever the answer.
    pub fn held(&self) -> usize {
        self.scanner.held() + self.answer.held()
    }

    fn read(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<(), ReadError> {
        let Self { scanner, answer, .. } = self;
        let mut at = 0;
        // Where the bytes of the current part begin that were not handed on yet.
        let mut part = 0;
        while let Some((token, offset)) = scanner.next(bytes, &mut at)? {
            match token {
                Token::Tag { bytes: tag, whole } => match answer.tag(tag, offset, sink)? {
                    Step::On => {}
                    Step::PartOpened if whole => part = at - tag.len(),
                    Step::PartOpened => {
                        sink(Event::PartBytes(tag));
                        part = at;
                    }
                    Step::PartClosed => {
                        sink(Event::PartBytes(&bytes[part..at]));
                        sink(Event::PartEnd);
                    }
                    Step::PartWhole => {
                        sink(Event::PartBytes(tag));
                        sink(Event::PartEnd);
                    }
                },
                Token::Text(text) => answer.text(text, offset, sink)?,
                Token::CdataStart => answer.cdata_start(offset)?,
                Token::Cdata(text) => answer.cdata(text, offset, sink)?,
                Token::Instruction(instruction) => answer.instruction(instruction, offset, sink)?,
                Token::Doctype => answer.doctype(offset)?,
                Token::Comment => answer.end_run()?,
            }
        }
        if answer.is_in_part() && part < bytes.len() {
            sink(Event::PartBytes(&bytes[part..]));
        }
        Ok(())
    }
}
