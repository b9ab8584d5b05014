//! Lists that were begun, and whether they came to their end.
//!
//! A harvest is complete when its last page was sent to the harvester that asked for its first. A token can be passed
//! on, and an address can change in the middle: then nobody is told to have all of it.

use std::collections::HashMap;

use modoai_protocol::Datestamp;

use crate::list::List;

/// Lists that one harvester may have open. Who begins more and ends none is followed in the latest.
const MOST: usize = 32;

/// Pages of one list, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// When its first page was sent.
    pub began: Datestamp,
    /// When its last page was sent, so far.
    pub last: Datestamp,
    /// Pages sent.
    pub pages: u64,
    /// Records or headers sent.
    pub records: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Whether it was seen from its first page on.
    pub from_start: bool,
    /// Whether it was of everything, and not of a set or a range.
    pub everything: bool,
}

/// What the pages of a list have in common.
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
    /// Takes a page in; returns its list as it stands now.
    pub(crate) fn page(&mut self, page: Page) -> Run {
        let Page { at, headers_only, list, is_last, records, bytes } = page;
        let (from_start, everything) = (list.is_first(), list.is_first() && list.is_everything());
        let key = Key { headers_only, prefix: list.prefix, set: list.set, from: list.from };
        let new = Run { began: at, last: at, pages: 0, records: 0, bytes: 0, from_start, everything };
        // A first page begins anew, whatever became of the list before.
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
