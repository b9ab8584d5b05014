//! Sends requests to an endpoint and repeats those that fail, within the limits of the options. Everything that is sent
//! counts: repetitions after a refusal or a broken connection, and the hops of a redirect.

use std::time::Duration;

use super::Options;
use super::exchange::{Exchange, Question, Reply, Wait};
use super::transport::Transport;

/// As the official validator: more consecutive refusals than that are not flow control.
const REFUSALS: usize = 5;
/// The number of attempts for a request without a response.
const ATTEMPTS: usize = 3;
/// The number of consecutive requests without a response after which the endpoint counts as unavailable. If only one of
/// several verbs fails, responses to others interrupt the sequence.
const SILENCE: usize = 8;
/// The pause for servers that send no Retry-After.
const UNTOLD: Duration = Duration::from_secs(10);

/// The requests to an endpoint, and their cost.
pub(super) struct Asking<'a, T> {
    transport: &'a T,
    base_url: &'a str,
    options: &'a Options,
    /// The number of requests sent so far.
    pub(super) sent: usize,
    /// The start time, by the transport's clock.
    began: i64,
    /// The number of requests without a response since the last response, and the cause of the last failure.
    silence: usize,
    trouble: String,
}

impl<'a, T: Transport> Asking<'a, T> {
    pub(super) fn new(transport: &'a T, base_url: &'a str, options: &'a Options) -> Self {
        let began = transport.now();
        Self { transport, base_url, options, sent: 0, began, silence: 0, trouble: String::new() }
    }

    /// Sends a request and returns it with its outcome. The error is the limit that is reached.
    pub(super) async fn ask(&mut self, question: Question) -> Result<Exchange, String> {
        let url = self.url(&question);
        let at = self.transport.now();
        let mut waits = Vec::new();
        let mut attempts = 0;
        // If the previous request had no response either, this one is not repeated.
        let (most_attempts, most_refusals) = if self.silence == 0 { (ATTEMPTS, REFUSALS) } else { (1, 1) };
        let outcome = loop {
            self.afford()?;
            self.sent += 1;
            match self.transport.send(&question, self.left()).await {
                Ok(raw) if is_refusal(raw.status) && waits.len() < most_refusals => {
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
                    self.pause(time).await?;
                }
                Ok(raw) => {
                    self.sent += raw.hops.len();
                    break Reply::read(raw, self.options.answer_bytes);
                }
                // A request that was not sent does not count as a bad response.
                Err(none) if none.is_held => {
                    self.sent -= 1;
                    return Err(format!(
                        "the server requested a pause of more than {} seconds (Retry-After)",
                        self.options.patience.as_secs()
                    ));
                }
                Err(none) if none.is_transient && attempts + 1 < most_attempts => {
                    attempts += 1;
                    self.pause(Duration::from_secs(2)).await?;
                }
                // The expired time limit is not an error of the server.
                Err(_) if self.left().is_zero() => return Err(self.too_late()),
                Err(none) => break Err(none.reason),
            }
        };
        let exchange = Exchange { question, url, at, waits, outcome };
        if exchange.reply().is_some_and(|reply| !is_refusal(reply.status)) {
            self.silence = 0;
        } else {
            self.silence += 1;
            self.trouble = exchange.trouble();
        }
        Ok(exchange)
    }

    /// Checks that one more request may be sent.
    fn afford(&self) -> Result<(), String> {
        if self.sent >= self.options.requests {
            return Err(format!("the limit of {} requests is reached", self.options.requests));
        }
        if self.silence >= SILENCE {
            return Err(format!("{SILENCE} consecutive requests failed: {}", self.trouble));
        }
        if self.left().is_zero() { Err(self.too_late()) } else { Ok(()) }
    }

    /// Returns the remaining time.
    fn left(&self) -> Duration {
        let spent = u64::try_from(self.transport.now() - self.began).unwrap_or_default();
        self.options.time.saturating_sub(Duration::from_secs(spent))
    }

    fn too_late(&self) -> String {
        format!("the limit of {} seconds is reached", self.options.time.as_secs())
    }

    /// Waits, unless the time limit would expire before.
    async fn pause(&self, time: Duration) -> Result<(), String> {
        if time >= self.left() {
            return Err(self.too_late());
        }
        self.transport.pause(time).await;
        Ok(())
    }

    /// Returns the request in a form that users can repeat.
    fn url(&self, question: &Question) -> String {
        let (base_url, query) = (self.base_url, &question.query);
        // The protocol does not allow a base URL with a query; if the base URL has one, it is kept.
        let joint = if base_url.contains('?') { '&' } else { '?' };
        if question.post { format!("{base_url} (POST {query})") } else { format!("{base_url}{joint}{query}") }
    }
}

/// Returns true if the server requests a later attempt.
pub(super) fn is_refusal(status: u16) -> bool {
    [429, 503].contains(&status)
}
