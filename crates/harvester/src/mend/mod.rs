//! Answers that are almost XML, made readable on their way to the reader.
//!
//! A page is first read as it came, because its metadata is to be kept byte for byte. Only when the reader fails is the
//! page asked for again and read through a [`Mender`], with the [`Remedies`] that the fault calls for. A remedy cannot
//! know where the protocol's own fields end and metadata begins, so it mends both; therefore each one touches nothing but
//! what is illegal, and everything it does is counted. A page that is fine passes unchanged through all of them.
//!
//! | file | what it knows |
//! |---|---|
//! | `remedies` | which remedy helps against which fault |
//! | `prolog` | what stands before the root element, held until that has come |
//! | `around` | text that does not belong to the answer, before it and after it |
//! | `doctype` | where a document type ends |
//! | `encoding` | UTF-16, legacy encodings, and UTF-8 with other bytes in it |
//! | `lexer` | what is markup and what is text |
//! | `characters` | what XML cannot carry |
//! | `references` | ampersands, and entities that nobody defined |
//! | `body` | the last three at work |
//! | `part` | whether one element could stand in an answer of ours |
//!
//! Everything is pushed in pieces cut anywhere, and the outcome does not depend on the cuts.

mod around;
mod body;
mod characters;
mod doctype;
mod encoding;
mod lexer;
pub mod part;

mod prolog;
mod references;
mod remedies;
#[cfg(test)]
mod tests;

pub use part::{Offence, PartCheck, PartMender, Wrong};
pub use remedies::Remedies;

use body::Body;
use encoding::{Transcoder, Utf16};
use prolog::{Found, Prolog};

use crate::quirks::Quirk;

/// Larger pieces are mended in parts, so that what is made of one stays small.
const PIECE: usize = 32 * 1024;

/// Applies remedies to one answer. See the [module](self).
///
/// ```
/// use modoai_harvester::mend::{Mender, Remedies};
///
/// let mut mended = Vec::new();
/// let mut mender = Mender::new(Remedies::REFERENCES, None);
/// mender.push(b"<OAI-PMH>Smith & So", &mut |bytes| mended.extend_from_slice(bytes));
/// mender.push(b"ns</OAI-PMH>", &mut |bytes| mended.extend_from_slice(bytes));
/// mender.finish(&mut |bytes| mended.extend_from_slice(bytes));
/// assert_eq!(mended, b"<OAI-PMH>Smith &amp; Sons</OAI-PMH>");
/// assert_eq!(mender.repairs()[0].0.name, "ampersands");
/// ```
pub struct Mender {
    remedies: Remedies,
    charset: Option<String>,
    mends_encoding: bool,
    utf16: Utf16,
    answer: Answer,
}

/// Everything behind the decoding of UTF-16.
struct Answer {
    place: Place,
    prolog: Prolog,
    transcoder: Transcoder,
    body: Body,
}

/// How far an answer has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The root element has not begun.
    Prolog,
    /// It has.
    Body,
    /// It never will: this is no answer, and the reader is to see what it is.
    AsItIs,
}

impl Mender {
    /// A mender at the start of an answer. The charset is what the Content-Type names; it counts only where the answer
    /// itself says nothing.
    pub fn new(remedies: Remedies, charset_of_content_type: Option<&str>) -> Self {
        let mends_encoding = remedies.contains(Remedies::ENCODING);
        Self {
            remedies,
            charset: charset_of_content_type.map(str::to_owned),
            mends_encoding,
            utf16: Utf16::new(mends_encoding),
            answer: Answer {
                place: Place::Prolog,
                prolog: Prolog::new(remedies),
                transcoder: Transcoder::as_it_is(),
                body: Body::new(remedies),
            },
        }
    }

    /// Returns true if the reader is to accept a missing or misspelt namespace.
    pub fn reads_any_namespace(&self) -> bool {
        self.remedies.contains(Remedies::NAMESPACE)
    }

    /// Takes more of the answer and hands on what is mended of it. The result does not depend on how the answer is cut.
    pub fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
        let Self { utf16, answer, .. } = self;
        let (charset, mends_encoding) = (self.charset.as_deref(), self.mends_encoding);
        for piece in bytes.chunks(PIECE) {
            utf16.push(piece, &mut |text| answer.push(text, charset, mends_encoding, out));
        }
    }

    /// The answer has ended: hands on what was waiting.
    pub fn finish(&mut self, out: &mut dyn FnMut(&[u8])) {
        let Self { utf16, answer, .. } = self;
        let (charset, mends_encoding) = (self.charset.as_deref(), self.mends_encoding);
        utf16.finish(&mut |text| answer.push(text, charset, mends_encoding, out));
        answer.finish(charset, mends_encoding, out);
    }

    /// What was really changed so far, and how often.
    pub fn repairs(&self) -> Vec<(&'static Quirk, u64)> {
        let Answer { prolog, transcoder, body, .. } = &self.answer;
        let mut all = Repairs::default();
        for (quirk, count) in [&self.utf16.repairs, &prolog.repairs, &transcoder.repairs, &body.repairs]
            .into_iter()
            .flat_map(|repairs| &repairs.0)
        {
            all.add(quirk, *count);
        }
        all.0
    }

    /// Bytes of memory held, for those who doubt that it is bounded.
    pub fn held(&self) -> usize {
        self.answer.prolog.held() + self.answer.transcoder.held() + self.answer.body.held()
    }
}

impl Answer {
    fn push(&mut self, bytes: &[u8], charset: Option<&str>, mends_encoding: bool, out: &mut dyn FnMut(&[u8])) {
        match self.place {
            Place::Prolog => {
                let (found, rest) = self.prolog.push(bytes);
                if let Some(found) = found {
                    self.begin(found, charset, mends_encoding, out);
                    self.push(rest, charset, mends_encoding, out);
                }
            }
            Place::Body => {
                let body = &mut self.body;
                self.transcoder.push(bytes, &mut |text| body.push(text, out));
            }
            Place::AsItIs => out(bytes),
        }
    }

    /// It is known where the answer begins, or that none does.
    fn begin(&mut self, found: Found, charset: Option<&str>, mends_encoding: bool, out: &mut dyn FnMut(&[u8])) {
        match found {
            Found::Root { bytes, declaration } => {
                self.place = Place::Body;
                if mends_encoding {
                    self.transcoder = Transcoder::new(&declaration, charset);
                }
                for piece in bytes.chunks(PIECE) {
                    self.push(piece, charset, mends_encoding, out);
                }
            }
            Found::Nothing { bytes } => {
                self.place = Place::AsItIs;
                out(&bytes);
            }
        }
    }

    fn finish(&mut self, charset: Option<&str>, mends_encoding: bool, out: &mut dyn FnMut(&[u8])) {
        if self.place == Place::Prolog {
            let found = self.prolog.finish();
            self.begin(found, charset, mends_encoding, out);
        }
        if self.place == Place::Body {
            let body = &mut self.body;
            self.transcoder.finish(&mut |text| body.push(text, out));
            body.finish(out);
        }
    }
}

/// What a stage has changed.
#[derive(Default)]
struct Repairs(Vec<(&'static Quirk, u64)>);

impl Repairs {
    fn add(&mut self, quirk: &'static Quirk, count: u64) {
        match self.0.iter_mut().find(|(known, _)| known.name == quirk.name) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((quirk, count)),
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// What stands for what cannot be told.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// What the tests of the stages share: an answer mended whole, and in every cutting that could matter.
#[cfg(test)]
fn mended(answer: &[u8], remedies: Remedies, charset: Option<&str>) -> (Vec<u8>, Vec<(&'static str, u64)>) {
    let mend = |size: usize| {
        let mut mended = Vec::new();
        let mut mender = Mender::new(remedies, charset);
        for piece in answer.chunks(size) {
            mender.push(piece, &mut |bytes| mended.extend_from_slice(bytes));
        }
        mender.finish(&mut |bytes| mended.extend_from_slice(bytes));
        let repairs = mender.repairs().into_iter().map(|(quirk, count)| (quirk.name, count)).collect::<Vec<_>>();
        (mended, repairs)
    };
    let whole = mend(usize::MAX);
    for size in [1, 2, 3, 5, 7] {
        assert_eq!(mend(size), whole, "in pieces of {size}");
    }
    whole
}
