//! The survey: the results of a traversal, as read by reports and mail.
//!
//! Pages are read from the table one at a time, and the verdict of each of their references is derived from the outcome
//! of its target. Only numbers are kept in memory, so that reports can cover a web of a million URLs.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | creates the survey: missing fragments, counts, new findings |
//! | `unread` | finds pages that could not be read |
//! | `earlier` | finds findings that are fixed, removed or not checked again |
//! | `tally` | counts by target |
//! | `check` | derives the verdict of a reference from the outcome of its target |
//! | `results` | visits documents, findings and earlier findings |

mod check;
mod earlier;
mod results;
mod tally;
mod unread;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::anchors::{Anchors, Fragment};
use crate::extract::Form;
use crate::report::words;
use crate::results::{Infostructure, ReportError, Run, State, Summary};
use crate::table::codec::{self, KeptTarget};
use crate::table::{Begun, Past, Table, TableError};
use crate::targets::subject;
use crate::task::{Action, Owners, Plan};
use crate::traverse::plan::web::{NONE, Stage, Web};
use crate::traverse::plan::{MAX_DOCUMENTS, Planner, Scopes};
use crate::traverse::{Options, Traversal};
use crate::verdict::Verdict;
use check::CheckResult;
use tally::{Open, Tally, each_of};

/// The results of a traversal.
pub struct Survey {
    web: Web,
    table: Table,
    plan: Plan,
    owners: Owners,
    begun: Begun,
    run: Run,
    infostructures: Vec<Infostructure>,
    /// The nodes that were read and that a task contains, in the order of their URLs.
    pages: Vec<u32>,
    /// Missing fragments, by the node that the link refers to.
    missing: HashSet<(u32, Fragment)>,
    /// Pages of the tasks that were to be read and could not be.
    unread: Vec<u32>,
    /// True if a limit kept documents from being read.
    is_cut: bool,
    /// Pages that were too long to be read completely.
    partial: HashSet<u32>,
    /// The date of each finding, and true if it is new, by the hash of page, target, fragment and verdict.
    history: HashMap<u64, (Timestamp, bool)>,
    /// Findings of earlier runs that this one does not have.
    earlier: Vec<(Past, State)>,
    /// Tops that could not be read, and the tasks that start there.
    dead_tops: Vec<(usize, u32)>,
    /// True if moves that only change a slash or the scheme are not reported.
    mutes_small_moves: bool,
    /// A cache of the table's data about targets.
    looked_up: RefCell<HashMap<u32, results::Target>>,
}

impl Survey {
    /// Creates the survey. `cut_short` is the reason why the traversal ended early, if it did.
    pub fn of(traversal: Traversal, cut_short: Option<String>, mutes_small_moves: bool) -> Result<Self, ReportError> {
        let traffic = traversal.traffic();
        let is_cut = traversal.is_cut();
        let Traversal { planner, table, .. } = traversal;
        let Planner { options, run: begun, web, scopes: Scopes { plan, owners, .. }, remarks, .. } = planner;
        let partial = table.partial_pages().map_err(store)?;
        let mut pages: Vec<u32> = (0..web.nodes.len() as u32)
            .filter(|number| {
                let node = web.node(*number);
                node.stage == Stage::Done && node.form != Form::Other && !node.reach.is_empty()
            })
            .collect();
        pages.sort_unstable_by_key(|number| web.names.name(*number));
        let summary = Summary { requests: traffic.requests, bytes: traffic.bytes, ..Summary::default() };
        let infostructures =
            plan.tasks.iter().map(|task| Infostructure { task: task.clone(), summary: summary.clone() }).collect();
        let run = Run {
            number: begun.number.into(),
            began: begun.began,
            ended: Timestamp::now(),
            before: begun.before,
            cut_short,
            unread: Vec::new(),
            settings: settings(&plan, &options),
            remarks,
            summary,
        };
        let mut survey = Self {
            missing: missing_fragments(&web, &table).map_err(store)?,
            web,
            table,
            plan,
            owners,
            begun,
            run,
            infostructures,
            pages,
            unread: Vec::new(),
            is_cut,
            partial,
            history: HashMap::new(),
            earlier: Vec::new(),
            dead_tops: Vec::new(),
            mutes_small_moves,
            looked_up: RefCell::default(),
        };
        survey.find_dead_tops();
        survey.find_unread();
        survey.remark_network();
        let open = survey.count()?;
        survey.find_earlier(&open)?;
        survey.table.rest().map_err(store)?;
        Ok(survey)
    }

    /// Ends the run in the table, after it was reported. An interrupted run stays open, to be resumed.
    pub fn close(self) -> Result<(), ReportError> {
        self.close_into_table().map(drop)
    }

    /// Does the same, and returns the table for further use.
    pub fn close_into_table(mut self) -> Result<Table, ReportError> {
        if self.run.cut_short.is_some() {
            self.table.rest().map_err(store)?;
            return Ok(self.table);
        }
        for (past, _) in self.earlier.iter().filter(|(_, state)| *state != State::Unchecked) {
            self.table.forget(past).map_err(store)?;
        }
        // A summary consists of numbers and text, so its serialisation cannot fail.
        let summary = serde_json::to_string(&self.run.summary).unwrap_or_default();
        self.table.end(self.begun.number, &summary, self.run.ended).map_err(store)?;
        Ok(self.table)
    }

    /// Returns the table, for other data that is stored in it.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Counts all references in one pass, and finds what is new. Returns the findings.
    fn count(&mut self) -> Result<Open, ReportError> {
        let mut open = Open::default();
        let (mut padded, mut first_padded) = (0_u64, None);
        let mut all = Tally::default();
        let mut each: Vec<Tally> = (0..self.plan.tasks.len()).map(|_| Tally::default()).collect();
        for (task, of) in self.plan.tasks.iter().enumerate() {
            let top = self.web.find(of.top.as_str().split('#').next().unwrap_or_default());
            all.urls.extend(top);
            each[task].urls.extend(top);
        }
        for (task, number) in self.dead_tops.clone() {
            let target = KeptTarget::Node { id: number, fragment: None };
            let checked = self.check_node(number, None);
            let is_new = checked.is_reported() && self.remember(number, &target, &checked)?;
            open.places.insert(place_of(number, self.web.names.name(number), None));
            let key = self.subject(&target, &checked);
            all.add(&target, &checked, key, is_new);
            each[task].add(&target, &checked, key, is_new);
        }
        for index in 0..self.pages.len() {
            let page = self.pages[index];
            let node = *self.web.node(page);
            let tasks: Vec<usize> = self.web.sets.tasks(node.reach).collect();
            for (tally, of) in std::iter::once((&mut all, None)).chain(each_of(&mut each, &tasks)) {
                let (changed, expires) = self.windows(page, of)?;
                tally.summary.pages += u64::from(node.is_document());
                if changed.is_some() {
                    tally.note(subject(Verdict::Changed, self.web.names.name(page), None), Verdict::Changed, false);
                }
                tally.summary.expiring += u64::from(expires.is_some());
            }
            if self.partial.contains(&page) {
                let key = subject(Verdict::NotTested, self.web.names.name(page), None);
                for (tally, _) in std::iter::once((&mut all, None)).chain(each_of(&mut each, &tasks)) {
                    tally.note(key, Verdict::NotTested, false);
                }
            }
            let has_window = self.change_window(page, None).is_some();
            let Some(packed) = self.table.references(page).map_err(store)? else { continue };
            let bytes = codec::unpack(&packed);
            for kept in codec::references(&bytes) {
                let checked = self.check(&kept);
                let is_new = checked.is_reported() && self.remember(page, &kept.target, &checked)?;
                if checked.verdict != Verdict::Good {
                    let (target, fragment) = self.named(&kept.target);
                    open.places.insert(place_of(page, &target, fragment));
                }
                let key = self.subject(&kept.target, &checked);
                for (tally, of) in std::iter::once((&mut all, None)).chain(each_of(&mut each, &tasks)) {
                    tally.add(&kept.target, &checked, key, is_new);
                    let window = if has_window { self.change_window(page, of) } else { None };
                    if self.changed_object(&checked, window)?.is_some() {
                        let (target, _) = self.named(&kept.target);
                        tally.note(subject(Verdict::Changed, &target, None), Verdict::Changed, false);
                    }
                }
                if kept.is_padded {
                    padded += 1;
                    first_padded.get_or_insert((page, kept.line));
                }
            }
        }
        for page in &self.unread {
            let node = self.web.node(*page);
            let mut tasks: Vec<usize> = self.web.sets.tasks(node.reach).collect();
            tasks
                .extend(self.dead_tops.iter().filter(|(_, top)| self.final_node(*top) == *page).map(|(task, _)| *task));
            for (tally, _) in std::iter::once((&mut all, None)).chain(each_of(&mut each, &tasks)) {
                tally.summary.unread += 1;
            }
        }
        if !all.skipped.is_empty() {
            let count = words::counted(all.skipped.len() as u64, ("target was", "targets were"));
            self.run
                .remarks
                .push(format!("{count} skipped because of the settings: external, avoided, or beyond a limit"));
        }
        if let Some((page, line)) = first_padded {
            let page = self.web.names.name(page);
            let links = words::counted(padded, ("link has", "links have"));
            let what = format!("{links} whitespace around the URL, the first in {page}, line {line}");
            self.run.remarks.push(what);
        }
        open.subjects =
            std::iter::once(&all).chain(&each).map(|tally| tally.subjects.keys().copied().collect()).collect();
        all.fill(&mut self.run.summary);
        for (tally, infostructure) in each.into_iter().zip(&mut self.infostructures) {
            tally.fill(&mut infostructure.summary);
        }
        Ok(open)
    }

    /// Returns the number that all findings about the same target share; `None` if the reference is not a finding.
    fn subject(&self, target: &KeptTarget<'_>, checked: &CheckResult) -> Option<u64> {
        checked.is_reported().then(|| {
            let (target, fragment) = self.named(target);
            subject(checked.verdict, &target, fragment)
        })
    }

    /// Stores a finding in the history of the table. Returns true if it is new.
    fn remember(&mut self, page: u32, target: &KeptTarget<'_>, checked: &CheckResult) -> Result<bool, ReportError> {
        let (target, fragment) = self.named(target);
        let key = history_key(page, &target, fragment, checked.verdict);
        if let Some((_, is_new)) = self.history.get(&key) {
            return Ok(*is_new);
        }
        let (number, began) = (self.begun.number, self.begun.began);
        let kept = self.table.remember(number, page, &target, fragment, checked.verdict, began).map_err(store)?;
        let known = (kept.0, !kept.1);
        self.history.insert(key, known);
        Ok(known.1)
    }
}

/// Finds the missing fragments among those that documents refer to.
fn missing_fragments(web: &Web, table: &Table) -> Result<HashSet<(u32, Fragment)>, TableError> {
    // Sorted by the final page, so that the anchors of each are read once.
    let mut by_end: Vec<(u32, u32, Fragment, Fragment)> = web
        .wanted
        .iter()
        .filter_map(|(node, fragment)| {
            let end = web.end_of(*node)?;
            // A fragment in the target of a redirect overrides that of the link.
            let part = end.part_by.and_then(|redirect| web.redirected_to.get(&redirect));
            Some((end.node, *node, *fragment, part.map_or(*fragment, |part| Fragment::new(part))))
        })
        .filter(|(end, ..)| {
            let end = web.node(*end);
            end.stage == Stage::Done && end.code == 0 && matches!(end.form, Form::Html | Form::Markdown | Form::Svg)
        })
        .collect();
    by_end.sort_unstable();
    let mut missing = HashSet::new();
    let mut current = (NONE, None);
    for (end, node, fragment, part) in by_end {
        if current.0 != end {
            let anchors = table.anchors(end)?;
            current = (end, anchors.filter(|(_, is_whole)| *is_whole).map(|(bytes, _)| Anchors::from_bytes(&bytes)));
        }
        if current.1.as_ref().is_some_and(|anchors| !anchors.have(part)) {
            missing.insert((node, fragment));
        }
    }
    Ok(missing)
}

/// Returns the key of a finding in the history.
fn history_key(page: u32, target: &str, fragment: Option<&str>, verdict: Verdict) -> u64 {
    place_of(page, target, fragment).rotate_left(8) ^ verdict as u64
}

/// Returns the hash of a reference, independent of its verdict.
fn place_of(page: u32, target: &str, fragment: Option<&str>) -> u64 {
    xxh3_64_with_seed(format!("{target}#{}", fragment.unwrap_or_default()).as_bytes(), page.into())
}

fn store(error: TableError) -> ReportError {
    ReportError::Store(error.into())
}

/// Returns the settings that apply to all tasks, for display.
fn settings(plan: &Plan, options: &Options) -> Vec<(&'static str, String)> {
    let prefixes = |action: Action| -> String {
        let of_it = plan.restrictions.iter().filter(|restriction| restriction.action == action);
        of_it.map(|restriction| restriction.prefix.as_str()).collect::<Vec<_>>().join(" ")
    };
    let limit = |limit: Option<u64>| match limit.unwrap_or(MAX_DOCUMENTS) {
        0 => "no limit".to_owned(),
        limit => words::number(limit),
    };
    let mut settings = vec![
        ("Avoids", prefixes(Action::Avoid)),
        ("Leaves", prefixes(Action::Leaf)),
        ("Maximum depth", words::counted(options.max_depth.into(), ("link", "links"))),
        ("Maximum number of documents", limit(options.max_pages)),
        ("External links", if options.external { "tested" } else { "skipped" }.to_owned()),
        ("robots.txt", if options.robots { "obeyed" } else { "ignored" }.to_owned()),
    ];
    settings.retain(|(_, value)| !value.is_empty());
    settings
}
