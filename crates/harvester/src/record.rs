//! The header of a record, and its difference from the stored item. Everything after the XML reader uses these types.

/// The header of a record, as the server wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The identifier of the item.
    pub identifier: String,
    /// The date of the last change, in the form that the server uses.
    pub datestamp: String,
    /// The sets it is in.
    pub sets: Vec<String>,
    /// True if the item is deleted.
    pub deleted: bool,
}

/// The difference between a record and the stored item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// The item was not known.
    New,
    /// It was, and something in its header, metadata or about containers differs.
    Changed,
    /// It was, and nothing differs: overlapping windows and duplicates bring such records.
    Same,
}
