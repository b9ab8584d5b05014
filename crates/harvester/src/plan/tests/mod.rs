//! The table of decision 010, and the order of a run, without a server.

mod ends;
mod failures;
mod runs;

use std::sync::Arc;

use modoai_fetch::Url;
use modoai_protocol::Datestamp;
use modoai_protocol::xml::Response;
use modoai_protocol::xml::document::Record;

use super::count::Count;
use super::facts::{Facts, Lacking, Need, Pause};
use super::{End, Op, Report, Task};
use crate::ask::Question;
use crate::ending::How;
use crate::habits::Habits;
use crate::harvest::{Options, Trouble};
use crate::page::{Differences, Purpose};
use crate::state::{Contract, Identity, List, OpenWindow, Progress};
use crate::window::{Granularity, Window, read_date};

/// What is answered to what is lacking, by its label.
type Answers = Vec<(&'static str, Report)>;

/// The present of every test.
const NOW: &str = "2020-07-01T00:00:00Z";

fn date(text: &str) -> Datestamp {
    read_date(text).expect("a date")
}

/// What is known of an ordinary server whose records are of the year 2020.
fn facts() -> Facts {
    let contract = Contract {
        base_url: "http://example.org/oai".to_owned(),
        sink: "records".to_owned(),
        prefix: "oai_dc".to_owned(),
    };
    let options = Options::new(Url::parse(&contract.base_url).expect("a URL"));
    let mut facts = Facts::new(options, contract, None, Habits::default());
    facts.identity = Identity { earliest: "2020-01-01T00:00:00Z".to_owned(), ..Identity::default() };
    facts.granularity = Granularity::Seconds;
    facts.now = date(NOW);
    facts
}

fn list() -> List {
    List {
        number: 1,
        set: String::new(),
        window: Window::ALL,
        watermark: None,
        first_date: None,
        first_window: 1,
        announced: None,
        completed: None,
    }
}

/// A list of that many records on that many pages, from February to June.
fn listed(records: u64, pages: u64, size: Option<u64>) -> OpenWindow {
    let span = Some((date("2020-02-01").unix(), date("2020-06-01").unix()));
    let last = if pages > 1 { 1 } else { records };
    let progress = Progress {
        pages,
        delivered: records,
        fresh: records,
        size,
        fullest: records.div_ceil(pages.max(1)).max(2),
        last,
        span,
        began: Some(date(NOW).unix()),
        is_pass: true,
        ..Progress::default()
    };
    OpenWindow { progress, ..OpenWindow::new(1, Window::ALL, "") }
}

/// What a second listing came to.
fn counted(records: u64, unknown: u64, how: How) -> Report {
    let progress = Progress { pages: 1, fresh: records, delivered: records, ..Progress::default() };
    let found = Differences { unknown, ..Differences::default() };
    Report::Count(Some(Count { how, progress, found, number: 7 }))
}

fn document(response: Response) -> Report {
    Report::Document(Arc::new(Ok(response)))
}

/// A list of records with these datestamps.
fn records(datestamps: &[&str]) -> Report {
    let record = |datestamp: &&str| Record { datestamp: (*datestamp).to_owned(), ..Record::default() };
    document(Response { records: datestamps.iter().map(record).collect(), ..Response::default() })
}

fn protocol_error(code: &str) -> Report {
    document(Response { errors: vec![(code.to_owned(), String::new())], ..Response::default() })
}

fn failure(status: u16) -> Report {
    Report::Document(Arc::new(Err(Trouble::Status(status))))
}

/// A need in a word or two.
fn label(need: &Need) -> String {
    match need {
        Need::Document(request) => match &request.question {
            Question::List { headers_only, window, .. } => {
                let verb = if *headers_only { "identifiers" } else { "records" };
                format!("probe {verb} {window}")
            }
            other => other.verb().as_str().to_owned(),
        },
        Need::Page(request) => format!("page {}", request.window.window),
        Need::Links => "links".to_owned(),
        Need::Store(op) => format!("{op:?}").chars().take_while(|it| it.is_alphanumeric()).collect(),
        Need::Task(task) => match &**task {
            Task::Count(task) if task.purpose == Purpose::Again => format!("count records {}", task.pass.window),
            Task::Count(task) => format!("count {}", task.pass.window),
            Task::Recount(_) => "recount".to_owned(),
            Task::Fetch(_) => "fetch missing".to_owned(),
            Task::Sets(_) => "sets".to_owned(),
            other => format!("{other:?}").chars().take_while(|it| it.is_alphanumeric()).collect(),
        },
    }
}

/// Runs a step until it finishes. Returns what it lacked, and its result.
fn decide<T>(
    facts: &mut Facts,
    step: impl Fn(&mut Facts) -> Lacking<T>,
    answer: impl Fn(&str, &Need) -> Report,
) -> (Vec<String>, Result<T, End>) {
    let mut lacked = Vec::new();
    loop {
        match step(facts) {
            Ok(result) => return (lacked, Ok(result)),
            Err(Pause::End(end)) => return (lacked, Err(*end)),
            Err(Pause::Need(need)) => {
                let name = label(&need);
                assert!(lacked.len() < 50, "asks again and again: {lacked:?}");
                let report = answer(&name, &need);
                lacked.push(name);
                facts.answers.push((*need, report));
            }
        }
    }
}

/// What is stored, unless a test says otherwise.
fn stored(need: &Need) -> Report {
    match need {
        Need::Store(Op::NewNumber(_)) => Report::Number(7),
        Need::Store(Op::ItemCount | Op::MissingCount) => Report::Number(0),
        Need::Task(task) if matches!(**task, Task::Fetch(_)) => Report::Done,
        other => panic!("unexpected: {other:?}"),
    }
}
