//! The contents of a task file before the files that it includes have been read: both syntaxes are parsed into it.

use std::path::PathBuf;

use jiff::SignedDuration;
use url::Url;

use super::error::Note;
use super::restrictions::Lined;
use super::{Plan, Scope, Task, Tell, values};

/// A parsed task file.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The contents of the file itself. Paths are as written.
    pub(super) plan: Plan,
    /// The line of each task, and true if the task requests mail explicitly.
    pub(super) tasks: Vec<(usize, bool)>,
    /// The prefixes to avoid or leaf in the file itself.
    pub(super) restrictions: Lined,
    /// The files that it includes.
    pub(super) includes: Vec<Include>,
    /// Remarks about unusual contents.
    pub(super) remarks: Vec<Note>,
}

impl Draft {
    /// Sets the age after which robots.txt is requested again, within the day that RFC 9309 allows.
    pub(super) fn check_robots_after(&mut self, hours: i64) {
        self.plan.robots_age = Some(SignedDuration::from_hours(hours.clamp(0, 24)));
    }
}

/// A file that a task file includes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Include {
    pub(super) path: PathBuf,
    pub(super) line: usize,
    pub(super) content: Content,
    /// True if it may be missing: MOMspider created its files itself.
    pub(super) may_lack: bool,
}

/// The kind of contents of an included file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Prefixes to avoid or to leaf.
    Restrictions,
    /// Sites whose robots.txt was fetched.
    Sites,
    /// Owners of paths.
    Owners,
}

/// A parsed task.
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
    /// Each with its line: the URL that they are relative to may follow later.
    pub(super) exclude: Vec<(usize, String)>,
    pub(super) max_pages: Option<u64>,
}

impl Draft {
    /// Adds a task, if nothing is missing; `words` are the syntax's names for its name and its top.
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
