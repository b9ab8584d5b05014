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
/// So many questions in a row without an answer, and there is nobody to ask any more. Where one verb of several is dead,
/// others answer in between.
const SILENCE: usize = 8;
/// For servers that do not say how long to wait.
const UNTOLD: Duration = Duration::from_secs(10);

/// A conversation with an endpoint, and what it has cost.
pub(super) struct Asking<'a, T> {
    transport: &'a T,
    base_url: &'a str,
    options: &'a Options,
    /// Requests so far.
    pub(super) sent: usize,
    /// When it began, by the transport's clock.
    began: i64,
    /// Questions without an answer since the last with one, and why the last has none.
    silence: usize,
    trouble: String,
}

impl<'a, T: Transport> Asking<'a, T> {
    pub(super) fn new(transport: &'a T, base_url: &'a str, options: &'a Options) -> Self {
        let began = transport.now();
        Self { transport, base_url, options, sent: 0, began, silence: 0, trouble: String::new() }
    }

    /// A question and what became of it. The error says which limit is reached.
    pub(super) async fn ask(&mut self, question: Question) -> Result<Exchange, String> {
        let url = self.url(&question);
        let at = self.transport.now();
        let mut waits = Vec::new();
        let mut attempts = 0;
        // Whoever did not answer the last question either is not begged.
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
                // What was never sent was not answered badly.
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
                // That our time is over is not the server's fault.
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

    /// Whether one more request may be sent.
    fn afford(&self) -> Result<(), String> {
        if self.sent >= self.options.requests {
            return Err(format!("the limit of {} requests is reached", self.options.requests));
        }
        if self.silence >= SILENCE {
            return Err(format!("{SILENCE} consecutive requests failed: {}", self.trouble));
        }
        if self.left().is_zero() { Err(self.too_late()) } else { Ok(()) }
    }

    /// The time that is left.
    fn left(&self) -> Duration {
        let spent = u64::try_from(self.transport.now() - self.began).unwrap_or_default();
        self.options.time.saturating_sub(Duration::from_secs(spent))
    }

    fn too_late(&self) -> String {
        format!("the limit of {} seconds is reached", self.options.time.as_secs())
    }

    /// Waits, unless the time is over before.
    async fn pause(&self, time: Duration) -> Result<(), String> {
        if time >= self.left() {
            return Err(self.too_late());
        }
        self.transport.pause(time).await;
        Ok(())
    }

    /// The question as it can be asked again by hand.
    fn url(&self, question: &Question) -> String {
        let (base_url, query) = (self.base_url, &question.query);
        // The protocol knows no base URL with a query; where there is one all the same, it stays.
        let joint = if base_url.contains('?') { '&' } else { '?' };
        if question.post { format!("{base_url} (POST {query})") } else { format!("{base_url}{joint}{query}") }
    }
}

/// Whether we are to come back later.
pub(super) fn is_refusal(status: u16) -> bool {
    [429, 503].contains(&status)
}
