//! What came of testing a URL, and what that means for a link. A failure to test is never called a broken link.

use std::fmt;

use serde::Serialize;

/// What came of testing one URL, by itself: where a redirect leads is another URL with an outcome of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is there.
    Good,
    /// It is not, and that is certain.
    Broken(Fault),
    /// It is elsewhere.
    Moved {
        /// Whether for good (301, 308), so that links should be changed.
        permanent: bool,
        /// Where.
        to: Box<str>,
    },
    /// Nobody knows, and this is why.
    NotTested(Reason),
}

/// Why a URL is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server says so: 404, 410 and the like.
    Status(u16),
    /// No host of this name exists.
    NoSuchHost,
    /// It leads back to itself, or on and on.
    RedirectLoop,
    /// It redirects to nowhere, or to what cannot be followed.
    RedirectNowhere,
    /// Nobody has answered there for a long time: so many runs in a row, since a while.
    Unreachable,
}

/// Why a URL was not tested, or not to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// robots.txt forbids it; the rule, and its line.
    Robots(Box<str>),
    /// robots.txt could not be had (5xx, unreachable), and RFC 9309 then says to stay out.
    RobotsUnknown,
    /// It is on the list of what to avoid.
    Avoided,
    /// It is outside, and what is outside was not to be tested.
    Outside,
    /// Its host is private, and only public ones may be asked.
    PrivateAddress,
    /// No answer in time.
    TimedOut,
    /// No connection, or one that broke: perhaps theirs, perhaps ours.
    Connection(Box<str>),
    /// 429, or 503 with a time to come back.
    Busy(u16),
    /// 401 or 407: one must log in.
    Login(u16),
    /// 403, 999 or a challenge, which may be meant for programs only.
    Refused(u16),
    /// 5xx after several attempts.
    ServerTrouble(u16),
    /// Its certificate is not trusted: it may be there, but not for us.
    Certificate(Box<str>),
    /// An answer that is not HTTP, or is cut short.
    Garbled(Box<str>),
    /// It redirects in a circle, but sets cookies on the way, as pages for browsers do.
    Cookies,
    /// It takes what is sent to it, and says nothing to whoever only looks.
    OnlyPost(u16),
    /// Enough documents of URLs that look alike were read.
    Similar,
    /// The run ended first.
    Interrupted,
}

impl Outcome {
    /// A number for the store, which never changes its meaning; and the detail beside it.
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
                // 44 was a limit that was reached, which is no URL's outcome; it is not given again.
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

    /// Back from the store; what a newer version wrote is read as not tested.
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
    /// The reason without what differs from URL to URL, for counting.
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

/// What a link is, to whoever has to repair it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The target is broken, or the URL cannot be followed at all.
    Broken,
    /// The target is there, and has no such part.
    Fragment,
    /// The target is elsewhere.
    Moved,
    /// The document has changed within the days that somebody wants to know of.
    Changed,
    /// The document has expired, or will within the days that somebody wants to know of.
    Expiring,
    /// Nobody knows.
    #[serde(rename = "not tested")]
    NotTested,
    /// All is well.
    Good,
}

impl Verdict {
    /// Its name, as machines read it too.
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
