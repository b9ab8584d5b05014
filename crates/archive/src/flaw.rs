//! An error in XML that the archive reads or generates, with its position.

use modoai_protocol::xml::reader::{Fault, ReadError};

/// An error in a text, and its position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// The position in the text, in bytes.
    pub(crate) at: usize,
    pub(crate) what: String,
    /// True if an element is not closed.
    pub(crate) is_unclosed: bool,
}

impl Flaw {
    pub(crate) fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into(), is_unclosed: false }
    }
}

impl From<ReadError> for Flaw {
    fn from(ReadError { offset, fault }: ReadError) -> Self {
        let what = match &fault {
            Fault::Truncated { open } if open.is_empty() => "no complete element found".to_owned(),
            Fault::Truncated { open } => format!("`<{open}>` is not closed"),
            Fault::Mismatch { open, close } if open.is_empty() => format!("`</{close}>` has no start tag"),
            fault => fault.to_string(),
        };
        let is_unclosed = match fault {
            Fault::Truncated { open } | Fault::Mismatch { open, .. } => !open.is_empty(),
            _ => false,
        };
        Self { at: usize::try_from(offset).unwrap_or(usize::MAX), what, is_unclosed }
    }
}
