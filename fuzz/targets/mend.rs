//! Any answer is mended without panic, in bounded memory and to a bounded length, the same however it is cut; and with all
//! remedies on, an answer that was found has nothing in it that XML cannot carry.
//!
//! The first byte of the input says which remedies are on, the second which charset the response claims and how it is cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::mend::{Mender, Remedies};
use modoai_protocol::xml::Reader;

const EACH: [Remedies; 5] =
    [Remedies::ENCODING, Remedies::AROUND, Remedies::DOCTYPE, Remedies::CHARACTERS, Remedies::REFERENCES];

const CHARSETS: [Option<&str>; 8] = [
    None,
    Some("utf-8"),
    Some("iso-8859-1"),
    Some("gb18030"),
    Some("iso-2022-jp"),
    Some("shift_jis"),
    Some("utf-16"),
    Some("?"),
];

/// The limit of what is held before the root element, and what one piece is mended to.
const MOST_HELD: usize = 1024 * 1024;

fuzz_target!(|bytes: &[u8]| {
    let [remedies, choices, answer @ ..] = bytes else { return };
    let on = EACH.into_iter().enumerate().filter(|(bit, _)| remedies >> bit & 1 == 1);
    let remedies = on.fold(Remedies::default(), |all, (_, remedy)| all.union(remedy));
    let charset = CHARSETS[usize::from(choices % 8)];
    let size = usize::from(choices / 8) + 1;

    let whole = mend([answer], remedies, charset);
    assert_eq!(mend(answer.chunks(size), remedies, charset), whole, "in pieces of {size}");
    let (mended, repairs) = &whole;
    assert!(mended.len() <= 5 * answer.len() + 16, "{} bytes became {}", answer.len(), mended.len());
    assert_eq!(repairs.is_empty(), mended == answer, "{repairs:?}");
    if remedies.is_empty() {
        assert_eq!(mended, answer);
    }

    let mut reader = Reader::default();
    let is_fine = reader.push(mended, &mut |_| {}).and_then(|()| reader.finish()).is_ok();
    if is_fine && remedies == Remedies::ALL {
        let text = std::str::from_utf8(mended).expect("bytes were mended");
        assert!(!text.contains(|c: char| c < ' ' && !"\t\r\n".contains(c) || matches!(c, '\u{fffe}' | '\u{ffff}')));
        let again = mend([mended.as_slice()], remedies, charset);
        assert_eq!((&again.0, again.1.len()), (mended, 0), "what is fine changes");
    }
});

type Mended = (Vec<u8>, Vec<(&'static str, u64)>);

fn mend<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, remedies: Remedies, charset: Option<&str>) -> Mended {
    let mut mended = Vec::new();
    let mut mender = Mender::new(remedies, charset);
    for piece in pieces {
        mender.push(piece, &mut |bytes| mended.extend_from_slice(bytes));
        assert!(mender.held() <= MOST_HELD, "{} bytes held", mender.held());
    }
    mender.finish(&mut |bytes| mended.extend_from_slice(bytes));
    (mended, mender.repairs().into_iter().map(|(quirk, count)| (quirk.name, count)).collect())
}
