//! What a task file says, before the files that it names have been read: what both syntaxes are parsed into.

use std::path::PathBuf;

use jiff::SignedDuration;
use url::Url;

use super::error::Note;
use super::restrictions::Lined;
use super::{Plan, Scope, Task, Tell, values};

/// A task file as it was written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// What it says itself. Paths are as written.
    pub(super) plan: Plan,
    /// The line of each task, and whether it asks in so many words that somebody be told.
    pub(super) tasks: Vec<(usize, bool)>,
    /// What it avoids or leafs itself.
    pub(super) restrictions: Lined,
    /// The files that it names.
    pub(super) includes: Vec<Include>,
    /// What is odd about it.
    pub(super) remarks: Vec<Note>,
}

impl Draft {
    /// Sets the age after which robots.txt is requested again, within the day that RFC 9309 allows.
    pub(super) fn check_robots_after(&mut self, hours: i64) {
        self.plan.robots_age = Some(SignedDuration::from_hours(hours.clamp(0, 24)));
    }
}

/// A file that a task file names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Include {
    pub(super) path: PathBuf,
    pub(super) line: usize,
    pub(super) content: Content,
    /// Whether it may be missing: MOMspider made its files itself.
    pub(super) may_lack: bool,
}

/// What is in such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// What to avoid or to leaf.
    Restrictions,
    /// Which sites have been asked for robots.txt.
    Sites,
    /// Who owns what.
    Owners,
}

/// A task as it was written.
#[derive(Debug, Default)]
pub(super) struct TaskDraft {
    pub(super) line: usize,
    pub(super) name: Option<String>,
    pub(super) scope: Option<Scope>,
    pub(super) top: Option<Url>,
    pub(super) index_file: Option<PathBuf>,
    pub(super) index_url: Option<Url>,
    pub(super) index_title: Option<String>,
    pub(super) addresses: Vec<String>,
    pub(super) tell: Tell,
    pub(super) asks_to_tell: bool,
    pub(super) change_window: Option<u32>,
    pub(super) expire_window: Option<u32>,
    /// Each with its line: what it is relative to may come later.
    pub(super) exclude: Vec<(usize, String)>,
    pub(super) max_pages: Option<u64>,
}

impl Draft {
    /// Takes a task in, if nothing is missing; `words` are the syntax's names for its name and its top.
    pub(super) fn add(&mut self, task: TaskDraft, words: [&str; 2]) -> Result<(), Note> {
        let [name_word, top_word] = words;
        let missing = |word: &str| Note::new(task.line, format!("this task has no {word}"));
        let scope = task.scope.ok_or_else(|| missing(top_word))?;
        let top = task.top.ok_or_else(|| missing(top_word))?;
        let name = task.name.ok_or_else(|| missing(name_word))?;
        let mut exclude = Vec::with_capacity(task.exclude.len());
        for (line, prefix) in &task.exclude {
            let prefix = values::prefix_on(&top, prefix);
            exclude.push(prefix.map_err(|problem| Note::new(*line, format!("exclude {problem}")))?);
        }
        self.tasks.push((task.line, task.asks_to_tell));
        self.plan.tasks.push(Task {
            index_file: task.index_file,
            index_url: task.index_url,
            index_title: task.index_title,
            addresses: task.addresses,
            tell: task.tell,
            change_window: task.change_window,
            expire_window: task.expire_window,
            exclude,
            max_pages: task.max_pages,
            ..Task::new(name, scope, top)
        });
        Ok(())
    }
}
