//! Any element is judged without panic and in bounded memory, the same however it is cut; and what passes can stand in an
//! answer: the reader takes it, and mending leaves it alone.
//!
//! The first byte of the input says how it is cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::mend::{Mender, Offence, PartCheck, Remedies};
use modoai_protocol::xml::reader::{Event, Reader};

const INHERITED: &[(&str, &str)] = &[("", "http://www.openarchives.org/OAI/2.0/"), ("p", "urn:p"), ("q", "urn:p")];
const OPEN: &str = "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/' xmlns:p='urn:p' xmlns:q='urn:p'>\
    <GetRecord><record><metadata>";
const CLOSE: &str = "</metadata></record></GetRecord></OAI-PMH>";

/// What the input itself can make it hold, and some.
const MOST_HELD: usize = 128 * 1024;

fuzz_target!(|bytes: &[u8]| {
    let Some((&size, element)) = bytes.split_first() else { return };
    let verdict = judge([element]);
    assert_eq!(judge(element.chunks(usize::from(size).max(1))), verdict, "in pieces of {size}");
    match verdict {
        Err(offence) => assert!(offence.offset <= element.len() as u64, "{offence}"),
        Ok(()) => {
            let answer = [OPEN.as_bytes(), element, CLOSE.as_bytes()].concat();
            let mut part = Vec::new();
            let mut reader = Reader::default();
            let outcome = reader.push(&answer, &mut |event| {
                if let Event::PartBytes(bytes) = event {
                    part.extend_from_slice(bytes);
                }
            });
            outcome.and_then(|()| reader.finish()).expect("it passed");
            assert_eq!(part, element);

            let mut mended = Vec::new();
            let mut mender = Mender::new(Remedies::ALL, Some("iso-8859-1"));
            mender.push(&answer, &mut |bytes| mended.extend_from_slice(bytes));
            mender.finish(&mut |bytes| mended.extend_from_slice(bytes));
            assert_eq!(mended, answer);
        }
    }
});

fn judge<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<(), Offence> {
    let mut check = PartCheck::new(INHERITED);
    for piece in pieces {
        check.push(piece)?;
        assert!(check.held() <= MOST_HELD, "{} bytes held", check.held());
    }
    check.finish()
}
