//! The outcome of testing a URL, and the verdict of a link. A URL that could not be tested is never called broken.

use std::fmt;

use serde::Serialize;

/// The outcome of testing one URL by itself: the target of a redirect is another URL with a separate outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It exists.
    Good,
    /// It is broken with certainty.
    Broken(Fault),
    /// It redirects.
    Moved {
        /// True if the redirect is permanent (301, 308), so that links should be changed.
        permanent: bool,
        /// The target of the redirect.
        to: Box<str>,
    },
    /// It could not be tested, for this reason.
    NotTested(Reason),
}

/// The reason why a URL is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server reports it: 404, 410 and similar.
    Status(u16),
    /// No host of this name exists.
    NoSuchHost,
    /// It redirects to itself, or too many times.
    RedirectLoop,
    /// Its redirect has no target, or one that cannot be followed.
    RedirectNowhere,
    /// Its host has not responded in several consecutive runs over a long time.
    Unreachable,
}

/// The reason why a URL was not tested, or not completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// robots.txt forbids it; the rule, and its line.
    Robots(Box<str>),
    /// robots.txt could not be fetched (5xx, unreachable), and RFC 9309 then forbids all requests.
    RobotsUnknown,
    /// It is on the list of URLs to avoid.
    Avoided,
    /// It is external, and external URLs were not to be tested.
    Outside,
    /// Its host has a private address, and requests are restricted to public ones.
    PrivateAddress,
    /// No response before the timeout.
    TimedOut,
    /// The connection failed, which may be a problem of either side.
    Connection(Box<str>),
    /// 429, or 503 with `Retry-After`.
    Busy(u16),
    /// 401 or 407: a login is required.
    Login(u16),
    /// 403, 999 or a challenge, which may apply to programs only.
    Refused(u16),
    /// 5xx after several attempts.
    ServerTrouble(u16),
    /// Its certificate is not trusted: browsers with another set of certificates may accept it.
    Certificate(Box<str>),
    /// An invalid or truncated HTTP response.
    Garbled(Box<str>),
    /// Its redirects form a loop, but set cookies, as pages for browsers do.
    Cookies,
    /// It accepts form data, and refuses GET and HEAD.
    OnlyPost(u16),
    /// Enough documents with similar URLs were read.
    Similar,
    /// The run ended before its test.
    Interrupted,
}

impl Outcome {
    /// Returns a number for the store, which never changes its meaning, and the detail that is stored with it.
    pub fn to_code(&self) -> (u8, Option<&str>, u16) {
        match self {
            Self::Good => (0, None, 0),
            Self::Broken(Fault::Status(status)) => (10, None, *status),
            Self::Broken(Fault::NoSuchHost) => (11, None, 0),
            Self::Broken(Fault::RedirectLoop) => (12, None, 0),
            Self::Broken(Fault::RedirectNowhere) => (13, None, 0),
            Self::Broken(Fault::Unreachable) => (14, None, 0),
            Self::Moved { permanent: true, to } => (20, Some(to), 0),
            Self::Moved { permanent: false, to } => (21, Some(to), 0),
            Self::NotTested(reason) => match reason {
                Reason::Robots(rule) => (40, Some(rule), 0),
                Reason::RobotsUnknown => (41, None, 0),
                Reason::Avoided => (42, None, 0),
                Reason::Outside => (43, None, 0),
                // 44 was for a limit that was reached, which is not the outcome of a URL; the number is not used again.
                Reason::PrivateAddress => (45, None, 0),
                Reason::TimedOut => (46, None, 0),
                Reason::Connection(what) => (47, Some(what), 0),
                Reason::Busy(status) => (48, None, *status),
                Reason::Login(status) => (49, None, *status),
                Reason::Refused(status) => (50, None, *status),
                Reason::ServerTrouble(status) => (51, None, *status),
                Reason::Certificate(what) => (52, Some(what), 0),
                Reason::Garbled(what) => (53, Some(what), 0),
                Reason::Interrupted => (54, None, 0),
                Reason::Cookies => (55, None, 0),
                Reason::OnlyPost(status) => (56, None, *status),
                Reason::Similar => (57, None, 0),
            },
        }
    }

    /// Reads an outcome from the store; one written by a newer version is read as not tested.
    pub fn from_code(code: u8, detail: Option<&str>, status: u16) -> Self {
        let text = || detail.unwrap_or_default().into();
        match code {
            0 => Self::Good,
            10 => Self::Broken(Fault::Status(status)),
            11 => Self::Broken(Fault::NoSuchHost),
            12 => Self::Broken(Fault::RedirectLoop),
            13 => Self::Broken(Fault::RedirectNowhere),
            14 => Self::Broken(Fault::Unreachable),
            20 | 21 => Self::Moved { permanent: code == 20, to: text() },
            40 => Self::NotTested(Reason::Robots(text())),
            41 => Self::NotTested(Reason::RobotsUnknown),
            42 => Self::NotTested(Reason::Avoided),
            43 => Self::NotTested(Reason::Outside),
            45 => Self::NotTested(Reason::PrivateAddress),
            46 => Self::NotTested(Reason::TimedOut),
            47 => Self::NotTested(Reason::Connection(text())),
            48 => Self::NotTested(Reason::Busy(status)),
            49 => Self::NotTested(Reason::Login(status)),
            50 => Self::NotTested(Reason::Refused(status)),
            51 => Self::NotTested(Reason::ServerTrouble(status)),
            52 => Self::NotTested(Reason::Certificate(text())),
            53 => Self::NotTested(Reason::Garbled(text())),
            55 => Self::NotTested(Reason::Cookies),
            56 => Self::NotTested(Reason::OnlyPost(status)),
            57 => Self::NotTested(Reason::Similar),
            _ => Self::NotTested(Reason::Interrupted),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good => f.write_str("good"),
            Self::Broken(fault) => fault.fmt(f),
            Self::Moved { permanent: true, .. } => f.write_str("moved permanently"),
            Self::Moved { permanent: false, .. } => f.write_str("redirected temporarily"),
            Self::NotTested(reason) => reason.fmt(f),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(404) => f.write_str("404 not found"),
            Self::Status(410) => f.write_str("410 gone"),
            Self::Status(status) => write!(f, "server returned {status}"),
            Self::NoSuchHost => f.write_str("host not found"),
            Self::RedirectLoop => f.write_str("redirect loop"),
            Self::RedirectNowhere => f.write_str("invalid redirect target"),
            Self::Unreachable => f.write_str("no response in several runs over at least a week"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Robots(rule) => write!(f, "forbidden by robots.txt ({rule})"),
            Self::RobotsUnknown => f.write_str("failed to fetch robots.txt"),
            Self::Avoided => f.write_str("avoided by the settings"),
            Self::Outside => f.write_str("outside the scope"),
            Self::PrivateAddress => f.write_str("private address"),
            Self::TimedOut => f.write_str("timeout"),
            Self::Connection(what) => write!(f, "connection failed: {what}"),
            Self::Busy(status) => write!(f, "server is busy ({status})"),
            Self::Login(status) => write!(f, "login required ({status})"),
            Self::Refused(status) => write!(f, "refused, possibly only to programs ({status})"),
            Self::ServerTrouble(status) => write!(f, "server error ({status})"),
            Self::Certificate(what) => write!(f, "certificate not trusted: {what}"),
            Self::Garbled(what) => write!(f, "invalid HTTP response: {what}"),
            Self::Cookies => f.write_str("requires cookies"),
            Self::OnlyPost(status) => write!(f, "may accept only POST ({status})"),
            Self::Similar => f.write_str("limit of documents with similar URLs reached"),
            Self::Interrupted => f.write_str("the run ended before"),
        }
    }
}

impl Reason {
    /// Returns the reason without details that differ from URL to URL, for counting.
    pub fn in_general(&self) -> String {
        match self {
            Self::Robots(_) => "forbidden by robots.txt".to_owned(),
            Self::Connection(_) => "connection failed".to_owned(),
            Self::Certificate(_) => "certificate not trusted".to_owned(),
            Self::Garbled(_) => "invalid HTTP response".to_owned(),
            other => other.to_string(),
        }
    }
}

/// The classification of a link in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The target is broken, or the URL cannot be followed.
    Broken,
    /// The target exists, but the fragment does not.
    Fragment,
    /// The target has moved.
    Moved,
    /// The document has changed within the configured number of days.
    Changed,
    /// The document has expired, or expires within the configured number of days.
    Expiring,
    /// The link could not be checked.
    #[serde(rename = "not tested")]
    NotTested,
    /// No problems.
    Good,
}

impl Verdict {
    /// Returns its name, which programs read too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Fragment => "fragment",
            Self::Moved => "moved",
            Self::Changed => "changed",
            Self::Expiring => "expiring",
            Self::NotTested => "not tested",
            Self::Good => "good",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_survive_the_store() {
        let text = || Box::<str>::from("x");
        let all = [
            Outcome::Good,
            Outcome::Broken(Fault::Status(404)),
            Outcome::Broken(Fault::NoSuchHost),
            Outcome::Broken(Fault::RedirectLoop),
            Outcome::Broken(Fault::RedirectNowhere),
            Outcome::Broken(Fault::Unreachable),
            Outcome::Moved { permanent: true, to: text() },
            Outcome::Moved { permanent: false, to: text() },
            Outcome::NotTested(Reason::Robots(text())),
            Outcome::NotTested(Reason::RobotsUnknown),
            Outcome::NotTested(Reason::Avoided),
            Outcome::NotTested(Reason::Outside),
            Outcome::NotTested(Reason::PrivateAddress),
            Outcome::NotTested(Reason::TimedOut),
            Outcome::NotTested(Reason::Connection(text())),
            Outcome::NotTested(Reason::Busy(429)),
            Outcome::NotTested(Reason::Login(401)),
            Outcome::NotTested(Reason::Refused(403)),
            Outcome::NotTested(Reason::ServerTrouble(502)),
            Outcome::NotTested(Reason::Certificate(text())),
            Outcome::NotTested(Reason::Garbled(text())),
            Outcome::NotTested(Reason::Interrupted),
            Outcome::NotTested(Reason::Cookies),
            Outcome::NotTested(Reason::OnlyPost(404)),
            Outcome::NotTested(Reason::Similar),
        ];
        for outcome in all {
            let (code, detail, status) = outcome.to_code();
            assert_eq!(Outcome::from_code(code, detail, status), outcome);
        }
    }
}
