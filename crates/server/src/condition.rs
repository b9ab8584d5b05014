//! Conditional requests (RFC 9110, section 13).

use std::time::{Duration, SystemTime};

use hyper::header::{HeaderMap, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};

/// The state of a file that conditions are compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validators<'a> {
    /// A strong entity tag, quotes included.
    pub(crate) etag: &'a str,
    /// Last-Modified, if the file has one.
    pub(crate) modified: Option<SystemTime>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The request is processed.
    Proceed,
    /// 304: the client already has this state.
    NotModified,
    /// 412: the file is not in the state that the client expects.
    Failed,
}

impl Validators<'_> {
    /// Evaluates the conditions of a GET or HEAD in the order that section 13.2.2 prescribes.
    pub(crate) fn judge(&self, headers: &HeaderMap) -> Outcome {
        let modified_after = |header| Some(self.modified? > date(headers, header)?);
        let is_expected = if headers.contains_key(IF_MATCH) {
            self.listed(headers, IF_MATCH, Strength::Strong)
        } else {
            modified_after(IF_UNMODIFIED_SINCE) != Some(true)
        };
        let is_known = if headers.contains_key(IF_NONE_MATCH) {
            self.listed(headers, IF_NONE_MATCH, Strength::Weak)
        } else {
            modified_after(IF_MODIFIED_SINCE) == Some(false)
        };
        match (is_expected, is_known) {
            (false, _) => Outcome::Failed,
            (true, true) => Outcome::NotModified,
            (true, false) => Outcome::Proceed,
        }
    }

    /// Returns true if a Range header is valid: If-Range is missing, or contains exactly this state of the file.
    pub(crate) fn allow_range(&self, headers: &HeaderMap, now: SystemTime) -> bool {
        let Some(value) = headers.get(IF_RANGE) else { return true };
        if value.as_bytes() == self.etag.as_bytes() {
            return true;
        }
        // A date is proof only if the file was not modified again within the same second.
        let settled = |modified: SystemTime| now.duration_since(modified).is_ok_and(|age| age > Duration::from_secs(1));
        match (date(headers, IF_RANGE), self.modified) {
            (Some(date), Some(modified)) => date == modified && settled(modified),
            _ => false,
        }
    }

    fn listed(&self, headers: &HeaderMap, header: HeaderName, strength: Strength) -> bool {
        let values = headers.get_all(header);
        values.into_iter().filter_map(|value| value.to_str().ok()).any(|value| {
            value.trim() == "*"
                || tags(value).any(|(weak, tag)| tag == self.etag && (!weak || strength == Strength::Weak))
        })
    }
}

/// The treatment of tags that are marked as weak: equal to strong ones or not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Strong,
    Weak,
}

/// Returns the tags of a list with their quotes, and true for weak ones. Tags may contain commas.
fn tags(list: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = list;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let tag = rest.strip_prefix("W/").unwrap_or(rest);
        let weak = tag.len() != rest.len();
        let end = tag.strip_prefix('"')?.find('"')? + 2;
        rest = &tag[end..];
        Some((weak, &tag[..end]))
    })
}

fn date(headers: &HeaderMap, header: HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(header)?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const THEN: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    fn validators() -> Validators<'static> {
        Validators { etag: "\"a,b\"", modified: httpdate::parse_http_date(THEN).ok() }
    }

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().expect("ASCII"))).collect()
    }

    #[test]
    fn conditions_are_judged_in_order() {
        use Outcome::{Failed, NotModified, Proceed};
        for (pairs, outcome) in [
            (&[][..], Proceed),
            (&[(IF_NONE_MATCH, "\"a,b\"")], NotModified),
            (&[(IF_NONE_MATCH, "\"x\", W/\"a,b\"")], NotModified),
            (&[(IF_NONE_MATCH, "*")], NotModified),
            (&[(IF_NONE_MATCH, "\"x\"")], Proceed),
            (&[(IF_NONE_MATCH, "a,b")], Proceed),
            (&[(IF_NONE_MATCH, "\"x\""), (IF_MODIFIED_SINCE, AFTER)], Proceed),
            (&[(IF_MODIFIED_SINCE, THEN)], NotModified),
            (&[(IF_MODIFIED_SINCE, AFTER)], NotModified),
            (&[(IF_MODIFIED_SINCE, BEFORE)], Proceed),
            (&[(IF_MODIFIED_SINCE, "yesterday")], Proceed),
            (&[(IF_MATCH, "\"a,b\"")], Proceed),
            (&[(IF_MATCH, "*")], Proceed),
            (&[(IF_MATCH, "W/\"a,b\"")], Failed),
            (&[(IF_MATCH, "\"x\"")], Failed),
            (&[(IF_MATCH, "\"a,b\""), (IF_UNMODIFIED_SINCE, BEFORE)], Proceed),
            (&[(IF_UNMODIFIED_SINCE, BEFORE)], Failed),
            (&[(IF_UNMODIFIED_SINCE, THEN)], Proceed),
            (&[(IF_MATCH, "\"a,b\""), (IF_NONE_MATCH, "\"a,b\"")], NotModified),
        ] {
            assert_eq!(validators().judge(&headers(pairs)), outcome, "{pairs:?}");
        }
    }

    #[test]
    fn a_range_counts_only_for_the_same_state() {
        let later = httpdate::parse_http_date(AFTER).expect("a date") + Duration::from_secs(9);
        for (value, counts) in [("\"a,b\"", true), ("W/\"a,b\"", false), ("\"x\"", false), (THEN, true), (AFTER, false)]
        {
            assert_eq!(validators().allow_range(&headers(&[(IF_RANGE, value)]), later), counts, "{value}");
        }
        let at_once = httpdate::parse_http_date(THEN).expect("a date");
        assert!(!validators().allow_range(&headers(&[(IF_RANGE, THEN)]), at_once));
        assert!(validators().allow_range(&HeaderMap::new(), at_once));
    }
}
