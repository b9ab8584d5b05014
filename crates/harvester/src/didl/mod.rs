//! Reads MPEG-21 DIDL as it arrives: the resource by value or by reference, and what is said about it.
//!
//! What is understood is the shape of mod_oai's records and of ours (one Item with its URL as a DII identifier, the headers
//! of a GET, and one Component), and what DSpace and EPrints make of the same schema (several Components, Items within the
//! Item). Names count, not prefixes. Bytes by value are handed on decoded while they arrive, so that a resource of any
//! size passes through in constant memory.
//!
//! | file | what it knows |
//! |---|---|
//! | `reader` | which element means what |
//! | `value` | base64 in pieces |
//! | `digest` | digests and their spellings |

pub mod digest;
mod reader;
mod value;

use modoai_protocol::xml::reader::ReadError;

pub use digest::{Algorithm, Digest, Hasher};
pub use reader::Reader;

/// What a reader finds, in order: the bytes of a Component's value, then the Component.
#[derive(Debug)]
pub enum Found<'a> {
    /// More of the value of the Component that is open.
    Value(&'a [u8]),
    /// A Component is complete.
    Component(Component),
}

/// One resource, and what is said about it.
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
    /// Where it can be had.
    pub references: Vec<String>,
    /// Its media type, as its Resource element says.
    pub media_type: Option<String>,
    /// Whether its bytes were there.
    pub value: Value,
}

/// Whether a Component holds the bytes themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// It does not.
    #[default]
    None,
    /// It does, and they were handed on.
    Whole,
    /// It holds something, for this reason not the bytes.
    Other(&'static str),
}

impl Component {
    /// The value of a header; names are equal whatever their case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The strongest digest that is known of the bytes. One is enough: what satisfies it, satisfies the others or they are
    /// wrong.
    pub fn digest(&self) -> Option<&Digest> {
        self.digests.iter().max_by_key(|digest| digest.algorithm)
    }
}

/// Why a DIDL document could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DidlError {
    /// It is not XML.
    #[error(transparent)]
    Xml(#[from] ReadError),
    /// It is something else.
    #[error("the metadata element is '{name}', not DIDL")]
    NotDidl {
        /// The root element.
        name: String,
    },
    /// A value is not what its encoding says.
    #[error("invalid base64 in the resource: {0}")]
    Base64(&'static str),
    /// A digest is no digest.
    #[error("invalid {algorithm} digest '{value}'")]
    Digest {
        /// Said to be made by this.
        algorithm: Algorithm,
        /// As written.
        value: String,
    },
    /// Too much of something that is kept in memory.
    #[error("the document exceeds the limit of {limit} {what}")]
    Limit {
        /// Of what, with its unit.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
}

/// Why reading stopped: the document's fault, or that of the one it was told to.
#[derive(Debug)]
pub enum Stopped<E> {
    /// The document cannot be read.
    Didl(DidlError),
    /// Who was told could not go on.
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
