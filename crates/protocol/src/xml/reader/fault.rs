//! Why an answer could not be read.

/// Where reading stopped, and why. Nothing after it can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} (byte {offset})")]
pub struct ReadError {
    /// Offset of the offending markup or text from the start of the answer.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What can be wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nothing, or nothing but white space.
    #[error("the response is empty")]
    Empty,
    /// The first character is not markup.
    #[error("the response is {found}, not XML")]
    NotXml {
        /// What it seems to be.
        found: &'static str,
    },
    /// XML, or near it, but something else than an answer: a login page, most often.
    #[error("the root element is '{name}', not OAI-PMH")]
    NotOai {
        /// The root element as written.
        name: String,
    },
    /// The root element has the right name in the wrong namespace.
    #[error("the root element OAI-PMH is in the namespace '{found}', not in that of the protocol")]
    Namespace {
        /// The namespace it is in; empty if none.
        found: String,
    },
    /// The answer says that it is not UTF-8, as the protocol demands.
    #[error("the encoding of the response is '{name}', not UTF-8")]
    Encoding {
        /// As declared.
        name: String,
    },
    /// One of the protocol's own fields is not UTF-8.
    #[error("invalid UTF-8 in '{element}'")]
    NotUtf8 {
        /// The element it stands in.
        element: String,
    },
    /// A document type that defines things. It may define entities that grow without end, so none is read.
    #[error("the document type has an internal subset")]
    InternalSubset,
    /// An entity other than the five that XML itself defines.
    #[error("the entity '&{name};' is not defined")]
    Entity {
        /// Its name.
        name: String,
    },
    /// A reference without end, or to a character that XML cannot carry.
    #[error("'{text}' is not a character or entity reference")]
    Reference {
        /// As written, shortened.
        text: String,
    },
    /// An element name has a prefix that no declaration in scope explains.
    #[error("the namespace prefix '{prefix}' is not declared")]
    Prefix {
        /// The prefix.
        prefix: String,
    },
    /// An end tag that does not match the open element.
    #[error("'{open}' is closed as '{close}'")]
    Mismatch {
        /// The innermost open element; empty if none is.
        open: String,
        /// The name in the end tag.
        close: String,
    },
    /// Markup that is not XML.
    #[error("XML is not well-formed: {what}")]
    IllFormed {
        /// What was seen.
        what: &'static str,
    },
    /// Something other than comments and white space follows the root element.
    #[error("unexpected content after the root element")]
    Trailing,
    /// The answer stops before its end.
    #[error("the response is truncated inside '{open}'")]
    Truncated {
        /// The innermost open element; empty if none is.
        open: String,
    },
    /// More than a [`Limits`](super::Limits) field allows.
    #[error("the response exceeds the limit of {limit} {what}")]
    Limit {
        /// What there was too much of, with its unit.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
}

impl Fault {
    pub(super) fn at(self, offset: u64) -> ReadError {
        ReadError { offset, fault: self }
    }
}

/// Foreign text for a message: readable whatever the bytes, and short whatever the sender.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const LONGEST: usize = 80;
    String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]).into_owned()
}
