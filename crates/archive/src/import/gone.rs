//! Deletes documents that are missing from the source.
//!
//! A source that has lost many documents is probably damaged, and an entry whose identifier cannot be read may belong
//! to any document. In both cases nothing is deleted, and the report lists the number of documents that were kept and
//! the reason.

use modoai_repository::catalogue::{Change, Writer};

use super::clerk::hash;
use super::report::{Report, Spared};
use super::stream::Met;
use super::{Import, ImportError};

/// The number of documents to read or delete in one step.
const TOGETHER: usize = 8 * 1024;

impl Import<'_> {
    /// Deletes the documents that were not found in the source, if that is safe.
    pub(super) fn bury(&self, writer: &mut dyn Writer, met: &Met, report: &mut Report) -> Result<(), ImportError> {
        // If the source contains all documents, the comparison of names is not necessary.
        if self.options.only_update || (!self.options.dry_run && writer.live()? == met.live) {
            return Ok(());
        }
        let (mut there, mut missing) = (0_u64, 0_u64);
        self.each_of_mine(|name| {
            there += 1;
            missing += u64::from(!met.names.contains(&hash(&name)));
        })?;
        // The documents that this import added do not count as documents before it. A dry run has added nothing.
        let added = if self.options.dry_run { 0 } else { report.new + report.back };
        let before = there.saturating_sub(added);
        report.spared_because = match () {
            () if missing == 0 => return Ok(()),
            () if met.unidentified > 0 => Some(Spared::Unidentified),
            () if !self.options.max_deleted.allows(missing, before) => Some(Spared::TooMany),
            () => None,
        };
        if report.spared_because.is_some() {
            report.spared = missing;
            return Ok(());
        }
        report.gone += missing;
        if self.options.dry_run {
            return Ok(());
        }
        let mut names = Vec::new();
        self.each_of_mine(|name| {
            if !met.names.contains(&hash(&name)) {
                names.push(name);
            }
        })?;
        for some in names.chunks(TOGETHER) {
            let changes: Vec<_> = some.iter().map(|name| Change::Delete { name: name.clone() }).collect();
            writer.apply(&changes)?;
        }
        Ok(())
    }

    /// Calls `look` with the name of each document of this source that is not deleted.
    fn each_of_mine(&self, mut look: impl FnMut(String)) -> Result<(), ImportError> {
        let mut after = String::new();
        loop {
            let names = self.catalogue.names_from(self.source(), &after, TOGETHER)?;
            let Some(last) = names.last() else { return Ok(()) };
            after.clone_from(last);
            names.into_iter().for_each(&mut look);
        }
    }
}
