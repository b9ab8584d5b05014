//! The content of the repository: what exists, what existed, and when it changed.

use crate::case::{Case, Change, Deletions, Spread};

/// The time at which every case begins.
pub const BEGINNING: i64 = 1_600_000_000;

/// The time for which transient deletions are announced.
const ANNOUNCED: i64 = 3 * 86_400;

/// An item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The number in its identifier.
    pub number: usize,
    /// The number of its last version.
    pub version: u32,
    /// The datestamp of that version.
    pub stamp: i64,
    /// The time at which that version became visible.
    pub visible: i64,
    /// True if it is deleted.
    pub deleted: bool,
    /// The run in which it changed last; 0 before the first.
    pub changed_in: usize,
}

impl Item {
    /// The identifier.
    pub fn identifier(&self) -> String {
        format!("oai:sim:{:02}", self.number)
    }

    /// The set, if it is in one.
    pub fn set(&self) -> Option<&'static str> {
        [None, Some("a"), Some("b")][self.number % 3]
    }

    /// The position in a list without an order.
    pub fn hash(&self) -> u64 {
        (self.number as u64 + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
    }
}

/// The content of a repository.
#[derive(Clone, Debug)]
pub struct Truth {
    /// All items that ever existed.
    pub items: Vec<Item>,
    deletions: Deletions,
    late: i64,
}

impl Truth {
    /// The content at the beginning of a case.
    pub fn of(case: &Case) -> Self {
        let count = usize::from(case.records) + usize::from(case.tombstones);
        let items = (0..count).map(|number| {
            // Deleted records are between the others.
            let deleted = (number * 5 + 1) % count.max(1) < usize::from(case.tombstones);
            let back = (count - number) as i64;
            let stamp = BEGINNING
                - match case.spread {
                    Spread::Years => back * 50 * 86_400 + back * 7,
                    Spread::Days => back * 12_345,
                    Spread::Moment => 400 * 86_400,
                    Spread::Now => 1,
                };
            Item { number, version: 1, stamp, visible: stamp, deleted, changed_in: 0 }
        });
        Self { items: items.collect(), deletions: case.deletions, late: i64::from(case.late) }
    }

    /// Changes the repository at a time, in a run.
    pub fn change(&mut self, change: Change, now: i64, run: usize) {
        let stamp = now - self.late;
        let fresh = |number| Item { number, version: 1, stamp, visible: now, deleted: false, changed_in: run };
        let count = self.items.len();
        match change {
            Change::Add => self.items.push(fresh(count)),
            Change::Edit(number) | Change::Delete(number) if count > 0 => {
                let item = &mut self.items[usize::from(number) % count];
                let deleted = matches!(change, Change::Delete(_));
                if !(deleted && item.deleted) {
                    let version = item.version + 1;
                    *item = Item { version, deleted, ..fresh(item.number) };
                }
            }
            Change::Edit(_) | Change::Delete(_) => {}
        }
    }

    /// True if the server lists an item, as a record or as a deletion.
    pub fn is_listed(&self, item: &Item, now: i64) -> bool {
        !item.deleted
            || match self.deletions {
                Deletions::Persistent => true,
                Deletions::Transient => now - item.visible < ANNOUNCED,
                Deletions::No => false,
            }
    }
}
