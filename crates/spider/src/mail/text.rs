//! Formats the text of a message: URLs with a clear end, paragraphs of limited width, dates, lists.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::foreign::{is_invisible, is_joiner};

/// The width of plain text: mail readers show it without breaking lines, even quoted once.
pub(super) const WIDTH: usize = 78;

/// The length at which a URL is cut. A user cannot check a longer one.
const LONGEST_URL: usize = 2_000;

/// Returns a URL that can be shown and followed: invalid characters are escaped, so that mail readers find its end.
pub(super) fn address_of(url: &str) -> String {
    let mut clean = String::with_capacity(url.len().min(LONGEST_URL));
    for character in url.chars() {
        if clean.len() >= LONGEST_URL {
            clean.push('…');
            break;
        }
        let is_odd = is_invisible(character) || is_joiner(character) || character.is_whitespace();
        if is_odd || "<>\"`".contains(character) {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                clean.push_str(percent_encoding::percent_encode_byte(byte));
            }
        } else {
            clean.push(character);
        }
    }
    clean
}

/// Wraps text into lines of at most [`WIDTH`], the first after `first`, the others after `indent`. A word is never
/// broken.
pub(super) fn wrap(prose: &str, first: &str, indent: &str) -> String {
    let mut lines = String::from(first);
    let mut column = first.chars().count();
    let mut begun = false;
    for word in prose.split_whitespace() {
        let length = word.chars().count();
        if begun && column + 1 + length > WIDTH {
            lines.push('\n');
            lines.push_str(indent);
            column = indent.chars().count();
        } else if begun {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
        begun = true;
    }
    lines
}

/// Formats a date with the month in words, which is unambiguous in all countries.
pub(super) fn day(moment: Timestamp) -> String {
    moment.to_zoned(TimeZone::UTC).strftime("%-d %B %Y").to_string()
}

/// Formats a list: `a`, `a and b`, `a, b and c`.
pub(super) fn enumerated(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn urls_have_no_end_but_their_own() {
        assert_eq!(address_of("http://a/b c\r\n<x>"), "http://a/b%20c%0D%0A%3Cx%3E");
        assert_eq!(address_of("http://a/\u{202e}gpj"), "http://a/%E2%80%AEgpj");
        assert_eq!(address_of("http://a/é?q=1&r=2#f"), "http://a/é?q=1&r=2#f");
        let long = address_of(&format!("http://a/{}", "x".repeat(100_000)));
        assert!(long.len() < 2_010 && long.ends_with('…'));
    }

    #[test]
    fn lists_and_days_are_read_at_a_glance() {
        assert_eq!(enumerated(&["a".into(), "b".into(), "c".into()]), "a, b and c");
        assert_eq!(day("2026-11-05T23:00:00Z".parse().expect("a moment")), "5 November 2026");
    }

    proptest! {
        #[test]
        fn whatever_is_wrapped_keeps_its_words(prose in "\\PC{0,300}") {
            let wrapped = wrap(&prose, "* ", "  ");
            let kept: Vec<_> = wrapped[2..].split_whitespace().collect();
            prop_assert_eq!(kept, prose.split_whitespace().collect::<Vec<_>>());
            for line in wrapped.lines() {
                // A line is too long only if it is one word.
                prop_assert!(line.chars().count() <= WIDTH || line.split_whitespace().count() <= 2, "{}", line);
            }
        }

        #[test]
        fn nothing_breaks_an_address(foreign in any::<String>()) {
            prop_assert!(!address_of(&foreign).contains(|c: char| c.is_whitespace() || is_invisible(c) || is_joiner(c)));
        }
    }
}
