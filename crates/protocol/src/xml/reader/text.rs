//! Decodes the text of the protocol's own elements, which arrives in pieces.

use std::borrow::Cow;

use memchr::memchr;

use super::fault::{Fault, ReadError, quoted};
use super::tags::is_space;
use crate::text;
use crate::xml::is_legal;

/// The text of an element while it arrives.
#[derive(Default)]
pub(super) struct Text {
    /// Complete runs, decoded.
    decoded: String,
    /// The run that is arriving: text up to the next markup, at which all its references are complete.
    run: Vec<u8>,
    run_offset: u64,
    is_cdata: bool,
}

impl Text {
    /// Returns the text received, up to the last markup.
    pub(super) fn as_str(&self) -> &str {
        &self.decoded
    }

    /// Returns the number of bytes of memory held.
    pub(super) fn held(&self) -> usize {
        self.decoded.capacity() + self.run.capacity()
    }

    /// Clears the text, at the start of an element.
    pub(super) fn clear(&mut self) {
        self.decoded.clear();
    }

    /// Starts a CDATA section.
    pub(super) fn begin_cdata(&mut self) {
        self.is_cdata = true;
    }

    pub(super) fn is_cdata(&self) -> bool {
        self.is_cdata
    }

    /// Adds to the run, which begins at `offset` if it is empty.
    pub(super) fn push(&mut self, piece: &[u8], offset: u64, limit: usize) -> Result<(), ReadError> {
        if self.run.is_empty() {
            self.run_offset = offset;
        }
        if self.decoded.len() + self.run.len() + piece.len() > limit {
            return Err(Fault::Limit { what: "bytes of text", limit }.at(self.run_offset));
        }
        self.run.extend_from_slice(piece);
        Ok(())
    }

    /// Decodes the run of text, which ends at markup: its references are complete now.
    pub(super) fn end_run(&mut self, element: &[u8]) -> Result<(), ReadError> {
        let spaces = if std::mem::take(&mut self.is_cdata) { Spaces::Cdata } else { Spaces::Text };
        if self.run.is_empty() {
            return Ok(());
        }
        let offset = self.run_offset;
        let text = std::str::from_utf8(&self.run)
            .map_err(|error| Fault::NotUtf8 { element: quoted(element) }.at(offset + error.valid_up_to() as u64))?;
        let text = decode(text, spaces).map_err(|(at, fault)| fault.at(offset + at as u64))?;
        self.decoded.push_str(&text);
        self.run.clear();
        Ok(())
    }
}

/// The treatment of literal whitespace; that of references is always kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spaces {
    /// Line ends become line feeds.
    Text,
    /// Tabs and line ends become spaces.
    Attribute,
    /// As `Text`, and ampersands have no special meaning.
    Cdata,
}

/// Resolves references and normalises whitespace. An error is returned with its position in `text`.
pub(super) fn decode(text: &str, spaces: Spaces) -> Result<Cow<'_, str>, (usize, Fault)> {
    let special = |byte: &u8| match byte {
        b'&' => spaces != Spaces::Cdata,
        b'\r' => true,
        b'\t' | b'\n' => spaces == Spaces::Attribute,
        _ => false,
    };
    let Some(mut at) = text.bytes().position(|byte| special(&byte)) else { return Ok(Cow::Borrowed(text)) };
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    loop {
        out.push_str(&text[from..at]);
        let rest = &text[at..];
        from = at
            + match rest.as_bytes()[0] {
                b'&' => {
                    let (character, length) = reference(rest).map_err(|fault| (at, fault))?;
                    out.push(character);
                    length
                }
                byte => {
                    out.push(if spaces == Spaces::Attribute { ' ' } else { '\n' });
                    if byte == b'\r' && rest.as_bytes().get(1) == Some(&b'\n') { 2 } else { 1 }
                }
            };
        match text.as_bytes()[from..].iter().position(special) {
            Some(next) => at = from + next,
            None => break,
        }
    }
    out.push_str(&text[from..]);
    Ok(Cow::Owned(out))
}

/// Returns the character that the reference at the start of `text` represents, and the length of the reference.
pub(super) fn reference(text: &str) -> Result<(char, usize), Fault> {
    // References are never longer. Without the limit, searching a whole field for the semicolon, for each of a million
    // ampersands, would take quadratic time.
    const LONGEST: usize = 64;
    let beginning = &text.as_bytes()[..text.len().min(LONGEST)];
    let malformed = || Fault::Reference { text: text::beginning(text, 12).to_owned() };
    let end = memchr(b';', beginning).ok_or_else(malformed)?;
    let name = &text[1..end];
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => match name.strip_prefix('#') {
            Some(number) => character(number).ok_or_else(malformed)?,
            None if name.is_empty() || name.bytes().any(|byte| is_space(byte) || byte == b'&') => {
                return Err(malformed());
            }
            None => return Err(Fault::Entity { name: name.to_owned() }),
        },
    };
    Ok((character, end + 1))
}

/// Returns `65` or `x41` as a character, if XML 1.0 allows it.
fn character(number: &str) -> Option<char> {
    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |digits| (digits, 16));
    if digits.starts_with('+') {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, radix).ok()?).filter(|character| is_legal(*character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_line_ends_are_resolved() {
        let text = |text| decode(text, Spaces::Text).map(Cow::into_owned).map_err(|(_, fault)| fault);
        assert_eq!(text("a&lt;&gt;&amp;&quot;&apos;b").as_deref(), Ok("a<>&\"'b"));
        assert_eq!(text("&#65;&#x41;&#x1D11E;&#13;\r\n\r&#9;").as_deref(), Ok("AA𝄞\r\n\n\t"));
        assert_eq!(decode("a\r\n\tb&#10;", Spaces::Attribute), Ok("a  b\n".into()));
        assert_eq!(decode("&lt;\r\n", Spaces::Cdata), Ok("&lt;\n".into()));
        assert_eq!(text("&nbsp;"), Err(Fault::Entity { name: "nbsp".to_owned() }));
        for bad in ["&", "AT&T", "a & b;", "&;", "&#0;", "&#xD800;", "&#x110000;", "&#+5;", "&#;", "&#xFFFF;"] {
            assert!(matches!(text(bad), Err(Fault::Reference { .. })), "{bad}");
        }
    }
}
