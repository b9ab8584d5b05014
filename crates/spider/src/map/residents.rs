//! Which references lead from a document to a document. A reference to an address that has moved leads to where it moved.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::results::{Document, Referenced};

/// The documents of an infostructure, by the number and the URL that references know them by. URLs are kept as hashes: of a
/// million documents, that is tens of megabytes and not hundreds.
#[derive(Default)]
pub(crate) struct Residents {
    by_node: HashMap<u32, u32>,
    by_url: HashMap<u64, u32>,
}

impl Residents {
    /// Adds a document, under the number by which the asker knows it.
    pub(crate) fn add(&mut self, document: &Document, known_as: u32) {
        self.by_node.insert(document.node, known_as);
        self.by_url.insert(xxh3_64(document.url.as_bytes()), known_as);
    }

    /// The document that a reference leads to.
    pub(crate) fn at(&self, reference: &Referenced) -> Option<u32> {
        let by_node = reference.node.and_then(|node| self.by_node.get(&node));
        let by_url = |url: &str| self.by_url.get(&xxh3_64(url.as_bytes()));
        by_node
            .or_else(|| reference.to.as_deref().and_then(|to| by_url(to.split('#').next().unwrap_or(to))))
            .or_else(|| by_url(&reference.target))
            .copied()
    }
}
