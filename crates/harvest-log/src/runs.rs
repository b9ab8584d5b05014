//! Follows the pages of lists, and determines if lists were completed.
//!
//! A harvest is complete when its last page was sent to the harvester that requested its first page. A token can be
//! passed on, and an address can change in the middle of a list: then no harvester is reported as complete.

use std::collections::HashMap;

use modoai_protocol::Datestamp;

use crate::list::List;

/// The maximum number of open lists of one harvester. If it opens more, only the latest are followed.
const MOST: usize = 32;

/// The pages of one list, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The time of its first page.
    pub began: Datestamp,
    /// The time of its last page so far.
    pub last: Datestamp,
    /// The number of pages sent.
    pub pages: u64,
    /// The number of records or headers sent.
    pub records: u64,
    /// The number of bytes sent.
    pub bytes: u64,
    /// True if its first page was seen.
    pub from_start: bool,
    /// True if the list is unrestricted: no set and no range.
    pub everything: bool,
}

/// The common properties of the pages of a list.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    headers_only: bool,
    prefix: String,
    set: Option<String>,
    from: Option<String>,
}

/// The open lists of one harvester.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    open: HashMap<Key, Run>,
}

/// A page that was sent.
pub(crate) struct Page {
    pub(crate) at: Datestamp,
    pub(crate) headers_only: bool,
    pub(crate) list: List,
    pub(crate) is_last: bool,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
}

impl Runs {
    /// Adds a page; returns its list including that page.
    pub(crate) fn page(&mut self, page: Page) -> Run {
        let Page { at, headers_only, list, is_last, records, bytes } = page;
        let (from_start, everything) = (list.is_first(), list.is_first() && list.is_everything());
        let key = Key { headers_only, prefix: list.prefix, set: list.set, from: list.from };
        let new = Run { began: at, last: at, pages: 0, records: 0, bytes: 0, from_start, everything };
        // A first page starts a new list, regardless of the state of the previous one.
        let earlier = self.open.remove(&key).filter(|_| !from_start);
        let mut run = earlier.unwrap_or(new);
        run.last = run.last.max(at);
        run.pages += 1;
        run.records = run.records.saturating_add(records);
        run.bytes = run.bytes.saturating_add(bytes);
        if !is_last {
            if self.open.len() >= MOST {
                self.forget_one();
            }
            self.open.insert(key, run.clone());
        }
        run
    }

    fn forget_one(&mut self) {
        let Some(oldest) = self.open.values().map(|run| run.last).min() else { return };
        self.open.retain(|_, run| run.last > oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(at: i64, list: &str, is_last: bool) -> Page {
        let at = Datestamp::from_unix(at);
        Page { at, headers_only: false, list: List::read(list), is_last, records: 10, bytes: 100 }
    }

    #[test]
    fn a_list_is_followed_from_its_first_page_to_its_last() {
        let mut runs = Runs::default();
        runs.page(page(1, "oai_dc", false));
        runs.page(page(2, "oai_dc set=a", false));
        runs.page(page(3, "oai_dc after=10", false));
        let run = runs.page(page(4, "oai_dc after=20", true));
        assert_eq!((run.began.unix(), run.last.unix(), run.pages, run.records, run.bytes), (1, 4, 3, 30, 300));
        assert!(run.from_start && run.everything);
        let run = runs.page(page(5, "oai_dc set=a after=10", true));
        assert!(run.from_start && !run.everything);
        assert!(runs.open.is_empty());
    }

    #[test]
    fn an_end_without_a_beginning_is_no_harvest() {
        let run = Runs::default().page(page(1, "oai_dc after=500", true));
        assert!(!run.from_start && !run.everything);
        assert!(!Runs::default().page(page(1, "oai_dc until=2020-01-01T00:00:00Z", true)).everything);
    }

    #[test]
    fn a_list_that_begins_again_counts_from_there() {
        let mut runs = Runs::default();
        runs.page(page(1, "oai_dc", false));
        runs.page(page(2, "oai_dc after=10", false));
        assert_eq!(runs.page(page(3, "oai_dc", false)).pages, 1);
    }

    #[test]
    fn open_lists_are_bounded() {
        let mut runs = Runs::default();
        for number in 0..10_000 {
            runs.page(page(number, &format!("oai_dc set={number}"), false));
        }
        assert!(runs.open.len() <= MOST);
    }
}
