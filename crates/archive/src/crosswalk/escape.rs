//! What templates put into their output, made harmless.
//!
//! The protocol's writer is not used here because prose comes this way: line ends stay as they are, and characters that
//! XML 1.0 cannot hold, which old catalogues are full of, go without leaving a mark in a title.

use std::borrow::Cow;

use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Error, ErrorKind, Output, State, Value};
use modoai_protocol::xml::is_legal;

/// The formatter of every `{{ … }}`: nothing for what is missing, raw for what was escaped already, escaped otherwise.
pub(super) fn format(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let raw = value.is_safe() || matches!(state.auto_escape(), AutoEscape::None);
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(()),
        // A part of what is missing is missing, too: the engine takes `dates.issued[:4]` of no date for an empty list.
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable if value.len() == Some(0) => Ok(()),
        // A list or map in the middle of a document is a slip, and its debug form would be served for years.
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            let what = format!("cannot print a {}; use a loop, `join` or one of its fields", value.kind());
            return Err(Error::new(ErrorKind::InvalidOperation, what));
        }
        _ => match value.as_str() {
            Some(text) if raw => out.write_str(text),
            Some(text) => write_escaped(out, text),
            None => write!(out, "{value}"),
        },
    }
    .map_err(Error::from)
}

/// Writes text as it may stand between tags and in attributes of either quotes.
fn write_escaped(out: &mut Output<'_>, text: &str) -> std::fmt::Result {
    let bytes = text.as_bytes();
    // Asked of every byte without stopping, which compilers turn into a few instructions for many bytes at once.
    if !bytes.iter().fold(false, |found, &byte| found | may_need_escaping(byte)) {
        return out.write_str(text);
    }
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        // How many bytes go, and what comes instead.
        let (length, replacement) = match byte {
            b'&' => (1, "&amp;"),
            b'<' => (1, "&lt;"),
            b'>' => (1, "&gt;"),
            b'"' => (1, "&quot;"),
            b'\'' => (1, "&#39;"),
            b'\t' | b'\n' | b'\r' => continue,
            0..0x20 => (1, ""),
            // U+FFFE and U+FFFF.
            0xef if matches!(bytes.get(at + 1..at + 3), Some([0xbf, 0xbe | 0xbf])) => (3, ""),
            _ => continue,
        };
        out.write_str(&text[from..at])?;
        out.write_str(replacement)?;
        from = at + length;
    }
    out.write_str(&text[from..])
}

fn may_need_escaping(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'&') | (byte == b'<') | (byte == b'>') | (byte == b'"') | (byte == b'\'') | (byte == 0xef)
}

/// Escaped text, for markup that is not made by a template.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(may_need_escaping) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len() + 16);
    for character in text.chars().filter(|&character| is_legal(character)) {
        match character {
            '&' => all.push_str("&amp;"),
            '<' => all.push_str("&lt;"),
            '>' => all.push_str("&gt;"),
            '"' => all.push_str("&quot;"),
            '\'' => all.push_str("&#39;"),
            other => all.push(other),
        }
    }
    Cow::Owned(all)
}

/// Whether nothing would be left of a text: it has only white space and what XML cannot hold.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|character| character.is_whitespace() || !is_legal(character))
}

#[cfg(test)]
mod tests {
    use minijinja::Environment;

    use super::*;

    #[test]
    fn both_ways_of_escaping_agree() {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Custom("xml".into()));
        environment.set_formatter(format);
        for (text, expected) in [
            ("plain", "plain"),
            ("a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;"),
            ("]]>", "]]&gt;"),
            ("\0a\u{1}\u{b}b\u{1f}", "ab"),
            ("tab\tline\r\nend", "tab\tline\r\nend"),
            ("\u{fffe}x\u{ffff}", "x"),
            ("\u{fffd}\u{d7ff}\u{10ffff}é𝄞\u{feff}", "\u{fffd}\u{d7ff}\u{10ffff}é𝄞\u{feff}"),
        ] {
            let rendered = environment.render_str("{{ text }}", minijinja::context!(text)).expect("it renders");
            assert_eq!(rendered, expected, "{text:?}");
            assert_eq!(escaped(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_part_of_nothing_is_nothing_and_a_list_is_a_slip() {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
        environment.set_formatter(format);
        let rendered = |template| environment.render_str(template, minijinja::context!(list => ["a"]));
        assert_eq!(rendered("<{{ dates.issued[:4] }}{{ none }}>").expect("it renders"), "<>");
        assert!(rendered("{{ list }}").is_err());
    }

    #[test]
    fn blank_is_what_leaves_nothing() {
        assert!(is_blank("") && is_blank(" \n\t\u{a0}") && is_blank("\u{1}\u{ffff} "));
        assert!(!is_blank(" x ") && !is_blank("\u{200f}"));
    }
}
