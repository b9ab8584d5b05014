//! Any bytes are read without panic and in bounded memory, and mean the same however they are cut into pieces.
//!
//! The first byte of the input says how it is cut. Limits are small, so that the fuzzer can reach them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_protocol::xml::reader::{Event, Limits, ReadError, Reader};

const LIMITS: Limits = Limits { tag: 200, text: 200, depth: 12, namespaces: 4 };

/// A small multiple of the limits: buffers double, and pairs of short attributes are larger than their text.
const MOST_HELD: usize = 20 * (LIMITS.tag + LIMITS.text);

fuzz_target!(|bytes: &[u8]| {
    let Some((&size, bytes)) = bytes.split_first() else { return };
    let whole = read([bytes]);
    assert_eq!(read(bytes.chunks(usize::from(size).max(1))), whole, "in pieces of {size}");
    assert_eq!(read(bytes.chunks(1)), whole, "byte by byte");
});

/// The events, the bytes of each part joined, and how it ended. Of a part that an error interrupts nothing is told.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, Result<(), ReadError>) {
    let mut events = Vec::new();
    let mut part = Vec::new();
    let mut reader = Reader::new(LIMITS);
    let mut sink = |event: Event<'_>| match event {
        Event::PartBytes(bytes) => part.extend_from_slice(bytes),
        Event::PartEnd => events.push(format!("{:?}", std::mem::take(&mut part))),
        event => events.push(format!("{event:?}")),
    };
    let outcome = pieces.into_iter().try_for_each(|piece| reader.push(piece, &mut sink));
    assert!(reader.held() <= MOST_HELD, "{} bytes held", reader.held());
    (events, outcome.and_then(|()| reader.finish()))
}
