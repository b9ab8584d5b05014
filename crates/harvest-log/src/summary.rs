//! Summarises the log as one account for each harvester.
//!
//! The log is read from beginning to end in bounded memory: of many thousand harvesters, the smallest are combined.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use modoai_protocol::Datestamp;

use crate::Outcome;
use crate::line::Line;
use crate::list::List;
use crate::read;
use crate::runs::{Page, Run, Runs};

/// The number of harvesters that are listed. If there are twice as many, the smaller half is combined.
const MOST: usize = 10_000;

/// The number of programs and formats that are listed for each harvester.
const MOST_OF_EACH: usize = 16;

/// The harvests of a repository.
#[derive(Debug, Default)]
pub struct Summary {
    /// The harvesters, in the order of their names.
    pub harvesters: Vec<Harvester>,
    /// The smallest harvesters, combined if there are too many to list each.
    pub others: Option<Harvester>,
    /// The number of invalid lines.
    pub unreadable: u64,
}

/// The requests of one harvester.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harvester {
    /// The account in the log.
    pub who: String,
    /// Its programs, in the order in which they were seen.
    pub agents: Vec<String>,
    /// The number of all requests.
    pub requests: u64,
    /// The number of lists started.
    pub lists: u64,
    /// The number of records, headers and sets sent.
    pub records: u64,
    /// The number of bytes sent, before compression.
    pub bytes: u64,
    /// The number of requests refused with Retry-After.
    pub refused: u64,
    /// The number of requests with an error response.
    pub errors: u64,
    /// The number of responses that were not sent completely.
    pub broken_off: u64,
    /// Its first request.
    pub first: Datestamp,
    /// Its latest request.
    pub last: Datestamp,
    /// The date of its last complete harvest of all records, in any format.
    pub complete: Option<Datestamp>,
    /// The date of its last complete harvest of a selection: of a set, or of changes.
    pub complete_selection: Option<Datestamp>,
    /// Its harvests by format.
    pub formats: BTreeMap<String, Format>,
    /// The list of which it received most records, one page after the other.
    pub longest: Option<Run>,
}

/// The harvests of one harvester in one format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// The number of pages of lists.
    pub pages: u64,
    /// The number of records and headers.
    pub records: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The date of the last complete harvest of all records in this format.
    pub complete: Option<Datestamp>,
    /// The date of the last complete harvest of a selection.
    pub complete_selection: Option<Datestamp>,
    /// The date of the last complete harvest of headers, of everything or of a selection.
    pub complete_headers: Option<Datestamp>,
}

/// Reads the log in this directory: all of it, or the part since a date. A missing log is empty.
pub fn summary(folder: &Path, since: Option<Datestamp>) -> io::Result<Summary> {
    let mut accounts = Accounts { since: since.unwrap_or(Datestamp::MIN), ..Accounts::default() };
    let unreadable = read::lines(folder, |line| accounts.add(line))?;
    let asked = accounts.of.into_values().map(|account| account.harvester).filter(|harvester| harvester.requests > 0);
    let mut harvesters: Vec<_> = asked.collect();
    harvesters.sort_unstable_by(|a, b| a.who.cmp(&b.who));
    Ok(Summary { harvesters, others: accounts.others, unreadable })
}

struct Accounts {
    since: Datestamp,
    of: HashMap<String, Account>,
    others: Option<Harvester>,
}

impl Default for Accounts {
    fn default() -> Self {
        Self { since: Datestamp::MIN, of: HashMap::new(), others: None }
    }
}

struct Account {
    harvester: Harvester,
    runs: Runs,
}

impl Accounts {
    fn add(&mut self, line: &Line<'_>) {
        if !self.of.contains_key(&*line.w) {
            if self.of.len() >= 2 * MOST {
                self.put_together();
            }
            let harvester = Harvester::new(line.w.to_string());
            self.of.insert(line.w.to_string(), Account { harvester, runs: Runs::default() });
        }
        if let Some(account) = self.of.get_mut(&*line.w) {
            account.add(line, self.since);
        }
    }

    fn put_together(&mut self) {
        let weight = |account: &Account| (account.harvester.bytes, account.harvester.requests, account.harvester.last);
        let mut weights: Vec<_> = self.of.values().map(weight).collect();
        let (_, middle, _) = weights.select_nth_unstable(MOST);
        let middle = *middle;
        // Larger harvesters are kept, and of those with the same weight as many as the limit allows.
        let mut room = MOST.saturating_sub(weights.iter().filter(|weight| **weight > middle).count());
        let others = &mut self.others;
        self.of.retain(|_, account| {
            let ties = weight(account) == middle && room > 0;
            room -= usize::from(ties);
            let stays = ties || weight(account) > middle;
            if !stays && account.harvester.requests > 0 {
                others.get_or_insert_with(|| Harvester::new(String::new())).include(&account.harvester);
            }
            stays
        });
    }
}

impl Account {
    fn add(&mut self, line: &Line<'_>, since: Datestamp) {
        let at = Datestamp::from_unix(line.t);
        let counts = at >= since;
        if counts {
            self.harvester.request(line, at);
        }
        let (Some(list), Outcome::Answered | Outcome::Complete) = (&line.l, line.o) else { return };
        let headers_only = match line.v.as_deref() {
            Some("ListRecords") => false,
            Some("ListIdentifiers") => true,
            // Lists of sets and formats are not a harvest.
            _ => return,
        };
        let is_last = line.o == Outcome::Complete;
        let list = List::read(list);
        let (prefix, is_first) = (list.prefix.clone(), list.is_first());
        let page = Page { at, headers_only, list, is_last, records: line.n, bytes: line.b };
        let run = self.runs.page(page);
        if counts {
            self.harvester.page(line, prefix, is_first, headers_only, run);
        }
    }
}

impl Harvester {
    fn new(who: String) -> Self {
        Self {
            who,
            agents: Vec::new(),
            requests: 0,
            lists: 0,
            records: 0,
            bytes: 0,
            refused: 0,
            errors: 0,
            broken_off: 0,
            first: Datestamp::MAX,
            last: Datestamp::MIN,
            complete: None,
            complete_selection: None,
            formats: BTreeMap::new(),
            longest: None,
        }
    }

    fn request(&mut self, line: &Line<'_>, at: Datestamp) {
        let more = |sum: &mut u64, number: u64| *sum = sum.saturating_add(number);
        more(&mut self.requests, line.k);
        more(&mut self.records, line.n);
        more(&mut self.bytes, line.b);
        match line.o {
            Outcome::Refused => more(&mut self.refused, line.k),
            Outcome::Error => more(&mut self.errors, line.k),
            Outcome::BrokenOff => more(&mut self.broken_off, line.k),
            Outcome::Answered | Outcome::Complete => {}
        }
        self.first = self.first.min(at);
        self.last = self.last.max(at);
        if !line.a.is_empty() && self.agents.len() < MOST_OF_EACH && !self.agents.iter().any(|agent| *agent == line.a) {
            self.agents.push(line.a.to_string());
        }
    }

    fn page(&mut self, line: &Line<'_>, prefix: String, is_first: bool, headers_only: bool, run: Run) {
        self.lists += u64::from(is_first);
        let mut beyond = Format::default();
        let format = if self.formats.len() < MOST_OF_EACH || self.formats.contains_key(&prefix) {
            self.formats.entry(prefix).or_default()
        } else {
            &mut beyond
        };
        format.pages += 1;
        format.records = format.records.saturating_add(line.n);
        format.bytes = format.bytes.saturating_add(line.b);
        if line.o == Outcome::Complete && run.from_start {
            let at = Some(run.last);
            match (headers_only, run.everything) {
                (true, _) => format.complete_headers = format.complete_headers.max(at),
                (false, true) => {
                    format.complete = format.complete.max(at);
                    self.complete = self.complete.max(at);
                }
                (false, false) => {
                    format.complete_selection = format.complete_selection.max(at);
                    self.complete_selection = self.complete_selection.max(at);
                }
            }
        }
        if self.longest.as_ref().is_none_or(|longest| longest.records <= run.records) {
            self.longest = Some(run);
        }
    }

    /// Adds the numbers of another harvester.
    fn include(&mut self, other: &Self) {
        let more = |sum: &mut u64, number: u64| *sum = sum.saturating_add(number);
        more(&mut self.requests, other.requests);
        more(&mut self.lists, other.lists);
        more(&mut self.records, other.records);
        more(&mut self.bytes, other.bytes);
        more(&mut self.refused, other.refused);
        more(&mut self.errors, other.errors);
        more(&mut self.broken_off, other.broken_off);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.complete = self.complete.max(other.complete);
        self.complete_selection = self.complete_selection.max(other.complete_selection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Log};

    fn event(at: i64, who: &str, list: &str, outcome: Outcome) -> Event {
        Event {
            at: Datestamp::from_unix(at),
            who: who.to_owned(),
            agent: "test/1".to_owned(),
            verb: Some("ListRecords"),
            list: Some(list.to_owned()),
            outcome,
            records: 10,
            bytes: 100,
        }
    }

    fn summed(since: Option<i64>, events: &[Event]) -> Vec<Harvester> {
        let folder = tempfile::tempdir().expect("a folder");
        let log = Log::open(folder.path());
        events.iter().for_each(|event| log.note(event));
        drop(log);
        summary(folder.path(), since.map(Datestamp::from_unix)).expect("a summary").harvesters
    }

    #[test]
    fn each_harvester_has_an_account() {
        use Outcome::{Answered, BrokenOff, Complete, Error, Refused};
        let quiet = |outcome, at| Event { records: 0, bytes: 0, ..event(at, "b", "oai_dc", outcome) };
        let headers = Event { verb: Some("ListIdentifiers"), ..event(9, "b", "oai_dc", Complete) };
        let harvesters = summed(
            None,
            &[
                event(1, "a", "oai_dc", Answered),
                event(2, "a", "oai_dc after=10", Answered),
                event(3, "a", "oai_dc after=20", Complete),
                Event { agent: "test/2".to_owned(), ..event(4, "a", "mine set=x", Complete) },
                quiet(Refused, 5),
                quiet(Refused, 6),
                quiet(Error, 7),
                quiet(BrokenOff, 8),
                headers,
            ],
        );
        let [a, b] = harvesters.as_slice() else { panic!("{harvesters:?}") };
        let stamp = |at| Some(Datestamp::from_unix(at));
        assert_eq!((a.requests, a.lists, a.records, a.bytes), (4, 2, 40, 400));
        assert_eq!((Some(a.first), Some(a.last)), (stamp(1), stamp(4)));
        assert_eq!((a.complete, a.complete_selection), (stamp(3), stamp(4)));
        assert_eq!(a.agents, ["test/1", "test/2"]);
        assert_eq!(a.formats.keys().collect::<Vec<_>>(), ["mine", "oai_dc"]);
        assert_eq!((a.formats["oai_dc"].pages, a.formats["oai_dc"].complete), (3, stamp(3)));
        let longest = a.longest.as_ref().expect("a list");
        assert_eq!((longest.pages, longest.records), (3, 30));
        assert_eq!((b.requests, b.refused, b.errors, b.broken_off), (5, 2, 1, 1));
        assert_eq!((b.complete, b.formats["oai_dc"].complete_headers), (None, stamp(9)));
    }

    #[test]
    fn what_was_before_counts_only_as_the_beginning_of_what_ended_since() {
        let events = [
            event(1, "gone", "oai_dc", Outcome::Complete),
            event(2, "slow", "oai_dc", Outcome::Answered),
            event(100, "slow", "oai_dc after=10", Outcome::Complete),
            event(101, "elsewhere", "oai_dc after=10", Outcome::Complete),
        ];
        let harvesters = summed(Some(50), &events);
        let [elsewhere, slow] = harvesters.as_slice() else { panic!("{harvesters:?}") };
        assert_eq!((slow.requests, slow.complete), (1, Some(Datestamp::from_unix(100))));
        assert_eq!((elsewhere.complete, elsewhere.complete_selection), (None, None));
    }

    #[test]
    fn of_very_many_the_ones_who_took_most_are_told_of() {
        let mut accounts = Accounts::default();
        let mut add = |who: String, bytes: u64| {
            let event = Event { bytes, list: None, verb: None, ..event(1, &who, "", Outcome::Answered) };
            accounts.add(&Line::of(&event, 1));
        };
        add("early and great".to_owned(), 1_000_000);
        (0..5 * MOST).for_each(|number| add(format!("{number}"), 1));
        add("late and great".to_owned(), 1_000_000);
        assert!(accounts.of.len() <= 2 * MOST);
        assert!(["early and great", "late and great"].iter().all(|name| accounts.of.contains_key(*name)));
        let told: u64 = accounts.of.values().map(|account| account.harvester.requests).sum();
        assert_eq!(told + accounts.others.expect("some").requests, 5 * MOST as u64 + 2);
    }

    #[test]
    fn no_log_is_no_harvesters() {
        assert!(summary(Path::new("/nowhere/at/all"), None).expect("nothing").harvesters.is_empty());
    }
}
