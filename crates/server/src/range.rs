//! Parses byte ranges (RFC 9110, section 14).
//!
//! One range per request is honoured. The response to several is the whole file, as the RFC allows: few clients send
//! several, and overlapping ones have been used for denial of service.

use std::ops::Range;

/// The bytes that a Range header requests of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// No valid range: the whole file.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// Bytes that the file does not have.
    Unsatisfiable,
}

/// Evaluates the value of a Range header for a file of this size.
pub(crate) fn parse(value: &str, size: u64) -> Asked {
    let Some((unit, spec)) = value.split_once('=') else { return Asked::Whole };
    let Some((first, last)) = spec.trim().split_once('-') else { return Asked::Whole };
    if !unit.eq_ignore_ascii_case("bytes") || spec.contains(',') {
        return Asked::Whole;
    }
    match (number(first), number(last)) {
        (Some(first), Some(last)) if last < first => Asked::Whole,
        (Some(first), _) if first >= size && (last.is_empty() || number(last).is_some()) => Asked::Unsatisfiable,
        (Some(first), Some(last)) => Asked::Part(first..last.saturating_add(1).min(size)),
        (Some(first), None) if last.is_empty() => Asked::Part(first..size),
        (None, Some(0)) if first.is_empty() => Asked::Unsatisfiable,
        // The last bytes of nothing are nothing, which no Content-Range can express.
        (None, Some(_)) if first.is_empty() && size == 0 => Asked::Whole,
        (None, Some(count)) if first.is_empty() => Asked::Part(size.saturating_sub(count)..size),
        _ => Asked::Whole,
    }
}

/// Parses digits only; a number too large for any file has the effect of the largest.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_honoured() {
        for (value, range) in [
            ("bytes=0-0", 0..1),
            ("bytes=0-9", 0..10),
            ("bytes=3-", 3..10),
            ("bytes=3-100", 3..10),
            ("Bytes=9-9", 9..10),
            ("bytes=-3", 7..10),
            ("bytes=-100", 0..10),
            ("bytes=0-99999999999999999999999", 0..10),
            ("bytes=0-18446744073709551615", 0..10),
        ] {
            assert_eq!(parse(value, 10), Asked::Part(range), "{value}");
        }
    }

    #[test]
    fn anything_else_is_everything_or_nothing() {
        for value in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes=5-2",
            "bytes=1-2,4-5",
            "lines=1-2",
            "bytes=1-x",
            "bytes=+1-2",
        ] {
            assert_eq!(parse(value, 10), Asked::Whole, "{value}");
        }
        for value in ["bytes=10-", "bytes=10-20", "bytes=99999999999999999999999-", "bytes=-0"] {
            assert_eq!(parse(value, 10), Asked::Unsatisfiable, "{value}");
        }
        assert_eq!(parse("bytes=0-", 0), Asked::Unsatisfiable);
        assert_eq!(parse("bytes=-1", 0), Asked::Whole);
    }
}
