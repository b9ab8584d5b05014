//! Completes the first filling.
//!
//! While the catalogue is being filled, only `record` and its names are written, in the order of names, which only
//! appends to the table. Memberships have another order, so adding them batch by batch would write to every page of
//! their table with every batch. They are created here instead, all together and sorted, in the transaction that makes
//! the catalogue ready. A filling that is interrupted before that needs no repair.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rusqlite::Connection;

use super::batch::Ledger;
use super::membership::{self, Entry};
use super::registry::Kind;

/// The number of memberships to sort at a time. It limits the memory; each round reads all items once.
const ROUND: usize = 1 << 20;

/// Creates memberships, counters and live counts from the records, and makes the catalogue ready.
pub(super) fn complete(writer: &Connection, ledger: &mut Ledger) -> rusqlite::Result<()> {
    let census = Census::take(writer, ledger)?;
    let sizes = census.set_sizes();
    let mut rest = &sizes[..];
    while !rest.is_empty() {
        let mut memberships = 0;
        let fits = rest.iter().take_while(|(_, size)| {
            memberships += size.all;
            memberships <= ROUND
        });
        let (round, later) = rest.split_at(fits.count().max(1));
        census.write(writer, round)?;
        rest = later;
    }
    let mut count = writer.prepare_cached("UPDATE setname SET live = ?2 WHERE set_id = ?1")?;
    for (set, size) in &sizes {
        count.execute([*set, size.live as i64])?;
    }
    ledger.floor = census.items.last().map_or(ledger.floor, |newest| ledger.floor.max(newest.datestamp));
    ledger.ready = true;
    writer.execute("UPDATE standing SET ready = 1, floor = ?1", [ledger.floor])?;
    Ok(())
}

/// All items in the order of lists, only with the fields that memberships need.
struct Census {
    items: Vec<Listed>,
    kinds: Vec<(Arc<Kind>, Size)>,
}

struct Listed {
    datestamp: i64,
    number: i64,
    /// Index into the census's kinds.
    kind: u32,
}

#[derive(Clone, Copy, Default)]
struct Size {
    all: usize,
    live: usize,
}

impl Census {
    fn take(writer: &Connection, ledger: &mut Ledger) -> rusqlite::Result<Self> {
        let mut census = Self { items: Vec::new(), kinds: Vec::new() };
        let mut kinds = HashMap::<String, u32>::new();
        let mut records = writer.prepare("SELECT number, datestamp, deleted, sets FROM record")?;
        let mut rows = records.query([])?;
        while let Some(row) = rows.next()? {
            let text = row.get_ref(3)?.as_str()?;
            let kind = match kinds.get(text) {
                Some(kind) => *kind,
                None => {
                    let kind = census.kinds.len() as u32;
                    census.kinds.push((ledger.registry.recorded_kind(writer, text)?, Size::default()));
                    kinds.insert(text.to_owned(), kind);
                    kind
                }
            };
            let size = &mut census.kinds[kind as usize].1;
            size.all += 1;
            size.live += usize::from(!row.get::<_, bool>(2)?);
            census.items.push(Listed { datestamp: row.get(1)?, number: row.get(0)?, kind });
        }
        census.items.sort_unstable_by_key(|item| (item.datestamp, item.number));
        Ok(census)
    }

    /// The sizes of all sets, in order of their numbers.
    fn set_sizes(&self) -> Vec<(i64, Size)> {
        let mut sizes = BTreeMap::<i64, Size>::new();
        for (kind, size) in &self.kinds {
            for set in &kind.sets {
                let sum = sizes.entry(*set).or_default();
                sum.all += size.all;
                sum.live += size.live;
            }
        }
        sizes.into_iter().collect()
    }

    /// Writes the memberships of a range of sets.
    fn write(&self, writer: &Connection, sets: &[(i64, Size)]) -> rusqlite::Result<()> {
        let places_of = |(kind, _): &(Arc<Kind>, Size)| -> Vec<usize> {
            let place = |set: &i64| sets.binary_search_by_key(set, |(set, _)| *set).ok();
            kind.sets.iter().filter_map(place).collect()
        };
        let places: Vec<Vec<usize>> = self.kinds.iter().map(places_of).collect();
        let mut members: Vec<Vec<u32>> = sets.iter().map(|(_, size)| Vec::with_capacity(size.all)).collect();
        for (index, item) in self.items.iter().enumerate() {
            for place in &places[item.kind as usize] {
                members[*place].push(index as u32);
            }
        }
        let entries = sets.iter().zip(&members).flat_map(|((set, _), members)| {
            members.iter().map(|index| {
                let Listed { datestamp, number, .. } = self.items[*index as usize];
                Entry { set: *set, datestamp, number, change: 1 }
            })
        });
        membership::write(writer, entries)
    }
}
