//! Reads MPEG-21 DIDL as it arrives: the resource by value or by reference, and its description.
//!
//! The reader supports the structure of records of mod_oai and modoai (one Item with its URL as a DII identifier, the
//! headers of a GET, and one Component), and those that DSpace and EPrints produce with the same schema (several
//! Components, Items within the Item). Namespaces count, not prefixes. Bytes by value are passed on decoded while they
//! arrive, so that a resource of any size is processed in constant memory.
//!
//! | file | contents |
//! |---|---|
//! | `reader` | the meaning of elements |
//! | `value` | base64 in pieces |
//! | `digest` | digests and their spellings |

pub mod digest;
mod reader;
mod value;

use modoai_protocol::xml::reader::ReadError;

pub use digest::{Algorithm, Digest, Hasher};
pub use reader::Reader;

/// The output of a reader, in order: the bytes of a Component's value, then the Component.
#[derive(Debug)]
pub enum Found<'a> {
    /// More of the value of the Component that is open.
    Value(&'a [u8]),
    /// A Component is complete.
    Component(Component),
}

/// One resource, and its description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Component {
    /// The DII identifier of the innermost Item around it that has one.
    pub identifier: Option<String>,
    /// The HTTP status that a GET of it returns, if the record has it.
    pub status: Option<u16>,
    /// The headers a GET of it returns, names as written.
    pub headers: Vec<(String, String)>,
    /// Digests of its bytes.
    pub digests: Vec<Digest>,
    /// URLs from which it is available.
    pub references: Vec<String>,
    /// The media type in its Resource element.
    pub media_type: Option<String>,
    /// The state of its bytes.
    pub value: Value,
}

/// The state of the bytes of a Component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// It does not contain them.
    #[default]
    None,
    /// It contains them, and they were passed on.
    Whole,
    /// It contains something else, for this reason.
    Other(&'static str),
}

impl Component {
    /// Returns the value of a header; names are compared without case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Returns the strongest known digest of the bytes. One is enough: if it matches, other digests match or are wrong.
    pub fn digest(&self) -> Option<&Digest> {
        self.digests.iter().max_by_key(|digest| digest.algorithm)
    }
}

/// The reason why a DIDL document could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DidlError {
    /// It is not XML.
    #[error(transparent)]
    Xml(#[from] ReadError),
    /// It is another kind of document.
    #[error("the metadata element is '{name}', not DIDL")]
    NotDidl {
        /// The root element.
        name: String,
    },
    /// A value does not match its encoding.
    #[error("invalid base64 in the resource: {0}")]
    Base64(&'static str),
    /// A digest is invalid.
    #[error("invalid {algorithm} digest '{value}'")]
    Digest {
        /// Its stated algorithm.
        algorithm: Algorithm,
        /// The text of the record.
        value: String,
    },
    /// More data than may be kept in memory.
    #[error("the document exceeds the limit of {limit} {what}")]
    Limit {
        /// The data, with its unit.
        what: &'static str,
        /// The maximum.
        limit: usize,
    },
}

/// The reason why reading stopped: an error of the document, or of the receiver.
#[derive(Debug)]
pub enum Stopped<E> {
    /// The document cannot be read.
    Didl(DidlError),
    /// The receiver failed.
    Told(E),
}

impl<E> From<DidlError> for Stopped<E> {
    fn from(error: DidlError) -> Self {
        Self::Didl(error)
    }
}

impl<E> From<ReadError> for Stopped<E> {
    fn from(error: ReadError) -> Self {
        Self::Didl(error.into())
    }
}
