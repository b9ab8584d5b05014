//! Replaces characters that XML does not allow, as such and as references: control characters, U+FFFE and U+FFFF,
//! surrogates.
//!
//! They are replaced by U+FFFD rather than removed, so that the replacement is visible.

use modoai_protocol::xml::is_legal;

use super::{REPLACEMENT, Repairs};
use crate::quirks;

/// Replaces characters in a stream of UTF-8.
#[derive(Default)]
pub(super) struct Characters {
    /// The number of bytes seen of the two with which U+FFFE and U+FFFF begin.
    matched: u8,
}

impl Characters {
    /// Appends `bytes` with illegal characters replaced. In a tag, a control character is replaced by whitespace.
    pub(super) fn push(&mut self, bytes: &[u8], is_in_tag: bool, repairs: &mut Repairs, out: &mut Vec<u8>) {
        let mut from = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            let instead: &[u8] = match byte {
                b'\t' | b'\n' | b'\r' => b"",
                0..0x20 if is_in_tag => b" ",
                0..0x20 => REPLACEMENT,
                0xbe | 0xbf if self.matched == 2 => &REPLACEMENT[2..],
                _ => b"",
            };
            self.matched = match (byte, self.matched) {
                (0xef, _) => 1,
                (0xbf, 1) => 2,
                _ => 0,
            };
            if !instead.is_empty() {
                out.extend_from_slice(&bytes[from..at]);
                out.extend_from_slice(instead);
                repairs.add(quirks::CONTROL_CHARACTERS, 1);
                from = at + 1;
            }
        }
        out.extend_from_slice(&bytes[from..]);
    }
}

/// The meaning of a number in a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbered {
    /// A character that XML allows.
    Legal(char),
    /// The first half of a surrogate pair.
    High(u32),
    /// The second half.
    Low(u32),
    /// No character, or one that XML does not allow.
    Illegal,
}

/// Interprets the text between `&#` and `;`, if it is a number: `65`, `x41`.
pub(super) fn numbered(number: &[u8]) -> Option<Numbered> {
    let (digits, radix) = match number {
        [b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_u32;
    for &digit in digits {
        value = value.saturating_mul(radix).saturating_add(char::from(digit).to_digit(radix)?);
    }
    Some(match value {
        0xd800..0xdc00 => Numbered::High(value),
        0xdc00..0xe000 => Numbered::Low(value),
        _ => char::from_u32(value).filter(|character| is_legal(*character)).map_or(Numbered::Illegal, Numbered::Legal),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Remedies, mended};

    fn cleaned(inside: &str) -> (String, Vec<(&'static str, u64)>) {
        let (text, repairs) = mended(format!("<OAI-PMH>{inside}</OAI-PMH>").as_bytes(), Remedies::CHARACTERS, None);
        let text = String::from_utf8(text).expect("UTF-8");
        let inside = text.strip_prefix("<OAI-PMH>").and_then(|text| text.strip_suffix("</OAI-PMH>"));
        (inside.expect("the root element").to_owned(), repairs)
    }

    #[test]
    fn what_xml_cannot_carry_is_replaced_everywhere() {
        let text = "a\0\x0b\t\r\n<b\x0cc='\u{1}'/><!--\u{2}--><?p \u{3}?><![CDATA[\u{4}&#0;]]>\u{ffff}\u{fffe}\u{fffd}\u{ffbf}";
        let expected = "a��\t\r\n<b c='�'/><!--�--><?p �?><![CDATA[�&#0;]]>\u{fffd}\u{fffd}\u{fffd}\u{ffbf}";
        assert_eq!(cleaned(text), (expected.to_owned(), vec![("control-characters", 9)]));
    }

    #[test]
    fn references_to_it_are_replaced_and_pairs_joined() {
        let text = "&#0;&#x1F;&#xFFFE;&#x110000;&#99999999999999999999;<a b='&#xD834;&#xdd1e;&#55348;&#56606;'/>";
        let repairs = vec![("control-characters", 5), ("surrogates", 2)];
        assert_eq!(cleaned(text), ("�����<a b='𝄞𝄞'/>".to_owned(), repairs));
        let halves = "&#xD834; &#xDD1E;&#xD834;&#xD834;&#xDD1E;&#xD834;&amp;&#xD834;<a/>&#xDD1E;";
        assert_eq!(cleaned(halves), ("� ��𝄞�&amp;�<a/>�".to_owned(), vec![("surrogates", 7)]));
    }

    #[test]
    fn what_is_legal_stays_and_so_does_what_is_no_number() {
        let text = "&#x41;&#65;&#9;&#x1F600;&#x80;\u{7f}\u{85}é&#;&#x;&#xg;&nbsp;& &#1 &#0";
        assert_eq!(cleaned(text), (text.to_owned(), vec![]));
    }
}
