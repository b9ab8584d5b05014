//! Finds the documents that references refer to. A reference to a URL that has moved refers to the new URL.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::results::{Document, Referenced};

/// The documents of an infostructure, by the number and the URL that references contain. URLs are stored as hashes: for
/// a million documents, tens of megabytes instead of hundreds.
#[derive(Default)]
pub(crate) struct DocumentIndex {
    by_node: HashMap<u32, u32>,
    by_url: HashMap<u64, u32>,
}

impl DocumentIndex {
    /// Adds a document, under the caller's number for it.
    pub(crate) fn add(&mut self, document: &Document, known_as: u32) {
        self.by_node.insert(document.node, known_as);
        self.by_url.insert(xxh3_64(document.url.as_bytes()), known_as);
    }

    /// Returns the document that a reference refers to.
    pub(crate) fn at(&self, reference: &Referenced) -> Option<u32> {
        let by_node = reference.node.and_then(|node| self.by_node.get(&node));
        let by_url = |url: &str| self.by_url.get(&xxh3_64(url.as_bytes()));
        by_node
            .or_else(|| reference.to.as_deref().and_then(|to| by_url(to.split('#').next().unwrap_or(to))))
            .or_else(|| by_url(&reference.target))
            .copied()
    }
}
