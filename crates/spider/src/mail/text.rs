//! Foreign text, made fit for a message: titles, link texts and URLs are written by strangers, and a message is where one of
//! them could pass off words of its own as the spider's, break a header, or turn a line around.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// How wide plain text is: what every reader shows without breaking it, quoted once.
pub(super) const WIDTH: usize = 78;

/// The longest URL that is told whole. What is longer leads nowhere that a person could check.
const LONGEST_URL: usize = 2_000;

/// Words on one line, at most `most` characters: no controls, nothing that changes the direction of writing, no runs of space.
pub(super) fn words(foreign: &str, most: usize) -> String {
    let mut clean = String::new();
    let mut length = 0;
    let mut gap = false;
    for character in foreign.chars() {
        if character.is_whitespace() || character.is_control() {
            gap = length > 0;
            continue;
        }
        if is_invisible(character) {
            continue;
        }
        if length + usize::from(gap) >= most {
            clean.push('…');
            break;
        }
        if std::mem::take(&mut gap) {
            clean.push(' ');
            length += 1;
        }
        clean.push(character);
        length += 1;
    }
    clean
}

/// A URL that can be shown and followed: what does not belong into one is escaped, so that it has no end but its own.
pub(super) fn address_of(url: &str) -> String {
    let mut clean = String::with_capacity(url.len().min(LONGEST_URL));
    for character in url.chars() {
        if clean.len() >= LONGEST_URL {
            clean.push('…');
            break;
        }
        if character.is_whitespace() || character.is_control() || is_invisible(character) || "<>\"`".contains(character)
        {
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

/// Whether a character shows nothing but changes what is shown: directions of writing, joiners, marks of byte order, tags.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Prose in lines of at most [`WIDTH`], the first after `first`, the others after `indent`. A word is never broken.
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

/// A day, as people say it everywhere: no order of numbers to guess.
pub(super) fn day(moment: Timestamp) -> String {
    moment.to_zoned(TimeZone::UTC).strftime("%-d %B %Y").to_string()
}

/// A count and its noun: `1 link`, `1,204 links`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number with its thousands apart.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `a`, `a and b`, `a, b and c`.
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
    fn foreign_words_stay_on_one_line_and_in_one_direction() {
        assert_eq!(words("  a\r\nBcc: x@y\t b\u{202e}c\u{0} ", 80), "a Bcc: x@y bc");
        assert_eq!(words("abcdef", 4), "abcd…");
        assert_eq!(words("abcd", 4), "abcd");
        assert_eq!(words("\r\n", 4), "");
    }

    #[test]
    fn urls_have_no_end_but_their_own() {
        assert_eq!(address_of("http://a/b c\r\n<x>"), "http://a/b%20c%0D%0A%3Cx%3E");
        assert_eq!(address_of("http://a/\u{202e}gpj"), "http://a/%E2%80%AEgpj");
        assert_eq!(address_of("http://a/é?q=1&r=2#f"), "http://a/é?q=1&r=2#f");
        let long = address_of(&format!("http://a/{}", "x".repeat(100_000)));
        assert!(long.len() < 2_010 && long.ends_with('…'));
    }

    #[test]
    fn numbers_are_read_at_a_glance() {
        assert_eq!(count(1, "link", "links"), "1 link");
        assert_eq!(count(1_234_567, "link", "links"), "1,234,567 links");
        assert_eq!(grouped(0), "0");
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
        fn nothing_breaks_a_line(foreign in any::<String>()) {
            let clean = words(&foreign, 60);
            prop_assert!(!clean.chars().any(|c| c.is_control() || is_invisible(c)));
            prop_assert!(clean.chars().count() <= 61);
            prop_assert!(!address_of(&foreign).chars().any(|c| c.is_control() || c.is_whitespace() || is_invisible(c)));
        }
    }
}
