//! Digests of the files of documents, computed once for each state of a file.
//!
//! A package has digests of the bytes that it includes. For a file that it includes only by reference, computing the
//! digests means reading the whole file, and no list may wait for that. So the import computes them after everything
//! else: harvesters can harvest the documents by then. Datestamps do not change (decision 019). An import that is
//! killed continues here with the remaining files.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use modoai_repository::catalogue::stored::Unpacker;
use modoai_repository::formats::{self, Has};

use super::{Import, ImportError};
use crate::dossier::Dossier;
use crate::offer::PACKAGES;
use crate::record::Record;

/// The number of documents that are read at a time.
const ITEMS: usize = 500;

impl Import<'_> {
    /// Computes the digests of all files of documents that have none in their present state, and counts them. A file
    /// that cannot be read, or that changes meanwhile, is left to the next import.
    pub fn digest_files(&self, count: &AtomicU64) -> Result<(), ImportError> {
        let Some(packages) = self.archive.packages.as_ref().filter(|_| !self.options.dry_run) else { return Ok(()) };
        let catalogue = &*self.catalogue;
        let (mut unpacker, mut after) = (Unpacker::new()?, i64::MIN);
        loop {
            let items = catalogue.described(false, after, ITEMS)?;
            let Some(last) = items.last() else { return Ok(()) };
            after = last.number;
            for item in items.iter().filter(|item| formats::holds(item, PACKAGES) == Has::Yes) {
                let Some(body) = &item.body else { continue };
                let mut stored = Vec::new();
                unpacker.each(body, catalogue, |bytes| {
                    stored.extend_from_slice(bytes);
                    Ok(())
                })?;
                let record: Record =
                    serde_json::from_slice(Dossier::new(&stored).record()?).map_err(io::Error::from)?;
                for file in record.files {
                    match packages.digests_of(&file.path, catalogue.file_digests(&file.path)?) {
                        Ok(Some((state, digests))) => catalogue.learn_file(&file.path, &state, &digests)?,
                        Ok(None) => continue,
                        Err(error) => tracing::debug!(file = file.path, %error, "failed to compute digests"),
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}
