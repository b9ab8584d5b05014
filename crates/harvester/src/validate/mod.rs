//! Judges an endpoint: is it conformant, and where not.
//!
//! | module | what it knows |
//! |---|---|
//! | [`checks`] | the table: what is asked, what is expected, and the function that judges |
//! | `case` | everything asked so far; how checks ask for more; lists and their pages |
//! | `exchange` | a question and its answer, decoded and read once |
//! | `shape`, `schema`, `lexical` | an answer held against XML and the schemas |
//! | `metadata` | whether two serialisations are the same metadata |
//! | `asking`, `transport` | how often a question is asked; how it reaches an endpoint |
//! | [`report`], [`render`] | what was found, and how it is told |
//!
//! Everything is bounded: so many requests, so many records of each list, so many bytes of each answer. What was only
//! sampled says so.

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

/// How much is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Requests in all, with repeats and redirects. A small repository needs about 110; the rest is room for its lists.
    pub requests: usize,
    /// Records of each list: enough for several pages of most servers, and for a minute of a slow one.
    pub records: usize,
    /// Pages of each list, for servers with ten records a page.
    pub pages: usize,
    /// Bytes of one answer, as the official validator allows.
    pub answer_bytes: usize,
    /// The longest that a server may make us wait at once.
    pub patience: Duration,
    /// The longest that everything may take: a slow server is through in minutes, and a stuck one never.
    pub time: Duration,
    /// Only these checks or groups of checks; all if there are none.
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
    /// Whether a check is wanted.
    pub fn wants(&self, group: &str, check: &Check) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == check.id || only == group)
    }
}

/// Why checks are not judged where there is no repository.
const UNREACHABLE: &str = "failed to read the Identify response";

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What is being judged.
    pub check: &'static str,
    /// Checks that are done.
    pub done: usize,
    /// Checks in all.
    pub of: usize,
    /// Requests so far.
    pub requests: usize,
}

/// Judges the endpoint at `base_url`.
pub async fn validate(
    client: &Client,
    base_url: &Url,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Report {
    let transport = client::Endpoint::new(client, base_url, options.answer_bytes);
    // A report is shown to people; a password in the URL is not. What is never sent is no part of the base URL.
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
    // Which limit was reached, if one was.
    let mut cut_short = None;
    match asking.ask(Question::of(&[("verb", "Identify")])).await {
        Ok(exchange) => case.file(exchange),
        Err(limit) => cut_short = Some(limit),
    }
    let identify = case.asked().first();
    let unreachable = match identify {
        // One fault in one answer is judged like any other; where nothing of the kind comes, there is no repository.
        Some(identify) => (!identify.is_of_the_protocol()).then(|| identify.trouble()),
        None => cut_short.clone(),
    };
    let answer = identify.and_then(|identify| identify.answer());
    let name = answer.and_then(|answer| answer.field("repositoryName")).map(str::to_owned);

    let rows = GROUPS.iter().flat_map(|group| group.checks.iter().map(move |check| (group.name, check)));
    let wanted: Vec<_> = rows.filter(|(group, check)| options.wants(group, check)).collect();
    let mut outcomes: Vec<Option<Outcome>> = vec![None; wanted.len()];
    // Checks over all answers come when all answers are there.
    let (last, first): (Vec<usize>, Vec<usize>) = (0..wanted.len()).partition(|&index| wanted[index].1.over_all);
    for (done, index) in first.into_iter().chain(last).enumerate() {
        let (group, check) = wanted[index];
        let outcome = loop {
            progress(&Progress { check: check.id, done, of: wanted.len(), requests: asking.sent });
            let mut verdict = Verdict::default();
            match (check.judge)(&case, &mut verdict) {
                Ok(()) => break conclude(group, check, verdict, None),
                // Why Identify could not be read is told once.
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

/// What was found before a check had to stop counts.
fn conclude(group: &'static str, check: &'static Check, verdict: Verdict, stopped: Option<String>) -> Outcome {
    let grade = match (verdict.grade(), &stopped) {
        (Grade::Pass, Some(_)) => Grade::NotJudged,
        (grade, _) => grade,
    };
    let Verdict { findings, more, note } = verdict;
    Outcome { check, group, grade, note: stopped.or(note), findings, more }
}
