//! The mark of a commit: the position up to which the segments are committed.

use std::fmt;

/// The position of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The segment that was written.
    pub(super) segment: u32,
    /// The committed length of that segment.
    pub(super) length: u64,
    /// The number of records in all segments.
    pub(super) records: u64,
}

impl Mark {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(':').map(|number| number.parse::<u64>().ok());
        let mut number = || numbers.next().flatten();
        let mark = Self { segment: u32::try_from(number()?).ok()?, length: number()?, records: number()? };
        numbers.next().is_none().then_some(mark)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.segment, self.length, self.records)
    }
}
