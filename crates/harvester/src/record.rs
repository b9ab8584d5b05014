//! What a record is to everything behind the reader: its header, and how it compares with what was there before.

/// The header of a record, as the server wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Of the item.
    pub identifier: String,
    /// When the item changed, in whatever form the server writes.
    pub datestamp: String,
    /// The sets it is in.
    pub sets: Vec<String>,
    /// Whether it is gone.
    pub deleted: bool,
}

/// How a record compares with what this harvest had of the item before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// The item was not known.
    New,
    /// It was, and something in its header, metadata or about containers differs.
    Changed,
    /// It was, and nothing differs: overlapping windows and duplicates bring such records.
    Same,
}
