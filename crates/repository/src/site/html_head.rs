//! Reads titles and META elements from the head of an HTML file: by markup, as browsers do, in the charset that the file declares.
//!
//! Most heads are in the first few kilobytes, so these are read first, and more only if the wanted part is not among them.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;

use encoding_rs::{Encoding, UTF_8};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

/// The sizes of the part that is read, tried in this order. Larger files are not read for a title that begins later.
const SIZES: [usize; 2] = [8 * 1024, 256 * 1024];

/// A part of the head.
pub(super) enum Part<'a> {
    /// The attributes of a META element: names in lower case, and values.
    Meta(&'a [(String, String)]),
    /// The content of a title element, unless it is empty.
    Title(&'a str),
    /// The beginning of the body.
    Body,
}

/// Passes the parts of the head to the function until it breaks. A part can be passed twice. Does not move the file's position.
pub(super) fn read(file: &File, mut each: impl FnMut(&Part<'_>) -> ControlFlow<()>) -> io::Result<()> {
    let mut bytes = Vec::new();
    for size in SIZES {
        read_up_to(file, size, &mut bytes)?;
        let is_last = bytes.len() < size || size == SIZES[SIZES.len() - 1];
        if parts(decode(&bytes).as_bytes(), is_last, &mut each).is_break() || is_last {
            break;
        }
    }
    Ok(())
}

/// Continues to read until this many bytes are present, or the file ends.
fn read_up_to(file: &File, size: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut filled = bytes.len();
    bytes.resize(size, 0);
    while filled < size {
        match file.read_at(&mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(())
}

/// Decodes the beginning of a file. A declared charset is used only for bytes that are not UTF-8.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // The part that was read can end inside a character.
        Err(error) if error.error_len().is_none() => String::from_utf8_lossy(&bytes[..error.valid_up_to()]),
        Err(_) => declared(bytes).unwrap_or(UTF_8).decode(bytes).0,
    }
}

/// Returns the charset that a META element declares.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut found = None;
    let _ = parts(bytes, true, &mut |part: &Part<'_>| {
        let Part::Meta(attributes) = part else { return ControlFlow::Continue(()) };
        let content_type =
            attribute(attributes, "http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("content-type"));
        let label = attribute(attributes, "charset").or_else(|| {
            let content = attribute(attributes, "content").filter(|_| content_type)?;
            let at = content.to_ascii_lowercase().find("charset=")?;
            Some(content[at + "charset=".len()..].trim_matches(['"', '\'', ' ']))
        });
        found = label
            .and_then(|label| Encoding::for_label(label.as_bytes()))
            .filter(|encoding| encoding.is_ascii_compatible());
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// Returns the value of an attribute.
pub(super) fn attribute<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

/// Passes the parts of this text to the function until it breaks. A title that the text does not end counts only in the last text.
fn parts(text: &[u8], is_last: bool, each: &mut impl FnMut(&Part<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
    let (mut attributes, mut is_meta, mut is_title, mut title) = (Vec::new(), false, false, None::<String>);
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        let flow = match event {
            CallbackEvent::OpenStartTag { name } => {
                (is_meta, is_title) = (name == b"meta", name == b"title");
                if name == b"body" { each(&Part::Body) } else { ControlFlow::Continue(()) }
            }
            CallbackEvent::AttributeName { name } if is_meta => {
                attributes.push((lossy(name), String::new()));
                ControlFlow::Continue(())
            }
            CallbackEvent::AttributeValue { value } if is_meta => {
                if let Some((_, slot)) = attributes.last_mut() {
                    *slot = lossy(value);
                }
                ControlFlow::Continue(())
            }
            CallbackEvent::CloseStartTag { .. } if is_meta => {
                is_meta = false;
                let flow = each(&Part::Meta(&attributes));
                attributes.clear();
                flow
            }
            CallbackEvent::String { value } if is_title => {
                title = Some(lossy(value));
                ControlFlow::Continue(())
            }
            CallbackEvent::EndTag { name: b"title" } => {
                is_title = false;
                title.take().map_or(ControlFlow::Continue(()), |title| each(&Part::Title(&title)))
            }
            _ => ControlFlow::Continue(()),
        };
        flow.is_break().then_some(())
    });
    emitter.naively_switch_states(true);
    // Reading from memory cannot fail, and the first token is the request to end.
    let is_done = Tokenizer::new_with_emitter(text, emitter).next().is_some();
    match title {
        _ if is_done => ControlFlow::Break(()),
        Some(title) if is_last => each(&Part::Title(&title)),
        _ => ControlFlow::Continue(()),
    }
}
