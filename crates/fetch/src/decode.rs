//! Decodes bodies by their actual encoding, which may differ from Content-Encoding.
//!
//! The decoders are push decoders: received bytes go in, pieces of bounded size come out, one per step. A decompression
//! bomb yields many pieces, and at most one of them is in memory. Many servers send gzip without a label, a label
//! without gzip, or the wrong label. gzip and zstd are recognised by their first bytes. br and raw deflate have no
//! magic number: decoding is tried, and undone if it fails on bytes that are readable as text.

use std::io;

use bytes::Bytes;

use crate::engine::{Coding, Engine};

/// The value of Accept-Encoding: every encoding that is decoded here.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// The largest piece of a plain body. A single read from the connection is hardly ever larger.
const PLAIN_PIECE: usize = 256 * 1024;
/// The largest piece that is decoded in one step.
const DECODED_PIECE: usize = 64 * 1024;
/// The number of bytes of a body that are remembered while its decoding may have to be undone: more than one read from
/// the connection.
const REGRET: usize = 1024 * 1024;
/// The number of bytes that may go in without output. Valid streams need a few kilobytes; padding must have a limit.
const FRUITLESS: usize = 32 * 1024 * 1024;

/// A difference between a body and its Content-Encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surprise {
    /// The body was gzip, without a Content-Encoding.
    UnlabelledGzip,
    /// The body was zstd, without a Content-Encoding.
    UnlabelledZstd,
    /// The body was not encoded, although Content-Encoding named an encoding.
    LabelledButPlain,
    /// The body had another encoding.
    WrongLabel {
        /// The declared encoding.
        said: String,
        /// The actual encoding.
        was: &'static str,
    },
    /// More bytes followed the end of the encoded stream. They were ignored.
    BytesAfterEnd,
}

/// The reason why a body cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Undecodable {
    pub(crate) coding: String,
    pub(crate) reason: String,
}

/// The outcome of a step.
#[derive(Debug)]
pub(crate) enum Step {
    /// A piece, never empty.
    Piece(Bytes),
    /// No output without more input.
    NeedsMore,
    /// The end of the output.
    Ended {
        /// True if the stream ended properly; false if the body was truncated.
        whole: bool,
    },
}

/// The decoder of one body.
pub(crate) struct Decoder {
    state: State,
    pub(crate) surprises: Vec<Surprise>,
}

enum State {
    /// The encoding is unknown until the first bytes are received. Holds the labels, and true if an unlabelled encoding
    /// may be decoded.
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
    /// True if more output may follow without more input, because the last piece was full.
    was_full: bool,
    /// True if the stream, or one of several in a row, is at its end.
    at_end: bool,
    /// True if bytes after the end are being ignored.
    after_end: bool,
    /// All input so far, while the body may prove to be plain.
    regret: Option<Vec<u8>>,
    /// Bytes in since the last byte out.
    fruitless: usize,
}

impl Decoder {
    /// Creates a decoder for a body with these values of Content-Encoding. `expects_text` is true if a body that is
    /// compressed without a label is to be decoded: a page is, an archive is not.
    pub(crate) fn new<'a>(labels: impl Iterator<Item = &'a str>, expects_text: bool) -> Self {
        let mut labels: Vec<String> = labels
            .flat_map(|value| value.split(','))
            .map(|label| label.trim().to_ascii_lowercase())
            .filter(|label| !matches!(label.as_str(), "" | "identity" | "none" | "binary" | "utf-8" | "8bit"))
            .collect();
        // Two layers of a server may both add the header although the body is encoded once.
        labels.dedup();
        Self { state: State::Undecided { labels, expects_text }, surprises: Vec::new() }
    }

    /// Creates a decoder that passes the body on unchanged.
    pub(crate) fn plain() -> Self {
        Self { state: State::Plain, surprises: Vec::new() }
    }

    /// Makes one step. Input that was consumed is removed from `input`; the rest must be passed again, with more bytes
    /// appended. `last` is true if no more input follows.
    pub(crate) fn step(&mut self, input: &mut Bytes, last: bool) -> Result<Step, Undecodable> {
        loop {
            match &mut self.state {
                State::Undecided { labels, expects_text } => {
                    // The first four bytes are enough to detect the encoding.
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
                        // Too short for a decoding error: only valid UTF-8 text is accepted as plain, or a truncated
                        // stream would pass for text.
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

/// Decides how a body with these first bytes is decoded.
fn decide(labels: &[String], expects_text: bool, first: &[u8]) -> Result<(State, Option<Surprise>), Undecodable> {
    let undecodable = |reason: &str| Undecodable { coding: labels.join(", "), reason: reason.to_owned() };
    if first.is_empty() {
        return Ok((State::Plain, None)); // No body: 304, or an empty error page.
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
        // Zstd allows skippable frames before the first frame.
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
        // Values that are not encodings, such as a charset, are common. Bytes that are readable as text are plain.
        (None, None) if reads_as_text(&[], first) => Ok((State::Plain, Some(Surprise::LabelledButPlain))),
        (None, None) => Err(undecodable("unknown content coding")),
    }
}

/// Returns true if these few bytes are the beginning of a truncated magic number.
fn is_beginning(coding: Coding, first: &[u8]) -> bool {
    let magic: &[u8] = if coding == Coding::Gzip { &[0x1f, 0x8b, 8] } else { &[0x28, 0xb5, 0x2f, 0xfd] };
    magic.starts_with(first)
}

/// Returns true if this is a zlib header: deflate, a valid window size, and a correct checksum.
fn is_zlib(first: &[u8]) -> bool {
    matches!(first, [method, flags, ..]
        if method & 0x0f == 8 && method >> 4 <= 7 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

/// Returns true if the beginning is text, as far as its control characters show.
fn reads_as_text(seen: &[u8], rest: &[u8]) -> bool {
    let begins = |mark: &[u8]| seen.iter().chain(rest).take(mark.len()).eq(mark);
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x20..=0x7e | 0x80..);
    begins(&[0xff, 0xfe]) || begins(&[0xfe, 0xff]) || seen.iter().chain(rest).take(512).all(is_text)
}

impl Encoded {
    fn state(coding: Coding) -> Result<State, Undecodable> {
        // Gzip and zstd are certain by their magic numbers; the others may have been detected wrongly.
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

    /// Returns true if the bytes after an end are another stream of the same encoding, as gzip and zstd allow.
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

    /// Decodes all of the bytes, passed in pieces of this size.
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
