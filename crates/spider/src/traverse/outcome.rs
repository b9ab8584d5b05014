//! Derives the outcome of a URL from a response or a failed request. In case of doubt, the URL counts as not tested.

use std::time::Duration;

use modoai_fetch::{FetchError, Fetched, HeaderMap, Kind, Permission, Unknown};

use crate::verdict::{Fault, Outcome, Reason};

/// The maximum crawl delay of a host outside all tasks. With a longer one, a link or two would take hours.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The outcome of a request, and whether it is final or a retry may change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conclusion {
    pub(crate) outcome: Outcome,
    pub(crate) is_final: bool,
}

impl Conclusion {
    pub(crate) fn certain(outcome: Outcome) -> Self {
        Self { outcome, is_final: true }
    }

    pub(crate) fn doubtful(reason: Reason) -> Self {
        Self { outcome: Outcome::NotTested(reason), is_final: false }
    }
}

/// Returns the conclusion for a status. `is_home` is true for URLs of the sites that are maintained: there, a refusal
/// is a defect; elsewhere it may apply only to programs. `is_action` is true for URLs that only forms send data to.
pub(crate) fn of_answer(answer: &Fetched, is_home: bool, is_action: bool) -> Conclusion {
    match answer.location() {
        Some(Ok(to)) => {
            let permanent = matches!(answer.status, 301 | 308);
            return Conclusion::certain(Outcome::Moved { permanent, to: to.as_str().into() });
        }
        Some(Err(_)) => return Conclusion::certain(Outcome::Broken(Fault::RedirectNowhere)),
        None => {}
    }
    of_status(answer.status, &answer.headers, is_home, is_action)
}

pub(crate) fn of_status(status: u16, headers: &HeaderMap, is_home: bool, is_action: bool) -> Conclusion {
    match status {
        200..=299 | 304 => Conclusion::certain(Outcome::Good),
        300 => Conclusion::certain(Outcome::Good),
        _ if is_challenge(headers) => Conclusion::certain(Outcome::NotTested(Reason::Refused(status))),
        401 | 407 => Conclusion::certain(Outcome::NotTested(Reason::Login(status))),
        403 | 451 if !is_home => Conclusion::certain(Outcome::NotTested(Reason::Refused(status))),
        // A URL that only accepts POST, or that requires parameters, exists.
        400 | 405 | 411 | 415 | 422 if is_action => Conclusion::certain(Outcome::Good),
        404 | 410 if is_action => Conclusion::certain(Outcome::NotTested(Reason::OnlyPost(status))),
        408 | 425 => Conclusion::doubtful(Reason::TimedOut),
        429 => Conclusion::doubtful(Reason::Busy(status)),
        503 if headers.contains_key("retry-after") => Conclusion::doubtful(Reason::Busy(status)),
        // A non-standard status, as bot protection sends it.
        900.. => Conclusion::certain(Outcome::NotTested(Reason::Refused(status))),
        // A page that always fails is as broken as a missing one, but only if a retry fails too.
        500 | 501 | 505 | 506 | 508 if is_home => {
            Conclusion { outcome: Outcome::Broken(Fault::Status(status)), is_final: false }
        }
        500..=899 => Conclusion::doubtful(Reason::ServerTrouble(status)),
        // For other sites, a status about the URL is accepted; a status about the client is not.
        _ if !is_home && !matches!(status, 400 | 404 | 405 | 410 | 414) && (400..500).contains(&status) => {
            Conclusion::certain(Outcome::NotTested(Reason::Refused(status)))
        }
        100..=199 => Conclusion::doubtful(Reason::Garbled("incomplete response".into())),
        _ => Conclusion::certain(Outcome::Broken(Fault::Status(status))),
    }
}

/// Returns true if the server demands a challenge that only a browser can pass.
fn is_challenge(headers: &HeaderMap) -> bool {
    headers.get("cf-mitigated").is_some_and(|value| value.as_bytes() == b"challenge")
        || headers.contains_key("x-amzn-waf-action")
}

/// Returns a conclusion if robots.txt forbids a request or is unavailable.
pub(crate) fn of_robots(permission: Permission<'_>, pause: Option<Duration>, is_home: bool) -> Option<Conclusion> {
    let not_tested = |reason| Some(Conclusion::certain(Outcome::NotTested(reason)));
    match permission {
        Permission::Allowed if !is_home && pause.is_some_and(|pause| pause > MAX_PAUSE) => {
            not_tested(Reason::Robots("its Crawl-delay is too long".into()))
        }
        Permission::Allowed => None,
        Permission::Forbidden { line, rule } => not_tested(Reason::Robots(format!("{rule}, line {line}").into())),
        // The missing host may be the target of a redirect of robots.txt, so it does not indicate a problem of this
        // URL.
        Permission::Unknown(Unknown::Status(_) | Unknown::Failed(Kind::NoSuchHost)) => {
            not_tested(Reason::RobotsUnknown)
        }
        // The host does not respond to any request, so the result applies to the URL as well as to robots.txt.
        Permission::Unknown(Unknown::Failed(kind)) => {
            let Conclusion { outcome, .. } = of_kind(kind, "robots.txt is unreachable".to_owned());
            Some(Conclusion::certain(outcome))
        }
    }
}

/// Returns the conclusion for an error.
pub(crate) fn of_error(error: &FetchError) -> Conclusion {
    of_kind(error.kind(), cause(error))
}

/// Returns the conclusion for a kind of error.
pub(crate) fn of_kind(kind: Kind, detail: String) -> Conclusion {
    let detail = detail.into_boxed_str();
    match kind {
        // The resolver may fail temporarily, so the request is retried.
        Kind::NoSuchHost => Conclusion { outcome: Outcome::Broken(Fault::NoSuchHost), is_final: false },
        Kind::NotAskable => Conclusion::certain(Outcome::Broken(Fault::NoSuchHost)),
        Kind::RedirectLoop => Conclusion::certain(Outcome::Broken(Fault::RedirectLoop)),
        Kind::RedirectNowhere => Conclusion::certain(Outcome::Broken(Fault::RedirectNowhere)),
        Kind::TimedOut => Conclusion::doubtful(Reason::TimedOut),
        Kind::Held => Conclusion::doubtful(Reason::Busy(503)),
        Kind::PrivateAddress => Conclusion::certain(Outcome::NotTested(Reason::PrivateAddress)),
        Kind::Certificate | Kind::Tls => Conclusion::certain(Outcome::NotTested(Reason::Certificate(detail))),
        Kind::CutShort | Kind::Garbled | Kind::TooLarge => Conclusion::doubtful(Reason::Garbled(detail)),
        Kind::Resolver | Kind::Refused | Kind::Unreachable | Kind::Ours => {
            Conclusion::doubtful(Reason::Connection(detail))
        }
    }
}

/// Returns the innermost cause: the outer ones contain the URL, which the report shows anyway.
fn cause(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_to_test_is_never_a_broken_link() {
        let none = HeaderMap::new();
        let outcome = |status, is_home| of_status(status, &none, is_home, false);
        for status in [418, 421, 426, 444] {
            assert!(matches!(outcome(status, false).outcome, Outcome::NotTested(Reason::Refused(_))), "{status}");
        }
        assert!(matches!(of_status(404, &none, true, true).outcome, Outcome::NotTested(Reason::OnlyPost(404))));
        for status in [404, 410, 400] {
            assert_eq!(outcome(status, false), Conclusion::certain(Outcome::Broken(Fault::Status(status))));
        }
        for status in [401, 407, 408, 429, 502, 503, 504, 999] {
            assert!(matches!(outcome(status, true).outcome, Outcome::NotTested(_)), "{status}");
        }
        assert!(matches!(outcome(403, false).outcome, Outcome::NotTested(Reason::Refused(403))));
        assert_eq!(outcome(403, true).outcome, Outcome::Broken(Fault::Status(403)));
        assert!(matches!(outcome(500, false).outcome, Outcome::NotTested(_)), "of others, one does not know");
        assert!(!outcome(500, true).is_final, "asked for again before it is believed");
        assert_eq!(of_status(405, &none, true, true).outcome, Outcome::Good);
        let wall = HeaderMap::from_iter([(
            modoai_fetch::HeaderName::from_static("cf-mitigated"),
            modoai_fetch::HeaderValue::from_static("challenge"),
        )]);
        assert!(matches!(of_status(404, &wall, false, false).outcome, Outcome::NotTested(Reason::Refused(404))));
    }
}
