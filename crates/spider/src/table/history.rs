//! Findings of earlier runs, from which new and fixed findings and their dates are derived.

use jiff::Timestamp;
use rusqlite::params;

use super::{Result, Table, timestamp};
use crate::verdict::Verdict;

/// The verdicts that are stored, by their number in the store.
const VERDICTS: [Verdict; 4] = [Verdict::Broken, Verdict::Fragment, Verdict::Moved, Verdict::NotTested];

/// A finding of an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Past {
    pub(crate) page: u32,
    pub(crate) target: String,
    pub(crate) fragment: Option<String>,
    pub(crate) verdict: Verdict,
    pub(crate) since: Timestamp,
}

impl Table {
    /// Stores a finding for the next run. Returns the date since when it exists, and true if an earlier run had it.
    pub(crate) fn remember(
        &self,
        run: u32,
        page: u32,
        target: &str,
        fragment: Option<&str>,
        verdict: Verdict,
        now: Timestamp,
    ) -> Result<(Timestamp, bool)> {
        let Some(code) = code(verdict) else { return Ok((now, false)) };
        let fragment = fragment.unwrap_or_default();
        self.kept(|db| {
            let sql = "INSERT INTO finding VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                       ON CONFLICT DO UPDATE SET run = excluded.run RETURNING since";
            let since: i64 = db
                .prepare_cached(sql)?
                .query_row(params![page, target, fragment, code, now.as_millisecond(), run], |row| row.get(0))?;
            Ok((timestamp(since), since < now.as_millisecond()))
        })
    }

    /// Visits findings of earlier runs that this one does not have, in no particular order.
    pub(crate) fn gone(&self, run: u32, mut visit: impl FnMut(Past)) -> Result<()> {
        self.kept(|db| {
            let mut statement =
                db.prepare_cached("SELECT page, target, fragment, verdict, since FROM finding WHERE run < ?1")?;
            let mut rows = statement.query([run])?;
            while let Some(row) = rows.next()? {
                let Some(verdict) = VERDICTS.get(usize::from(row.get::<_, u8>(3)?)) else { continue };
                visit(Past {
                    page: row.get(0)?,
                    target: row.get(1)?,
                    fragment: Some(row.get::<_, String>(2)?).filter(|fragment| !fragment.is_empty()),
                    verdict: *verdict,
                    since: timestamp(row.get(4)?),
                });
            }
            Ok(())
        })
    }

    /// Removes a fixed finding, after it was reported.
    pub(crate) fn forget(&self, past: &Past) -> Result<()> {
        let Some(code) = code(past.verdict) else { return Ok(()) };
        let sql = "DELETE FROM finding WHERE page = ?1 AND target = ?2 AND fragment = ?3 AND verdict = ?4";
        let fragment = past.fragment.as_deref().unwrap_or_default();
        self.write(sql, params![past.page, past.target, fragment, code])
    }
}

/// Returns the number of a verdict in the store, if it is stored.
fn code(verdict: Verdict) -> Option<u8> {
    VERDICTS.iter().position(|known| *known == verdict).map(|position| position as u8)
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn what_is_new_is_told_from_what_is_old() {
        let table = Table::temporary().expect("a table");
        let first = Timestamp::from_second(1_800_000_000).expect("a time");
        let second = Timestamp::from_second(1_800_086_400).expect("a time");
        let broken = |run, target, now| table.remember(run, 1, target, None, Verdict::Broken, now).expect("kept");
        assert_eq!(broken(1, "http://a/x", first), (first, false));
        assert_eq!(broken(1, "http://a/y", first), (first, false));
        assert_eq!(broken(2, "http://a/x", second), (first, true));
        assert_eq!(broken(2, "http://a/z", second), (second, false));
        let mut gone = Vec::new();
        table.gone(2, |past| gone.push(past)).expect("read");
        assert_eq!(gone.iter().map(|past| past.target.as_str()).collect::<Vec<_>>(), ["http://a/y"]);
        table.forget(&gone[0]).expect("forgotten");
        table.gone(2, |past| panic!("{past:?} is still there")).expect("read");
    }
}
