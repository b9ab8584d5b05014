//! Checks the conformance of an endpoint.
//!
//! | module | contents |
//! |---|---|
//! | [`checks`] | the table: the request, the expected response, and the function that performs the check |
//! | `case` | the responses so far; the interface for requesting more; lists and their pages |
//! | `exchange` | a request and its response, decoded and parsed once |
//! | `shape`, `schema`, `lexical` | comparison of a response with XML and the schemas |
//! | `metadata` | comparison of two serialisations of metadata |
//! | `asking`, `transport` | repetition of requests; the connection to an endpoint |
//! | [`report`], [`render`] | the findings, and their output |
//!
//! Everything is limited: the number of requests, the records of each list, the bytes of each response. A check of a
//! sample reports that in a note.

mod asking;
mod case;
pub mod checks;
mod client;
mod exchange;
mod lexical;
mod metadata;
pub mod render;
pub mod report;
mod schema;
mod shape;
#[cfg(test)]
mod tests;
mod transport;

use std::time::Duration;

use modoai_fetch::{Client, Url};

use asking::Asking;
use case::{Case, Stop};
use checks::{Check, GROUPS};
use exchange::Question;
use report::Verdict;
pub use report::{Excerpt, Finding, Grade, Outcome, Report};
use transport::Transport;

/// The limits of a validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The total number of requests, with repeats and redirects. A small repository needs about 110; the rest is for
    /// its lists.
    pub requests: usize,
    /// Records of each list: enough for several pages of most servers, and for a minute of a slow one.
    pub records: usize,
    /// Pages of each list, for servers with ten records per page.
    pub pages: usize,
    /// Bytes of one response, as in the official validator.
    pub answer_bytes: usize,
    /// The longest pause that a server can request.
    pub patience: Duration,
    /// The longest total duration: a slow server needs minutes, and one that does not respond would never finish.
    pub time: Duration,
    /// Only these checks or groups of checks; all if the list is empty.
    pub only: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            requests: 600,
            records: 1000,
            pages: 20,
            answer_bytes: 100 * 1024 * 1024,
            patience: Duration::from_secs(300),
            time: Duration::from_secs(3600),
            only: Vec::new(),
        }
    }
}

impl Options {
    /// Returns true if a check is selected.
    pub fn wants(&self, group: &str, check: &Check) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == check.id || only == group)
    }
}

/// The reason for checks that were not performed because the endpoint is not a repository.
const UNREACHABLE: &str = "failed to read the Identify response";

/// The progress of a validation.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The check in progress.
    pub check: &'static str,
    /// The number of completed checks.
    pub done: usize,
    /// The total number of checks.
    pub of: usize,
    /// The number of requests so far.
    pub requests: usize,
}

/// Checks the endpoint at `base_url`.
pub async fn validate(
    client: &Client,
    base_url: &Url,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Report {
    let transport = client::Endpoint::new(client, base_url, options.answer_bytes);
    // A report is shown to users, and must not contain a password in the URL. The fragment is never sent, so it is
    // removed.
    let mut plain = base_url.clone();
    drop(modoai_fetch::Credential::from_url(&mut plain));
    plain.set_fragment(None);
    plain.set_query(base_url.query().filter(|query| !query.is_empty()));
    judge(&transport, plain.as_str(), options, progress).await
}

async fn judge(
    transport: &impl Transport,
    base_url: &str,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Report {
    let mut case = Case::new(base_url, options);
    let mut asking = Asking::new(transport, base_url, options);
    // The limit that was reached, if any.
    let mut cut_short = None;
    match asking.ask(Question::of(&[("verb", "Identify")])).await {
        Ok(exchange) => case.file(exchange),
        Err(limit) => cut_short = Some(limit),
    }
    let identify = case.asked().first();
    let unreachable = match identify {
        // An error in one response is checked like any other; an endpoint without any OAI-PMH response is not a
        // repository.
        Some(identify) => (!identify.is_of_the_protocol()).then(|| identify.trouble()),
        None => cut_short.clone(),
    };
    let answer = identify.and_then(|identify| identify.answer());
    let name = answer.and_then(|answer| answer.field("repositoryName")).map(str::to_owned);

    let rows = GROUPS.iter().flat_map(|group| group.checks.iter().map(move |check| (group.name, check)));
    let wanted: Vec<_> = rows.filter(|(group, check)| options.wants(group, check)).collect();
    let mut outcomes: Vec<Option<Outcome>> = vec![None; wanted.len()];
    // Checks over all responses are performed last, when all responses are available.
    let (last, first): (Vec<usize>, Vec<usize>) = (0..wanted.len()).partition(|&index| wanted[index].1.over_all);
    for (done, index) in first.into_iter().chain(last).enumerate() {
        let (group, check) = wanted[index];
        let outcome = loop {
            progress(&Progress { check: check.id, done, of: wanted.len(), requests: asking.sent });
            let mut verdict = Verdict::default();
            match (check.judge)(&case, &mut verdict) {
                Ok(()) => break conclude(group, check, verdict, None),
                // The reason why Identify could not be read is reported once.
                Err(Stop::NotJudged(_)) if unreachable.is_some() => {
                    break conclude(group, check, verdict, Some(UNREACHABLE.to_owned()));
                }
                Err(Stop::NotJudged(reason)) => break conclude(group, check, verdict, Some(reason)),
                Err(Stop::Need(_)) if unreachable.is_some() => {
                    break conclude(group, check, verdict, Some(UNREACHABLE.to_owned()));
                }
                Err(Stop::Need(question)) => {
                    let asked = match &cut_short {
                        Some(limit) => Err(limit.clone()),
                        None => asking.ask(question).await,
                    };
                    match asked {
                        Ok(exchange) => case.file(exchange),
                        Err(limit) => {
                            cut_short = Some(limit.clone());
                            break conclude(group, check, verdict, Some(limit));
                        }
                    }
                }
            }
        };
        outcomes[index] = Some(outcome);
    }
    Report {
        base_url: base_url.to_owned(),
        repository: name,
        unreachable,
        cut_short,
        requests: asking.sent,
        outcomes: outcomes.into_iter().flatten().collect(),
    }
}

/// Findings before a check was stopped are kept.
fn conclude(group: &'static str, check: &'static Check, verdict: Verdict, stopped: Option<String>) -> Outcome {
    let grade = match (verdict.grade(), &stopped) {
        (Grade::Pass, Some(_)) => Grade::NotJudged,
        (grade, _) => grade,
    };
    let Verdict { findings, more, note } = verdict;
    Outcome { check, group, grade, note: stopped.or(note), findings, more }
}
