//! Compares a result with the previous one: since when it applies, whether the document has changed, and when a host
//! without responses counts as broken.

use jiff::{SignedDuration, Timestamp};
use modoai_fetch::HeaderMap;

use crate::extract::Form;
use crate::table::Test;
use crate::traverse::visit::Visited;
use crate::verdict::{Fault, Outcome, Reason};

/// The number of consecutive runs without a response, and the time that they must span, after which a URL counts as
/// broken.
const MISSED_RUNS: u32 = 3;
const MISSED_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Returns the test that is stored after a visit: the result combined with that of the previous test. The outcome is
/// changed to broken after a long time without responses.
pub(super) fn combined(visited: &Visited, old: Option<&Test>, run: u32, now: Timestamp) -> Test {
    let mut test = match old {
        Some(old) if visited.status == Some(304) => Test { run, at: now, outcome: Outcome::Good, ..old.clone() },
        _ => fresh(visited, old, run, now),
    };
    let is_missed = matches!(
        test.outcome,
        Outcome::NotTested(Reason::TimedOut | Reason::Connection(_) | Reason::Garbled(_) | Reason::ServerTrouble(_))
    );
    test.missed = if is_missed { old.map_or(0, |old| old.missed) + 1 } else { 0 };
    test.since = match old {
        // The period counts from the first missing response, even if the reasons differ.
        Some(old) if is_missed && old.missed > 0 => old.since,
        Some(old) if !is_missed && class(&old.outcome) == class(&test.outcome) => old.since,
        _ => now,
    };
    if is_missed && test.missed >= MISSED_RUNS && test.at.duration_since(test.since) >= MISSED_FOR {
        test.outcome = Outcome::Broken(Fault::Unreachable);
    }
    test
}

fn fresh(visited: &Visited, old: Option<&Test>, run: u32, now: Timestamp) -> Test {
    let headers = &visited.headers;
    let page = visited.read.as_ref().map(|read| &read.page);
    let etag = text(headers, "etag");
    let modified = text(headers, "last-modified");
    let length = || text(headers, "content-length").and_then(|length| length.parse().ok());
    let bytes = visited.read.as_ref().map(|read| read.bytes).or_else(length);
    let digest = visited.read.as_ref().map(|read| read.digest);
    let is_changed = old.is_some_and(|old| match (old.digest, digest) {
        (Some(before), Some(now)) => before != now,
        // One of the two tests read the document and the other did not: nothing can be compared.
        (Some(_), None) | (None, Some(_)) => false,
        (None, None) => {
            old.outcome == Outcome::Good
                && visited.conclusion.outcome == Outcome::Good
                && (&old.etag, &old.modified, old.bytes) != (&etag, &modified, bytes)
        }
    });
    let expires = page.and_then(|page| page.expires.as_deref().and_then(date));
    Test {
        run,
        at: now,
        outcome: visited.conclusion.outcome.clone(),
        status: visited.status,
        etag,
        modified,
        expires: expires.or_else(|| expiry(headers, now)),
        media_type: text(headers, "content-type"),
        bytes,
        owner: text(headers, "owner").or_else(|| page.and_then(|page| page.owner.as_deref().map(str::to_owned))),
        title: page.and_then(|page| page.title.as_deref().map(str::to_owned)),
        form: page.map_or(Form::Other, |page| page.form),
        digest,
        changed: if is_changed { Some(now) } else { old.and_then(|old| old.changed) },
        since: now,
        missed: 0,
    }
}

/// Returns the class of an outcome; "since" changes only with the class.
fn class(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Good => 0,
        Outcome::Broken(_) => 1,
        Outcome::Moved { .. } => 2,
        Outcome::NotTested(_) => 3,
    }
}

/// Returns the value of a header, if it is valid text.
pub(super) fn text(headers: &HeaderMap, name: &'static str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Returns the date when a document expires by its header. Most `Expires` headers only limit caching and are ignored:
/// those next to `Cache-Control`, and those within half a day.
fn expiry(headers: &HeaderMap, now: Timestamp) -> Option<Timestamp> {
    if headers.contains_key("cache-control") {
        return None;
    }
    let expires = date(&text(headers, "expires")?)?;
    let sent = text(headers, "date").as_deref().and_then(date).unwrap_or(now);
    (expires.duration_since(sent).abs() >= SignedDuration::from_hours(12)).then_some(expires)
}

/// Parses a date in the format of HTTP, or in the formats that people use in documents.
fn date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    httpdate::parse_http_date(text)
        .ok()
        .and_then(|date| Timestamp::try_from(date).ok())
        .or_else(|| text.parse().ok())
        .or_else(|| {
            text.parse::<jiff::civil::Date>()
                .ok()?
                .to_zoned(jiff::tz::TimeZone::UTC)
                .ok()
                .map(|zoned| zoned.timestamp())
        })
}
