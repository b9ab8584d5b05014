//! Reads an OAI-PMH response as it arrives, in bounded memory, and preserves every byte of its metadata.
//!
//! A [`Reader`] accepts pieces of any size, split at any byte, and reports the completed parts as [`Event`]s. It does
//! no I/O. The protocol's own elements are recognised by namespace, and their text is decoded; values that foreign
//! servers may write incorrectly remain text, for the caller to check. Metadata and other foreign elements are passed
//! on as the exact bytes received and never re-serialised. Only their nesting is checked, so that the ill-formed end of
//! one record cannot swallow the next.
//!
//! It is not a validating parser, and not a general one: the characters of names are not checked, document types and
//! their entities are not read (so entity expansion is impossible), and foreign bytes may be in no encoding at all.
//!
//! | file | content |
//! |---|---|
//! | `scanner` | the beginning and end of markup in a stream split at any byte |
//! | `tags` | names, attributes, nesting, namespaces |
//! | `text` | references and line ends |
//! | `outside` | content before and after the root element |
//! | `elements` | the protocol's elements and their positions |
//! | `answer` | interpretation: tags and text in, events out |
//! | `fault` | the errors in a response that cannot be read |
//! | `fragment` | a reader for the foreign elements themselves |

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

/// The limits of the memory that the reader needs for a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of bytes in one tag, and in the names of all open elements together. Some metadata has images in
    /// attributes.
    pub tag: usize,
    /// The number of bytes in one field of the protocol, and in all fields of one header, set or format together.
    pub text: usize,
    /// The number of open elements. Real metadata has at most a few dozen.
    pub depth: usize,
    /// The number of namespace declarations in scope.
    pub namespaces: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tag: 1024 * 1024, text: 1024 * 1024, depth: 1024, namespaces: 256 }
    }
}

/// A part of a response, in document order. Text is unchanged, whitespace included; missing text is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The time of the response.
    ResponseDate(&'a str),
    /// The request as the repository understood it.
    Request {
        /// The URL that the request was sent to.
        url: &'a str,
        /// The arguments; none if they were illegal.
        arguments: &'a Arguments,
    },
    /// The request failed.
    Error {
        /// The protocol's code.
        code: &'a str,
        /// The message for humans.
        message: &'a str,
    },
    /// The start of the element with the response to a verb.
    Verb(Verb),
    /// A field of Identify.
    Identify {
        /// The element's name.
        name: &'static str,
        /// The text.
        text: &'a str,
    },
    /// A metadata format.
    Format {
        /// The short name.
        prefix: &'a str,
        /// The URL of the schema.
        schema: &'a str,
        /// The namespace.
        namespace: &'a str,
    },
    /// A set; its descriptions were reported before.
    Set {
        /// The position in the hierarchy.
        spec: &'a str,
        /// The name for humans.
        name: &'a str,
    },
    /// The start of a record.
    RecordStart,
    /// A header, in a record or by itself.
    Header {
        /// The identifier of the item.
        identifier: &'a str,
        /// The time of the last change.
        datestamp: &'a str,
        /// The sets that contain the item.
        sets: &'a [String],
        /// True if the item was deleted.
        deleted: bool,
    },
    /// The start of a foreign element. The schema allows one in each container; if there are more, each is a part.
    PartStart {
        /// The container.
        kind: PartKind,
        /// The namespace declarations, as prefix and URI, that the fragment inherits and does not replace in its first
        /// tag. The default namespace has an empty prefix.
        namespaces: &'a [(&'a str, &'a str)],
    },
    /// More bytes of the foreign element, from the `<` of its start tag to the `>` of its end tag.
    PartBytes(&'a [u8]),
    /// The end of the foreign element.
    PartEnd,
    /// The end of a record.
    RecordEnd,
    /// A resumption token. The list is complete if the value is empty.
    Token {
        /// The value that the harvester sends back.
        value: &'a str,
        /// The number of items before this page.
        cursor: Option<&'a str>,
        /// The size of the whole list.
        size: Option<&'a str>,
        /// The time until which the token is valid.
        expiration: Option<&'a str>,
    },
    /// Content in a position where it is not allowed, which was skipped completely: the name of an element, `#text`, or
    /// `?xml` for a declaration that is not at the very beginning.
    Stray(&'a str),
}

/// The containers of foreign elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A record's metadata.
    Metadata,
    /// Statements about a record's metadata.
    About,
    /// Descriptions in Identify, in addition to its fields.
    Description,
    /// Descriptions of a set.
    SetDescription,
}

/// Reads one response. See the [module](self).
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
    /// Creates a reader at the start of a response.
    pub fn new(limits: Limits) -> Self {
        Self { scanner: Scanner::new(limits.tag), answer: Answer::new(limits), failed: None }
    }

    /// Accepts responses whose namespace is missing or misspelt, and reads them as if it were right.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.answer.is_lenient = true;
        self
    }

    /// Returns the namespace that the response has in place of the protocol's, if a lenient reader has accepted another
    /// one.
    pub fn misspelt_namespace(&self) -> Option<&str> {
        self.answer.own_namespace.as_deref()
    }

    /// Processes more of the response and passes the completed events to `sink`.
    ///
    /// The events and the error, if any, do not depend on the sizes of the pieces, with one exception: of a part that
    /// an error interrupts, more or fewer bytes may have been passed on. After an error nothing more is read, and every
    /// call returns the error again.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<(), ReadError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.read(bytes, sink).inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// Checks that the response is complete when no more bytes follow.
    pub fn finish(self) -> Result<(), ReadError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.answer.finish(self.scanner.is_between_markup(), self.scanner.end()),
        }
    }

    /// Returns the number of bytes of memory held: a small multiple of the limits at most, for any response.
    pub fn held(&self) -> usize {
        self.scanner.held() + self.answer.held()
    }

    fn read(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<(), ReadError> {
        let Self { scanner, answer, .. } = self;
        let mut at = 0;
        // The beginning of the bytes of the current part that were not passed on yet.
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
