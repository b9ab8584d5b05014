//! Undoing Content-Encoding, by what a body is and not by what it is said to be.
//!
//! Push decoders: wire bytes go in as they come, pieces of bounded size come out, one per step. A bomb is so many pieces and
//! no more than one of them is ever in memory. Servers that send gzip without a label, a label without gzip, or the wrong
//! label are common enough; gzip and zstd are known by their first bytes, br and raw deflate (which have none) are tried,
//! and taken back if they fail on something that reads as text.

use std::io;

use bytes::Bytes;

use crate::engine::{Coding, Engine};

/// What is asked for: everything that is decoded here.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// The largest piece of a plain body; what comes from the wire at once is hardly ever larger.
const PLAIN_PIECE: usize = 256 * 1024;
/// The largest piece that is decoded at once.
const DECODED_PIECE: usize = 64 * 1024;
/// How much is remembered of a body that may have to be taken back: more than comes from the wire at once.
const REGRET: usize = 1024 * 1024;
/// How much may come in without anything coming out. Honest streams need a few kilobytes; padding has to end somewhere.
const FRUITLESS: usize = 32 * 1024 * 1024;

/// What a body turned out to be, against its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surprise {
    /// It was gzip, and nothing said so.
    UnlabelledGzip,
    /// It was zstd, and nothing said so.
    UnlabelledZstd,
    /// It was not encoded at all, though something said so.
    LabelledButPlain,
    /// It was encoded in another way.
    WrongLabel {
        /// What the label said.
        said: String,
        /// What it was.
        was: &'static str,
    },
    /// More bytes came after the encoded stream had ended. They were ignored.
    BytesAfterEnd,
}

/// Why a body cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Undecodable {
    pub(crate) coding: String,
    pub(crate) reason: String,
}

/// What a step came to.
#[derive(Debug)]
pub(crate) enum Step {
    /// A piece, never empty.
    Piece(Bytes),
    /// Nothing without more bytes.
    NeedsMore,
    /// Nothing any more. Whether the stream has come to its own end.
    Ended {
        /// If not, the body was cut short.
        whole: bool,
    },
}

/// One body's decoder.
pub(crate) struct Decoder {
    state: State,
    pub(crate) surprises: Vec<Surprise>,
}

enum State {
    /// Nothing is known before the first bytes are in. The labels, and whether an unlabelled encoding may be undone.
    Undecided {
        labels: Vec<String>,
        expects_text: bool,
    },
    Plain,
    Encoded(Box<Encoded>),
}

struct Encoded {
    coding: Coding,
    engine: Engine,
    /// Whether there may be more to come out with nothing more going in: the last piece was full.
    was_full: bool,
    /// Whether the stream, or one of several in a row, is at its end.
    at_end: bool,
    /// Whether what follows the end is being ignored.
    after_end: bool,
    /// All that came in so far, while it may turn out to be plain.
    regret: Option<Vec<u8>>,
    /// Bytes in since the last byte out.
    fruitless: usize,
}

impl Decoder {
    /// For a body with these values of Content-Encoding. `expects_text` tells whether a body that is compressed without
    /// saying so was meant to be undone: a page was, an archive was not.
    pub(crate) fn new<'a>(labels: impl Iterator<Item = &'a str>, expects_text: bool) -> Self {
        let mut labels: Vec<String> = labels
            .flat_map(|value| value.split(','))
            .map(|label| label.trim().to_ascii_lowercase())
            .filter(|label| !matches!(label.as_str(), "" | "identity" | "none" | "binary" | "utf-8" | "8bit"))
            .collect();
        // Said twice and done once, where two layers of a server both add the header.
        labels.dedup();
        Self { state: State::Undecided { labels, expects_text }, surprises: Vec::new() }
    }

    /// For a body that is wanted as it was sent.
    pub(crate) fn plain() -> Self {
        Self { state: State::Plain, surprises: Vec::new() }
    }

    /// Goes one step. What was used up is taken from `input`; what was not is to be there again next time, with more behind
    /// it. `last` says that nothing follows.
    pub(crate) fn step(&mut self, input: &mut Bytes, last: bool) -> Result<Step, Undecodable> {
        loop {
            match &mut self.state {
                State::Undecided { labels, expects_text } => {
                    // Four bytes tell all that first bytes can tell.
                    if input.len() < 4 && !last {
                        return Ok(Step::NeedsMore);
                    }
                    let (state, surprise) = decide(labels, *expects_text, input)?;
                    self.state = state;
                    self.surprises.extend(surprise);
                }
                State::Plain => {
                    return Ok(match (input.is_empty(), last) {
                        (false, _) => Step::Piece(input.split_to(input.len().min(PLAIN_PIECE))),
                        (true, false) => Step::NeedsMore,
                        (true, true) => Step::Ended { whole: true },
                    });
                }
                State::Encoded(encoded) => {
                    let was_after_end = encoded.after_end;
                    let outcome = encoded.step(input, last);
                    if encoded.after_end && !was_after_end {
                        self.surprises.push(Surprise::BytesAfterEnd);
                    }
                    let is_plain = |seen: &mut Vec<u8>| match outcome {
                        Err(_) => reads_as_text(seen, input),
                        // Too short to be refuted: only what is beyond doubt is believed, or a cut would pass for text.
                        Ok(Step::Ended { whole: false }) => {
                            reads_as_text(seen, &[]) && std::str::from_utf8(seen).is_ok()
                        }
                        Ok(_) => false,
                    };
                    match encoded.regret.take_if(is_plain) {
                        Some(mut seen) => {
                            seen.extend_from_slice(input);
                            *input = seen.into();
                            self.state = State::Plain;
                            self.surprises = vec![Surprise::LabelledButPlain];
                        }
                        None => return outcome,
                    }
                }
            }
        }
    }
}

/// How to read a body that begins like this.
fn decide(labels: &[String], expects_text: bool, first: &[u8]) -> Result<(State, Option<Surprise>), Undecodable> {
    let undecodable = |reason: &str| Undecodable { coding: labels.join(", "), reason: reason.to_owned() };
    if first.is_empty() {
        return Ok((State::Plain, None)); // No body: 304, or an error page nobody wrote.
    }
    let found = Coding::of(first);
    let label = match labels {
        [] => {
            return Ok(match found.filter(|_| expects_text) {
                Some(Coding::Gzip) => (Encoded::state(Coding::Gzip)?, Some(Surprise::UnlabelledGzip)),
                Some(coding) => (Encoded::state(coding)?, Some(Surprise::UnlabelledZstd)),
                None => (State::Plain, None),
            });
        }
        [label] => label.as_str(),
        _ => return Err(undecodable("more than one content coding")),
    };
    let said = match label {
        "gzip" | "x-gzip" => Some(Coding::Gzip),
        "deflate" | "x-deflate" if is_zlib(first) => Some(Coding::Zlib),
        "deflate" | "x-deflate" => Some(Coding::RawDeflate),
        "br" => Some(Coding::Brotli),
        "zstd" | "x-zstd" => Some(Coding::Zstd),
        _ => None,
    };
    let wrong = |was: Coding| Surprise::WrongLabel { said: label.to_owned(), was: was.name() };
    match (said, found) {
        (Some(said), Some(found)) if said == found => Ok((Encoded::state(said)?, None)),
        (_, Some(found)) => Ok((Encoded::state(found)?, Some(wrong(found)))),
        // Zstd allows frames to skip in front of its own.
        (Some(Coding::Zstd), None) if matches!(first, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]) => {
            Ok((Encoded::state(Coding::Zstd)?, None))
        }
        // A stream that breaks off in its first bytes is still a stream.
        (Some(coding @ (Coding::Gzip | Coding::Zstd)), None) if is_beginning(coding, first) => {
            Ok((Encoded::state(coding)?, None))
        }
        (Some(Coding::Gzip), None) if is_zlib(first) => Ok((Encoded::state(Coding::Zlib)?, Some(wrong(Coding::Zlib)))),
        (Some(Coding::Gzip | Coding::Zstd), None) => Ok((State::Plain, Some(Surprise::LabelledButPlain))),
        (Some(said), None) => Ok((Encoded::state(said)?, None)),
        (None, None) if label == "compress" || label == "x-compress" => match first {
            [0x1f, 0x9d, ..] => Err(undecodable("the compress coding is not supported")),
            _ => Ok((State::Plain, Some(Surprise::LabelledButPlain))),
        },
        // Words that are no encoding at all, such as a charset, are common. What reads as text is text.
        (None, None) if reads_as_text(&[], first) => Ok((State::Plain, Some(Surprise::LabelledButPlain))),
        (None, None) => Err(undecodable("unknown content coding")),
    }
}

/// Whether these few bytes are a magic number that broke off.
fn is_beginning(coding: Coding, first: &[u8]) -> bool {
    let magic: &[u8] = if coding == Coding::Gzip { &[0x1f, 0x8b, 8] } else { &[0x28, 0xb5, 0x2f, 0xfd] };
    magic.starts_with(first)
}

/// Whether this is a zlib header: deflate, a window it knows, and a checksum that fits.
fn is_zlib(first: &[u8]) -> bool {
    matches!(first, [method, flags, ..]
        if method & 0x0f == 8 && method >> 4 <= 7 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

/// Whether the beginning is text, as far as its control characters tell.
fn reads_as_text(seen: &[u8], rest: &[u8]) -> bool {
    let begins = |mark: &[u8]| seen.iter().chain(rest).take(mark.len()).eq(mark);
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x20..=0x7e | 0x80..);
    begins(&[0xff, 0xfe]) || begins(&[0xfe, 0xff]) || seen.iter().chain(rest).take(512).all(is_text)
}

impl Encoded {
    fn state(coding: Coding) -> Result<State, Undecodable> {
        // Gzip and zstd have proved what they are; the others may have been taken for it.
        let regret = matches!(coding, Coding::Zlib | Coding::RawDeflate | Coding::Brotli).then(Vec::new);
        let engine = Engine::new(coding).map_err(|error| undecodable(coding, &error))?;
        Ok(State::Encoded(Box::new(Self {
            coding,
            engine,
            was_full: false,
            at_end: false,
            after_end: false,
            regret,
            fruitless: 0,
        })))
    }

    fn step(&mut self, input: &mut Bytes, last: bool) -> Result<Step, Undecodable> {
        let mut out = Vec::with_capacity(DECODED_PIECE);
        loop {
            if self.at_end && !input.is_empty() && !self.go_on(input)? {
                self.fruitless += input.len();
                input.clear();
            }
            if self.at_end || input.is_empty() && !self.was_full {
                return self.without_output(last);
            }
            let ran = self.engine.run(input, &mut out);
            let used = ran.as_ref().map_or(input.len(), |ran| ran.used);
            if let Some(regret) = &mut self.regret {
                if regret.len() + used <= REGRET {
                    regret.extend_from_slice(&input[..used]);
                } else {
                    self.regret = None;
                }
            }
            let _ = input.split_to(used);
            let ran = ran.map_err(|error| undecodable(self.coding, &error))?;
            self.at_end = ran.ended;
            self.was_full = out.len() == out.capacity();
            self.fruitless += used;
            if !out.is_empty() {
                (self.regret, self.fruitless) = (None, 0);
                return Ok(Step::Piece(out.into()));
            }
            if used == 0 && !ran.ended {
                return self.without_output(last);
            }
        }
    }

    fn without_output(&self, last: bool) -> Result<Step, Undecodable> {
        if self.fruitless > FRUITLESS {
            return Err(undecodable(self.coding, &io::Error::other("compressed data without content")));
        }
        Ok(if last { Step::Ended { whole: self.at_end } } else { Step::NeedsMore })
    }

    /// Whether what follows an end is another stream of the same kind, as gzip and zstd allow.
    fn go_on(&mut self, input: &[u8]) -> Result<bool, Undecodable> {
        let another = match (self.coding, input.first()) {
            (Coding::Gzip, Some(0x1f)) | (Coding::Zstd, Some(0x28 | 0x50..=0x5f)) => !self.after_end,
            _ => false,
        };
        if another {
            self.engine = Engine::new(self.coding).map_err(|error| undecodable(self.coding, &error))?;
            self.at_end = false;
        } else {
            self.after_end = true;
        }
        Ok(another)
    }
}

fn undecodable(coding: Coding, error: &io::Error) -> Undecodable {
    Undecodable { coding: coding.name().to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn encoded(label: &str, bytes: &[u8]) -> Vec<u8> {
        let level = flate2::Compression::fast();
        let mut out = Vec::new();
        match label {
            "gzip" => flate2::write::GzEncoder::new(&mut out, level).write_all(bytes),
            "deflate" => flate2::write::ZlibEncoder::new(&mut out, level).write_all(bytes),
            "raw" => flate2::write::DeflateEncoder::new(&mut out, level).write_all(bytes),
            "br" => brotli::CompressorWriter::new(&mut out, 4096, 3, 18).write_all(bytes),
            _ => zstd::encode_all(bytes, 1).map(|all| out = all),
        }
        .expect("memory");
        out
    }

    /// All that comes out, with the wire cut into pieces of this size.
    fn decoded(label: &str, wire: &[u8], size: usize) -> Result<(Vec<u8>, bool), Undecodable> {
        let mut decoder = Decoder::new(std::iter::once(label), true);
        let (mut input, mut out, mut coming) = (Bytes::new(), Vec::new(), wire.chunks(size));
        let mut last = false;
        loop {
            match decoder.step(&mut input, last)? {
                Step::Piece(piece) => {
                    assert!(!piece.is_empty() && piece.len() <= PLAIN_PIECE);
                    out.extend_from_slice(&piece);
                }
                Step::Ended { whole } => return Ok((out, whole)),
                Step::NeedsMore => match coming.next() {
                    Some(more) => input = [&input[..], more].concat().into(),
                    None => last = true,
                },
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_goes_in_comes_out(
            seed in proptest::collection::vec(any::<u8>(), 1..300),
            times in 1_usize..2000,
            size in 1_usize..5000,
        ) {
            let bytes = seed.repeat(times);
            for label in ["gzip", "deflate", "raw", "br", "zstd"] {
                let wire = encoded(label, &bytes);
                let label = if label == "raw" { "deflate" } else { label };
                let (out, whole) = decoded(label, &wire, size).expect("decodable");
                prop_assert!(whole && out == bytes, "{label}");
                let (out, whole) = decoded(label, &wire[..wire.len() - 1], size).expect("decodable as far as it goes");
                prop_assert!(!whole && bytes.starts_with(&out), "{label}, cut short");
            }
        }
    }
}
