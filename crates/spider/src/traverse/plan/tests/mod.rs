//! Whole traversals without a network, in virtual time: a world of responses instead of the driver.

mod failures;
mod limits;
mod runs;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use modoai_fetch::{HeaderMap, HeaderName, HeaderValue, Robots, Url};

use super::web::Web;
use super::{Action, FetchJob, Method, Now, Planner, Report, Stored, is_settled};
use crate::extract::{Source, extract};
use crate::table::{Begun, Test};
use crate::task::{Plan, Scope, Task};
use crate::traverse::Options;
use crate::traverse::outcome::{Conclusion, of_status};
use crate::traverse::visit::{Read, Visited};
use crate::verdict::{Outcome, Reason};

/// The time that every request takes.
const LATENCY: Duration = Duration::from_millis(100);
/// The site of the tests.
const SITE: &str = "http://h";

/// A server: the response to a request, and to the requests for the same URL before it.
type Server = fn(&FetchJob, usize) -> Visited;

/// Everything but the planner: the clock, the servers, the table.
struct World {
    planner: Planner,
    server: Server,
    start: Instant,
    now: Instant,
    in_flight: BTreeMap<(Instant, u32), Visited>,
    table: Table,
    /// Every request, with its time in milliseconds.
    requests: Vec<(u128, String)>,
    /// The hosts that receive no requests before a date.
    holds: Vec<String>,
}

/// What the table has of each URL, by its number.
#[derive(Clone, Default)]
struct Table {
    names: Vec<String>,
    tests: HashMap<u32, Test>,
    pages: HashMap<u32, Vec<u8>>,
}

impl World {
    /// A first run over the site.
    fn new(options: Options, server: Server) -> Self {
        Self::over(&Table::default(), 1, options, server)
    }

    /// A run of this number over what earlier ones have stored.
    fn over(table: &Table, run: u32, options: Options, server: Server) -> Self {
        let top = Url::parse(&format!("{SITE}/")).expect("a URL");
        let plan = Plan { tasks: vec![Task::new("task", Scope::Site, top)], ..Plan::default() };
        let began = Timestamp::from_second(1_800_000_000 + i64::from(run) * 86_400).expect("a time");
        let begun = Begun { number: run, began, before: None, is_resumed: false, is_like_the_last: false };
        let mut web = Web::default();
        for (number, url) in (0..).zip(&table.names) {
            assert_eq!(web.number(url), number);
            let Some(test) = table.tests.get(&number) else { continue };
            let node = web.node_mut(number);
            node.is_known = true;
            node.is_recent = test.run == run && is_settled(&test.outcome);
            (node.code, node.status, node.form) =
                (test.outcome.to_code().0, test.status.unwrap_or_default(), test.form);
        }
        let planner = Planner::new(plan, options, begun, web, fastrand::Rng::with_seed(7)).expect("a plan");
        let start = Instant::now();
        let table = table.clone();
        let (in_flight, requests, holds) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { planner, server, start, now: start, in_flight, table, requests, holds }
    }

    /// Runs completely.
    fn run(self) -> Self {
        self.run_until(usize::MAX)
    }

    /// Runs until this number of requests was sent. Those without a response are lost.
    fn run_until(mut self, requests: usize) -> Self {
        for _ in 0..100_000 {
            let action = self.planner.next(self.present());
            self.table.names.extend(
                (self.table.names.len() as u32..self.planner.web.names.len())
                    .map(|number| self.planner.web.names.name(number).to_owned()),
            );
            match action {
                Action::Fetch(job) => {
                    if self.requests.len() == requests {
                        return self;
                    }
                    self.send(&job);
                }
                Action::Load(number) => {
                    let has_page = self.table.pages.contains_key(&number);
                    let test = self.table.tests.get(&number);
                    let stored = test.map(|test| Stored { test: test.clone(), has_page, is_held: true });
                    self.take(Report::Stored(number, stored.map(Box::new)));
                }
                Action::LoadReferences(number) => {
                    self.take(Report::References(number, self.table.pages.get(&number).cloned()));
                }
                Action::StoreTest(number, test) => _ = self.table.tests.insert(number, *test),
                Action::StorePage { node, references, .. } => _ = self.table.pages.insert(node, references),
                Action::StoreHold(host, _) => self.holds.push(host.into()),
                Action::Show(..) => panic!("no observer"),
                Action::Wait(until) => self.wait(until),
                Action::End => return self,
            }
        }
        panic!("the traversal does not end: {:?}", &self.requests[self.requests.len().saturating_sub(20)..]);
    }

    fn present(&self) -> Now {
        let elapsed = self.now - self.start;
        let date = self.planner.run.began + jiff::SignedDuration::try_from(elapsed).expect("a duration");
        Now { instant: self.now, date }
    }

    fn take(&mut self, report: Report) {
        self.planner.take(report, self.present());
    }

    fn send(&mut self, job: &FetchJob) {
        let condition = if job.etag.is_some() { " if changed" } else { "" };
        let verb = if job.method == Method::Head { "HEAD" } else { "GET" };
        let line = format!("{verb} {}{condition}", job.url.as_str().replace(SITE, ""));
        let path = |line: &str| line.split(' ').nth(1).map(str::to_owned);
        let before = self.requests.iter().filter(|(_, sent)| path(sent) == path(&line)).count();
        let response = (self.server)(job, before);
        self.requests.push(((self.now - self.start).as_millis(), line));
        self.in_flight.insert((self.now + LATENCY, job.node), response);
    }

    /// Lets time pass until the next response, or until the time that the planner has set.
    fn wait(&mut self, until: Option<Instant>) {
        let next = self.in_flight.first_key_value().map(|((at, _), _)| *at);
        self.now = next.into_iter().chain(until).min().expect("something to wait for").max(self.now);
        if let Some(due) = self.in_flight.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let response = due.remove();
            self.take(Report::Visited(Box::new(response)));
        }
    }

    /// The requests, without their times.
    fn lines(&self) -> Vec<&str> {
        self.requests.iter().map(|(_, line)| line.as_str()).collect()
    }

    /// The same, sorted: for those whose order does not matter.
    fn sorted(&self) -> Vec<&str> {
        let mut lines = self.lines();
        lines.sort_unstable();
        lines
    }

    /// The times of the requests for a URL, in seconds.
    fn seconds(&self, path: &str) -> Vec<u128> {
        let of_it = self.requests.iter().filter(|(_, line)| line.split(' ').nth(1) == Some(path));
        of_it.map(|(at, _)| at / 1000).collect()
    }

    /// The outcome of a URL that was tested.
    fn outcome(&self, path: &str) -> Outcome {
        let number = self.planner.web.find(&format!("{SITE}{path}")).expect("a URL that was found");
        self.table.tests.get(&number).expect("a test").outcome.clone()
    }

    /// The outcomes of all URLs, by path.
    fn outcomes(&self) -> BTreeMap<&str, &Outcome> {
        let path = |number: &u32| self.table.names[*number as usize].trim_start_matches(SITE);
        self.table.tests.iter().map(|(number, test)| (path(number), &test.outcome)).collect()
    }
}

fn header(headers: &mut HeaderMap, name: &'static str, value: &str) {
    headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header"));
}

/// A response with a document.
fn html(job: &FetchJob, text: &str) -> Visited {
    let mut visited = status(job, 200);
    header(&mut visited.headers, "content-type", "text/html");
    header(&mut visited.headers, "etag", "\"1\"");
    if job.method == Method::Read {
        let source =
            Source { url: &job.url, media_type: Some("text/html"), charset: None, links: &[], body: text.as_bytes() };
        let (page, bytes) = (extract(&source), text.len() as u64);
        visited.read = Some(Read { page, digest: bytes, bytes, is_whole: true, _place: None });
    }
    visited
}

/// A document that links to these URLs.
fn links<T: AsRef<str>>(job: &FetchJob, targets: impl IntoIterator<Item = T>) -> Visited {
    let link = |target: T| format!("<a href=\"{}\">x</a>", target.as_ref());
    html(job, &targets.into_iter().map(link).collect::<String>())
}

/// A response without a document.
fn status(job: &FetchJob, status: u16) -> Visited {
    let headers = HeaderMap::new();
    let conclusion = of_status(status, &headers, job.is_home, job.is_action);
    let is_missing_by_head = job.method == Method::Head && status == 404;
    Visited { status: Some(status), is_missing_by_head, ..Visited::without_answer(job.node, conclusion) }
}

fn moved(job: &FetchJob, status: u16, to: &str) -> Visited {
    let to = job.url.join(to).expect("a URL").as_str().into();
    let conclusion = Conclusion::certain(Outcome::Moved { permanent: status == 301, to });
    Visited { status: Some(status), ..Visited::without_answer(job.node, conclusion) }
}

/// A server that is busy and sends `Retry-After`.
fn busy(job: &FetchJob, status: u16, seconds: u64) -> Visited {
    let conclusion = Conclusion::doubtful(Reason::Busy(status));
    let wait = Some(Duration::from_secs(seconds));
    Visited { status: Some(status), wait, ..Visited::without_answer(job.node, conclusion) }
}

/// The same response, of a host with this robots.txt.
fn with_robots(text: &str, visited: Visited) -> Visited {
    Visited { robots: Some(Arc::new(Robots::parse(text.as_bytes(), "modoai"))), ..visited }
}
