//! Missing records, repairs, pauses that servers requested, and the results of runs.

use std::path::PathBuf;

use modoai_protocol::Datestamp;
use rusqlite::{OptionalExtension as _, params};
use serde::Serialize;

use super::{Result, State};

/// A record that exists in the repository and is not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The identifier of the record.
    pub identifier: String,
    /// The reason why it is missing.
    pub reason: String,
    /// True if it was received without an identifier, so that `identifier` only says where it was.
    #[serde(skip)]
    pub nameless: bool,
    /// The number of requests for it that failed.
    pub tries: u32,
}

/// A repair that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The name of the quirk.
    pub quirk: String,
    /// The number of times.
    pub count: u64,
    /// The place of one of them.
    pub example: String,
}

/// A pause that a host requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The end of the pause.
    pub until: Datestamp,
    /// The reason.
    pub reason: String,
}

/// A run, and the summary it stored when it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The date of its start.
    pub started: Datestamp,
    /// The date of its end; none if it was killed or could not store that.
    pub ended: Option<Datestamp>,
    /// Its summary, as JSON.
    pub summary: Option<String>,
}

/// Bytes that a run reserves, so that it can store its end on a full disk.
const RESERVE: usize = 64 * 1024;

impl State {
    /// Notes a record as missing. Returns the window or pass that it was last listed in, if it was missing already.
    pub fn miss(&mut self, identifier: &str, reason: &str, window: i64) -> Result<Option<i64>> {
        let seen = "SELECT seen FROM missing WHERE identifier = ?";
        let seen = self.sql(|sql| sql.prepare_cached(seen)?.query_row([identifier], |row| row.get(0)).optional())?;
        self.note_missing(identifier, reason, false, window)?;
        Ok(seen)
    }

    /// Notes the place of a record that was received without an identifier. Only the next complete harvest can fetch
    /// it.
    pub fn miss_nameless(&mut self, place: &str, reason: &str) -> Result<()> {
        self.note_missing(place, reason, true, 0)
    }

    fn note_missing(&mut self, identifier: &str, reason: &str, nameless: bool, window: i64) -> Result<()> {
        let insert = "INSERT INTO missing (identifier, reason, nameless, since, seen) VALUES (?, ?, ?, ?, ?)
                      ON CONFLICT (identifier) DO UPDATE SET reason = excluded.reason, seen = excluded.seen";
        let values = params![identifier, reason, nameless, crate::clock::now().unix(), window];
        self.sql(|sql| sql.prepare_cached(insert)?.execute(values).map(drop))
    }

    /// Counts a failed request for a record.
    pub fn tried(&mut self, identifier: &str, reason: &str) -> Result<()> {
        let update = "UPDATE missing SET tries = tries + 1, reason = ? WHERE identifier = ?";
        self.sql(|sql| sql.prepare_cached(update)?.execute(params![reason, identifier]).map(drop))
    }

    /// Removes a record from the missing ones.
    pub fn found(&mut self, identifier: &str) -> Result<()> {
        self.sql(|sql| sql.prepare_cached("DELETE FROM missing WHERE identifier = ?")?.execute([identifier]).map(drop))
    }

    /// Returns true if any record is missing. Called for every page.
    pub fn misses_any(&self) -> Result<bool> {
        self.sql(|sql| sql.prepare_cached("SELECT EXISTS (SELECT 1 FROM missing)")?.query_row([], |row| row.get(0)))
    }

    /// Returns the missing records, in order of their identifiers, after the one given; at most `limit`.
    pub fn missing(&self, after: &str, limit: usize) -> Result<Vec<Missing>> {
        let select =
            "SELECT identifier, reason, nameless, tries FROM missing WHERE identifier > ? ORDER BY identifier LIMIT ?";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.sql(|sql| {
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Missing { identifier: row.get(0)?, reason: row.get(1)?, nameless: row.get(2)?, tries: row.get(3)? })
            };
            sql.prepare_cached(select)?.query_map(params![after, limit], row)?.collect()
        })
    }

    /// Returns the number of missing records.
    pub fn missing_count(&self) -> Result<u64> {
        let count: i64 = self.sql(|sql| sql.query_row("SELECT count(*) FROM missing", [], |row| row.get(0)))?;
        Ok(count.cast_unsigned())
    }

    /// Returns the number of records that are missing for a reason that contains this text.
    pub fn missing_because(&self, reason: &str) -> Result<u64> {
        let select = "SELECT count(*) FROM missing WHERE instr(reason, ?) > 0";
        let count: i64 = self.sql(|sql| sql.query_row(select, [reason], |row| row.get(0)))?;
        Ok(count.cast_unsigned())
    }

    /// Adds to the repairs that were applied.
    pub fn add_repairs(&mut self, repairs: &[Repair]) -> Result<()> {
        let insert = "INSERT INTO repair VALUES (?, ?, ?)
                      ON CONFLICT (quirk) DO UPDATE SET count = count + excluded.count, example = excluded.example";
        self.sql(|sql| {
            for repair in repairs {
                let count = repair.count.cast_signed();
                sql.prepare_cached(insert)?.execute(params![repair.quirk, count, repair.example])?;
            }
            Ok(())
        })
    }

    /// Returns all repairs that were ever applied.
    pub fn repairs(&self) -> Result<Vec<Repair>> {
        self.sql(|sql| {
            let mut select = sql.prepare("SELECT quirk, count, example FROM repair ORDER BY quirk")?;
            let repairs = select.query_map([], |row| {
                let count: i64 = row.get(1)?;
                Ok(Repair { quirk: row.get(0)?, count: count.cast_unsigned(), example: row.get(2)? })
            })?;
            repairs.collect()
        })
    }

    /// Stores that a host requested a longer pause than a run can wait.
    pub fn set_wait(&mut self, host: &str, wait: &Wait) -> Result<()> {
        let insert = "INSERT OR REPLACE INTO wait VALUES (?, ?, ?)";
        self.sql(|sql| sql.execute(insert, params![host, wait.until.unix(), wait.reason]).map(drop))
    }

    /// Returns the pause that a host requested, if it is not over.
    pub fn wait(&self, host: &str, now: Datestamp) -> Result<Option<Wait>> {
        let select = "SELECT until, reason FROM wait WHERE host = ? AND until > ?";
        self.sql(|sql| {
            let row =
                |row: &rusqlite::Row<'_>| Ok(Wait { until: Datestamp::from_unix(row.get(0)?), reason: row.get(1)? });
            sql.query_row(select, params![host, now.unix()], row).optional()
        })
    }

    /// Returns every host that requested a pause that is not over.
    pub fn waits(&self) -> Result<Vec<(String, Wait)>> {
        let now = crate::clock::now().unix();
        self.sql(|sql| {
            let row = |row: &rusqlite::Row<'_>| {
                Ok((row.get(0)?, Wait { until: Datestamp::from_unix(row.get(1)?), reason: row.get(2)? }))
            };
            sql.prepare("SELECT host, until, reason FROM wait WHERE until > ?")?.query_map([now], row)?.collect()
        })
    }

    /// Stores the start of a run, and returns its number.
    pub fn begin_run(&mut self, now: Datestamp) -> Result<i64> {
        let number = self.sql(|sql| {
            sql.execute("INSERT INTO run (started) VALUES (?)", [now.unix()])?;
            Ok(sql.last_insert_rowid())
        })?;
        if let Some(reserve) = self.reserve() {
            // If even that does not fit on the disk, the run will soon end anyway.
            let _ = std::fs::write(reserve, vec![b'.'; RESERVE]);
        }
        Ok(number)
    }

    /// Stores the end of a run. If the disk is full, deleting the reserve frees space for it.
    pub fn end_run(&mut self, number: i64, now: Datestamp, summary: &str) -> Result<()> {
        let update = "UPDATE run SET ended = ?, summary = ? WHERE number = ?";
        let end = || self.sql(|sql| sql.execute(update, params![now.unix(), summary, number]).map(drop));
        let ended = end();
        let freed = self.reserve().is_some_and(|reserve| std::fs::remove_file(reserve).is_ok());
        if ended.is_err() && freed { end() } else { ended }
    }

    /// Returns the path of the reserve; none if the state is in memory.
    fn reserve(&self) -> Option<PathBuf> {
        self.lock.as_ref().map(|_| self.path.with_file_name("reserve"))
    }

    /// Returns the last runs, newest first.
    pub fn runs(&self, limit: usize) -> Result<Vec<Run>> {
        let select = "SELECT started, ended, summary FROM run ORDER BY number DESC LIMIT ?";
        self.sql(|sql| {
            let row = |row: &rusqlite::Row<'_>| {
                let ended: Option<i64> = row.get(1)?;
                Ok(Run {
                    started: Datestamp::from_unix(row.get(0)?),
                    ended: ended.map(Datestamp::from_unix),
                    summary: row.get(2)?,
                })
            };
            sql.prepare(select)?.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], row)?.collect()
        })
    }
}
