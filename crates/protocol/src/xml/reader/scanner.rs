//! Finds markup in a stream of bytes that may be split at any byte.
//!
//! Only markup that must be complete (tags, processing instructions, the document type) is kept while it is incomplete,
//! up to a limit; text, comments and CDATA stream through. A tag inside a single piece is never copied.

use memchr::{memchr, memchr_iter, memchr3};

use super::fault::{Fault, ReadError};

/// A piece of the document. Text and CDATA may be split into several pieces.
pub(super) enum Token<'a> {
    /// A start, end or empty tag from `<` to `>`.
    Tag {
        bytes: &'a [u8],
        /// True if it is a slice of the bytes pushed last, and false if a part of it was kept from earlier.
        whole: bool,
    },
    Text(&'a [u8]),
    CdataStart,
    Cdata(&'a [u8]),
    /// A processing instruction from `<?` to `?>`.
    Instruction(&'a [u8]),
    /// The start of a comment.
    Comment,
    Doctype,
}

pub(super) struct Scanner {
    state: State,
    /// The beginning of incomplete markup, from earlier pieces.
    kept: Vec<u8>,
    /// True if `kept` was returned as a token and is to be cleared.
    spent: bool,
    limit: usize,
    /// True if `--` inside a comment is an error.
    is_strict: bool,
    /// The offset of the first byte of the piece being scanned.
    base: u64,
    /// The offset at which the text, the content of CDATA, or the markup being scanned began.
    start: u64,
}

#[derive(Clone, Copy)]
enum State {
    Text,
    /// After `<`, before the kind of markup is known.
    Open,
    /// In a tag; inside an attribute value, with the quote that ends it.
    Tag(Option<u8>),
    Instruction,
    Doctype(Option<u8>),
    /// In a comment, after this many dashes.
    Comment(u8),
    /// In a CDATA section, after this many closing brackets that may prove to be text.
    Cdata(u8),
}

impl Scanner {
    pub(super) fn new(limit: usize) -> Self {
        Self { state: State::Text, kept: Vec::new(), spent: false, limit, is_strict: false, base: 0, start: 0 }
    }

    /// Returns a scanner that refuses `--` inside comments.
    pub(super) fn strict(limit: usize) -> Self {
        Self { is_strict: true, ..Self::new(limit) }
    }

    /// Returns the next token of `bytes` from `at` on and the offset at which it began, or `None` if they are used up.
    /// Until then, the same bytes must be passed.
    pub(super) fn next<'t>(
        &'t mut self,
        bytes: &'t [u8],
        at: &mut usize,
    ) -> Result<Option<(Token<'t>, u64)>, ReadError> {
        if self.spent {
            self.kept.clear();
            self.spent = false;
        }
        loop {
            let rest = &bytes[*at..];
            let Some(&first) = rest.first() else {
                self.base += bytes.len() as u64;
                return Ok(None);
            };
            let start = self.start;
            match self.state {
                State::Text => {
                    self.start = self.base + *at as u64;
                    let length = memchr(b'<', rest).unwrap_or(rest.len());
                    if length > 0 {
                        *at += length;
                        return Ok(Some((Token::Text(&rest[..length]), self.start)));
                    }
                    self.state = self.opened(&rest[..rest.len().min(2)])?.unwrap_or(State::Open);
                }
                State::Open => {
                    self.kept.push(first);
                    *at += 1;
                    if let Some(state) = self.opened(&self.kept)? {
                        self.state = state;
                        let token = match state {
                            State::Comment(_) => Token::Comment,
                            State::Cdata(_) => Token::CdataStart,
                            _ => continue,
                        };
                        self.kept.clear();
                        self.start = self.base + *at as u64;
                        return Ok(Some((token, self.start)));
                    }
                }
                State::Tag(quote) => match end_of_tag(rest, quote) {
                    Ok(length) => {
                        let (bytes, whole) = self.complete(rest, length, at)?;
                        return Ok(Some((Token::Tag { bytes, whole }, start)));
                    }
                    Err(quote) => self.keep(rest, at, State::Tag(quote))?,
                },
                State::Instruction => match end_of_instruction(&self.kept, rest) {
                    Some(length) => {
                        let (bytes, _) = self.complete(rest, length, at)?;
                        return Ok(Some((Token::Instruction(bytes), start)));
                    }
                    None => self.keep(rest, at, State::Instruction)?,
                },
                State::Doctype(quote) => match end_of_doctype(rest, quote) {
                    Ok(length) => {
                        let (bytes, _) = self.complete(rest, length, at)?;
                        if bytes.ends_with(b"[") {
                            return Err(Fault::InternalSubset.at(start));
                        }
                        return Ok(Some((Token::Doctype, start)));
                    }
                    Err(quote) => self.keep(rest, at, State::Doctype(quote))?,
                },
                State::Comment(dashes) => {
                    *at += 1;
                    self.state = match first {
                        b'-' if dashes < 2 || !self.is_strict => State::Comment(2.min(dashes + 1)),
                        b'>' if dashes == 2 => State::Text,
                        _ if dashes == 2 && self.is_strict => {
                            let what = "'--' inside a comment";
                            return Err(Fault::IllFormed { what }.at(start - b"<!--".len() as u64));
                        }
                        _ => {
                            *at += memchr(b'-', &rest[1..]).unwrap_or(rest.len() - 1);
                            State::Comment(0)
                        }
                    };
                }
                State::Cdata(brackets) => match (first, brackets) {
                    (b']', 0 | 1) => {
                        *at += 1;
                        self.state = State::Cdata(brackets + 1);
                    }
                    (b']', _) => {
                        *at += 1;
                        return Ok(Some((Token::Cdata(b"]"), self.start)));
                    }
                    (b'>', 2) => {
                        *at += 1;
                        self.state = State::Text;
                    }
                    (_, 0) => {
                        let length = memchr(b']', rest).unwrap_or(rest.len());
                        *at += length;
                        return Ok(Some((Token::Cdata(&rest[..length]), self.start)));
                    }
                    _ => {
                        self.state = State::Cdata(0);
                        let text = &b"]]"[..usize::from(brackets)];
                        return Ok(Some((Token::Cdata(text), self.start)));
                    }
                },
            }
        }
    }

    /// Returns the offset of the first byte that was not pushed yet.
    pub(super) fn end(&self) -> u64 {
        self.base
    }

    /// Returns true if no markup is incomplete.
    pub(super) fn is_between_markup(&self) -> bool {
        matches!(self.state, State::Text)
    }

    /// Returns the number of bytes of memory held.
    pub(super) fn held(&self) -> usize {
        self.kept.capacity()
    }

    /// Returns the kind of markup that begins like this, if it is known yet.
    fn opened(&self, beginning: &[u8]) -> Result<Option<State>, ReadError> {
        let what = match beginning {
            [b'<'] => return Ok(None),
            [b'<', b'?'] => return Ok(Some(State::Instruction)),
            b"<!--" => return Ok(Some(State::Comment(0))),
            b"<![CDATA[" => return Ok(Some(State::Cdata(0))),
            [b'<', b'!', ..] => {
                // HTML pages write it in lower case, and then the error should report HTML.
                let doctype = beginning.to_ascii_lowercase();
                if doctype == b"<!doctype" {
                    return Ok(Some(State::Doctype(None)));
                }
                if b"<!--".starts_with(beginning)
                    || b"<![CDATA[".starts_with(beginning)
                    || b"<!doctype".starts_with(&doctype)
                {
                    return Ok(None);
                }
                "'<!' does not start a comment, CDATA or a document type declaration"
            }
            [b'<', b'/' | b'_' | b':' | 0x80.., ..] => return Ok(Some(State::Tag(None))),
            [b'<', letter, ..] if letter.is_ascii_alphabetic() => return Ok(Some(State::Tag(None))),
            _ => "'<' is not followed by a name",
        };
        Err(Fault::IllFormed { what }.at(self.start))
    }

    /// Returns markup that ends after `length` bytes of `rest`, together with its kept beginning.
    fn complete<'t>(
        &'t mut self,
        rest: &'t [u8],
        length: usize,
        at: &mut usize,
    ) -> Result<(&'t [u8], bool), ReadError> {
        self.check(length)?;
        *at += length;
        self.state = State::Text;
        if self.kept.is_empty() {
            return Ok((&rest[..length], true));
        }
        self.kept.extend_from_slice(&rest[..length]);
        self.spent = true;
        Ok((&self.kept, false))
    }

    /// Keeps the incomplete markup at the end of the piece.
    fn keep(&mut self, rest: &[u8], at: &mut usize, state: State) -> Result<(), ReadError> {
        self.check(rest.len())?;
        self.kept.extend_from_slice(rest);
        *at += rest.len();
        self.state = state;
        Ok(())
    }

    fn check(&self, more: usize) -> Result<(), ReadError> {
        if self.kept.len() + more <= self.limit {
            return Ok(());
        }
        Err(Fault::Limit { what: "bytes in a tag", limit: self.limit }.at(self.start))
    }
}

/// Returns the length up to and including the `>` that ends a tag, or the quote that is still open.
fn end_of_tag(bytes: &[u8], mut quote: Option<u8>) -> Result<usize, Option<u8>> {
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let found = match quote {
            Some(quote) => memchr(quote, rest),
            None => memchr3(b'>', b'"', b'\'', rest),
        };
        at += found.ok_or(quote)? + 1;
        quote = match bytes[at - 1] {
            b'>' if quote.is_none() => return Ok(at),
            mark if quote.is_none() => Some(mark),
            _ => None,
        };
    }
}

fn end_of_instruction(kept: &[u8], rest: &[u8]) -> Option<usize> {
    let ends = |at: usize| {
        let before = at.checked_sub(1).map_or(kept.last(), |before| rest.get(before));
        // `<?>` is not an end: the `?` that opens does not also close.
        before == Some(&b'?') && kept.len() + at > 2
    };
    memchr_iter(b'>', rest).find(|&at| ends(at)).map(|at| at + 1)
}

/// As [`end_of_tag`], for a document type; an internal subset ends it too.
fn end_of_doctype(bytes: &[u8], mut quote: Option<u8>) -> Result<usize, Option<u8>> {
    for (at, &byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (None, b'>' | b'[') => return Ok(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    Err(quote)
}
