//! Checks that one metadata element is valid in one of modoai's responses.
//!
//! Harvested metadata is stored unmodified, and the parser checks only its nesting. Before it is served to others, it
//! must pass the [strict check](modoai_protocol::xml::reader::fragment) of the protocol. [`PartCheck`] changes nothing,
//! and reports the first error of an invalid element; [`PartMender`] repairs the errors that can be repaired.

mod mender;

pub use mender::PartMender;
pub(crate) use modoai_protocol::xml::names::{is_name, may_be_declared};

use modoai_protocol::xml::reader::fragment::Fragment;
use modoai_protocol::xml::reader::{Fault, ReadError};

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
    /// An undeclared prefix, which may have a well-known meaning.
    #[error("the namespace prefix '{0}' is not declared")]
    Prefix(String),
    /// The element does not end.
    #[error("the element is incomplete")]
    Incomplete,
    /// Anything else.
    #[error(transparent)]
    Other(Fault),
}

impl From<ReadError> for Offence {
    fn from(ReadError { offset, fault }: ReadError) -> Self {
        let wrong = match fault {
            Fault::Prefix { prefix } => Wrong::Prefix(prefix),
            Fault::Truncated { .. } => Wrong::Incomplete,
            fault => Wrong::Other(fault),
        };
        Self { offset, wrong }
    }
}

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
    fragment: Fragment,
    failed: Option<Offence>,
}

impl PartCheck {
    /// Returns a check for an element that inherits these namespace declarations: prefix, empty for the default, and
    /// URI.
    pub fn new(namespaces: &[(&str, &str)]) -> Self {
        Self { fragment: Fragment::strict(namespaces), failed: None }
    }

    /// Checks a complete element.
    pub fn whole(element: &[u8], namespaces: &[(&str, &str)]) -> Result<(), Offence> {
        Ok(Fragment::check(element, namespaces)?)
    }

    /// Checks a piece of the element. After an error, nothing more is read, and every call returns the same error.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Offence> {
        match &self.failed {
            Some(offence) => Err(offence.clone()),
            None => {
                let outcome = self.fragment.push(bytes, &mut |_| Ok(()));
                outcome.inspect_err(|offence: &Offence| self.failed = Some(offence.clone()))
            }
        }
    }

    /// Checks that the element is complete.
    pub fn finish(self) -> Result<(), Offence> {
        match self.failed {
            Some(offence) => Err(offence),
            None => Ok(self.fragment.finish()?),
        }
    }

    /// Returns the number of bytes held: a small multiple of a megabyte at most, regardless of the element.
    pub fn held(&self) -> usize {
        self.fragment.held()
    }
}
