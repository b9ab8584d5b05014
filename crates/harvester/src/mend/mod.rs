//! Repairs responses that are almost XML while they are received, so that they can be parsed.
//!
//! A page is first parsed unmodified, because its metadata is kept byte for byte. Only when the parser fails is the
//! page requested again and read through a [`Mender`], with the [`Remedies`] for the error. A repair cannot distinguish
//! the protocol's own fields from metadata, so it is applied to both. Therefore, each repair changes only illegal
//! bytes, and all changes are counted. A valid page passes unchanged through all repairs.
//!
//! | file | contents |
//! |---|---|
//! | `remedies` | the repairs for each error |
//! | `prolog` | the text before the root element, held until that has been received |
//! | `around` | text that does not belong to the response, before it and after it |
//! | `doctype` | the end of a document type |
//! | `encoding` | UTF-16, legacy encodings, and UTF-8 with other bytes in it |
//! | `lexer` | the distinction between markup and text |
//! | `characters` | characters that XML does not allow |
//! | `references` | ampersands, and undefined entities |
//! | `body` | application of the last three |
//! | `part` | the strict check of one metadata element, and its repair |
//!
//! The input is pieces cut anywhere, and the result does not depend on the cuts.

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

/// The size of the parts in which larger pieces are processed, so that the output of one part is small.
const PIECE: usize = 32 * 1024;

/// Repairs one response. See the [module](self).
///
/// ```
/// use modoai_harvester::mend::{Mender, Remedies};
///
/// let mut repaired = Vec::new();
/// let mut mender = Mender::new(Remedies::REFERENCES, None);
/// mender.push(b"<OAI-PMH>Smith & So", &mut |bytes| repaired.extend_from_slice(bytes));
/// mender.push(b"ns</OAI-PMH>", &mut |bytes| repaired.extend_from_slice(bytes));
/// mender.finish(&mut |bytes| repaired.extend_from_slice(bytes));
/// assert_eq!(repaired, b"<OAI-PMH>Smith &amp; Sons</OAI-PMH>");
/// assert_eq!(mender.repairs()[0].0.name, "ampersands");
/// ```
pub struct Mender {
    remedies: Remedies,
    charset: Option<String>,
    mends_encoding: bool,
    utf16: Utf16,
    answer: Answer,
}

/// The stages after the decoding of UTF-16.
struct Answer {
    place: Place,
    prolog: Prolog,
    transcoder: Transcoder,
    body: Body,
}

/// The position in a response.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the root element.
    Prolog,
    /// In the root element or after it.
    Body,
    /// Not a response: the bytes are passed on unmodified, so that the parser can identify them.
    AsItIs,
}

impl Mender {
    /// Returns a mender at the start of a response. The charset is that of Content-Type; it is used only if the
    /// response itself declares none.
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

    /// Reads a piece of the response and passes the repaired text to `out`. The result does not depend on the cuts.
    pub fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
        let Self { utf16, answer, .. } = self;
        let (charset, mends_encoding) = (self.charset.as_deref(), self.mends_encoding);
        for piece in bytes.chunks(PIECE) {
            utf16.push(piece, &mut |text| answer.push(text, charset, mends_encoding, out));
        }
    }

    /// Ends the response, and passes the remaining text to `out`.
    pub fn finish(&mut self, out: &mut dyn FnMut(&[u8])) {
        let Self { utf16, answer, .. } = self;
        let (charset, mends_encoding) = (self.charset.as_deref(), self.mends_encoding);
        utf16.finish(&mut |text| answer.push(text, charset, mends_encoding, out));
        answer.finish(charset, mends_encoding, out);
    }

    /// Returns the repairs so far, and their numbers.
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

    /// Returns the number of bytes held, for tests that memory is bounded.
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

    /// Starts the body, or passes the bytes on unmodified if they are not a response.
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

/// The repairs of a stage, and their numbers.
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

/// The replacement for characters that cannot be determined.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// For tests of the stages: repairs a response in one piece, and in every relevant size of pieces.
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
