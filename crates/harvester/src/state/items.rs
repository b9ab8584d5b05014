//! The items that were received. What is stored of each is enough to distinguish new, changed and unchanged records.

use modoai_protocol::Datestamp;
use rusqlite::{OptionalExtension as _, params};

use super::{Result, State};
use crate::record::Novelty;

/// The properties of a record that are compared with the stored item.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The identifier of the item.
    pub identifier: &'a str,
    /// The hash of the whole record.
    pub hash: u64,
    /// Its datestamp, if that could be read.
    pub stamp: Option<i64>,
    /// True if the record is a deletion.
    pub gone: bool,
    /// The number of the window or pass in which it was received.
    pub window: i64,
}

/// The result of comparing a record with the stored item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The difference from the stored item.
    pub novelty: Novelty,
    /// True if it was not yet seen in this window.
    pub fresh: bool,
    /// True if it was not yet seen in this pass.
    pub news: bool,
    /// True if it is unchanged, and another source keeps it.
    pub elsewhere: bool,
}

/// The result of comparing a listed header with the stored item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// It is stored. True if it was not yet listed in this pass.
    Stored(bool),
    /// It is stored in an older version, or its deleted status differs.
    Changed,
    /// It is not stored.
    Unknown,
}

impl State {
    /// Stores a record, and returns how it compares with the stored item. Almost always the item is new, so that the
    /// first statement alone does most of the work. Of two versions that are received in one pass (windows from `pass`
    /// on), the one with the later datestamp is kept, in whatever order they arrive; of two with the same datestamp in
    /// one list, the first. Otherwise each would replace the other in every harvest. Changes during a list are left to
    /// the next harvest.
    pub fn note(&mut self, sight: &Sight<'_>, pass: i64) -> Result<Seen> {
        let Sight { identifier, hash, stamp, gone, window } = *sight;
        // SQLite's integers are signed; the bits are the same.
        let hash = hash.cast_signed();
        self.sql(|sql| {
            let insert = "INSERT OR IGNORE INTO item (identifier, hash, seen, stamp, gone) VALUES (?, ?, ?, ?, ?)";
            if sql.prepare_cached(insert)?.execute(params![identifier, hash, window, stamp, gone])? == 1 {
                return Ok(Seen { novelty: Novelty::New, fresh: true, news: true, elsewhere: false });
            }
            let mut select =
                sql.prepare_cached("SELECT hash, seen, stamp, elsewhere, gone FROM item WHERE identifier = ?")?;
            let known = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
            let (old, seen, known, elsewhere, was_gone): (i64, i64, Option<i64>, bool, bool) =
                select.query_row([identifier], known)?;
            let doubled = seen == window && known == stamp && !gone && !was_gone;
            let outdated = doubled || seen >= pass && known.zip(stamp).is_some_and(|(known, stamp)| stamp < known);
            if outdated {
                let mut update = sql.prepare_cached("UPDATE item SET seen = ? WHERE identifier = ?")?;
                update.execute(params![window, identifier])?;
            } else if (old, seen) != (hash, window) {
                // The sink decides which source keeps a changed record. A deletion does not transfer the item to this
                // source.
                let update = "UPDATE item SET elsewhere = elsewhere AND (hash = ?1 OR ?4), hash = ?1, seen = ?2,
                              stamp = ?3, gone = ?4 WHERE identifier = ?5";
                sql.prepare_cached(update)?.execute(params![hash, window, stamp, gone, identifier])?;
            }
            let novelty = if old == hash || outdated { Novelty::Same } else { Novelty::Changed };
            let elsewhere = elsewhere && novelty == Novelty::Same;
            Ok(Seen { novelty, fresh: seen != window, news: seen < pass, elsewhere })
        })
    }

    /// Deletes the item of a record that could not be stored after all.
    pub fn forget(&mut self, identifier: &str) -> Result<()> {
        self.sql(|sql| sql.prepare_cached("DELETE FROM item WHERE identifier = ?")?.execute([identifier]).map(drop))
    }

    /// Notes that another source keeps the record. Returns true if it is a deletion.
    pub fn leave(&mut self, identifier: &str) -> Result<bool> {
        let update = "UPDATE item SET elsewhere = 1 WHERE identifier = ? RETURNING gone";
        let gone = self.sql(|sql| sql.prepare_cached(update)?.query_row([identifier], |row| row.get(0)).optional());
        Ok(gone?.unwrap_or_default())
    }

    /// Marks a record as stored differently from what was received: when it is received again, it counts as changed.
    pub fn doubt(&mut self, identifier: &str) -> Result<()> {
        let update = "UPDATE item SET hash = 0 WHERE identifier = ?";
        self.sql(|sql| sql.prepare_cached(update)?.execute([identifier]).map(drop))
    }

    /// Marks an item as listed in an identifier pass.
    pub fn mark_listed(&mut self, identifier: &str, gone: bool, stamp: Option<i64>, pass: i64) -> Result<Listed> {
        self.sql(|sql| {
            let mut select = sql.prepare_cached("SELECT gone, stamp, seen FROM item WHERE identifier = ?")?;
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let found: Option<(bool, Option<i64>, i64)> = select.query_row([identifier], row).optional()?;
            let Some((was_gone, known, seen)) = found else { return Ok(Listed::Unknown) };
            if was_gone != gone {
                return Ok(Listed::Changed);
            }
            // An item that changed still exists, so it counts as listed.
            let mut update = sql.prepare_cached("UPDATE item SET seen = ? WHERE identifier = ?")?;
            update.execute(params![pass, identifier])?;
            let outdated = known.zip(stamp).is_some_and(|(known, stamp)| known < stamp);
            Ok(if outdated { Listed::Changed } else { Listed::Stored(seen != pass) })
        })
    }

    /// Returns identifiers of items that are not deleted and were not listed in that pass or a later one; at most
    /// `limit`.
    pub fn unlisted(&self, pass: i64, limit: usize) -> Result<Vec<String>> {
        self.sql(|sql| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut select = sql.prepare("SELECT identifier FROM item WHERE gone = 0 AND seen < ? LIMIT ?")?;
            select.query_map(params![pass, limit], |row| row.get(0))?.collect()
        })
    }

    /// Returns the number of items that are not deleted and were not seen since a pass.
    pub fn unlisted_count(&self, pass: i64) -> Result<u64> {
        self.sql(|sql| {
            let select = "SELECT count(*) FROM item WHERE gone = 0 AND seen < ?";
            sql.query_row(select, [pass], |row| Ok(row.get::<_, i64>(0)?.cast_unsigned()))
        })
    }

    /// Returns identifiers of items that are not deleted, were last seen in that window, and have no later datestamp than that
    /// one; at most `limit`.
    pub fn last_seen_in(&self, window: i64, until: Option<Datestamp>, limit: usize) -> Result<Vec<String>> {
        self.sql(|sql| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let select =
                "SELECT identifier FROM item WHERE gone = 0 AND seen = ? AND coalesce(stamp <= ?, TRUE) LIMIT ?";
            let until = until.map(Datestamp::unix);
            sql.prepare(select)?.query_map(params![window, until, limit], |row| row.get(0))?.collect()
        })
    }

    /// Returns the number of items that were seen in that pass or later ones.
    pub fn seen_since(&self, pass: i64) -> Result<u64> {
        let select = "SELECT count(*) FROM item WHERE seen >= ?";
        let count: i64 = self.sql(|sql| sql.query_row(select, [pass], |row| row.get(0)))?;
        Ok(count.cast_unsigned())
    }

    /// Returns the number of items that are not deleted, and of those that are.
    pub fn counts(&self) -> Result<(u64, u64)> {
        self.count("SELECT count(*) FILTER (WHERE gone = 0), count(*) FILTER (WHERE gone <> 0) FROM item")
    }

    /// Returns the same two numbers for the items that other sources keep.
    pub fn elsewhere(&self) -> Result<(u64, u64)> {
        self.count(
            "SELECT count(*) FILTER (WHERE gone = 0), count(*) FILTER (WHERE gone <> 0) FROM item WHERE elsewhere <> 0",
        )
    }

    fn count(&self, select: &str) -> Result<(u64, u64)> {
        self.sql(|sql| {
            sql.query_row(select, [], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned()))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_new_changed_or_the_same() {
        let mut state = State::in_memory().expect("a state");
        let seen = |novelty, fresh| Seen { novelty, fresh, news: novelty == Novelty::New, elsewhere: false };
        let mut note = |hash, window, stamp| {
            let sight = Sight { identifier: "oai:x:1", hash, stamp: Some(stamp), gone: false, window };
            state.note(&sight, 1).expect("noted")
        };
        assert_eq!(note(1, 1, 5), seen(Novelty::New, true));
        assert_eq!(note(1, 1, 5), seen(Novelty::Same, false));
        assert_eq!(note(1, 2, 5), seen(Novelty::Same, true));
        assert_eq!(note(2, 2, 6), seen(Novelty::Changed, false));
        assert_eq!(note(3, 2, 4), seen(Novelty::Same, false), "an older version does not win");
        assert_eq!(note(3, 2, 6), seen(Novelty::Same, false), "of two with the same datestamp, the first stands");
        let mut listed = |name, gone, stamp| state.mark_listed(name, gone, stamp, 3).expect("looked up");
        assert_eq!(listed("oai:x:1", false, Some(6)), Listed::Stored(true));
        assert_eq!(listed("oai:x:1", false, None), Listed::Stored(false));
        assert_eq!(listed("oai:x:1", true, Some(6)), Listed::Changed, "deleted since");
        assert_eq!(listed("oai:x:1", false, Some(7)), Listed::Changed, "changed since");
        assert_eq!(listed("oai:x:2", false, Some(6)), Listed::Unknown);
        assert_eq!(state.unlisted(4, 10).expect("a list"), ["oai:x:1"]);
        assert_eq!(state.unlisted_count(4).expect("a count"), 1);
        assert!(state.unlisted(3, 10).expect("a list").is_empty());
        assert_eq!(state.last_seen_in(3, None, 10).expect("a list"), ["oai:x:1"]);
        assert_eq!(state.last_seen_in(3, Some(Datestamp::from_unix(6)), 10).expect("a list"), ["oai:x:1"]);
        assert!(state.last_seen_in(3, Some(Datestamp::from_unix(5)), 10).expect("a list").is_empty());
        assert!(state.last_seen_in(2, None, 10).expect("a list").is_empty());
        assert_eq!((state.seen_since(3).expect("one"), state.seen_since(4).expect("none")), (1, 0));
        state.doubt("oai:x:1").expect("doubted");
        let sight = Sight { identifier: "oai:x:1", hash: 3, stamp: None, gone: false, window: 5 };
        assert_eq!(state.note(&sight, 5).expect("noted").novelty, Novelty::Changed, "the same, and not what is here");
        state.forget("oai:x:1").expect("forgotten");
        assert_eq!(state.counts().expect("counts"), (0, 0));
    }

    #[test]
    fn what_somebody_else_keeps_is_not_here() {
        let mut state = State::in_memory().expect("a state");
        let note = |state: &mut State, hash, gone| {
            state.note(&Sight { identifier: "a", hash, stamp: None, gone, window: 1 }, 1).expect("noted")
        };
        note(&mut state, 1, false);
        assert!(!state.leave("a").expect("left"));
        assert_eq!((state.counts().expect("counts"), state.elsewhere().expect("counts")), ((1, 0), (1, 0)));
        assert!(note(&mut state, 1, false).elsewhere, "the same");
        assert!(!note(&mut state, 2, true).elsewhere, "changed");
        assert_eq!(state.elsewhere().expect("counts"), (0, 1), "a deletion makes nothing ours");
        assert!(state.leave("a").expect("left"));
        note(&mut state, 3, false);
        assert_eq!(
            (state.counts().expect("counts"), state.elsewhere().expect("counts")),
            ((1, 0), (0, 0)),
            "taken over"
        );
    }
}
