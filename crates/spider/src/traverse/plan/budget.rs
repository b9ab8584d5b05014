//! Limits the number of documents that are read: of each task, with similar URLs, and on other hosts. A document counts
//! for its tasks once it was read; a document that is being read reserves a place.

use modoai_fetch::Url;

use super::foreign::ForeignHosts;
use super::similar::Similar;
use crate::task::Task;
use crate::traverse::Options;

/// The limit of documents for a task without a configured limit.
pub(crate) const MAX_DOCUMENTS: u64 = 100_000;

/// The documents that a task has read, and its limit.
struct PageBudget {
    limit: Option<u64>,
    read: u64,
    reserved: u64,
}

impl PageBudget {
    fn new(task: &Task, options: &Options) -> Self {
        let limit = match (task.max_pages, options.max_pages) {
            (Some(own), Some(general)) if general > 0 => Some(own.min(general)),
            (Some(own), _) => Some(own),
            (None, general) => Some(general.unwrap_or(MAX_DOCUMENTS)).filter(|limit| *limit > 0),
        };
        Self { limit, read: 0, reserved: 0 }
    }

    fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.read >= limit)
    }

    fn has_room(&self) -> bool {
        self.limit.is_none_or(|limit| self.read + self.reserved < limit)
    }
}

/// The limits of all tasks.
pub(super) struct Budgets {
    tasks: Vec<PageBudget>,
    similar: Similar,
    pub(super) foreign: ForeignHosts,
    is_exceeded: bool,
}

/// The decision about a URL whose turn has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is tested. If it is a document, a place is reserved for it in each of its tasks.
    Admitted,
    /// Its turn has changed in the meantime.
    Obsolete,
    /// Places may become free: the decision is postponed.
    Postponed,
    /// All of its tasks have read enough documents, or the traversal has read enough of its host: it is tested like a
    /// URL outside the tasks.
    Leaf,
    /// Enough documents with similar URLs were read: it is not tested.
    Similar,
}

impl Budgets {
    pub(super) fn new(tasks: &[Task], options: &Options) -> Self {
        Self {
            tasks: tasks.iter().map(|task| PageBudget::new(task, options)).collect(),
            similar: Similar::new(options.max_similar),
            foreign: ForeignHosts::default(),
            is_exceeded: false,
        }
    }

    /// Returns the tasks that are not full; the others no longer contain a document.
    pub(super) fn open(&mut self, tasks: &[usize]) -> Vec<usize> {
        let open: Vec<usize> = tasks.iter().copied().filter(|task| !self.tasks[*task].is_full()).collect();
        self.is_exceeded |= open.len() < tasks.len();
        open
    }

    /// Reserves a place in each of these tasks, which are not full. `is_counted` is true if the document was admitted
    /// before, and is requested again.
    pub(super) fn reserve(&mut self, open: &[usize], url: &str, is_counted: bool) -> Admission {
        if open.is_empty() {
            return Admission::Leaf;
        }
        if !open.iter().any(|task| self.tasks[*task].has_room()) {
            return Admission::Postponed;
        }
        if !is_counted && Url::parse(url).is_ok_and(|url| !self.similar.admit(&url)) {
            return Admission::Similar;
        }
        for task in open {
            self.tasks[*task].reserved += 1;
        }
        Admission::Admitted
    }

    /// Releases the places of a document, and counts it if it was read.
    pub(super) fn release(&mut self, tasks: impl Iterator<Item = usize>, is_read: bool) {
        for task in tasks {
            let budget = &mut self.tasks[task];
            budget.reserved = budget.reserved.saturating_sub(1);
            budget.read += u64::from(is_read);
        }
    }

    /// Returns true if a limit of documents kept some from being read.
    pub(super) fn is_cut(&self) -> bool {
        self.is_exceeded || self.similar.is_used_up()
    }

    /// Returns one sentence for each limit that was reached.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.is_exceeded {
            let limit = self.tasks.iter().filter_map(|budget| budget.limit).min().unwrap_or_default();
            remarks.push(format!(
                "reached the limit of {limit} documents (--max-pages): further documents were tested, but not read"
            ));
        }
        remarks.extend(self.similar.remarks());
        remarks.extend(self.foreign.remark());
        remarks
    }
}
