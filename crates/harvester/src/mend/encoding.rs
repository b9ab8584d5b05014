//! Converts responses that are not UTF-8, or only partly.
//!
//! The declared encoding is often that of a template, so it is compared with the bytes: in text of another encoding,
//! bytes that are not UTF-8 outnumber sequences that are UTF-8 by chance. Without a declaration, UTF-8 is assumed, and
//! each invalid byte is read as Windows-1252, the usual encoding of text pasted into forms. Valid sequences of UTF-8
//! are never changed in that case.

use encoding_rs::{Decoder, DecoderResult, Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::prolog::Declaration;
use super::{REPLACEMENT, Repairs};
use crate::quirks;

/// The number of bytes examined, from the first that is not ASCII, before the encoding is decided.
const WINDOW: usize = 64 * 1024;

/// Converts UTF-16 to UTF-8, and passes all other encodings on unchanged.
pub(super) struct Utf16 {
    state: State,
    pub(super) repairs: Repairs,
}

enum State {
    /// The first bytes, which identify the encoding.
    Start(Vec<u8>),
    Decoding(Box<Decoder>),
    Passing,
}

impl Utf16 {
    pub(super) fn new(is_on: bool) -> Self {
        let state = if is_on { State::Start(Vec::new()) } else { State::Passing };
        Self { state, repairs: Repairs::default() }
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
        let mut bytes = bytes;
        if let State::Start(first) = &mut self.state {
            let (more, rest) = bytes.split_at(bytes.len().min(4 - first.len()));
            first.extend_from_slice(more);
            if first.len() < 4 {
                return;
            }
            bytes = rest;
            self.decide(out);
        }
        match &mut self.state {
            State::Decoding(decoder) => decode(decoder, bytes, false, &mut self.repairs, out),
            State::Passing | State::Start(_) => out(bytes),
        }
    }

    pub(super) fn finish(&mut self, out: &mut dyn FnMut(&[u8])) {
        self.decide(out);
        if let State::Decoding(decoder) = &mut self.state {
            decode(decoder, b"", true, &mut self.repairs, out);
        }
    }

    fn decide(&mut self, out: &mut dyn FnMut(&[u8])) {
        let State::Start(first) = &mut self.state else { return };
        let first = std::mem::take(first);
        // A byte order mark, or a `<` and one more character of ASCII.
        let (encoding, text) = match *first.as_slice() {
            [0xfe, 0xff, ..] => (UTF_16BE, &first[2..]),
            [0xff, 0xfe, ..] => (UTF_16LE, &first[2..]),
            [0, b'<', 0, other] if other != 0 => (UTF_16BE, &first[..]),
            [b'<', 0, other, 0] if other != 0 => (UTF_16LE, &first[..]),
            _ => {
                self.state = State::Passing;
                return out(&first);
            }
        };
        self.repairs.add(quirks::ENCODING, 1);
        let mut decoder = Box::new(encoding.new_decoder_without_bom_handling());
        decode(&mut decoder, text, false, &mut self.repairs, out);
        self.state = State::Decoding(decoder);
    }
}

/// Converts a response in an encoding that contains ASCII to UTF-8.
pub(super) struct Transcoder {
    mode: Mode,
    pub(super) repairs: Repairs,
}

enum Mode {
    AsItIs,
    /// The response declares this encoding; no byte that confirms or contradicts it has been received yet.
    Claimed(&'static Encoding),
    /// Such bytes were received, and are held until there are enough of them.
    Weighed(&'static Encoding, Vec<u8>),
    Decoding(Box<Decoder>),
    Mixed(Mixed),
}

impl Transcoder {
    pub(super) fn as_it_is() -> Self {
        Self { mode: Mode::AsItIs, repairs: Repairs::default() }
    }

    /// Returns a converter for text that should be UTF-8, and may contain other bytes.
    pub(super) fn of_utf8() -> Self {
        Self { mode: Mode::Mixed(Mixed::new(WINDOWS_1252)), repairs: Repairs::default() }
    }

    /// Returns a converter for a response with this declaration and this charset in Content-Type.
    pub(super) fn new(declaration: &Declaration, charset: Option<&str>) -> Self {
        let mut repairs = Repairs::default();
        if declaration.rewritten {
            repairs.add(quirks::ENCODING, 1);
        }
        let label = declaration.encoding.as_deref().or(charset);
        let claimed = label.and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()));
        let is_ascii = label.is_some_and(|label| ["us-ascii", "ascii"].iter().any(|a| label.eq_ignore_ascii_case(a)));
        let mode = match claimed {
            // A byte order mark is the most reliable evidence.
            _ if declaration.has_mark => Mode::Mixed(Mixed::new(WINDOWS_1252)),
            // If it were UTF-16, it would have been converted already.
            Some(encoding) if ![UTF_8, UTF_16BE, UTF_16LE].contains(&encoding) && !is_ascii => Mode::Claimed(encoding),
            _ => Mode::Mixed(Mixed::new(WINDOWS_1252)),
        };
        Self { mode, repairs }
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
        let mut bytes = bytes;
        if let Mode::Claimed(encoding) = self.mode {
            // ISO-2022-JP has no bytes beyond ASCII; it is recognised by its escapes.
            let tells = |byte: &u8| !byte.is_ascii() || (*byte == 0x1b && encoding == ISO_2022_JP);
            let plain = bytes.iter().position(tells).unwrap_or(bytes.len());
            out(&bytes[..plain]);
            bytes = &bytes[plain..];
            if bytes.is_empty() {
                return;
            }
            self.mode = Mode::Weighed(encoding, Vec::new());
        }
        if let Mode::Weighed(_, window) = &mut self.mode {
            let (more, rest) = bytes.split_at(bytes.len().min(WINDOW - window.len()));
            window.extend_from_slice(more);
            if window.len() < WINDOW {
                return;
            }
            bytes = rest;
            self.decide(out);
        }
        match &mut self.mode {
            Mode::Decoding(decoder) => decode(decoder, bytes, false, &mut self.repairs, out),
            Mode::Mixed(mixed) => mixed.push(bytes, &mut self.repairs, out),
            Mode::AsItIs | Mode::Claimed(_) | Mode::Weighed(..) => out(bytes),
        }
    }

    pub(super) fn finish(&mut self, out: &mut dyn FnMut(&[u8])) {
        self.decide(out);
        match &mut self.mode {
            Mode::Decoding(decoder) => decode(decoder, b"", true, &mut self.repairs, out),
            Mode::Mixed(mixed) => mixed.finish(&mut self.repairs, out),
            Mode::AsItIs | Mode::Claimed(_) | Mode::Weighed(..) => {}
        }
    }

    pub(super) fn held(&self) -> usize {
        if let Mode::Weighed(_, window) = &self.mode { window.capacity() } else { 0 }
    }

    fn decide(&mut self, out: &mut dyn FnMut(&[u8])) {
        let Mode::Weighed(encoding, window) = &mut self.mode else { return };
        let (encoding, window) = (*encoding, std::mem::take(window));
        self.mode = if is_mostly_utf8(&window) {
            Mode::Mixed(Mixed::new(if encoding.is_single_byte() { encoding } else { WINDOWS_1252 }))
        } else {
            // A declaration was counted when it was rewritten.
            if self.repairs.0.is_empty() {
                self.repairs.add(quirks::ENCODING, 1);
            }
            Mode::Decoding(Box::new(encoding.new_decoder_without_bom_handling()))
        };
        self.push(&window, out);
    }
}

/// Returns true if there are more sequences of UTF-8 beyond ASCII than bytes that belong to none.
fn is_mostly_utf8(window: &[u8]) -> bool {
    let (mut sequences, mut others) = (0, 0);
    let mut chunks = window.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        sequences += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        // The last sequence may be truncated.
        if chunks.peek().is_some() || window.len() < WINDOW {
            others += chunk.invalid().len();
        }
    }
    sequences > others
}

/// Converts UTF-8 that contains bytes of another encoding.
struct Mixed {
    others: &'static Encoding,
    /// The incomplete sequence at the end of the previous piece.
    held: Vec<u8>,
}

impl Mixed {
    fn new(others: &'static Encoding) -> Self {
        Self { others, held: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8], repairs: &mut Repairs, out: &mut dyn FnMut(&[u8])) {
        let mut joined = std::mem::take(&mut self.held);
        let bytes = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &joined
        };
        let rest = self.mend(bytes, false, repairs, out);
        self.held = rest.to_vec();
    }

    fn finish(&mut self, repairs: &mut Repairs, out: &mut dyn FnMut(&[u8])) {
        let held = std::mem::take(&mut self.held);
        self.mend(&held, true, repairs, out);
    }

    /// Returns the bytes that cannot be classified before more arrive: five at most.
    fn mend<'b>(
        &self,
        mut bytes: &'b [u8],
        is_all: bool,
        repairs: &mut Repairs,
        out: &mut dyn FnMut(&[u8]),
    ) -> &'b [u8] {
        loop {
            let Err(error) = std::str::from_utf8(bytes) else {
                out(bytes);
                return b"";
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            out(valid);
            let length = match surrogates(rest) {
                Surrogates::Unclear if !is_all => return rest,
                Surrogates::Pair(character) => {
                    repairs.add(quirks::SURROGATES, 1);
                    out(character.encode_utf8(&mut [0; 4]).as_bytes());
                    6
                }
                Surrogates::Half => {
                    repairs.add(quirks::SURROGATES, 1);
                    out(REPLACEMENT);
                    3
                }
                Surrogates::None | Surrogates::Unclear => {
                    let length = match error.error_len() {
                        Some(length) => length,
                        None if is_all => rest.len(),
                        None => return rest,
                    };
                    for byte in rest[..length].chunks(1) {
                        let (text, _) = self.others.decode_without_bom_handling(byte);
                        repairs.add(quirks::INVALID_UTF8, 1);
                        out(text.as_bytes());
                    }
                    length
                }
            };
            bytes = &rest[length..];
        }
    }
}

/// Recognises the halves of a surrogate pair that were encoded separately, as some databases do.
enum Surrogates {
    Pair(char),
    Half,
    None,
    Unclear,
}

fn surrogates(bytes: &[u8]) -> Surrogates {
    let half = |bytes: &[u8]| match *bytes {
        [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] => {
            Some(0xd000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f))
        }
        _ => None,
    };
    let Some(first) = half(bytes) else {
        return if matches!(bytes, [0xed] | [0xed, 0xa0..=0xbf]) { Surrogates::Unclear } else { Surrogates::None };
    };
    if first >= 0xdc00 {
        return Surrogates::Half;
    }
    match (half(&bytes[3..]), &bytes[3..]) {
        (Some(second @ 0xdc00..), _) => {
            let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            char::from_u32(joined).map_or(Surrogates::Half, Surrogates::Pair)
        }
        (None, [] | [0xed] | [0xed, 0xb0..=0xbf]) => Surrogates::Unclear,
        _ => Surrogates::Half,
    }
}

/// Decodes a piece; invalid sequences are replaced and counted.
fn decode(decoder: &mut Decoder, bytes: &[u8], is_last: bool, repairs: &mut Repairs, out: &mut dyn FnMut(&[u8])) {
    let mut room = [0; 8 * 1024];
    let mut rest = bytes;
    loop {
        let (result, read, written) = decoder.decode_to_utf8_without_replacement(rest, &mut room, is_last);
        out(&room[..written]);
        rest = &rest[read..];
        match result {
            DecoderResult::InputEmpty => return,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                repairs.add(quirks::INVALID_UTF8, 1);
                out(REPLACEMENT);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Remedies, mended};

    fn read(answer: &[u8], charset: Option<&str>) -> (String, Vec<(&'static str, u64)>) {
        let (text, repairs) = mended(answer, Remedies::ENCODING, charset);
        (String::from_utf8(text).expect("UTF-8"), repairs)
    }

    fn answer(declaration: &str, text: &str) -> String {
        format!("<?xml version='1.0'{declaration}?><OAI-PMH>{text}</OAI-PMH>")
    }

    #[test]
    fn utf16_is_read_with_and_without_mark() {
        let text = answer(" encoding='UTF-16'", "é𝄞");
        let expected = answer(" encoding='UTF-8'", "é𝄞");
        for (mark, order) in [(true, u16::to_be_bytes as fn(u16) -> [u8; 2]), (false, u16::to_le_bytes)] {
            for marked in [mark, !mark] {
                let units = marked.then_some(0xfeff).into_iter().chain(text.encode_utf16());
                let bytes: Vec<u8> = units.flat_map(order).collect();
                assert_eq!(read(&bytes, None), (expected.clone(), vec![("encoding", 2)]));
            }
        }
        // A template declared it wrongly.
        assert_eq!(read(text.as_bytes(), None), (expected, vec![("encoding", 1)]));
    }

    #[test]
    fn what_is_declared_is_compared_with_the_bytes() {
        let expected = (answer(" encoding=\"UTF-8\"", "été"), vec![("encoding", 1)]);
        let latin = |declaration: &str| {
            let (before, after) =
                answer(declaration, "|").split_once('|').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("a bar");
            [before.as_bytes(), b"\xe9t\xe9", after.as_bytes()].concat()
        };
        assert_eq!(read(&latin(" encoding=\"ISO-8859-1\""), None), expected);
        assert_eq!(read(answer(" encoding=\"ISO-8859-1\"", "été").as_bytes(), None), expected);
        let greek = ("<OAI-PMH>ιtι</OAI-PMH>".to_owned(), vec![("encoding", 1)]);
        assert_eq!(read(b"<OAI-PMH>\xe9t\xe9</OAI-PMH>", Some("iso-8859-7")), greek);
        let mixed = (answer(" encoding=\"UTF-8\"", "été"), vec![("invalid-utf8", 2)]);
        assert_eq!(read(&latin(" encoding=\"UTF-8\""), Some("iso-8859-7")), mixed);
        let japanese = b"<?xml version='1.0' encoding = 'Shift_JIS' ?><OAI-PMH>\x93\xfa\x96\x7b</OAI-PMH>";
        let expected = "<?xml version='1.0' encoding = 'UTF-8' ?><OAI-PMH>日本</OAI-PMH>";
        assert_eq!(read(japanese, None).0, expected);
        assert_eq!(read(answer(" encoding='nonsense'", "é").as_bytes(), None).0, answer(" encoding='UTF-8'", "é"));
    }

    #[test]
    fn single_bytes_are_read_one_by_one() {
        let mixed = b"<OAI-PMH>\xc3\xa9 \xe9 \x80 \xe2\x82 \xe2\x82\xac \xed\xa0\xb4\xed\xb4\x9e \xed\xa0\xb4\xed\xa0 \xff</OAI-PMH>";
        let expected = "<OAI-PMH>é é € â‚ € 𝄞 \u{fffd}í\u{a0} ÿ</OAI-PMH>";
        let (text, repairs) = read(mixed, None);
        assert_eq!(text, expected);
        assert_eq!(repairs, [("invalid-utf8", 7), ("surrogates", 2)]);
    }

    #[test]
    fn what_is_utf8_stays_whatever_the_label() {
        for charset in [None, Some("iso-8859-1"), Some("shift_jis"), Some("utf-16"), Some("x")] {
            for text in [answer("", "日本é"), answer(" encoding='utf-8'", "é"), "<OAI-PMH/>é".to_owned()] {
                assert_eq!(read(text.as_bytes(), charset), (text, vec![]));
            }
        }
    }
}
