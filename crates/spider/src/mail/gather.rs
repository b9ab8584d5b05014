//! Selects the findings for each recipient: one pass over every infostructure, which offers each finding to the
//! recipients concerned.
//!
//! Owners of a task receive the findings that the task selects. Owners of single pages, who are named by the pages and
//! listed under `people`, receive the same kinds of findings for their pages only; if the task sends no mail, they
//! receive what they can repair. A page can name an owner but never an address: otherwise any page could cause mail to
//! any address.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};
use lettre::message::Mailbox;

use super::address::{ledger_name, mailbox};
use super::item::{From, KINDS, MailItem, moment_key, place_of};
use super::ledger::{Ledger, LedgerError, key};
use super::{Failed, Quiet};
use crate::foreign::one_line;
use crate::results::{Earlier, Finding, Infostructure, ReportError, Results, State};
use crate::targets::subject;
use crate::task::{Tell, folded_owner};
use crate::verdict::Verdict;

/// The maximum number of targets and documents that one message lists: as many as can be read in a minute. An index has
/// all of them.
pub(super) const MOST: usize = 50;

/// The numbers of targets or documents of each of [`KINDS`]: new ones first, then those reported before.
pub(super) type Tally = [[u64; 2]; KINDS.len()];

/// The findings of one infostructure for one address.
#[derive(Debug, PartialEq)]
pub(super) struct Section {
    /// The number of the infostructure.
    pub(super) of: usize,
    /// The owner whose pages these are; `None` if the section covers the whole infostructure.
    pub(super) pages_of: Option<Rc<str>>,
    /// The listed targets and documents.
    pub(super) listed: Vec<MailItem>,
    /// The findings that are only counted: their number, and the ledger's keys.
    pub(super) beyond: Beyond,
    /// The counts of all findings, listed or not.
    pub(super) tally: Tally,
    /// The targets and documents found, by their subject.
    known: HashMap<u64, Known>,
}

/// The findings that do not fit into a message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Beyond {
    pub(super) items: u64,
    pub(super) keys: Vec<u64>,
}

/// A target or a document that was found.
#[derive(Debug, PartialEq)]
struct Known {
    /// Its position among those listed.
    place: Option<usize>,
    is_new: bool,
    is_beyond: bool,
}

impl Section {
    /// Returns the number of new targets and documents.
    pub(super) fn news(&self) -> u64 {
        self.tally.iter().map(|[new, _]| new).sum()
    }
}

/// A recipient of a message.
#[derive(Debug)]
pub(super) struct Addressee {
    pub(super) mailbox: Mailbox,
    /// The address in the form of the ledger.
    pub(super) address: String,
    pub(super) sections: Vec<Section>,
    /// The keys of all findings for this address, reported or not.
    pub(super) found: HashSet<u64>,
    /// The keys of links that could not be tested this time, and may still be broken.
    pub(super) unsure: HashSet<u64>,
}

/// The result of a pass.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) addressees: Vec<Addressee>,
    pub(super) quiet: Vec<Quiet>,
    pub(super) failed: Vec<Failed>,
}

/// Reads the results once, and gathers the findings of every recipient.
pub(super) fn gather(
    results: &dyn Results,
    people: &[(String, Vec<String>)],
    ledger: &dyn Ledger,
    now: Timestamp,
) -> Result<Gathered, ReportError> {
    let mut gathered = Gathered::default();
    let mut owners: HashMap<String, (Rc<str>, Vec<usize>)> = HashMap::new();
    for (owner, addresses) in people {
        let known = gathered.addressees_of(addresses);
        let name = Rc::from(one_line(owner, 80));
        owners.entry(folded_owner(owner)).or_insert_with(|| (name, Vec::new())).1.extend(known);
    }
    for (of, infostructure) in results.infostructures().iter().enumerate() {
        let task = &infostructure.task;
        let mut everything = gathered.addressees_of(&task.addresses);
        if asks_nothing(&task.tell) && !everything.is_empty() {
            let why = format!("the task {} requests no mail", one_line(&task.name, 80));
            for place in everything.drain(..) {
                let address = gathered.addressees[place].address.clone();
                gathered.quiet.push(Quiet { address, why: why.clone() });
            }
        }
        if everything.is_empty() && owners.is_empty() {
            continue;
        }
        let pages = if asks_nothing(&task.tell) {
            Tell { broken: true, redirected: true, ..Tell::default() }
        } else {
            task.tell.clone()
        };
        let mut round = Round { of, everything, owners: &owners, tell: pages, ledger, now, gathered: &mut gathered };
        round.take_findings(results)?;
        round.leave_unchecked(results)?;
        round.take_documents(results, infostructure)?;
    }
    Ok(gathered)
}

impl Gathered {
    /// Returns the addressees of these addresses, each once. Invalid addresses were recorded as failed before.
    fn addressees_of(&mut self, addresses: &[String]) -> Vec<usize> {
        let mut known = Vec::new();
        for written in addresses {
            match mailbox(written) {
                Ok(mailbox) => {
                    let address = ledger_name(&mailbox);
                    let place = self.addressees.iter().position(|one| one.address == address).unwrap_or_else(|| {
                        let (found, unsure) = Default::default();
                        self.addressees.push(Addressee { mailbox, address, sections: Vec::new(), found, unsure });
                        self.addressees.len() - 1
                    });
                    if !known.contains(&place) {
                        known.push(place);
                    }
                }
                Err(what) => {
                    let failed = Failed { address: one_line(written, 254), route: String::new(), what };
                    if !self.failed.contains(&failed) {
                        self.failed.push(failed);
                    }
                }
            }
        }
        known
    }
}

/// The pass over one infostructure.
struct Round<'g> {
    of: usize,
    /// The addressees that receive the findings of the whole infostructure.
    everything: Vec<usize>,
    /// The addressees that receive the findings of single pages, by owner.
    owners: &'g HashMap<String, (Rc<str>, Vec<usize>)>,
    tell: Tell,
    ledger: &'g dyn Ledger,
    now: Timestamp,
    gathered: &'g mut Gathered,
}

impl Round<'_> {
    fn take_findings(&mut self, results: &dyn Results) -> Result<(), ReportError> {
        results.findings(Some(self.of), &mut |finding| {
            match finding.verdict {
                Verdict::Broken | Verdict::Fragment if self.tell.broken => {}
                Verdict::Moved if self.tell.redirected => {}
                Verdict::NotTested => {
                    self.leave_open(finding);
                    return Ok(());
                }
                // Changes and expiries are derived from the documents, by the number of days configured for mail.
                _ => return Ok(()),
            }
            let fragment = finding.fragment.as_deref();
            let found = Found {
                key: key(&finding.page, &finding.target, fragment, finding.verdict),
                subject: subject(finding.verdict, &finding.target, fragment),
                verdict: finding.verdict,
                owner: finding.owner.as_deref(),
                from: From::Finding(finding),
            };
            self.offer(&found, &|| MailItem::of_finding(finding)).map_err(unreadable)
        })
    }

    /// Findings of pages that were not read this time count neither as fixed nor as new.
    fn leave_unchecked(&mut self, results: &dyn Results) -> Result<(), ReportError> {
        results.earlier(Some(self.of), &mut |Earlier { page, target, fragment, verdict, state, .. }| {
            if *state == State::Unchecked {
                let key = key(page, target, fragment.as_deref(), *verdict);
                // The owner of the page is unknown; the ledger keeps only keys that it has for an address.
                for addressee in &mut self.gathered.addressees {
                    addressee.unsure.insert(key);
                }
            }
            Ok(())
        })
    }

    /// A link that could not be tested counts neither as fixed nor as new: the ledger's entries about it are kept.
    fn leave_open(&mut self, finding: &Finding) {
        let (fragment, owner) = (finding.fragment.as_deref(), finding.owner.as_deref());
        for verdict in [Verdict::Broken, Verdict::Fragment, Verdict::Moved] {
            let key = key(&finding.page, &finding.target, fragment, verdict);
            for (place, _) in self.concerned(owner) {
                self.gathered.addressees[place].unsure.insert(key);
            }
        }
    }

    fn take_documents(&mut self, results: &dyn Results, infostructure: &Infostructure) -> Result<(), ReportError> {
        let (changed, expired) = (infostructure.task.tell.changed, infostructure.task.tell.expired);
        if (changed, expired) == (None, None) {
            return Ok(());
        }
        let changed_after = changed.map(|days| moved(self.now, -i64::from(days)));
        let expired_before = expired.map(|days| moved(self.now, i64::from(days)));
        results.documents(self.of, &mut |document, references| {
            let owner = document.owner.as_deref();
            let mut offer = |verdict, url: &str, when, from| {
                let key = moment_key(url, when, verdict);
                let found = Found { key, subject: key, verdict, owner, from };
                self.offer(&found, &|| MailItem::of_moment(verdict, url, when)).map_err(unreadable)
            };
            let is_recent = |when: &Timestamp| changed_after.is_some_and(|after| *when >= after);
            // An observed change is more reliable than the server's `Last-Modified`.
            if let Some(when) = document.changed.or(document.last_modified).filter(is_recent) {
                offer(Verdict::Changed, &document.url, when, From::Itself(document))?;
            }
            let is_near = |when: &Timestamp| expired_before.is_some_and(|before| *when <= before);
            if let Some(when) = document.expires.filter(is_near) {
                offer(Verdict::Expiring, &document.url, when, From::Itself(document))?;
            }
            // Documents inside the infostructure are offered by themselves.
            for reference in references.iter().filter(|reference| !reference.is_inside) {
                if let Some(when) = reference.last_modified.filter(is_recent) {
                    offer(Verdict::Changed, &reference.target, when, From::Link(document, reference))?;
                }
            }
            Ok(())
        })
    }

    /// Returns the addressees that receive findings of a page with this owner, and the owner if they receive only that
    /// owner's pages.
    fn concerned(&self, owner: Option<&str>) -> Vec<(usize, Option<Rc<str>>)> {
        let mut all: Vec<_> = self.everything.iter().map(|place| (*place, None)).collect();
        if let Some((name, places)) = owner.and_then(|owner| self.owners.get(&folded_owner(owner))) {
            let others = places.iter().filter(|place| !self.everything.contains(place));
            all.extend(others.map(|place| (*place, Some(Rc::clone(name)))));
        }
        all
    }

    /// Offers a finding to the addressees concerned. An item is created only if a list has space for it.
    fn offer(&mut self, found: &Found<'_>, item: &dyn Fn() -> MailItem) -> Result<(), LedgerError> {
        for (place, pages_of) in self.concerned(found.owner) {
            let addressee = &mut self.gathered.addressees[place];
            if !addressee.found.insert(found.key) {
                continue;
            }
            let is_new = !self.ledger.was_reported(&addressee.address, found.key)?;
            let is_wanted = is_new || self.tell.always;
            addressee.section(self.of, pages_of).add(found, is_new, is_wanted, item);
        }
        Ok(())
    }
}

/// A finding that is offered.
struct Found<'a> {
    /// Its key in the ledger.
    key: u64,
    /// The key that it shares with the same target on other pages.
    subject: u64,
    verdict: Verdict,
    /// The owner of the page.
    owner: Option<&'a str>,
    from: From<'a>,
}

impl Section {
    /// Counts a finding, and lists it if it is wanted and there is space. A target is new if any of its links is.
    fn add(&mut self, found: &Found<'_>, is_new: bool, is_wanted: bool, item: &dyn Fn() -> MailItem) {
        let tally = &mut self.tally[place_of(found.verdict)];
        let known = self.known.entry(found.subject).or_insert_with(|| {
            tally[usize::from(!is_new)] += 1;
            Known { place: None, is_new, is_beyond: false }
        });
        if is_new && !known.is_new {
            known.is_new = true;
            tally[1] -= 1;
            tally[0] += 1;
        }
        if !is_wanted {
            return;
        }
        if known.place.is_none() && !known.is_beyond {
            if self.listed.len() < MOST {
                known.place = Some(self.listed.len());
                self.listed.push(item());
            } else {
                known.is_beyond = true;
                self.beyond.items += 1;
            }
        }
        match known.place {
            Some(place) => self.listed[place].add(found.key, &found.from, is_new),
            None => self.beyond.keys.push(found.key),
        }
    }
}

impl Addressee {
    fn section(&mut self, of: usize, pages_of: Option<Rc<str>>) -> &mut Section {
        let place = self.sections.iter().rposition(|section| section.of == of && section.pages_of == pages_of);
        let place = place.unwrap_or_else(|| {
            let (listed, beyond, tally, known) = Default::default();
            self.sections.push(Section { of, pages_of, listed, beyond, tally, known });
            self.sections.len() - 1
        });
        &mut self.sections[place]
    }
}

fn asks_nothing(tell: &Tell) -> bool {
    !tell.broken && !tell.redirected && tell.changed.is_none() && tell.expired.is_none()
}

/// Returns a time some days before or after another, or the end of the range.
fn moved(moment: Timestamp, days: i64) -> Timestamp {
    let end = if days < 0 { Timestamp::MIN } else { Timestamp::MAX };
    moment.checked_add(SignedDuration::from_hours(days * 24)).unwrap_or(end)
}

fn unreadable(error: LedgerError) -> ReportError {
    ReportError::Store(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_end_at_the_end_of_time() {
        let now: Timestamp = "2026-11-16T06:00:00Z".parse().expect("a moment");
        assert_eq!(moved(now, -7).to_string(), "2026-11-09T06:00:00Z");
        assert_eq!(moved(now, i64::from(u32::MAX)), Timestamp::MAX);
        assert_eq!(moved(now, -i64::from(u32::MAX)), Timestamp::MIN);
    }
}
