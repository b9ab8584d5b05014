//! Any document is read without panic and in bounded memory, and means the same however it is cut.
//!
//! The first byte of the input says how it is cut, and whether the namespace of DIDL is inherited.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::didl::{Component, DidlError, Found, Reader, Stopped};

const INHERITED: &[(&str, &str)] = &[("", "urn:mpeg:mpeg21:2002:02-DIDL-NS"), ("i", "urn:mpeg:mpeg21:2002:01-DII-NS")];

/// What the input itself can make it hold, and some: buffers double, and each fact costs more than its text.
const MOST_HELD: usize = 256 * 1024;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choices, document)) = bytes.split_first() else { return };
    let inherited = if choices & 0x80 == 0 { &[] } else { INHERITED };
    let size = usize::from(choices & 0x7f).max(1);

    let whole = read([document], inherited);
    assert_eq!(read(document.chunks(size), inherited), whole, "in pieces of {size}");
    assert_eq!(read(document.chunks(1), inherited), whole, "byte by byte");
    // Base64 and references are longer than what they stand for.
    let values: usize = whole.0.iter().map(|(_, value)| value.len()).sum();
    assert!(values <= document.len(), "{} bytes hold {values}", document.len());
});

/// Each Component with its bytes, and how the reading ended.
fn read<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    inherited: &[(&str, &str)],
) -> (Vec<(Component, Vec<u8>)>, Result<(), DidlError>) {
    let (mut found, mut value) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(inherited);
    for piece in pieces {
        let pushed = reader.push(piece, &mut |item| {
            match item {
                Found::Value(bytes) => value.extend_from_slice(bytes),
                Found::Component(component) => found.push((component, std::mem::take(&mut value))),
            }
            Ok::<(), ()>(())
        });
        assert!(reader.held() <= MOST_HELD, "{} bytes held", reader.held());
        match pushed {
            Ok(()) => {}
            Err(Stopped::Didl(error)) => return (found, Err(alike(error))),
            Err(Stopped::Told(())) => unreachable!("nothing is refused"),
        }
    }
    let end = reader.finish().map_err(alike);
    (found, end)
}

/// Groups of base64 are decoded many at a time, so what exactly is wrong with them depends on which came together.
fn alike(error: DidlError) -> DidlError {
    match error {
        DidlError::Base64(_) => DidlError::Base64("it is wrong"),
        error => error,
    }
}
