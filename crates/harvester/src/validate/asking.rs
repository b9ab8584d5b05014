//! Asks until there is an answer, no hope of one, or nothing left to ask with. Whatever goes over the wire counts: the
//! same question once more after a refusal or a broken line, and the hops of a redirect.

use std::time::Duration;

use super::Options;
use super::exchange::{Exchange, Question, Reply, Wait};
use super::transport::Transport;

/// As the official validator: more refusals in a row than that are no flow control.
const REFUSALS: usize = 5;
/// How often a question is sent that has no answer.
const ATTEMPTS: usize = 3;
/// For servers that do not say how long to wait.
const UNTOLD: Duration = Duration::from_secs(10);

/// A conversation with an endpoint, and what it has cost.
pub(super) struct Asking<'a, T> {
    transport: &'a T,
    base_url: &'a str,
    options: &'a Options,
    /// Requests so far.
    pub(super) sent: usize,
}

impl<'a, T: Transport> Asking<'a, T> {
    pub(super) fn new(transport: &'a T, base_url: &'a str, options: &'a Options) -> Self {
        Self { transport, base_url, options, sent: 0 }
    }

    /// A question and what became of it. The error says which limit is reached.
    pub(super) async fn ask(&mut self, question: Question) -> Result<Exchange, String> {
        let url = self.url(&question);
        let at = self.transport.now();
        let mut waits = Vec::new();
        let mut attempts = 0;
        let outcome = loop {
            self.afford()?;
            self.sent += 1;
            match self.transport.send(&question).await {
                Ok(raw) if [429, 503].contains(&raw.status) && waits.len() < REFUSALS => {
                    self.sent += raw.hops.len();
                    let header = raw.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
                    let retry_after = header.map(|(_, value)| value.trim().to_owned());
                    let now = std::time::UNIX_EPOCH + Duration::from_secs(self.transport.now().unsigned_abs());
                    let asked = retry_after.as_deref().and_then(|value| modoai_fetch::retry_after(value, now));
                    let time = asked.unwrap_or(UNTOLD);
                    waits.push(Wait { status: raw.status, retry_after });
                    if time > self.options.patience {
                        break Reply::read(raw, self.options.answer_bytes);
                    }
                    self.transport.pause(time).await;
                }
                Ok(raw) => {
                    self.sent += raw.hops.len();
                    break Reply::read(raw, self.options.answer_bytes);
                }
                Err(none) if none.is_transient && attempts + 1 < ATTEMPTS => {
                    attempts += 1;
                    self.transport.pause(Duration::from_secs(2)).await;
                }
                Err(none) => break Err(none.reason),
            }
        };
        Ok(Exchange { question, url, at, waits, outcome })
    }

    /// Whether one more request may be sent.
    fn afford(&self) -> Result<(), String> {
        match self.options.requests {
            limit if self.sent >= limit => Err(format!("the limit of {limit} requests is reached")),
            _ => Ok(()),
        }
    }

    /// The question as it can be asked again by hand.
    fn url(&self, question: &Question) -> String {
        let (base_url, query) = (self.base_url, &question.query);
        // The protocol knows no base URL with a query; where there is one all the same, it stays.
        let joint = if base_url.contains('?') { '&' } else { '?' };
        if question.post { format!("{base_url} (POST {query})") } else { format!("{base_url}{joint}{query}") }
    }
}
