//! Judges an endpoint: is it conformant, and where not.
//!
//! | module | what it knows |
//! |---|---|
//! | [`checks`] | the table: what is asked, what is expected, and the function that judges |
//! | `case` | everything asked so far; how checks ask for more; lists and their pages |
//! | `exchange` | a question and its answer, decoded and read once |
//! | `shape`, `schema`, `lexical` | an answer held against XML and the schemas |
//! | `metadata` | whether two serialisations are the same metadata |
//! | `transport` | how questions reach an endpoint |
//! | [`report`], [`render`] | what was found, and how it is told |
//!
//! Everything is bounded: so many requests, so many records of each list, so many bytes of each answer. What was only
//! sampled says so.

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

use case::{Case, Stop};
use checks::{Check, GROUPS};
use exchange::{Exchange, Question, Reply, Wait};
use report::Verdict;
pub use report::{Excerpt, Finding, Grade, Outcome, Report};
use transport::Transport;

/// How much is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Requests in all. A small repository needs about 150; the rest is room for its lists.
    pub requests: usize,
    /// Records of each list: enough for several pages of most servers, and for a minute of a slow one.
    pub records: usize,
    /// Pages of each list, for servers with ten records a page.
    pub pages: usize,
    /// Bytes of one answer, as the official validator allows.
    pub answer_bytes: usize,
    /// The longest that a server may make us wait at once.
    pub patience: Duration,
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
const UNREACHABLE: &str = "Identify could not be read";

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
    // A report is shown to people; a password in the URL is not.
    let mut plain = base_url.clone();
    drop(modoai_fetch::Credential::from_url(&mut plain));
    judge(&transport, plain.as_str(), options, progress).await
}

async fn judge(
    transport: &impl Transport,
    base_url: &str,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Report {
    let mut case = Case::new(base_url, options);
    case.file(exchange(transport, base_url, options, Question::of(&[("verb", "Identify")])).await);
    let identify = &case.exchanges()[0];
    // One fault in one answer is judged like any other; where nothing of the kind comes, there is no repository.
    let unreachable = (!identify.is_of_the_protocol()).then(|| identify.trouble());
    let name = identify.answer().and_then(|answer| answer.field("repositoryName")).map(str::to_owned);

    let rows = GROUPS.iter().flat_map(|group| group.checks.iter().map(move |check| (group.name, check)));
    let wanted: Vec<_> = rows.filter(|(group, check)| options.wants(group, check)).collect();
    let mut outcomes: Vec<Option<Outcome>> = vec![None; wanted.len()];
    // Checks over all answers come when all answers are there.
    let (last, first): (Vec<usize>, Vec<usize>) = (0..wanted.len()).partition(|&index| wanted[index].1.over_all);
    let mut cut_short = None;
    for (done, index) in first.into_iter().chain(last).enumerate() {
        let (group, check) = wanted[index];
        let outcome = loop {
            progress(&Progress { check: check.id, done, of: wanted.len(), requests: case.exchanges().len() });
            let mut verdict = Verdict::default();
            match (check.judge)(&case, &mut verdict) {
                Ok(()) => break conclude(group, check, verdict, None),
                // Why Identify could not be read is told once.
                Err(Stop::NotJudged(_)) if unreachable.is_some() => {
                    break conclude(group, check, verdict, Some(UNREACHABLE.to_owned()));
                }
                Err(Stop::NotJudged(reason)) => break conclude(group, check, verdict, Some(reason)),
                Err(Stop::Need(question)) => {
                    if case.exchanges().len() >= options.requests {
                        let reason = format!("the limit of {} requests is reached", options.requests);
                        cut_short = Some(reason.clone());
                        break conclude(group, check, verdict, Some(reason));
                    }
                    if unreachable.is_some() {
                        break conclude(group, check, verdict, Some(UNREACHABLE.to_owned()));
                    }
                    case.file(exchange(transport, base_url, options, question).await);
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
        requests: case.exchanges().len(),
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

/// Asks until there is an answer, or no hope of one.
async fn exchange(transport: &impl Transport, base_url: &str, options: &Options, question: Question) -> Exchange {
    /// As the official validator: more refusals in a row than that are no flow control.
    const REFUSALS: usize = 5;
    const ATTEMPTS: usize = 3;
    let url = if question.post {
        format!("{base_url} (POST {})", question.query)
    } else {
        format!("{base_url}?{}", question.query)
    };
    let at = transport.now();
    let mut waits = Vec::new();
    let mut attempts = 0;
    let outcome = loop {
        match transport.send(&question).await {
            Ok(raw) if [429, 503].contains(&raw.status) && waits.len() < REFUSALS => {
                let header = raw.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
                let retry_after = header.map(|(_, value)| value.trim().to_owned());
                let now = std::time::UNIX_EPOCH + Duration::from_secs(transport.now().unsigned_abs());
                let asked = retry_after.as_deref().and_then(|value| modoai_fetch::retry_after(value, now));
                // Ten seconds, where a server does not say how long.
                let time = asked.unwrap_or(Duration::from_secs(10));
                waits.push(Wait { status: raw.status, retry_after });
                if time > options.patience {
                    break Reply::read(raw, options.answer_bytes);
                }
                transport.pause(time).await;
            }
            Ok(raw) => break Reply::read(raw, options.answer_bytes),
            Err(none) if none.is_transient && attempts + 1 < ATTEMPTS => {
                attempts += 1;
                transport.pause(Duration::from_secs(2)).await;
            }
            Err(none) => break Err(none.reason),
        }
    };
    Exchange { question, url, at, waits, outcome }
}
