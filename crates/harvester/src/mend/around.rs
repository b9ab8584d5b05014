//! Removes text that does not belong to the response: warnings of PHP before it, statistics and second documents after
//! it.
//!
//! Text that XML allows there (whitespace, comments, instructions) is kept.

use memchr::memmem;

use super::{Repairs, is_space};
use crate::quirks;

/// The maximum length of a prefix; real ones are shorter.
const LONGEST_NAME: usize = 256;
/// The maximum length of a comment after the response; a longer one is treated as other text.
const LONGEST_COMMENT: usize = 64 * 1024;

/// The meaning of a `<`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// The start tag of a response.
    Root,
    /// `<!--`.
    Comment,
    /// `<?xml` and whitespace.
    Declaration,
    /// `<?` and anything else.
    Instruction,
    /// `<!DOCTYPE`, in any case.
    Doctype,
    /// None of these.
    Other,
    /// Not clear without more bytes.
    Unclear,
}

/// Returns the kind of markup that `bytes`, which begin with `<`, open.
pub(super) fn opening(bytes: &[u8]) -> Opening {
    match bytes {
        [] | [b'<'] => Opening::Unclear,
        [b'<', b'?', rest @ ..] => match rest {
            [b'x', b'm', b'l', next, ..] if is_space(*next) => Opening::Declaration,
            rest if rest.len() < 4 && b"xml".starts_with(rest) => Opening::Unclear,
            _ => Opening::Instruction,
        },
        [b'<', b'!', rest @ ..] => {
            if rest.starts_with(b"--") {
                return Opening::Comment;
            }
            let beginning = rest[..rest.len().min(7)].to_ascii_lowercase();
            match beginning.as_slice() {
                b"doctype" => Opening::Doctype,
                beginning if b"doctype".starts_with(beginning) || beginning == b"-" => Opening::Unclear,
                _ => Opening::Other,
            }
        }
        [b'<', rest @ ..] => {
            let ends = |byte: &u8| is_space(*byte) || b"/><&\"'=".contains(byte);
            match rest.iter().take(LONGEST_NAME).position(ends) {
                Some(end) if b"<&\"'=".contains(&rest[end]) => Opening::Other,
                Some(end) => match rest[..end].rsplit(|byte| *byte == b':').next() {
                    Some(b"OAI-PMH") => Opening::Root,
                    _ => Opening::Other,
                },
                None if rest.len() < LONGEST_NAME => Opening::Unclear,
                None => Opening::Other,
            }
        }
        _ => Opening::Other,
    }
}

/// The text after the root element.
#[derive(Default)]
pub(super) struct Tail {
    /// A comment or an instruction that has not ended, or the possible beginning of one.
    held: Vec<u8>,
    /// The number of its bytes that were searched for its end.
    searched: usize,
    /// True after text that does not belong there: everything after it is removed, too.
    dropping: bool,
}

impl Tail {
    /// Passes on the text that is allowed after a response.
    pub(super) fn push(&mut self, bytes: &[u8], repairs: &mut Repairs, out: &mut dyn FnMut(&[u8])) {
        if self.dropping {
            return;
        }
        self.held.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let rest = &self.held[at..];
            let spaces = rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len());
            out(&rest[..spaces]);
            at += spaces;
            let rest = &rest[spaces..];
            let (from, end) = match opening(rest) {
                Opening::Unclear => break,
                Opening::Comment => (4, "-->"),
                Opening::Instruction => (2, "?>"),
                _ => return self.drop_all(repairs),
            };
            let from = self.searched.max(from);
            match memmem::find(&rest[from..], end.as_bytes()).map(|found| from + found + end.len()) {
                Some(length) if length <= LONGEST_COMMENT => {
                    out(&rest[..length]);
                    at += length;
                    self.searched = 0;
                }
                None if rest.len() < LONGEST_COMMENT => {
                    // The end mark may be cut in two.
                    self.searched = from.max(rest.len().saturating_sub(end.len() - 1));
                    break;
                }
                _ => return self.drop_all(repairs),
            }
        }
        self.held.drain(..at);
    }

    /// Ends the text: markup that has not ended is removed.
    pub(super) fn finish(&mut self, repairs: &mut Repairs) {
        if !self.held.is_empty() {
            self.drop_all(repairs);
        }
    }

    pub(super) fn held(&self) -> usize {
        self.held.capacity()
    }

    fn drop_all(&mut self, repairs: &mut Repairs) {
        self.held = Vec::new();
        self.dropping = true;
        repairs.add(quirks::JUNK_AROUND, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Remedies, mended};
    use super::*;

    fn cleared(answer: &str) -> (String, u64) {
        let (text, repairs) = mended(answer.as_bytes(), Remedies::AROUND, None);
        (String::from_utf8_lossy(&text).into_owned(), repairs.iter().map(|(_, count)| count).sum())
    }

    #[test]
    fn what_stands_before_is_left_out() {
        let root = "<o:OAI-PMH>x</o:OAI-PMH>";
        for (answer, left) in [
            ("Warning: a < b in <b>c.php</b>\n<?xml version='1.0'?>", "<?xml version='1.0'?>"),
            ("<?xml version='1.0'?><br />\n<b>Notice</b>: don't", "<?xml version='1.0'?>"),
            ("\u{feff}\u{feff}<?xml version='1.0'?> <!-- a -->", "\u{feff}<?xml version='1.0'?> <!-- a -->"),
            ("<OAI-PMHx><a:OAI <!-- ", ""),
        ] {
            assert_eq!(cleared(&format!("{answer}{root}")), (format!("{left}{root}"), 1), "{answer}");
        }
    }

    #[test]
    fn what_stands_behind_is_left_out() {
        let root = "<OAI-PMH><OAI-PMH a='/'/><![CDATA[</OAI-PMH>]]><!--</OAI-PMH>--></OAI-PMH >\n";
        for (behind, left) in [
            ("<br /> Fatal error", ""),
            ("<!-- 0.3 s --> 0.3 s <!-- a -->", "<!-- 0.3 s --> "),
            ("<?a?><?xml version='1.0'?><OAI-PMH/>", "<?a?>"),
            ("<!-- unfinished", ""),
            ("\0", ""),
        ] {
            assert_eq!(cleared(&format!("{root}{behind}")), (format!("{root}{left}"), 1), "{behind}");
        }
        let long = format!("{root}<!--{}-->", "x".repeat(LONGEST_COMMENT));
        assert_eq!(cleared(&long), (root.to_owned(), 1));
    }

    #[test]
    fn what_may_stand_there_stays_and_so_does_what_is_no_answer() {
        for answer in [
            " \n<?xml version='1.0'?><!-- <OAI-PMH> <?xml ?> --><?a <OAI-PMH>?><!DOCTYPE OAI-PMH>\n<OAI-PMH/>\n<!-- -- --><?b?>",
            "<!DOCTYPE html><html><body>OAI-PMH &lt;OAI-PMH></body></html>",
            "{\"error\": 1}",
            "<OAI-PMH",
            "<!-- <OAI-PMH/>",
            "",
        ] {
            assert_eq!(cleared(answer), (answer.to_owned(), 0));
        }
    }

    #[test]
    fn the_answer_is_looked_for_within_bounds() {
        let near = format!("{}<OAI-PMH/>", "x".repeat(200_000));
        assert_eq!(cleared(&near), ("<OAI-PMH/>".to_owned(), 1));
        let far = format!("{}<OAI-PMH/>", "x".repeat(300_000));
        assert_eq!(cleared(&far), (far.clone(), 0));
    }
}
