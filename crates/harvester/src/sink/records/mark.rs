//! The mark of a commit: how far the segments are true.

use std::fmt;

/// How far was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The segment that was written.
    pub(super) segment: u32,
    /// How much of it.
    pub(super) length: u64,
    /// How many records there are in all.
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
