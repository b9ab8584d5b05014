//! The checks of a strict reader: characters, names, namespaces, and what surrounds the element.

use std::collections::HashSet;

use memchr::memchr;

use super::super::fault::{Fault, ReadError, quoted};
use super::super::tags::{Attributes, utf8, valid};
use super::{Fragment, Inner, Mode, Node};
use crate::xml::is_legal;
use crate::xml::names::is_name;

impl Fragment {
    /// Passes on complete sequences of UTF-8.
    pub(super) fn read_utf8<E: From<ReadError>>(
        &mut self,
        mut bytes: &[u8],
        sink: &mut impl FnMut(Node<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !self.cut.is_empty() {
            let Some((&next, rest)) = bytes.split_first() else { return Ok(()) };
            self.cut.push(next);
            match std::str::from_utf8(&self.cut) {
                Ok(_) => {
                    let sequence = std::mem::take(&mut self.cut);
                    self.read_legal(&sequence, sink)?;
                }
                Err(error) if error.error_len().is_some() => return Err(self.not_utf8().into()),
                Err(_) => {}
            }
            bytes = rest;
        }
        let Err(error) = std::str::from_utf8(bytes) else { return self.read_legal(bytes, sink) };
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        self.read_legal(valid, sink)?;
        if error.error_len().is_some() {
            return Err(self.not_utf8().into());
        }
        self.cut = rest.to_vec();
        Ok(())
    }

    pub(super) fn not_utf8(&self) -> ReadError {
        Fault::NotUtf8 { element: quoted(self.inner.nesting.last()) }.at(self.scanner.end())
    }

    /// Reads UTF-8 up to the first character that XML does not allow.
    fn read_legal<E: From<ReadError>>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Node<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match illegal(bytes) {
            None => self.read(bytes, sink),
            Some((at, code)) => {
                self.read(&bytes[..at], sink)?;
                Err(Fault::Character { code }.at(self.scanner.end()).into())
            }
        }
    }
}

impl Inner {
    /// Checks the names and values of a start tag, whose declarations are in scope.
    pub(super) fn check_names(&self, tag: &[u8], name: &[u8]) -> Result<(), Fault> {
        let (prefix, _) = valid(name)?;
        self.scope.resolve_attribute(prefix)?;
        if prefix == "xmlns" {
            return Err(Fault::Prefix { prefix: prefix.to_owned() });
        }
        let mut seen = HashSet::new();
        for attribute in Attributes::of(tag) {
            let attribute = attribute?;
            let (prefix, local) = attribute.parts()?;
            attribute.value()?;
            if !seen.insert((self.scope.resolve_attribute(prefix)?, local)) {
                return Err(Fault::Repeated { name: quoted(local.as_bytes()) });
            }
        }
        Ok(())
    }

    /// Returns the error for content before or after the element.
    pub(super) fn outside(&self) -> Fault {
        if self.begun || self.mode == Mode::Lenient {
            return Fault::Trailing;
        }
        Fault::IllFormed { what: "content before the root element" }
    }

    /// Checks that a comment or an instruction is allowed here.
    pub(super) fn surrounding(&self) -> Result<(), Fault> {
        if self.mode == Mode::Element && self.nesting.depth() == 0 { Err(self.outside()) } else { Ok(()) }
    }

    pub(super) fn instruction(&self, instruction: &[u8], offset: u64) -> Result<(), Fault> {
        self.surrounding()?;
        if self.mode == Mode::Lenient {
            return Ok(());
        }
        let inside = utf8(&instruction[2..instruction.len() - 2])?;
        let target = inside.split([' ', '\t', '\r', '\n']).next().unwrap_or_default();
        let is_first = self.mode == Mode::Document && offset == 0;
        match target {
            "xml" if is_first => Ok(()),
            _ if target.eq_ignore_ascii_case("xml") => {
                Err(Fault::IllFormed { what: "an XML declaration that is not at the beginning" })
            }
            _ if is_name(target) => Ok(()),
            _ => Err(Fault::Name { name: quoted(target.as_bytes()) }),
        }
    }

    /// In strict mode, returns the position of the `>` of a `]]>`, which text must not contain.
    pub(super) fn end_of_cdata(&mut self, text: &[u8]) -> Option<usize> {
        if self.mode == Mode::Lenient {
            return None;
        }
        let mut at = 0;
        while at < text.len() {
            if self.brackets == 0 {
                at += memchr(b']', &text[at..])?;
            }
            self.brackets = match text[at] {
                b'>' if self.brackets == 2 => return Some(at),
                b']' => 2.min(self.brackets + 1),
                _ => 0,
            };
            at += 1;
        }
        None
    }
}

/// Returns the position and the code point of the first character in UTF-8 that XML does not allow.
fn illegal(bytes: &[u8]) -> Option<(usize, u32)> {
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| *byte < 0x20 || *byte == 0xef)?;
        let code = match bytes[at..] {
            [0xef, second, third, ..] => 0xf000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f),
            _ => u32::from(bytes[at]),
        };
        if !char::from_u32(code).is_some_and(is_legal) {
            return Some((at, code));
        }
        from = at + 1;
    }
}
