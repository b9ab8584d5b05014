//! Visits the documents, findings and earlier findings of a survey.

use jiff::{SignedDuration, Timestamp};
use url::Url;

use super::check::CheckResult;
use super::{Survey, history_key, store};
use crate::reference::Kind;
use crate::report::words;
use crate::results::{Document, Earlier, Finding, Infostructure, Referenced, ReportError, Results, Run, Visit};
use crate::table::Test;
use crate::table::codec::{self, Kept, KeptTarget};
use crate::task::Task;
use crate::traverse::plan::web::Stage;
use crate::verdict::Verdict;

/// The date when a document changed, and the date when it expires.
pub(super) type Dates = (Option<Timestamp>, Option<Timestamp>);

/// The maximum number of targets in the cache.
const REMEMBERED: usize = 50_000;

/// The data about a target in addition to its verdict.
#[derive(Clone, Default)]
pub(super) struct Target {
    title: Option<String>,
    last_modified: Option<Timestamp>,
    changed: Option<Timestamp>,
}

impl Results for Survey {
    fn run(&self) -> &Run {
        &self.run
    }

    fn infostructures(&self) -> &[Infostructure] {
        &self.infostructures
    }

    fn documents(&self, of: usize, visit: &mut dyn FnMut(&Document, &[Referenced]) -> Visit) -> Visit {
        for page in self.pages_of(Some(of)) {
            if !self.web.node(page).is_document() {
                continue;
            }
            let Some(test) = self.table.test(page).map_err(store)? else { continue };
            let document = self.document(page, &test, of)?;
            let packed = self.table.references(page).map_err(store)?.unwrap_or_default();
            let bytes = codec::unpack(&packed);
            let references: Vec<Referenced> =
                codec::references(&bytes).map(|kept| self.referenced(page, &kept, of)).collect::<Result<_, _>>()?;
            visit(&document, &references)?;
        }
        Ok(())
    }

    fn findings(&self, of: Option<usize>, visit: &mut dyn FnMut(&Finding) -> Visit) -> Visit {
        for (task, top) in self.dead_tops.iter().filter(|(task, _)| of.is_none_or(|of| of == *task)) {
            let target = KeptTarget::Node { id: *top, fragment: None };
            let kept = Kept { kind: Kind::Top, line: 0, text: "", target, is_padded: false };
            let checked = self.check(&kept);
            if checked.is_reported() {
                let about = About { tasks: vec![self.plan.tasks[*task].name.clone()], ..self.about(*top)? };
                visit(&self.finding(*top, &about, &kept, &checked))?;
            }
        }
        for page in self.pages_of(of) {
            // The data of the page is read only if it has a finding.
            let mut about = None;
            let (changed, expires) = self.windows(page, of)?;
            let is_partial = self.partial.contains(&page);
            for (verdict, reason) in [
                (Verdict::Changed, changed.map(changed_on)),
                (Verdict::Expiring, expires.map(|at| self.expiry(at))),
                (Verdict::NotTested, is_partial.then(|| "too long to be read completely".to_owned())),
            ] {
                if let Some(reason) = reason {
                    visit(&self.known(&mut about, page)?.itself(verdict, reason))?;
                }
            }
            let window = self.change_window(page, of);
            let Some(packed) = self.table.references(page).map_err(store)? else { continue };
            let bytes = codec::unpack(&packed);
            for kept in codec::references(&bytes) {
                let checked = self.check(&kept);
                if checked.is_reported() {
                    visit(&self.finding(page, self.known(&mut about, page)?, &kept, &checked))?;
                }
                if let Some(at) = self.changed_object(&checked, window)? {
                    let finding = self.finding(page, self.known(&mut about, page)?, &kept, &checked);
                    let (verdict, reason) = (Verdict::Changed, changed_on(at));
                    visit(&Finding { verdict, reason, since: None, is_new: false, to: None, ..finding })?;
                }
            }
        }
        Ok(())
    }

    fn earlier(&self, of: Option<usize>, visit: &mut dyn FnMut(&Earlier) -> Visit) -> Visit {
        for (past, state) in self.earlier_of(of) {
            visit(&Earlier {
                page: self.web.names.name(past.page).to_owned(),
                target: past.target.clone(),
                fragment: past.fragment.clone(),
                verdict: past.verdict,
                since: Some(past.since),
                state: *state,
            })?;
        }
        Ok(())
    }
}

/// The data about a page in its findings.
struct About {
    page: String,
    title: Option<String>,
    owner: Option<String>,
    tasks: Vec<String>,
    status: Option<u16>,
}

impl About {
    /// Creates a finding about the page itself.
    fn itself(&self, verdict: Verdict, reason: String) -> Finding {
        Finding {
            page: self.page.clone(),
            title: self.title.clone(),
            target: self.page.clone(),
            fragment: None,
            verdict,
            status: self.status,
            reason,
            element: Kind::Top.name(),
            line: 0,
            text: String::new(),
            since: None,
            is_new: false,
            to: None,
            permanent: false,
            owner: self.owner.clone(),
            tasks: self.tasks.clone(),
        }
    }
}

impl Survey {
    fn pages_of(&self, of: Option<usize>) -> impl Iterator<Item = u32> {
        let is_wanted = move |page: &u32| of.is_none_or(|task| self.web.sets.has(self.web.node(*page).reach, task));
        self.pages.iter().copied().filter(is_wanted)
    }

    /// Returns the date when a document changed, and when it expires, if that is within the window of a task, or of any
    /// of its tasks.
    pub(super) fn windows(&self, page: u32, of: Option<usize>) -> Result<Dates, ReportError> {
        let node = self.web.node(page);
        if !node.is_document() {
            return Ok((None, None));
        }
        let expires = self.tasks_of(page, of).filter_map(|task| task.expire_window.or(task.tell.expired)).max();
        let changed = self.change_window(page, of);
        if changed.is_none() && expires.is_none() {
            return Ok((None, None));
        }
        let Some(test) = self.table.test(page).map_err(store)? else { return Ok((None, None)) };
        let is_near = |(window, at): &(u32, Timestamp)| at.duration_since(self.run.began) <= days(*window);
        let expires = expires.zip(test.expires).filter(is_near);
        Ok((self.recent(changed, changed_at(&test)), expires.map(|(_, at)| at)))
    }

    /// Returns the tasks that contain a page, or one of them.
    fn tasks_of(&self, page: u32, of: Option<usize>) -> impl Iterator<Item = &Task> {
        let tasks = self.web.sets.tasks(self.web.node(page).reach).filter(move |task| of.is_none_or(|of| of == *task));
        tasks.map(|task| &self.plan.tasks[task])
    }

    /// Returns the number of days within which changes of a document, and of its targets, are reported.
    pub(super) fn change_window(&self, page: u32, of: Option<usize>) -> Option<u32> {
        let is_document = self.web.node(page).is_document();
        let windows = self.tasks_of(page, of).filter_map(|task| task.change_window.or(task.tell.changed));
        windows.max().filter(|_| is_document)
    }

    /// Returns the date when the target of a reference changed, if that is within the window. Documents of the tasks
    /// have separate findings.
    pub(super) fn changed_object(
        &self,
        checked: &CheckResult,
        window: Option<u32>,
    ) -> Result<Option<Timestamp>, ReportError> {
        let Some(end) = checked.end.filter(|_| window.is_some()) else { return Ok(None) };
        let node = self.web.node(end);
        if !node.is_good() || node.is_document() {
            return Ok(None);
        }
        Ok(self.recent(window, self.target(end)?.changed))
    }

    /// Returns the date of a change, if it is within the window.
    fn recent(&self, window: Option<u32>, changed: Option<Timestamp>) -> Option<Timestamp> {
        let is_recent = |(window, at): &(u32, Timestamp)| self.run.began.duration_since(*at) <= days(*window);
        window.zip(changed).filter(is_recent).map(|(_, at)| at)
    }

    fn expiry(&self, at: Timestamp) -> String {
        let verb = if at <= self.run.began { "expired" } else { "expires" };
        format!("{verb} on {}", words::day(at))
    }

    fn known<'a>(&self, about: &'a mut Option<About>, page: u32) -> Result<&'a About, ReportError> {
        Ok(match about {
            Some(known) => known,
            None => about.insert(self.about(page)?),
        })
    }

    fn about(&self, page: u32) -> Result<About, ReportError> {
        let test = self.table.test(page).map_err(store)?;
        let reach = self.web.node(page).reach;
        Ok(About {
            page: self.web.names.name(page).to_owned(),
            title: test.as_ref().and_then(|test| test.title.clone()),
            owner: self.owner(page, test.as_ref()),
            tasks: self.web.sets.tasks(reach).map(|task| self.plan.tasks[task].name.clone()).collect(),
            status: test.and_then(|test| test.status),
        })
    }

    /// Returns the owner of a document: by the owner rules, or as named in the document.
    fn owner(&self, page: u32, test: Option<&Test>) -> Option<String> {
        let url = Url::parse(self.web.names.name(page)).ok();
        let mapped = url.and_then(|url| self.owners.of(&url).map(str::to_owned));
        mapped.or_else(|| test.and_then(|test| test.owner.clone()))
    }

    fn document(&self, page: u32, test: &Test, of: usize) -> Result<Document, ReportError> {
        let (changed, expires) = self.windows(page, Some(of))?;
        Ok(Document {
            node: page,
            url: self.web.names.name(page).to_owned(),
            title: test.title.clone(),
            owner: self.owner(page, Some(test)),
            outcome: test.outcome.clone(),
            status: test.status,
            media_type: test.media_type.clone(),
            bytes: test.bytes,
            last_modified: modified(test),
            expires: test.expires,
            changed: test.changed,
            first_seen: self.table.first_seen(page).map_err(store)?,
            depth: self.web.node(page).depth.into(),
            is_changed: changed.is_some(),
            is_expiring: expires.is_some(),
        })
    }

    fn referenced(&self, page: u32, kept: &Kept<'_>, of: usize) -> Result<Referenced, ReportError> {
        let checked = self.check(kept);
        // A move that is not reported does not appear in an index, either.
        let verdict =
            if checked.verdict == Verdict::Moved && checked.is_muted { Verdict::Good } else { checked.verdict };
        let (target, fragment) = self.named(&kept.target);
        let node = match kept.target {
            KeptTarget::Node { id, .. } => Some(id),
            _ => None,
        };
        let about = match checked.end {
            Some(end) => self.target(end)?,
            None => Target::default(),
        };
        let is_well = verdict == Verdict::Good;
        Ok(Referenced {
            kind: kept.kind,
            line: kept.line,
            text: kept.text.to_owned(),
            fragment: fragment.map(str::to_owned),
            node,
            is_inside: node.is_some_and(|id| {
                let node = self.web.node(id);
                node.is_document() && self.web.sets.has(node.reach, of)
            }),
            verdict,
            is_skipped: checked.is_skipped(),
            status: checked.status,
            reason: (!is_well).then(|| self.reason(kept, &checked)),
            to: checked.to.map(|to| self.web.names.name(to).to_owned()),
            is_permanent: checked.is_permanent,
            is_small_move: checked.is_small_move,
            since: self.since(page, &target, fragment, checked.verdict).map(|(since, _)| since),
            title: about.title,
            last_modified: about.last_modified,
            target: target.into_owned(),
        })
    }

    fn finding(&self, page: u32, about: &About, kept: &Kept<'_>, checked: &CheckResult) -> Finding {
        let (target, fragment) = self.named(&kept.target);
        let since = self.since(page, &target, fragment, checked.verdict);
        Finding {
            page: about.page.clone(),
            title: about.title.clone(),
            fragment: fragment.map(str::to_owned),
            verdict: checked.verdict,
            status: checked.status,
            reason: self.reason(kept, checked),
            element: kept.kind.name(),
            line: kept.line,
            text: kept.text.to_owned(),
            since: since.map(|(since, _)| since),
            is_new: since.is_some_and(|(_, is_new)| is_new),
            to: checked.to.map(|to| self.web.names.name(to).to_owned()),
            permanent: checked.is_permanent,
            owner: about.owner.clone(),
            tasks: about.tasks.clone(),
            target: target.into_owned(),
        }
    }

    fn since(&self, page: u32, target: &str, fragment: Option<&str>, verdict: Verdict) -> Option<(Timestamp, bool)> {
        self.history.get(&history_key(page, target, fragment, verdict)).copied()
    }

    /// Returns the data about a target, cached for many references.
    pub(super) fn target(&self, number: u32) -> Result<Target, ReportError> {
        if self.web.node(number).stage != Stage::Done {
            return Ok(Target::default());
        }
        let mut known = self.looked_up.borrow_mut();
        if let Some(target) = known.get(&number) {
            return Ok(target.clone());
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let test = self.table.test(number).map_err(store)?;
        let target =
            test.map(|test| Target { last_modified: modified(&test), changed: changed_at(&test), title: test.title });
        let target = target.unwrap_or_default();
        known.insert(number, target.clone());
        Ok(target)
    }
}

fn modified(test: &Test) -> Option<Timestamp> {
    let date = httpdate::parse_http_date(test.modified.as_deref()?).ok()?;
    Timestamp::try_from(date).ok()
}

/// Returns the date of a resource's last change: from its headers, or as observed.
fn changed_at(test: &Test) -> Option<Timestamp> {
    modified(test).max(test.changed)
}

fn changed_on(at: Timestamp) -> String {
    format!("changed on {}", words::day(at))
}

fn days(days: u32) -> SignedDuration {
    SignedDuration::from_hours(i64::from(days) * 24)
}
