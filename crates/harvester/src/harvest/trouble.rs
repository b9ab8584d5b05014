//! The reasons why a request fails, and the consequences for the harvest.

use std::time::{Duration, SystemTime};

use modoai_fetch::{FetchError, Fetched};
use modoai_protocol::with_causes;
use modoai_protocol::xml::reader::Fault;

use crate::page::PageError;
use crate::quirks::{self, Quirk};
use crate::sink::SinkError;
use crate::state::StateError;

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The connection failed.
    #[error("{}", with_causes(.0))]
    Unreachable(FetchError),
    /// The request timed out.
    #[error("{}", with_causes(.0))]
    TimedOut(FetchError),
    /// The connection broke, or the response is truncated.
    #[error("response truncated: {0}")]
    CutShort(String),
    /// The redirects loop, or point to a URL that cannot be requested.
    #[error("redirect loop: {}", with_causes(.0))]
    Redirects(FetchError),
    /// The response has an HTTP status that reports an error.
    #[error("HTTP {0}")]
    Status(u16),
    /// The server is busy, and requests a pause.
    #[error("server is busy (HTTP {0})")]
    Busy(u16),
    /// A bot challenge blocks access to the server.
    #[error("blocked by a bot challenge page: {0}")]
    BotWall(String),
    /// The response is not valid OAI-PMH.
    #[error("invalid OAI-PMH response: {0}")]
    Unreadable(String),
    /// A web page was received with a status of success.
    #[error("received an HTML page or other content ({0})")]
    WebPage(String),
    /// An error code that OAI-PMH does not define.
    #[error("error '{code}': {message}")]
    Unknown {
        /// The error code of the server.
        code: String,
        /// The message of the server.
        message: String,
    },
    /// The server requests a longer pause than a run may wait.
    #[error("server requested a pause of {} s (Retry-After)", .0.as_secs())]
    Postponed(Duration),
    /// Lists continue without an end, or keep failing.
    #[error("stopped: {0} requests returned nothing new")]
    Endless(u64),
    /// The number of records that the user set as a limit was reached.
    #[error("stopped after {0} records (--limit)")]
    Limit(u64),
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// The sink failed: no record can be stored.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The state failed: nothing can be stored in it.
    #[error(transparent)]
    State(#[from] StateError),
    /// An internal error.
    #[error("internal error: {0} (please report this)")]
    Internal(String),
}

impl Trouble {
    /// Returns true if a later attempt may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(error) | Self::TimedOut(error) => error.is_transient(),
            Self::Busy(_) => true,
            Self::Status(status) => matches!(status, 408 | 425 | 500 | 502..=504 | 520..=530),
            Self::CutShort(_)
            | Self::Redirects(_)
            | Self::Unreadable(_)
            | Self::WebPage(_)
            | Self::Unknown { .. }
            | Self::BotWall(_) => true,
            _ => false,
        }
    }

    /// Returns true if a smaller request may succeed.
    pub(crate) fn calls_for_less(&self) -> bool {
        match self {
            Self::TimedOut(_)
            | Self::CutShort(_)
            | Self::Redirects(_)
            | Self::Unreadable(_)
            | Self::WebPage(_)
            | Self::Unknown { .. } => true,
            Self::Status(status) => !matches!(status, 401 | 402 | 403 | 407 | 451),
            _ => false,
        }
    }

    /// Returns true if the server may have failed because of the dates in the request, or because it had none.
    pub(crate) fn may_be_about_dates(&self) -> bool {
        match self {
            Self::Status(status) => !matches!(status, 401..=403 | 407 | 413 | 414 | 429 | 451 | 503),
            Self::Unknown { .. } => true,
            _ => false,
        }
    }

    /// Returns the quirk that is noted when the next attempt, or a smaller window, succeeds.
    pub(crate) fn quirk(&self) -> &'static Quirk {
        match self {
            Self::Status(413 | 414) => quirks::WINDOW_TOO_LARGE,
            Self::Busy(_) | Self::Status(503) => quirks::TOO_MANY_REQUESTS,
            Self::TimedOut(_) => quirks::SLOW_PAGE,
            Self::CutShort(_) | Self::Unreachable(_) => quirks::CUT_SHORT,
            Self::WebPage(_) => quirks::HTML_WITH_200,
            Self::Unknown { .. } => quirks::UNKNOWN_ERROR,
            Self::BotWall(_) => quirks::BOT_WALL,
            Self::Unreadable(_) => quirks::BAD_RECORD,
            _ => quirks::UNSTABLE,
        }
    }
}

impl From<FetchError> for Trouble {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Held { until, .. } => {
                Self::Postponed(until.duration_since(SystemTime::now()).unwrap_or_default())
            }
            FetchError::CutShort { .. } => Self::CutShort(with_causes(&error)),
            FetchError::Decoding { .. } | FetchError::TooLarge { .. } => Self::Unreadable(with_causes(&error)),
            FetchError::TooManyRedirects { .. } => Self::Redirects(error),
            error if error.is_timeout() => Self::TimedOut(error),
            error => Self::Unreachable(error),
        }
    }
}

impl From<PageError> for Trouble {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Fetch(error) => error.into(),
            PageError::Interrupted => Self::Interrupted,
            PageError::Sink(error) => Self::Sink(error),
            PageError::State(error) => Self::State(error),
            PageError::Nothing { .. } => Self::Unreadable(error.to_string()),
            PageError::Unreadable(error) => match &error.fault {
                Fault::Truncated { .. } | Fault::Empty => Self::CutShort(error.to_string()),
                Fault::NotOai { name } => Self::WebPage(format!("root element '{name}'")),
                Fault::NotXml { .. } => Self::WebPage(error.to_string()),
                _ => Self::Unreadable(error.to_string()),
            },
        }
    }
}

/// Returns the sign of a bot challenge, if one was received instead of the server's response.
pub(super) fn bot_wall<B>(fetched: &Fetched<B>) -> Option<String> {
    let header = |name: &str| fetched.headers.get(name).and_then(|value| value.to_str().ok());
    if header("cf-mitigated").is_some() {
        return Some("Cloudflare challenge".to_owned());
    }
    if let Some(action) = header("x-amzn-waf-action") {
        return Some(format!("AWS WAF {action}"));
    }
    let is_page = fetched.content_type().is_some_and(|kind| kind.starts_with("text/html"));
    let server = header("server").unwrap_or_default().to_ascii_lowercase();
    let refused = matches!(fetched.status, 403 | 503);
    (refused && is_page && server.contains("cloudflare")).then(|| "request refused by Cloudflare".to_owned())
}

/// Returns true if the text of a web page is that of a bot challenge.
pub(super) fn is_challenge(body: &[u8]) -> bool {
    const SIGNS: [&str; 5] = ["cf-chl", "challenge-platform", "Just a moment", "captcha", "Checking your browser"];
    let text = String::from_utf8_lossy(&body[..body.len().min(64 * 1024)]);
    SIGNS.iter().any(|sign| text.contains(sign))
}
