//! The items of each set with their datestamps, and their number per day.
//!
//! A list without a set is a list of the set that holds everything, so this is also the order of all items.

use rusqlite::{Connection, params};

use super::insert::insert_all;

/// The position of an item in the list of one set, added or removed. Entries are sorted in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) set: i64,
    pub(super) datestamp: i64,
    pub(super) number: i64,
    /// +1 if added, -1 if removed.
    pub(super) change: i64,
}

impl Entry {
    fn place(&self) -> (i64, i64, i64) {
        (self.set, self.datestamp, self.number)
    }
}

/// The changes of memberships in a batch, collected so that they can be written in the order of the table.
#[derive(Default)]
pub(super) struct Moves(Vec<Entry>);

impl Moves {
    pub(super) fn note(&mut self, sets: &[i64], datestamp: i64, number: i64, change: i64) {
        self.0.extend(sets.iter().map(|&set| Entry { set, datestamp, number, change }));
    }

    /// Moves an item within these lists.
    pub(super) fn shift(&mut self, sets: impl Iterator<Item = i64>, number: i64, from: i64, to: i64) {
        for set in sets {
            self.note(&[set], from, number, -1);
            self.note(&[set], to, number, 1);
        }
    }

    pub(super) fn write(mut self, writer: &Connection) -> rusqlite::Result<()> {
        self.0.sort_unstable();
        // If an item changes twice in one batch, it is added and removed at the same position: the sum is the result.
        let places = self.0.chunk_by(|a, b| a.place() == b.place());
        let sums = places.map(|same| Entry { change: same.iter().map(|entry| entry.change).sum(), ..same[0] });
        write(writer, sums.filter(|entry| entry.change != 0))
    }
}

/// Returns the day of a datestamp.
pub(super) fn day(datestamp: i64) -> i64 {
    datestamp.div_euclid(SECONDS_PER_DAY)
}

pub(super) const SECONDS_PER_DAY: i64 = 86_400;

/// Writes entries, sorted in the order of the table and with unique positions, and counts them.
pub(super) fn write(writer: &Connection, entries: impl Iterator<Item = Entry>) -> rusqlite::Result<()> {
    let mut leave = writer.prepare_cached("DELETE FROM member WHERE set_id = ?1 AND datestamp = ?2 AND number = ?3")?;
    let mut counters = Counters { writer, set: 0, day: 0, change: 0 };
    let mut coming = Vec::with_capacity(COMING);
    for entry in entries {
        counters.count(&entry)?;
        if entry.change < 0 {
            leave.execute(entry.place())?;
            continue;
        }
        coming.push(entry);
        if coming.len() == COMING {
            come(writer, &coming)?;
            coming.clear();
        }
    }
    come(writer, &coming)?;
    counters.flush()
}

/// The number of entries to collect before they are inserted.
const COMING: usize = 4096;

fn come(writer: &Connection, entries: &[Entry]) -> rusqlite::Result<()> {
    insert_all(writer, "INSERT INTO member VALUES", "(?,?,?)", entries, |entry, statement, first| {
        statement.raw_bind_parameter(first, entry.set)?;
        statement.raw_bind_parameter(first + 1, entry.datestamp)?;
        statement.raw_bind_parameter(first + 2, entry.number)
    })
}

/// Sums the changes of one set and day before they are written.
struct Counters<'a> {
    writer: &'a Connection,
    set: i64,
    day: i64,
    change: i64,
}

impl Counters<'_> {
    fn count(&mut self, entry: &Entry) -> rusqlite::Result<()> {
        let day = day(entry.datestamp);
        if (entry.set, day) != (self.set, self.day) {
            self.flush()?;
            (self.set, self.day) = (entry.set, day);
        }
        self.change += entry.change;
        Ok(())
    }

    fn flush(&mut self) -> rusqlite::Result<()> {
        let change = std::mem::take(&mut self.change);
        if change != 0 {
            let add = "INSERT INTO counter VALUES (?1, ?2, ?3)
                       ON CONFLICT DO UPDATE SET members = members + excluded.members";
            self.writer.prepare_cached(add)?.execute(params![self.set, self.day, change])?;
        }
        Ok(())
    }
}
