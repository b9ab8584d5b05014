//! Whole runs: the order of actions, and when a run ends.

use std::time::Duration;

use modoai_protocol::xml::document::Format;

use super::*;
use crate::ending::Step as Ending;
use crate::page::PageReport;
use crate::plan::{Action, Attempts, Cost, PageRequest, Planner};

/// A server and a store, as a script: pages of records by the token that was sent.
struct World {
    pages: fn(&PageRequest) -> Result<PageReport, Trouble>,
    windows: Vec<OpenWindow>,
    list: List,
    log: Vec<String>,
}

impl World {
    fn of(pages: fn(&PageRequest) -> Result<PageReport, Trouble>) -> Self {
        Self { pages, windows: Vec::new(), list: List { first_window: 0, ..list() }, log: Vec::new() }
    }

    /// Runs a planner to its end.
    fn run(&mut self, options: Options) -> Option<End> {
        let mut planner = Planner::new(options, facts().contract, None, Habits::default());
        loop {
            assert!(self.log.len() < 5000, "the run does not end");
            let mut cost = Cost::default();
            let report = match planner.next(date(NOW)) {
                Action::End(end) => return end,
                Action::Links => Report::Links(Vec::new()),
                Action::Document { url, attempts, .. } => {
                    self.log.push(format!("{attempts:?} {}", url.query().unwrap_or_default()));
                    self.document(&url)
                }
                Action::Page { url, request, .. } => {
                    self.log.push(url.query().unwrap_or_default().to_owned());
                    let page = (self.pages)(&request);
                    if page.is_err() {
                        cost.failed.push(Duration::from_secs(300));
                    }
                    if let Ok(PageReport { step: Some(Ending::GoOn(token)), progress, .. }) = &page {
                        let open = self.windows.iter_mut().find(|open| open.number == request.window.number);
                        if let Some(open) = open {
                            (open.token, open.progress) = (Some(token.clone()), progress.clone());
                        }
                    }
                    Report::Page(Arc::new(page))
                }
                Action::Store(op) => self.store(op),
            };
            planner.take(report, cost);
        }
    }

    fn document(&self, url: &Url) -> Report {
        let query = url.query().unwrap_or_default();
        let identify = [("baseURL", "http://example.org/oai"), ("granularity", "YYYY-MM-DDThh:mm:ssZ")];
        let identify = identify.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        document(match query {
            "verb=Identify" => Response { response_date: NOW.to_owned(), identify, ..Response::default() },
            "verb=ListMetadataFormats" => {
                let format = Format { prefix: "oai_dc".to_owned(), ..Format::default() };
                Response { formats: vec![format], ..Response::default() }
            }
            _ => return failure(500),
        })
    }

    fn store(&mut self, op: Op) -> Report {
        self.log.push(format!("{op:?}").chars().take_while(|it| it.is_alphanumeric()).collect());
        match op {
            Op::Lists | Op::List { .. } => Report::Lists(vec![self.list.clone()]),
            Op::OpenWindows(_) => Report::Number(self.windows.len().try_into().expect("a few")),
            Op::NextWindows { limit, .. } => {
                let due = self.windows.iter().filter(|open| open.trouble.is_none());
                Report::Windows(due.take(limit).cloned().collect())
            }
            Op::BeginPass { window, .. } => {
                let mut open = OpenWindow::new(1, window, "");
                open.progress.is_pass = true;
                self.list.first_window = 1;
                self.windows.push(open);
                Report::Done
            }
            Op::Change(change) => {
                self.windows.retain(|open| !change.closed.contains(&open.number));
                for (window, set, progress) in change.added {
                    let number = self.windows.iter().map(|open| open.number).max().unwrap_or(1) + 1;
                    self.windows.push(OpenWindow { progress, ..OpenWindow::new(number, window, &set) });
                }
                if let Some((number, why)) = change.given_up
                    && let Some(open) = self.windows.iter_mut().find(|open| open.number == number)
                {
                    open.trouble = Some(why);
                }
                Report::Number(self.windows.last().map_or(0, |open| open.number))
            }
            Op::GiveUpAll { why, .. } => {
                self.windows.iter_mut().for_each(|open| open.trouble = open.trouble.take().or(Some(why.clone())));
                Report::Done
            }
            Op::SeenSince(_) => Report::Number(5),
            Op::NewNumber(_) => Report::Number(100),
            Op::Missing { .. } => Report::Missing(Vec::new()),
            Op::MissingCount | Op::UnlistedCount(_) | Op::ItemCount | Op::Inspect => Report::Number(0),
            Op::LastSeen { .. } | Op::Unlisted { .. } => Report::Names(Vec::new()),
            _ => Report::Done,
        }
    }
}

fn options() -> Options {
    facts().options
}

/// A page of a list of two pages, whose size is announced; of its identifiers, one.
#[allow(clippy::unnecessary_wraps, reason = "other servers fail")]
fn two_pages(request: &PageRequest) -> Result<PageReport, Trouble> {
    let token = match (&request.window.token, request.purpose) {
        (None, Purpose::Keep) => Some("more".to_owned()),
        _ => Some(String::new()),
    };
    let page = PageReport {
        token,
        size: Some(5),
        records: if request.window.token.is_some() { 2 } else { 3 },
        span: Some((date("2020-02-01").unix(), date("2020-06-01").unix())),
        response_date: Some(date(NOW)),
        ..PageReport::default()
    };
    Ok(read(request, page))
}

/// What the driver counts of a page.
fn read(request: &PageRequest, page: PageReport) -> PageReport {
    let page = PageReport { fresh: page.records, news: page.records, kept: page.records, ..page };
    let mut progress = request.window.progress.clone();
    let step = Some(progress.take(&page, request.window.token.as_deref()));
    PageReport { step, progress, ..page }
}

#[test]
fn healthy_server_is_asked_for_its_list_and_three_pages_of_identifiers() {
    let mut world = World::of(two_pages);
    assert!(world.run(options()).is_none());
    let requests: Vec<_> = world.log.iter().filter(|line| line.contains("verb=")).map(String::as_str).collect();
    let expected = [
        "UntilPage verb=Identify",
        "All verb=ListMetadataFormats",
        "verb=ListRecords&metadataPrefix=oai_dc",
        "verb=ListRecords&resumptionToken=more",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2020-06-01T00:00:00Z",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&until=2020-02-01T00:00:00Z",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2020-04-01T12:00:00Z",
    ];
    assert_eq!(requests, expected);
    let stored: Vec<_> = world.log.iter().filter(|line| !line.contains("verb=")).map(String::as_str).collect();
    assert_eq!(stored.first(), Some(&"Open"));
    assert!(stored.contains(&"CompletePass") && world.windows.is_empty(), "{stored:?}");
}

#[test]
fn interrupted_window_continues_with_its_token() {
    let mut world = World::of(two_pages);
    world.list.first_window = 1;
    world.list.first_date = Some(date("2020-06-30"));
    let mut open = OpenWindow::new(1, Window::ALL, "");
    open.token = Some("more".to_owned());
    open.progress = Progress { pages: 1, fresh: 3, delivered: 3, size: Some(5), ..Progress::default() };
    world.windows.push(open);
    assert!(world.run(options()).is_none());
    let first = world.log.iter().find(|line| line.starts_with("verb=")).expect("a page");
    assert_eq!(first, "verb=ListRecords&resumptionToken=more");
}

#[test]
fn limit_ends_the_run_after_a_page_but_not_a_list_that_is_complete() {
    let limited = |limit| Options { limit: Some(limit), ..options() };
    assert!(matches!(World::of(two_pages).run(limited(3)), Some(End::Stopped(Trouble::Limit(3)))));
    assert!(World::of(two_pages).run(limited(5)).is_none(), "nothing is left to request");
}

#[test]
fn server_that_is_down_is_one_gap_and_few_requests() {
    let mut world = World::of(|_| Err(Trouble::Status(500)));
    assert!(world.run(options()).is_none());
    assert_eq!(world.windows.len(), 1);
    assert_eq!(world.windows[0].trouble.as_deref(), Some("HTTP 500"));
    let probes = world.log.iter().filter(|line| line.starts_with("Once ")).count();
    assert!(probes <= 4, "{:?}", world.log);
}

/// Every request for records fails after minutes, and identifiers go on without an end.
#[test]
fn search_for_a_remedy_has_a_budget() {
    let mut world = World::of(|request| match request.purpose {
        Purpose::Compare => {
            let page = PageReport { token: Some("more".to_owned()), ..PageReport::default() };
            let progress = Progress::default();
            Ok(PageReport { step: Some(Ending::GoOn("more".to_owned())), progress, ..page })
        }
        _ => Err(Trouble::Unreadable("not XML".to_owned())),
    });
    let end = world.run(options());
    assert!(end.is_none() || matches!(end, Some(End::Stopped(Trouble::Endless(_)))), "{end:?}");
    assert!(world.log.len() < 700, "{} actions", world.log.len());
}

#[test]
fn after_a_failure_the_next_requests_are_sent_fewer_times() {
    let mut facts = facts();
    let need = Need::Document(crate::plan::DocumentRequest {
        question: Question::Formats,
        at: None,
        dates: None,
        attempts: None,
    });
    facts.account(Some(&need), failure(500), Cost { failed: vec![Duration::from_secs(1)], ..Cost::default() });
    let Need::Document(request) = need else { panic!("a document") };
    assert!(matches!(facts.document_action(&request), Action::Document { attempts: Attempts::Few, .. }));
}
