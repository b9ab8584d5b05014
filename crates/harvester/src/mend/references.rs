//! Repairs ampersands that begin no reference, and references to undefined entities.
//!
//! HTML's entity names have a standard meaning, so they are replaced by their characters. Any other undefined reference
//! is treated as text, and its ampersand is escaped.

use html_escape::NAMED_ENTITIES;

use super::characters::{Numbered, numbered};
use super::{REPLACEMENT, Remedies, Repairs};
use crate::quirks;

/// The maximum length of a reference, which is also that of the parser.
const LONGEST: usize = 64;

/// Names of two characters, of which the table contains only one. `nGt` would lose its "not", so they are not replaced.
const HALF_KNOWN: &str = "NotEqualTilde NotGreaterFullEqual NotGreaterGreater NotGreaterSlantEqual NotHumpDownHump NotHumpEqual \
    NotLeftTriangleBar NotLessLess NotLessSlantEqual NotNestedGreaterGreater NotNestedLessLess \
    NotPrecedesEqual NotRightTriangleBar NotSquareSubset NotSquareSuperset NotSubset NotSucceedsEqual \
    NotSucceedsTilde NotSuperset ThickSpace acE bne bnequiv caps cups fjlig gesl gvertneqq gvnE lates lesg \
    lvertneqq lvnE nGg nGt nGtv nLl nLt nLtv nang napE napid nbump nbumpe ncongdot nedot nesim ngE ngeqq \
    ngeqslant nges nlE nleqq nleqslant nles notinE notindot nparsl npart npre npreceq nrarrc nrarrw nsce \
    nsubE nsubset nsubseteqq nsucceq nsupE nsupset nsupseteqq nvap nvge nvgt nvle nvlt nvltrie nvrtrie nvsim \
    race smtes sqcaps sqcups varsubsetneq varsubsetneqq varsupsetneq varsupsetneqq vnsub vnsup vsubnE vsubne \
    vsupnE vsupne";

/// Repairs references in a stream of text.
pub(super) struct References {
    mends_characters: bool,
    mends_ampersands: bool,
    /// An ampersand and the text after it, until its meaning is clear.
    held: Vec<u8>,
    /// The first half of a surrogate pair; the second may follow.
    half: Option<u32>,
}

impl References {
    pub(super) fn new(remedies: Remedies) -> Self {
        Self {
            mends_characters: remedies.contains(Remedies::CHARACTERS),
            mends_ampersands: remedies.contains(Remedies::REFERENCES),
            held: Vec::new(),
            half: None,
        }
    }

    /// Returns true if text need not be read.
    pub(super) fn is_off(&self) -> bool {
        !self.mends_characters && !self.mends_ampersands
    }

    /// Returns true after the beginning of a reference: the following text must be passed to [`References::push`].
    pub(super) fn has_begun(&self) -> bool {
        !self.held.is_empty()
    }

    /// Starts a reference.
    pub(super) fn begin(&mut self) {
        self.held.push(b'&');
    }

    /// Reads the text after an ampersand; returns the number of bytes that belong to the reference.
    pub(super) fn push(&mut self, text: &[u8], repairs: &mut Repairs, out: &mut Vec<u8>) -> usize {
        for (at, &byte) in text.iter().enumerate() {
            if byte == b';' {
                self.held.push(byte);
                self.whole(repairs, out);
                return at + 1;
            }
            let belongs = byte.is_ascii_alphanumeric() || b"#.-_:".contains(&byte);
            if !belongs || self.held.len() == LONGEST - 1 {
                self.bare(repairs, out);
                return at;
            }
            self.held.push(byte);
        }
        text.len()
    }

    /// Handles a `<` that begins no markup: it is text.
    pub(super) fn not_markup(&self, opening: &[u8], repairs: &mut Repairs, out: &mut Vec<u8>) {
        match opening.split_first() {
            Some((_, rest)) if self.mends_ampersands => {
                repairs.add(quirks::ANGLE_BRACKETS, 1);
                out.extend_from_slice(b"&lt;");
                out.extend_from_slice(rest);
            }
            _ => out.extend_from_slice(opening),
        }
    }

    /// Ends the text: an incomplete reference is only text.
    pub(super) fn end(&mut self, repairs: &mut Repairs, out: &mut Vec<u8>) {
        if self.has_begun() {
            self.bare(repairs, out);
        }
        self.end_half(repairs, out);
    }

    /// Writes the held text, which is not a reference.
    fn bare(&mut self, repairs: &mut Repairs, out: &mut Vec<u8>) {
        self.end_half(repairs, out);
        if self.mends_ampersands {
            repairs.add(quirks::AMPERSANDS, 1);
            out.extend_from_slice(b"&amp;");
            out.extend_from_slice(&self.held[1..]);
        } else {
            out.extend_from_slice(&self.held);
        }
        self.held.clear();
    }

    /// Handles the held reference, which ends with a semicolon.
    fn whole(&mut self, repairs: &mut Repairs, out: &mut Vec<u8>) {
        let name = &self.held[1..self.held.len() - 1];
        let number = name.strip_prefix(b"#").and_then(numbered);
        if let (Some(Numbered::Low(low)), Some(high)) = (number, self.half) {
            self.half = None;
            let joined = char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            let joined = joined.unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(joined.encode_utf8(&mut [0; 4]).as_bytes());
            repairs.add(quirks::SURROGATES, 1);
            return self.held.clear();
        }
        self.end_half(repairs, out);
        let name = &self.held[1..self.held.len() - 1];
        match number {
            Some(Numbered::High(high)) if self.mends_characters => self.half = Some(high),
            Some(Numbered::Low(_)) if self.mends_characters => {
                out.extend_from_slice(REPLACEMENT);
                repairs.add(quirks::SURROGATES, 1);
            }
            Some(Numbered::Illegal) if self.mends_characters => {
                out.extend_from_slice(REPLACEMENT);
                repairs.add(quirks::CONTROL_CHARACTERS, 1);
            }
            // XML requires a lower-case x.
            Some(_) if self.mends_ampersands && name.starts_with(b"#X") => {
                out.extend_from_slice(b"&#x");
                out.extend_from_slice(&self.held[3..]);
                repairs.add(quirks::AMPERSANDS, 1);
            }
            Some(_) => out.extend_from_slice(&self.held),
            None if !self.mends_ampersands || [&b"lt"[..], b"gt", b"amp", b"quot", b"apos"].contains(&name) => {
                out.extend_from_slice(&self.held);
            }
            None => match named(name) {
                Some(text) => {
                    escape(text, out);
                    repairs.add(quirks::AMPERSANDS, 1);
                }
                None => return self.bare(repairs, out),
            },
        }
        self.held.clear();
    }

    /// Replaces the first half of a surrogate pair without a second.
    fn end_half(&mut self, repairs: &mut Repairs, out: &mut Vec<u8>) {
        if self.half.take().is_some() {
            out.extend_from_slice(REPLACEMENT);
            repairs.add(quirks::SURROGATES, 1);
        }
    }
}

/// Returns the characters of an HTML entity.
fn named(name: &[u8]) -> Option<&'static str> {
    let found = NAMED_ENTITIES.binary_search_by_key(&name, |(known, _)| known).ok()?;
    let is_half_known = HALF_KNOWN.split(' ').any(|half_known| half_known.as_bytes() == name);
    (!is_half_known).then_some(NAMED_ENTITIES[found].1)
}

/// Escapes characters of markup, which HTML has names for, too.
fn escape(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\'' => out.extend_from_slice(b"&apos;"),
            // A literal tab or line feed would be read as a space in an attribute.
            b'\t' => out.extend_from_slice(b"&#9;"),
            b'\n' => out.extend_from_slice(b"&#10;"),
            byte => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Remedies, mended};

    fn escaped(inside: &str) -> (String, u64) {
        let (text, repairs) = mended(format!("<OAI-PMH>{inside}</OAI-PMH>").as_bytes(), Remedies::REFERENCES, None);
        let text = String::from_utf8(text).expect("UTF-8");
        let inside = text.strip_prefix("<OAI-PMH>").and_then(|text| text.strip_suffix("</OAI-PMH>"));
        (inside.expect("the root element").to_owned(), repairs.iter().map(|(_, count)| count).sum())
    }

    #[test]
    fn bare_ampersands_are_escaped() {
        for (text, expected, count) in [
            ("AT&T, R & D, &&amp;&", "AT&amp;T, R &amp; D, &amp;&amp;&amp;", 4),
            ("<a b='?x=1&y=2&'>&</a>", "<a b='?x=1&amp;y=2&amp;'>&amp;</a>", 3),
            ("&;&#;&#x;&#12a;&unknown;&é;", "&amp;;&amp;#;&amp;#x;&amp;#12a;&amp;unknown;&amp;é;", 6),
            ("&nbsp", "&amp;nbsp", 1),
            ("a <& b", "a &lt;&amp; b", 2),
        ] {
            assert_eq!(escaped(text), (expected.to_owned(), count));
        }
        let long = format!("&{};", "a".repeat(80));
        assert_eq!(escaped(&long), (format!("&amp;{}", &long[1..]), 1));
    }

    #[test]
    fn names_of_html_become_characters() {
        let text = "&nbsp;&eacute;&AMP;&LT;&Tab;&nGt;&Gt;&quot;<a b=\"&QUOT;\"/>&#X41;";
        let expected = "\u{a0}é&amp;&lt;&#9;&amp;nGt;≫&quot;<a b=\"&quot;\"/>&#x41;";
        assert_eq!(escaped(text), (expected.to_owned(), 9));
    }

    #[test]
    fn what_is_no_text_stays() {
        let text = "<![CDATA[&nbsp; & ]]><!-- & --><?p & ?>&lt;&gt;&amp;&quot;&apos;&#65;&#x41;&#0;&#xD800;";
        assert_eq!(escaped(text), (text.to_owned(), 0));
    }
}
