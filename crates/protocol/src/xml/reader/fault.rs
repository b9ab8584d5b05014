//! The errors in a response that cannot be read.

use crate::text::shortened;

/// An error and its position. The rest of the response cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} (byte {offset})")]
pub struct ReadError {
    /// The offset of the invalid markup or text from the start of the response.
    pub offset: u64,
    /// The error.
    pub fault: Fault,
}

/// An error in a response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The response is empty, or contains only whitespace.
    #[error("the response is empty")]
    Empty,
    /// The first character is not markup.
    #[error("the response is {found}, not XML")]
    NotXml {
        /// The probable format.
        found: &'static str,
    },
    /// The response is XML, or similar, but not OAI-PMH: a login page, most often.
    #[error("the root element is '{name}', not OAI-PMH")]
    NotOai {
        /// The name of the root element as written.
        name: String,
    },
    /// The root element has the right name in the wrong namespace.
    #[error("the root element OAI-PMH is in the namespace '{found}', not in that of the protocol")]
    Namespace {
        /// Its namespace; empty if none.
        found: String,
    },
    /// The response declares an encoding other than UTF-8, which the protocol demands.
    #[error("the encoding of the response is '{name}', not UTF-8")]
    Encoding {
        /// The declared encoding.
        name: String,
    },
    /// One of the protocol's own fields is not UTF-8.
    #[error("invalid UTF-8 in '{element}'")]
    NotUtf8 {
        /// The element that contains it.
        element: String,
    },
    /// A document type with an internal subset. It may define entities that expand without end, so none is read.
    #[error("the document type has an internal subset")]
    InternalSubset,
    /// An entity other than the five that XML itself defines.
    #[error("the entity '&{name};' is not defined")]
    Entity {
        /// The name of the entity.
        name: String,
    },
    /// A reference without an end, or to a character that XML does not allow.
    #[error("'{text}' is not a character or entity reference")]
    Reference {
        /// The reference as written, shortened.
        text: String,
    },
    /// A character that XML does not allow.
    #[error("the character U+{code:04X} is not allowed in XML")]
    Character {
        /// Its code point.
        code: u32,
    },
    /// Text in the place of a name that is not one.
    #[error("'{name}' is not a valid XML name")]
    Name {
        /// The text, shortened.
        name: String,
    },
    /// Two attributes of a tag with the same name, or with the same namespace and local name.
    #[error("the attribute '{name}' is repeated")]
    Repeated {
        /// The local name.
        name: String,
    },
    /// The prefix of a name is not declared.
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
        /// The problem.
        what: &'static str,
    },
    /// Content other than comments and whitespace follows the root element.
    #[error("unexpected content after the root element")]
    Trailing,
    /// The response is truncated.
    #[error("the response is truncated inside '{open}'")]
    Truncated {
        /// The innermost open element; empty if none is.
        open: String,
    },
    /// More than a field of [`Limits`](super::Limits) allows.
    #[error("the response exceeds the limit of {limit} {what}")]
    Limit {
        /// The limited quantity, with its unit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl Fault {
    pub(super) fn at(self, offset: u64) -> ReadError {
        ReadError { offset, fault: self }
    }
}

/// Returns foreign text for a message: readable for any bytes, and of limited length.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const MAX_CHARS: usize = 80;
    // A character has at most four bytes.
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MAX_CHARS + 4)]);
    shortened(&beginning, MAX_CHARS).into_owned()
}
