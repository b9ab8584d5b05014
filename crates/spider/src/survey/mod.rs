//! The survey: what a traversal found, as reports and mail read it.
//!
//! Pages are read back from the table one at a time, and each of their references is judged by what became of its target.
//! Nothing but numbers is kept in memory, so that a web of a million URLs can be told of.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | drawing up the survey: missing fragments, counts, what is new, what was mended |
//! | `changed` | referenced objects that changed |
//! | `judge` | what a reference is, given what became of its target |
//! | `tell` | documents, findings and mended links, one by one |

mod changed;
mod judge;
mod tell;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::anchors::{Anchors, Fragment};
use crate::extract::Form;
use crate::results::{Infostructure, ReportError, Run, Summary};
use crate::table::codec::{self, KeptTarget};
use crate::table::{Begun, Past, Table, TableError};
use crate::task::{Owners, Plan};
use crate::traverse::Traversal;
use crate::traverse::web::{Look, NONE, Node, Stage, Web};
use crate::verdict::{Outcome, Verdict};
use judge::Judged;

/// What a traversal found.
pub struct Survey {
    web: Web,
    table: Table,
    plan: Plan,
    owners: Owners,
    begun: Begun,
    run: Run,
    infostructures: Vec<Infostructure>,
    /// The nodes that were read and belong to somebody, in the order of their URLs.
    pages: Vec<u32>,
    /// Fragments that lead nowhere, by the node that is referred to.
    missing: HashSet<(u32, Fragment)>,
    /// Whether a limit kept documents from being read.
    is_cut: bool,
    /// Pages that were too long to be read to their end.
    partial: HashSet<u32>,
    /// Since when, and whether for the first time, by the hash of page, target, fragment and verdict.
    history: HashMap<u64, (Timestamp, bool)>,
    /// What earlier runs had and this one has not, for certain.
    gone: Vec<Past>,
    /// Tops that could not be read, and the tasks that begin there.
    dead_tops: Vec<(usize, u32)>,
    /// Whether moves of a slash or of the scheme are worth telling.
    mutes_small_moves: bool,
    /// What was looked up in the table before, about targets.
    looked_up: RefCell<HashMap<u32, tell::Target>>,
}

impl Survey {
    /// Draws it up. `cut_short` says why the traversal ended early, if it did.
    pub fn of(traversal: Traversal, cut_short: Option<String>, mutes_small_moves: bool) -> Result<Self, ReportError> {
        let traffic = traversal.traffic();
        let is_cut = traversal.is_cut();
        let Traversal { plan, table, web, begun, wanted, remarks, owners, .. } = traversal;
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
            remarks,
            summary,
        };
        let mut survey = Self {
            missing: missing_fragments(&web, &table, &wanted).map_err(store)?,
            web,
            table,
            plan,
            owners,
            begun,
            run,
            infostructures,
            pages,
            is_cut,
            partial,
            history: HashMap::new(),
            gone: Vec::new(),
            dead_tops: Vec::new(),
            mutes_small_moves,
            looked_up: RefCell::default(),
        };
        survey.find_dead_tops();
        let open = survey.count()?;
        survey.find_gone(&open)?;
        survey.table.rest().map_err(store)?;
        Ok(survey)
    }

    /// Ends the run in the table, once everything has been told. A run that was cut short stays open, to be resumed.
    pub fn close(self) -> Result<(), ReportError> {
        self.close_into_table().map(drop)
    }

    /// The same, for whoever has further use for the table.
    pub fn close_into_table(mut self) -> Result<Table, ReportError> {
        if self.run.cut_short.is_some() {
            self.table.rest().map_err(store)?;
            return Ok(self.table);
        }
        for past in &self.gone {
            self.table.forget(past).map_err(store)?;
        }
        // A summary is numbers and text, which JSON always can hold.
        let summary = serde_json::to_string(&self.run.summary).unwrap_or_default();
        self.table.end(self.begun.number, &summary, self.run.ended).map_err(store)?;
        Ok(self.table)
    }

    /// The table, for what others keep beside it.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// A task whose top cannot be read has nothing to tell; that is not to be taken for good news.
    fn find_dead_tops(&mut self) {
        for (task, of) in self.plan.tasks.iter().enumerate() {
            let top = of.top.as_str().split('#').next().unwrap_or_default();
            let Some(number) = self.web.find(top) else { continue };
            let end = self.web.end_of(number).map_or(number, |end| end.node);
            let node = self.web.node(end);
            if node.is_good() && node.form != Form::Other {
                continue;
            }
            let outcome = match self.outcome(end) {
                Outcome::Good => "it is no document".to_owned(),
                outcome => outcome.to_string(),
            };
            self.run.remarks.push(format!("the top {top} of {} could not be read: {outcome}", of.name));
            self.dead_tops.push((task, number));
        }
    }

    /// One pass over all references: counts, and what is new. Returns what is not well, by the hash of page, target and fragment,
    /// whatever the matter with it is.
    fn count(&mut self) -> Result<HashSet<u64>, ReportError> {
        let mut open = HashSet::new();
        let (mut padded, mut first_padded) = (0_u64, None);
        let mut all = Tally::default();
        let mut each: Vec<Tally> = (0..self.plan.tasks.len()).map(|_| Tally::default()).collect();
        for (task, number) in self.dead_tops.clone() {
            let target = KeptTarget::Node { id: number, fragment: None };
            let judged = self.judge_node(number, None);
            let is_new = judged.is_told() && self.remember(number, &target, &judged)?;
            open.insert(place_of(number, self.web.names.name(number), None));
            all.add(&target, &judged, is_new);
            each[task].add(&target, &judged, is_new);
        }
        for index in 0..self.pages.len() {
            let page = self.pages[index];
            let node = *self.web.node(page);
            let tasks: Vec<usize> = self.web.sets.tasks(node.reach).collect();
            for (tally, of) in std::iter::once((&mut all, None)).chain(each_of(&mut each, &tasks)) {
                let (is_changed, is_expiring) = self.windows(page, of)?;
                tally.summary.pages += u64::from(node.is_document());
                tally.summary.changed += u64::from(is_changed);
                tally.summary.expiring += u64::from(is_expiring);
            }
            if self.partial.contains(&page) {
                for (tally, _) in std::iter::once((&mut all, None)).chain(each_of(&mut each, &tasks)) {
                    tally.not_tested.insert(page.into());
                }
            }
            let Some(packed) = self.table.references(page).map_err(store)? else { continue };
            let bytes = codec::unpack(&packed);
            for kept in codec::references(&bytes) {
                let judged = self.judge(&kept);
                let is_new = judged.is_told() && self.remember(page, &kept.target, &judged)?;
                if judged.verdict != Verdict::Good {
                    let (target, fragment) = self.named(&kept.target);
                    open.insert(place_of(page, &target, fragment));
                }
                for (tally, of) in std::iter::once((&mut all, None)).chain(each_of(&mut each, &tasks)) {
                    tally.add(&kept.target, &judged, is_new);
                    let changed = self.changed_reference(page, &kept, &judged, of, &mut tally.changed)?;
                    tally.summary.changed += u64::from(changed.is_some());
                }
                if kept.is_padded {
                    padded += 1;
                    first_padded.get_or_insert((page, kept.line));
                }
            }
        }
        let seen = self.web.nodes.iter().filter(|node| node.stage != Stage::Past);
        all.summary.urls = seen.count() as u64;
        if all.left_alone.len() > 1 {
            let count = all.left_alone.len();
            self.run.remarks.push(format!("{count} targets were left alone: outside, to be avoided, or not come to"));
        }
        if let Some((page, line)) = first_padded {
            let page = self.web.names.name(page);
            let what = format!("{padded} links have whitespace around the URL, the first in {page}, line {line}");
            self.run.remarks.push(what);
        }
        all.fill(&mut self.run.summary);
        for (tally, infostructure) in each.into_iter().zip(&mut self.infostructures) {
            let urls = tally.targets.len() as u64;
            tally.fill(&mut infostructure.summary);
            infostructure.summary.urls = urls;
        }
        Ok(open)
    }

    /// Writes a finding into the table's memory. Tells whether it is new.
    fn remember(&mut self, page: u32, target: &KeptTarget<'_>, judged: &Judged) -> Result<bool, ReportError> {
        let (target, fragment) = self.named(target);
        let key = history_key(page, &target, fragment, judged.verdict);
        if let Some((_, is_new)) = self.history.get(&key) {
            return Ok(*is_new);
        }
        let (number, began) = (self.begun.number, self.begun.began);
        let kept = self.table.remember(number, page, &target, fragment, judged.verdict, began).map_err(store)?;
        let known = (kept.0, !kept.1);
        self.history.insert(key, known);
        Ok(known.1)
    }

    /// What earlier runs had and this one has not, as far as that is certain. A page that could not be read, or a target that could
    /// not be tested, mends nothing; then the past is kept as it is.
    fn find_gone(&mut self, open: &HashSet<u64>) -> Result<(), ReportError> {
        let is_trouble = |node: &Node| node.is_wanted && node.is_home() && node.is_troubled();
        let is_whole = self.run.cut_short.is_none()
            && !self.is_cut
            && self.begun.is_like_the_last
            && !self.web.nodes.iter().any(is_trouble);
        let web = &self.web;
        let mut gone = Vec::new();
        let visit = |past: Past| {
            let Some(node) = web.nodes.get(past.page as usize) else { return };
            let is_known = match node.stage {
                Stage::Done if node.is_good() => (node.look == Look::Read && !node.reach.is_empty()) || is_whole,
                Stage::Done => !node.is_untested(),
                // A page that was not come upon is gone only if everything was.
                Stage::Past => is_whole,
                Stage::Waiting | Stage::UnderWay => false,
            };
            if is_known && !open.contains(&place_of(past.page, &past.target, past.fragment.as_deref())) {
                gone.push(past);
            }
        };
        self.table.gone(self.begun.number, visit).map_err(store)?;
        gone.sort_by(|a, b| {
            let page = |past: &Past| self.web.names.name(past.page);
            page(a).cmp(page(b)).then_with(|| a.target.cmp(&b.target))
        });
        self.gone = gone;
        self.run.summary.mended = self.mended_of(None).count() as u64;
        for task in 0..self.infostructures.len() {
            self.infostructures[task].summary.mended = self.mended_of(Some(task)).count() as u64;
        }
        Ok(())
    }

    /// What was broken, of a task or of all. What merely could not be tested before is nothing that anybody has mended.
    fn mended_of(&self, of: Option<usize>) -> impl Iterator<Item = &Past> {
        self.gone.iter().filter(move |past| {
            let reach = self.web.node(past.page).reach;
            past.verdict != Verdict::NotTested && of.is_none_or(|task| self.web.sets.has(reach, task))
        })
    }
}

/// The tallies of these tasks.
fn each_of<'a>(each: &'a mut [Tally], tasks: &'a [usize]) -> impl Iterator<Item = (&'a mut Tally, Option<usize>)> {
    let is_of = |(task, _): &(usize, &mut Tally)| tasks.contains(task);
    each.iter_mut().enumerate().filter(is_of).map(|(task, tally)| (tally, Some(task)))
}

/// Which of the fragments that somebody refers to lead nowhere.
fn missing_fragments(
    web: &Web,
    table: &Table,
    wanted: &HashSet<(u32, Fragment)>,
) -> Result<HashSet<(u32, Fragment)>, TableError> {
    // By the page that they end at, so that the anchors of each are read once.
    let mut by_end: Vec<(u32, u32, Fragment, Fragment)> = wanted
        .iter()
        .filter_map(|(node, fragment)| {
            let end = web.end_of(*node)?;
            // A part that a redirect names counts more than that of the link.
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

/// Counts over references.
#[derive(Default)]
struct Tally {
    summary: Summary,
    targets: HashSet<u32>,
    broken: HashSet<u64>,
    addresses: HashSet<u64>,
    fragments: HashSet<(u32, u64)>,
    moved: HashSet<u32>,
    not_tested: HashSet<u64>,
    left_alone: HashSet<u32>,
    /// Referenced objects that were checked for changes.
    changed: HashSet<u32>,
}

impl Tally {
    fn add(&mut self, target: &KeptTarget<'_>, judged: &Judged, is_new: bool) {
        self.summary.links += 1;
        self.summary.new += u64::from(is_new);
        let (node, fragment) = match target {
            KeptTarget::Node { id, fragment } => (*id, fragment.unwrap_or_default()),
            KeptTarget::Invalid { text, .. } => {
                self.broken.insert(xxh3_64(text.as_bytes()));
                return;
            }
            KeptTarget::Mail { url, fault } => {
                if fault.is_some() {
                    self.addresses.insert(xxh3_64(url.as_bytes()));
                }
                return;
            }
            KeptTarget::Elsewhere { url } => {
                if judged.verdict == Verdict::NotTested {
                    self.not_tested.insert(xxh3_64(url.as_bytes()));
                }
                return;
            }
        };
        self.targets.insert(node);
        match judged.verdict {
            Verdict::NotTested if judged.is_muted => _ = self.left_alone.insert(node),
            _ if judged.is_muted => {}
            Verdict::Broken => _ = self.broken.insert(node.into()),
            Verdict::Fragment => _ = self.fragments.insert((node, xxh3_64(fragment.as_bytes()))),
            Verdict::Moved => _ = self.moved.insert(node),
            Verdict::NotTested => _ = self.not_tested.insert(node.into()),
            Verdict::Changed | Verdict::Expiring | Verdict::Good => {}
        }
    }

    fn fill(self, summary: &mut Summary) {
        *summary = Summary {
            requests: summary.requests,
            bytes: summary.bytes,
            broken: self.broken.len() as u64,
            addresses: self.addresses.len() as u64,
            fragments: self.fragments.len() as u64,
            moved: self.moved.len() as u64,
            not_tested: self.not_tested.len() as u64,
            left_alone: self.left_alone.len() as u64,
            ..self.summary
        };
    }
}

/// What history is found by.
fn history_key(page: u32, target: &str, fragment: Option<&str>, verdict: Verdict) -> u64 {
    place_of(page, target, fragment).rotate_left(8) ^ verdict as u64
}

/// A reference, whatever is the matter with it.
fn place_of(page: u32, target: &str, fragment: Option<&str>) -> u64 {
    xxh3_64_with_seed(format!("{target}#{}", fragment.unwrap_or_default()).as_bytes(), page.into())
}

fn store(error: TableError) -> ReportError {
    ReportError::Store(error.into())
}
