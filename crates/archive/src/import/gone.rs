//! What was in the source the last time and is not any more.
//!
//! A source that lost much is more likely damaged than honest, and an entry that cannot be told from others may be any
//! document: in both cases nothing is deleted, and the report says what was spared and why.

use modoai_repository::catalogue::{Change, Writer};

use super::clerk::hash;
use super::report::{Report, Spared};
use super::stream::Met;
use super::{Import, ImportError};

/// Documents looked at, or deleted, together.
const TOGETHER: usize = 8 * 1024;

impl Import<'_> {
    /// Deletes what was not met, if that is safe.
    pub(super) fn bury(&self, writer: &mut dyn Writer, met: &Met, report: &mut Report) -> Result<(), ImportError> {
        // Everything that is there was met: no need to look at each.
        if self.options.only_update || (!self.options.dry_run && writer.live()? == met.live) {
            return Ok(());
        }
        let (mut there, mut missing) = (0_u64, 0_u64);
        self.each_of_mine(|name| {
            there += 1;
            missing += u64::from(!met.names.contains(&hash(&name)));
        })?;
        // What this import added says nothing about what it lost. A dry run has added nothing.
        let added = if self.options.dry_run { 0 } else { report.new + report.back };
        let before = there.saturating_sub(added);
        // A single one may always go, or the smallest archives could lose none.
        let too_many = missing > 1 && missing as f64 > self.options.most_gone * before as f64;
        report.spared_because = match () {
            () if missing == 0 => return Ok(()),
            () if met.unidentified > 0 => Some(Spared::Unidentified),
            () if too_many => Some(Spared::TooMany),
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

    /// The name of every document of this source that is not gone.
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
