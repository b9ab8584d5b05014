//! Decodes bytes into text. The standards define the order of precedence: a byte order mark, then the charset of the
//! response, then that of the document itself, then a default.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

/// The number of bytes at the beginning of a page that are searched for a declaration of its encoding.
const SEARCHED: usize = 1024;

/// Decodes a page in HTML. Without a declaration, it is UTF-8 if valid, and otherwise Windows-1252, the original
/// charset of the Web.
pub(super) fn html<'b>(body: &'b [u8], declared: Option<&str>) -> (Cow<'b, str>, &'static Encoding) {
    let fallback = || if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 };
    decode(body, declared, || meta(&body[..body.len().min(SEARCHED)]).unwrap_or_else(fallback))
}

/// Decodes XML, which may have an encoding declaration.
pub(super) fn xml<'b>(body: &'b [u8], declared: Option<&str>) -> (Cow<'b, str>, &'static Encoding) {
    decode(body, declared, || {
        let head = &body[..body.len().min(SEARCHED)];
        let declaration =
            head.starts_with(b"<?xml").then(|| memmem::find(head, b"?>").map(|end| &head[..end])).flatten();
        let declared = declaration.and_then(|declaration| named(declaration, b"encoding"));
        declared.and_then(Encoding::for_label).map_or(UTF_8, as_written)
    })
}

/// Decodes a style sheet, which may begin with `@charset "…";`.
pub(super) fn css<'b>(body: &'b [u8], declared: Option<&str>) -> Cow<'b, str> {
    let own = || {
        let rest = body.strip_prefix(b"@charset \"")?;
        let label = &rest[..memchr(b'"', &rest[..rest.len().min(SEARCHED)])?];
        Encoding::for_label(label).map(as_written)
    };
    decode(body, declared, || own().unwrap_or(UTF_8)).0
}

/// Decodes any other text.
pub(super) fn plain<'b>(body: &'b [u8], declared: Option<&str>) -> Cow<'b, str> {
    decode(body, declared, || UTF_8).0
}

fn decode<'b>(
    body: &'b [u8],
    declared: Option<&str>,
    otherwise: impl FnOnce() -> &'static Encoding,
) -> (Cow<'b, str>, &'static Encoding) {
    let (encoding, text) = match Encoding::for_bom(body) {
        Some((encoding, mark)) => (encoding, &body[mark..]),
        None => {
            let declared = declared.and_then(|label| Encoding::for_label(label.as_bytes()));
            (declared.unwrap_or_else(otherwise), body)
        }
    };
    (encoding.decode_without_bom_handling(text).0, encoding)
}

/// Replaces UTF-16: a declaration that could be read as ASCII is not UTF-16.
fn as_written(encoding: &'static Encoding) -> &'static Encoding {
    match encoding {
        _ if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
        _ if encoding == X_USER_DEFINED => WINDOWS_1252,
        _ => encoding,
    }
}

/// Returns the encoding that a page declares: the standard's search for `<meta charset>` and
/// `<meta http-equiv=content-type>`.
fn meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut rest = head;
    while let Some(tag) = memchr(b'<', rest) {
        rest = &rest[tag..];
        if rest.starts_with(b"<!--") {
            // The dashes that open a comment may also close it.
            rest = &rest[2 + memmem::find(&rest[2..], b"-->")? + 3..];
        } else if rest.len() > 5
            && rest[..5].eq_ignore_ascii_case(b"<meta")
            && (rest[5].is_ascii_whitespace() || rest[5] == b'/')
        {
            rest = &rest[5..];
            if let Some(encoding) = meta_attributes(&mut rest) {
                return Some(as_written(encoding));
            }
        } else if rest[1..].strip_prefix(b"/").unwrap_or(&rest[1..]).first().is_some_and(u8::is_ascii_alphabetic) {
            let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?;
            rest = &rest[end..];
            while attribute(&mut rest).is_some() {}
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            rest = &rest[memchr(b'>', rest)?..];
        } else {
            rest = &rest[1..];
        }
    }
    None
}

fn meta_attributes(rest: &mut &[u8]) -> Option<&'static Encoding> {
    let mut is_pragma = false;
    let mut needs_pragma = None;
    let mut encoding = None;
    while let Some((name, value)) = attribute(rest) {
        match &*name {
            b"http-equiv" => is_pragma |= value.eq_ignore_ascii_case(b"content-type"),
            b"content" if encoding.is_none() => {
                encoding = named(&value, b"charset").and_then(Encoding::for_label);
                needs_pragma = encoding.map(|_| true);
            }
            b"charset" => {
                encoding = Encoding::for_label(&value);
                needs_pragma = Some(false);
            }
            _ => {}
        }
    }
    encoding.filter(|_| needs_pragma.is_some_and(|needed| !needed || is_pragma))
}

/// Returns the next attribute of a tag, its name in lower case; `None` at the end of the tag.
fn attribute(rest: &mut &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    *rest = rest.trim_ascii_start();
    while let [b'/', beyond @ ..] = rest {
        *rest = beyond.trim_ascii_start();
    }
    if matches!(rest.first(), None | Some(b'>')) {
        return None;
    }
    // An equals sign at the beginning is part of the name.
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=');
    let end = rest[1..].iter().position(is_end)? + 1;
    let name = rest[..end].to_ascii_lowercase();
    *rest = rest[end..].trim_ascii_start();
    let Some(after) = rest.strip_prefix(b"=") else { return Some((name, Vec::new())) };
    *rest = after.trim_ascii_start();
    let (value, beyond) = match *rest {
        [quote @ (b'"' | b'\''), inside @ ..] => {
            let end = memchr(*quote, inside)?;
            (&inside[..end], &inside[end + 1..])
        }
        _ => rest.split_at(rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?),
    };
    *rest = beyond;
    Some((name, value.to_vec()))
}

/// Returns the value after `name=` within a text, quoted or not.
fn named<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let mut rest = text;
    loop {
        let at = rest.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name))?;
        rest = rest[at + name.len()..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        return match value {
            [quote @ (b'"' | b'\''), inside @ ..] => Some(&inside[..memchr(*quote, inside)?]),
            _ => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
                Some(&value[..value.iter().position(is_end).unwrap_or(value.len())])
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, ISO_8859_2, SHIFT_JIS};

    use super::*;

    #[test]
    fn pages_are_decoded_in_the_order_of_the_standard() {
        let of = |body: &[u8], declared| html(body, declared).1;
        assert_eq!(of(b"\xef\xbb\xbf<meta charset=big5>", Some("shift_jis")), UTF_8);
        assert_eq!(of(b"\xff\xfea\0", None), UTF_16LE);
        assert_eq!(of(b"<meta charset=big5>", Some("shift_jis")), SHIFT_JIS);
        assert_eq!(of(b"<meta charset=big5>", Some("no-such-thing")), BIG5);
        assert_eq!(of(b"a\xe9", None), WINDOWS_1252);
        assert_eq!(of("aé".as_bytes(), None), UTF_8);
        assert_eq!(html(b"a\xe9", None).0, "aé");
        assert_eq!(html(b"a\xff", Some("utf-8")).0, "a\u{fffd}");
    }

    #[test]
    fn pages_say_what_they_are_written_in() {
        for (head, expected) in [
            ("<meta charset='iso-8859-2'>", Some(ISO_8859_2)),
            ("<META/CHARSET = \"iso-8859-2\" />", Some(ISO_8859_2)),
            ("<meta http-equiv=content-type content='text/html; charset=iso-8859-2'>", Some(ISO_8859_2)),
            ("<meta content='text/html; charset=\"iso-8859-2\"' http-equiv=Content-Type>", Some(ISO_8859_2)),
            ("<meta content='text/html; charset=iso-8859-2'>", None),
            ("<!-- <meta charset=big5> --><meta charset=iso-8859-2>", Some(ISO_8859_2)),
            ("<!--><meta charset=iso-8859-2>", Some(ISO_8859_2)),
            ("<p title='<meta charset=big5>'><?x ?></p><meta charset=iso-8859-2>", Some(ISO_8859_2)),
            ("<meta charset=utf-16le>", Some(UTF_8)),
            ("<meta charset=iso-8859-2", None),
            ("<metal charset=iso-8859-2>", None),
            ("<", None),
            ("", None),
        ] {
            assert_eq!(meta(head.as_bytes()), expected, "{head}");
        }
    }

    #[test]
    fn other_texts_say_it_in_other_words() {
        assert_eq!(xml(b"<?xml version='1.0' encoding='iso-8859-2'?><a/>", None).1, ISO_8859_2);
        assert_eq!(xml(b"<a/>", None).1, UTF_8);
        assert_eq!(css(b"@charset \"iso-8859-1\"; \xe9", None), "@charset \"iso-8859-1\"; é");
        assert_eq!(plain(b"\xef\xbb\xbfa", None), "a");
    }
}
