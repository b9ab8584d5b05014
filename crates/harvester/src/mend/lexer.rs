//! Divides a response into markup and text, byte by byte, as the protocol's parser does.

use memchr::{memchr, memchr3};

/// The kind of a run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A `<` and the bytes after it, until it is clear what they open.
    Opening,
    /// No bytes: the preceding `Opening` was text.
    NotMarkup,
    /// A tag, except for values and its last byte.
    Tag,
    /// An attribute value, without the quotes.
    Value,
    /// The `>` of a tag.
    TagEnd,
    /// Content of a comment, and its end.
    Comment,
    /// Content of an instruction, and its end.
    Instruction,
    /// Content of a CDATA section, and its end.
    Cdata,
    /// A document type, and its end.
    Doctype,
}

/// Divides a stream that may be cut anywhere into runs. It never fails: everything except markup is text.
pub(super) struct Lexer {
    state: State,
    /// The bytes of `Opening` so far.
    opening: [u8; 9],
    opened: usize,
    /// The last byte of the tag.
    last: u8,
    /// The number of open elements.
    depth: u64,
    /// True if the outermost element has ended.
    is_over: bool,
}

#[derive(Clone, Copy)]
enum State {
    Text,
    Opening,
    Tag,
    Value(u8),
    /// After this number of dashes.
    Comment(u8),
    /// True after a `?`.
    Instruction(bool),
    /// After this number of brackets.
    Cdata(u8),
    /// Inside a literal, the quote that ends it.
    Doctype(Option<u8>),
}

impl Lexer {
    pub(super) fn new() -> Self {
        Self { state: State::Text, opening: [0; 9], opened: 0, last: 0, depth: 0, is_over: false }
    }

    /// Returns true if the outermost element has ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the kind of the first run of `bytes`, which must not be empty, and its length.
    pub(super) fn next(&mut self, bytes: &[u8]) -> (Kind, usize) {
        let first = bytes[0];
        match self.state {
            State::Text if first != b'<' => (Kind::Text, memchr(b'<', bytes).unwrap_or(bytes.len())),
            State::Text => {
                self.opening[0] = first;
                self.opened = 1;
                self.state = State::Opening;
                (Kind::Opening, 1)
            }
            State::Opening => {
                self.opening[self.opened] = first;
                self.opened += 1;
                let opened = opened(&self.opening[..self.opened]);
                self.state = opened.unwrap_or(State::Text);
                match opened {
                    None => (Kind::NotMarkup, 0),
                    Some(State::Tag) => {
                        self.last = first;
                        (Kind::Tag, 1)
                    }
                    Some(_) => (Kind::Opening, 1),
                }
            }
            State::Tag => match memchr3(b'>', b'"', b'\'', bytes) {
                Some(0) if first == b'>' => {
                    self.end_tag();
                    (Kind::TagEnd, 1)
                }
                Some(0) => {
                    self.state = State::Value(first);
                    self.last = first;
                    (Kind::Tag, 1)
                }
                found => {
                    let length = found.unwrap_or(bytes.len());
                    self.last = bytes[length - 1];
                    (Kind::Tag, length)
                }
            },
            State::Value(quote) => match memchr(quote, bytes) {
                Some(0) => {
                    self.state = State::Tag;
                    (Kind::Tag, 1)
                }
                found => (Kind::Value, found.unwrap_or(bytes.len())),
            },
            State::Comment(dashes) => {
                self.state = match first {
                    b'-' => State::Comment(2.min(dashes + 1)),
                    b'>' if dashes == 2 => State::Text,
                    _ => State::Comment(0),
                };
                match self.state {
                    State::Comment(0) => (Kind::Comment, memchr(b'-', bytes).unwrap_or(bytes.len())),
                    _ => (Kind::Comment, 1),
                }
            }
            State::Instruction(asked) => {
                self.state = match first {
                    b'?' => State::Instruction(true),
                    b'>' if asked => State::Text,
                    _ => State::Instruction(false),
                };
                match self.state {
                    State::Instruction(false) => (Kind::Instruction, memchr(b'?', bytes).unwrap_or(bytes.len())),
                    _ => (Kind::Instruction, 1),
                }
            }
            State::Cdata(brackets) => {
                self.state = match first {
                    b']' => State::Cdata(2.min(brackets + 1)),
                    b'>' if brackets == 2 => State::Text,
                    _ => State::Cdata(0),
                };
                match self.state {
                    State::Cdata(0) => (Kind::Cdata, memchr(b']', bytes).unwrap_or(bytes.len())),
                    _ => (Kind::Cdata, 1),
                }
            }
            State::Doctype(quote) => {
                self.state = match (quote, first) {
                    (None, b'>') => State::Text,
                    (None, b'"' | b'\'') => State::Doctype(Some(first)),
                    (Some(open), _) if open == first => State::Doctype(None),
                    _ => State::Doctype(quote),
                };
                (Kind::Doctype, 1)
            }
        }
    }

    fn end_tag(&mut self) {
        self.state = State::Text;
        let is_end = self.opening[1] == b'/';
        if is_end {
            self.depth = self.depth.saturating_sub(1);
        } else if self.last != b'/' {
            self.depth += 1;
        }
        self.is_over |= self.depth == 0;
    }
}

/// Returns the state for the markup that begins with these bytes, if they begin markup.
fn opened(beginning: &[u8]) -> Option<State> {
    Some(match beginning {
        [_, b'?'] => State::Instruction(false),
        b"<!--" => State::Comment(0),
        b"<![CDATA[" => State::Cdata(0),
        [_, b'/' | b'_' | b':' | 0x80..] => State::Tag,
        [_, letter] if letter.is_ascii_alphabetic() => State::Tag,
        [_, b'!', ..] => {
            let doctype = beginning.to_ascii_lowercase();
            if doctype == b"<!doctype" {
                return Some(State::Doctype(None));
            }
            let is_on_its_way = b"<!--".starts_with(beginning)
                || b"<![CDATA[".starts_with(beginning)
                || b"<!doctype".starts_with(&doctype);
            return is_on_its_way.then_some(State::Opening);
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str, size: usize) -> String {
        let mut lexer = Lexer::new();
        let mut runs: Vec<(Kind, Vec<u8>)> = Vec::new();
        for mut piece in text.as_bytes().chunks(size) {
            while !piece.is_empty() {
                let (kind, length) = lexer.next(piece);
                match runs.last_mut() {
                    Some((last, bytes)) if *last == kind => bytes.extend_from_slice(&piece[..length]),
                    _ => runs.push((kind, piece[..length].to_vec())),
                }
                piece = &piece[length..];
            }
        }
        let run = |(kind, bytes): &(Kind, Vec<u8>)| format!("{kind:?} {}", String::from_utf8_lossy(bytes));
        let over = if lexer.is_over() { "over" } else { "open" };
        runs.iter().map(run).chain([over.to_owned()]).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn bytes_are_told_apart_however_they_are_cut() {
        for (text, expected) in [
            ("<a b='>'>&</a>", "Opening <|Tag a b='|Value >|Tag '|TagEnd >|Text &|Opening <|Tag /a|TagEnd >|over"),
            ("<a/ ><b/>", "Opening <|Tag a/ |TagEnd >|Opening <|Tag b/|TagEnd >|open"),
            ("<!--->-- --->x", "Opening <!--|Comment ->-- --->|Text x|open"),
            ("<![CDATA[]]]]>]", "Opening <![CDATA[|Cdata ]]]]>|Text ]|open"),
            ("<?>?>?", "Opening <?|Instruction >?>|Text ?|open"),
            ("<!DOCTYPE '>'>", "Opening <!DOCTYPE|Doctype  '>'>|open"),
            ("a<1<!x", "Text a|Opening <|NotMarkup |Text 1|Opening <!|NotMarkup |Text x|open"),
        ] {
            for size in [1, 2, 3, 100] {
                assert_eq!(runs(text, size), expected, "in pieces of {size}");
            }
        }
    }
}
