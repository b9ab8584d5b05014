//! What every catalogue promises, whatever engine is below it.
//!
//! Each test gets a [`Place`] that holds no catalogue yet. An engine runs them all by `battery!(a new place)`.

pub(crate) mod concurrency;
pub(crate) mod deletion;
pub(crate) mod described;
pub(crate) mod kinds;
pub(crate) mod listing;
pub(crate) mod mounts;
pub(crate) mod stamping;
pub(crate) mod stored;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use modoai_protocol::{Datestamp, Range, SetSpec};
use modoai_repository::catalogue::sqlite::Clock;
use modoai_repository::catalogue::{Catalogue, CatalogueError, Change, Detail, PageQuery, Selected};
use modoai_repository::item::{Fingerprint, Item, Publicity};

/// Where a catalogue is, or will be. Opening it again is what another process would do.
pub(crate) trait Place {
    fn open(&self, clock: Clock) -> Result<Arc<dyn Catalogue>, CatalogueError>;

    fn opened(&self, clock: &HandClock) -> Arc<dyn Catalogue> {
        self.open(clock.clock()).expect("the catalogue opens")
    }
}

/// Makes a test of every promise.
macro_rules! battery {
    ($place:expr) => {
        $crate::battery::battery!($place;
            listing: pages_join_without_gap_or_overlap_at_every_limit,
            listing: many_equal_datestamps_are_listed_once,
            listing: a_set_includes_its_descendants_and_nothing_else,
            listing: items_come_back_as_they_were_put,
            listing: counts_agree_with_lists,
            listing: known_items_come_in_byte_order_of_their_names,
            listing: items_are_found_by_inode,
            listing: unread_items_are_those_something_is_missed_of,
            listing: less_detail_is_the_same_list,
            deletion: a_tombstone_keeps_name_sets_and_place,
            deletion: deleting_what_is_not_there_changes_nothing,
            deletion: what_comes_back_keeps_its_number,
            deletion: an_item_that_moves_leaves_its_old_sets,
            deletion: the_last_of_several_changes_in_a_batch_counts,
            deletion: what_was_public_is_remembered_as_such,
            stamping: the_first_filling_stamps_with_the_modification_time,
            stamping: an_interrupted_filling_goes_on,
            stamping: stamps_never_decrease_whatever_the_clock_does,
            stamping: an_empty_batch_writes_nothing,
            stamping: the_same_bytes_are_not_stamped,
            stamping: facts_belong_to_one_state,
            stored: a_list_holds_what_has_the_format,
            stored: the_same_record_is_not_stamped,
            stored: a_change_in_one_format_does_not_stamp_another,
            stored: an_item_has_one_owner_at_a_time,
            stored: a_large_record_is_had_in_pieces,
            stored: sets_have_the_names_they_were_given,
            stored: records_and_files_do_not_disturb_each_other,
            described: an_unchanged_document_is_not_stamped,
            described: a_document_is_stamped_as_it_is_told,
            described: documents_go_and_come_back,
            described: a_document_is_listed_in_the_formats_it_has,
            described: a_format_becomes_rare_and_common_again,
            described: memos_are_remembered,
            kinds: the_first_writer_sets_the_kind,
            mounts: mounts_are_remembered_until_others_are,
            concurrency: there_is_one_writer,
            concurrency: readers_never_see_half_a_batch,
            concurrency: an_incremental_harvester_misses_nothing,
            concurrency: nor_does_one_that_asks_another_process,
        );
    };
    ($place:expr; $($module:ident: $test:ident,)*) => {
        $(#[test]
        fn $test() {
            $crate::battery::$module::$test(&$place);
        })*
    };
}
pub(crate) use battery;

/// A clock set by hand.
#[derive(Clone, Default)]
pub(crate) struct HandClock(Arc<AtomicI64>);

impl HandClock {
    pub(crate) fn at(seconds: i64) -> Self {
        Self(Arc::new(AtomicI64::new(seconds)))
    }

    pub(crate) fn set(&self, seconds: i64) {
        self.0.store(seconds, Ordering::SeqCst);
    }

    pub(crate) fn clock(&self) -> Clock {
        let now = Arc::clone(&self.0);
        Arc::new(move || Datestamp::from_unix(now.load(Ordering::SeqCst)))
    }
}

pub(crate) fn spec(text: &str) -> Arc<SetSpec> {
    Arc::new(SetSpec::parse(text).expect("a legal set spec"))
}

/// A state of a file, modified at that second.
pub(crate) fn state(size: u64, seconds: i64) -> Fingerprint {
    Fingerprint { size, modified: seconds * 1_000_000_000 + 999, changed: seconds * 1_000_000_000, inode: 7 }
}

/// A change that puts an item of one byte.
pub(crate) fn put(name: &str, seconds: i64, sets: &[&str]) -> Change {
    put_state(name, state(1, seconds), sets)
}

pub(crate) fn put_state(name: &str, fingerprint: Fingerprint, sets: &[&str]) -> Change {
    let sets = sets.iter().map(|set| spec(set)).collect();
    Change::Put {
        name: name.to_owned(),
        fingerprint,
        media_type: "text/html".into(),
        sets,
        publicity: Publicity::Untold,
    }
}

pub(crate) fn delete(name: &str) -> Change {
    Change::Delete { name: name.to_owned() }
}

/// Applies changes by a writer of their own.
pub(crate) fn apply(catalogue: &dyn Catalogue, changes: &[Change]) {
    let mut writer = catalogue.writer().expect("nobody else writes");
    writer.apply(changes).expect("changes apply");
}

/// A ready catalogue that was first filled with these.
pub(crate) fn filled(place: &dyn Place, clock: &HandClock, changes: &[Change]) -> Arc<dyn Catalogue> {
    let catalogue = place.opened(clock);
    let mut writer = catalogue.writer().expect("nobody else writes");
    writer.apply(changes).expect("changes apply");
    writer.complete().expect("the filling completes");
    drop(writer);
    catalogue
}

/// A list, page by page.
pub(crate) fn list(catalogue: &dyn Catalogue, set: Option<&SetSpec>, range: Range, limit: usize) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    loop {
        let after = items.last().map(|item| (item.datestamp, item.number));
        let page = catalogue
            .page(&PageQuery { selection: Selected { format: None, set, range }, after, limit, detail: Detail::Whole })
            .expect("a page");
        assert!(page.len() <= limit);
        if page.is_empty() {
            return items;
        }
        items.extend(page);
    }
}

pub(crate) fn everything(catalogue: &dyn Catalogue) -> Vec<Item> {
    list(catalogue, None, Range::ALL, 500)
}

pub(crate) fn names(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.name.as_str()).collect()
}

pub(crate) fn item(catalogue: &dyn Catalogue, name: &str) -> Item {
    catalogue.item(name).expect("a look-up").expect("the item is there")
}

pub(crate) fn live_sets(catalogue: &dyn Catalogue) -> Vec<String> {
    catalogue.sets().expect("sets").iter().map(ToString::to_string).collect()
}

/// Numbers that look random and are the same every time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % bound
    }
}
