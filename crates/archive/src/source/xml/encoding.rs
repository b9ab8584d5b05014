//! Decodes XML files by the encoding that they declare.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::source::Fault;

/// The maximum length of a declaration.
const DECLARATION: usize = 1024;

/// Returns the text of a file.
pub(in crate::source) fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, Fault> {
    let (encoding, mark) = match Encoding::for_bom(bytes) {
        Some(found) => found,
        None => (declared(bytes)?, 0),
    };
    let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark..]);
    text.ok_or_else(|| Fault(format!("it is not valid {}, the encoding that applies to it", encoding.name())))
}

/// Returns the encoding of a file without a byte order mark.
fn declared(bytes: &[u8]) -> Result<&'static Encoding, Fault> {
    match bytes {
        [b'<', 0, ..] => return Ok(UTF_16LE),
        [0, b'<', ..] => return Ok(UTF_16BE),
        _ => {}
    }
    let head = &bytes[..bytes.len().min(DECLARATION)];
    let Some(declaration) = head.strip_prefix(b"<?xml") else { return Ok(UTF_8) };
    let end = declaration.windows(2).position(|two| two == b"?>").unwrap_or(declaration.len());
    let declaration = String::from_utf8_lossy(&declaration[..end]);
    let Some((_, value)) = declaration.split_once("encoding") else { return Ok(UTF_8) };
    let value = value.trim_start().strip_prefix('=').map(str::trim_start).unwrap_or_default();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    let label = quote.and_then(|quote| value[1..].split_once(quote)).map(|(label, _)| label).unwrap_or_default();
    match Encoding::for_label(label.as_bytes()) {
        // The declaration was readable, so the encoding cannot be UTF-16.
        Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => Ok(UTF_8),
        Some(encoding) => Ok(encoding),
        None => Err(Fault(format!("unknown encoding {label:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_declare() {
        for (bytes, text) in [
            (&b"<a>\xc3\xa9</a>"[..], "<a>é</a>"),
            (b"\xef\xbb\xbf<a>\xc3\xa9</a>", "<a>é</a>"),
            (
                b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>",
                "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>",
            ),
            (b"<?xml version=\"1.0\" encoding = \"koi8-r\"?>\xc1", "<?xml version=\"1.0\" encoding = \"koi8-r\"?>а"),
            (b"\xff\xfe<\0a\0/\0>\0", "<a/>"),
            (b"\0<\0a\0/\0>", "<a/>"),
            (b"<?xml version='1.0' encoding='UTF-16'?><a/>", "<?xml version='1.0' encoding='UTF-16'?><a/>"),
        ] {
            assert_eq!(decoded(bytes).as_deref(), Ok(text));
        }
        assert!(decoded(b"<a>\xe9</a>").is_err());
        assert!(
            decoded(b"<?xml version='1.0' encoding='klingon'?><a/>").is_err_and(|fault| fault.0.contains("klingon"))
        );
    }
}
