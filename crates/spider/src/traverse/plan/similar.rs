//! Limits the number of documents with similar URLs, so that traps end: calendars that branch, directories that contain
//! themselves, filters that combine.
//!
//! URLs are similar if they differ only in segments with numbers and in the values of their queries. Sites with ten
//! thousand numbered articles exist, so the limit is high. A path with the same segment three times is rarely intended,
//! so its limit is low.

use std::collections::HashMap;

use url::Url;

/// The maximum number of documents with similar URLs. Almost every site has fewer; a trap reaches it in seconds.
const MAX_SIMILAR: u64 = 10_000;
/// The same for URLs whose paths contain a segment three times.
const MAX_REPEATING: u64 = 200;

/// The number of documents admitted, by the pattern of their URLs.
#[derive(Default)]
pub(super) struct Similar {
    limit: Option<u64>,
    admitted: HashMap<Box<str>, u64>,
    /// The patterns whose limit is reached, with the number of documents that were left out.
    left_out: HashMap<Box<str>, u64>,
}

impl Similar {
    /// Creates the counts with a limit for every pattern instead of the defaults; 0 means no limit.
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Returns true if a document may be read, and counts it.
    pub(super) fn admit(&mut self, url: &Url) -> bool {
        let (pattern, is_repeating) = pattern(url);
        if pattern == url.as_str() {
            // No other URL has this pattern.
            return true;
        }
        let most = self.limit.unwrap_or(if is_repeating { MAX_REPEATING } else { MAX_SIMILAR });
        let admitted = self.admitted.entry(pattern.into()).or_default();
        if most > 0 && *admitted >= most {
            let (pattern, _) = self::pattern(url);
            *self.left_out.entry(pattern.into()).or_default() += 1;
            return false;
        }
        *admitted += 1;
        true
    }

    /// Returns one sentence for each pattern whose limit is reached.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut left_out: Vec<(&str, u64)> =
            self.left_out.iter().map(|(pattern, count)| (&**pattern, *count)).collect();
        left_out.sort_unstable();
        let remark = |(pattern, count): (&str, u64)| {
            let read = self.admitted.get(pattern).copied().unwrap_or_default();
            format!(
                "stopped after {read} documents like {pattern}, which may be a trap: {count} more were neither read nor tested \
                 (--max-similar sets the limit, --leaf and --avoid exclude a prefix)"
            )
        };
        left_out.into_iter().map(remark).collect()
    }

    pub(super) fn is_used_up(&self) -> bool {
        !self.left_out.is_empty()
    }
}

/// Returns the common pattern of similar URLs, and true if a segment of the path occurs three times.
fn pattern(url: &Url) -> (String, bool) {
    let mut pattern = url.origin().ascii_serialization();
    let segments: Vec<&str> = url.path().split('/').skip(1).collect();
    let is_often = |segment: &&str| {
        !segment.is_empty() && !has_digit(segment) && segments.iter().filter(|other| *other == segment).count() > 2
    };
    // Segments in any order are one pattern; the first shows where the trap is.
    let is_repeating = segments.iter().any(is_often);
    let shown = if is_repeating { &segments[..1] } else { &segments[..] };
    let mut numbers = 0;
    for segment in shown {
        let is_number = has_digit(segment);
        numbers += u32::from(is_number);
        match (is_number, numbers) {
            (true, 1) => pattern.push_str("/#"),
            (true, 2) => pattern.push_str("/…"),
            (true, _) => {}
            (false, _) => {
                pattern.push('/');
                pattern.push_str(segment);
            }
        }
    }
    if is_repeating {
        pattern.push_str("/…");
    }
    let mut names: Vec<&str> =
        url.query().unwrap_or_default().split(['&', ';']).filter_map(|field| field.split('=').next()).collect();
    names.sort_unstable();
    names.dedup();
    for (index, name) in names.into_iter().filter(|name| !name.is_empty()).enumerate() {
        pattern.push(if index == 0 { '?' } else { '&' });
        pattern.push_str(if has_digit(name) { "#" } else { name });
    }
    (pattern, is_repeating)
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> (String, bool) {
        let (pattern, is_repeating) = pattern(&Url::parse("http://h/").expect("a URL").join(path).expect("a URL"));
        (pattern.trim_start_matches("http://h").to_owned(), is_repeating)
    }

    #[test]
    fn urls_that_look_alike_have_one_pattern() {
        for (path, pattern, is_repeating) in [
            ("/", "/", false),
            ("/docs/intro.html", "/docs/intro.html", false),
            ("/news/12345-title", "/news/#", false),
            ("/cal/2026/11/18", "/cal/#/…", false),
            ("/cal/2026/11/", "/cal/#/…/", false),
            ("/libs/geometry/doc/geometry/x.html", "/libs/geometry/doc/geometry/x.html", false),
            ("/left/right/left/left/right", "/left/…", true),
            ("/deeper/deeper/deeper/", "/deeper/…", true),
            ("/list?sort=name&page=2", "/list?page&sort", false),
            ("/list?page=7&page=8&", "/list?page", false),
            ("/x?f1=a&f2=b", "/x?#&#", false),
        ] {
            assert_eq!(of(path), (pattern.to_owned(), is_repeating), "{path}");
        }
    }

    #[test]
    fn a_budget_ends_and_is_reported_once() {
        let mut similar = Similar::new(Some(2));
        let admitted = (0..9).filter(|n| similar.admit(&Url::parse(&format!("http://h/{n}")).expect("a URL"))).count();
        assert_eq!(admitted, 2);
        assert!(similar.admit(&Url::parse("http://h/other").expect("a URL")));
        let remarks = similar.remarks();
        assert!(remarks.len() == 1 && remarks[0].contains("2 documents like http://h/#"), "{remarks:?}");
        let mut unlimited = Similar::new(Some(0));
        assert!((0..20_000).all(|n| unlimited.admit(&Url::parse(&format!("http://h/{n}")).expect("a URL"))));
    }
}
