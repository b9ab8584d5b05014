//! A request and its outcome, parsed once: the input of all checks.

use std::io::{self, Read as _};

use modoai_protocol::query::{self, Arguments};
use modoai_protocol::xml::Response;
use modoai_protocol::xml::document::{Format, Part, Set, Token};
use modoai_protocol::xml::reader::ReadError;
use modoai_protocol::xml::writer::escaped;

use super::asking::is_refusal;
use super::metadata::{self, Metadata};
use super::report::Excerpt;
use super::shape::{self, Deviation};

/// The number of bytes of a response that are kept for excerpts. The whole response is checked when it is received.
const KEPT: usize = 256 * 1024;

/// The logarithm of the largest zstd window: 8 MiB, the maximum in HTTP (RFC 9659).
const LARGEST_WINDOW: u32 = 23;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    /// The arguments, encoded.
    pub(crate) query: String,
    /// In the body of a POST instead of in the URL.
    pub(crate) post: bool,
    /// The Accept-Encoding to send.
    pub(crate) coding: &'static str,
    /// The number of the repetition; distinguishes a repeated request from the first.
    pub(crate) take: u8,
}

impl Question {
    /// Returns a request with these arguments, encoded as required.
    pub(crate) fn of(arguments: &[(&str, &str)]) -> Self {
        // Colons, too: section 3.1.1.3 requires that they are encoded, and servers must decode them.
        Self::raw(&query::render(arguments.iter().copied()).replace(':', "%3A"))
    }

    /// Returns a request with exactly these bytes.
    pub(crate) fn raw(query: &str) -> Self {
        Self { query: query.to_owned(), post: false, coding: "identity", take: 0 }
    }

    /// Returns the same request by POST.
    pub(crate) fn posted(self) -> Self {
        Self { post: true, ..self }
    }

    /// Returns the same request with another Accept-Encoding.
    pub(crate) fn coded(self, coding: &'static str) -> Self {
        Self { coding, ..self }
    }

    /// Returns a repetition of the request.
    pub(crate) fn again(self) -> Self {
        Self { take: self.take + 1, ..self }
    }

    /// Returns the arguments as the server should decode them.
    pub(crate) fn arguments(&self) -> Arguments {
        query::parse(self.query.as_bytes()).unwrap_or_default()
    }

    /// Returns one of them.
    pub(crate) fn argument(&self, name: &str) -> Option<String> {
        self.arguments().into_iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }
}

/// The response as received from the network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raw {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) hops: Vec<Hop>,
    pub(crate) body: Vec<u8>,
}

/// A redirect that was followed.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    pub(crate) status: u16,
    pub(crate) to: String,
}

/// A response that requests a later attempt.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
}

/// A request and its outcome.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) question: Question,
    /// The request in a form that users can repeat.
    pub(crate) url: String,
    /// The time of the request, by the local clock, in seconds since 1970.
    pub(crate) at: i64,
    pub(crate) waits: Vec<Wait>,
    /// The response; the error is the reason why no HTTP response was received.
    pub(crate) outcome: Result<Reply, String>,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) hops: Vec<Hop>,
    /// The actual coding of the body: `gzip`, `deflate`, `zstd`, `identity`; `None` if it could not be decoded.
    pub(crate) coding: Option<&'static str>,
    /// The beginning of the decoded body.
    pub(crate) kept: Vec<u8>,
    /// Its deviations from XML and from the schema.
    pub(crate) deviations: Vec<Deviation>,
    pub(crate) answer: Result<Answer, ReadError>,
}

/// The content of a response.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) response_date: String,
    pub(crate) url: String,
    pub(crate) arguments: Arguments,
    pub(crate) errors: Vec<(String, String)>,
    pub(crate) verb: Option<&'static str>,
    pub(crate) identify: Vec<(String, String)>,
    pub(crate) descriptions: Vec<Part>,
    pub(crate) formats: Vec<Format>,
    pub(crate) sets: Vec<Set>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) token: Option<Token>,
}

/// A record or header, without its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) identifier: String,
    /// True if the identifier is surrounded by whitespace.
    pub(crate) is_padded: bool,
    pub(crate) datestamp: String,
    pub(crate) sets: Vec<String>,
    pub(crate) deleted: bool,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) abouts: usize,
}

impl Exchange {
    /// Returns the HTTP response, if one was received.
    pub(crate) fn reply(&self) -> Option<&Reply> {
        self.outcome.as_ref().ok()
    }

    /// Returns true if the server requested a later attempt every time, and never responded.
    pub(crate) fn is_refused(&self) -> bool {
        self.reply().is_some_and(|reply| is_refusal(reply.status))
    }

    /// Returns the content of the response, if it could be read.
    pub(crate) fn answer(&self) -> Option<&Answer> {
        self.reply()?.answer.as_ref().ok()
    }

    /// Returns true if it contains the root element of a response, even if it cannot be read.
    pub(crate) fn is_of_the_protocol(&self) -> bool {
        let has =
            |text: &str| self.reply().is_some_and(|reply| memchr::memmem::find(&reply.kept, text.as_bytes()).is_some());
        self.answer().is_some() || has("<OAI-PMH") || has(":OAI-PMH")
    }

    /// Describes the outcome of a request without a readable response.
    pub(crate) fn trouble(&self) -> String {
        match &self.outcome {
            Err(reason) => format!("no response: {reason}"),
            Ok(Reply { answer: Err(error), status, .. }) => {
                format!("cannot read the response (HTTP {status}): {error}")
            }
            Ok(Reply { status, .. }) => format!("HTTP {status}"),
        }
    }

    /// Returns the response's deviations from XML and from the schema.
    pub(crate) fn deviations(&self) -> impl Iterator<Item = &Deviation> {
        self.reply().map_or(&[][..], |reply| &reply.deviations).iter()
    }

    /// Returns the excerpt with a text, if that part of the response was kept: as the whole content of an element if
    /// possible, otherwise anywhere, because the name of a set may be a part of many words.
    pub(crate) fn excerpt(&self, text: &str) -> Option<Excerpt> {
        let kept = &self.reply()?.kept;
        let find = |text: &str| memchr::memmem::find(kept, text.as_bytes());
        let whole = || find(&format!(">{}<", escaped(text))).map(|before| before + 1);
        Some(Excerpt::around(kept, whole().or_else(|| find(text))?))
    }

    /// Returns the excerpt with the last occurrence: of a duplicate, the second is the error.
    pub(crate) fn last_excerpt(&self, text: &str) -> Option<Excerpt> {
        let kept = &self.reply()?.kept;
        let at = memchr::memmem::rfind(kept, format!(">{}<", escaped(text)).as_bytes());
        at.map_or_else(|| self.excerpt(text), |before| Some(Excerpt::around(kept, before + 1)))
    }

    /// Returns the first bytes of the response.
    pub(crate) fn beginning(&self) -> Option<Excerpt> {
        self.reply().map(|reply| Excerpt::around(&reply.kept, 0))
    }
}

impl Reply {
    /// Decodes, inspects and parses a response. A body larger than `limit` is an error.
    pub(crate) fn read(raw: Raw, limit: usize) -> Result<Self, String> {
        let label = header(&raw.headers, "content-encoding").unwrap_or("identity").to_ascii_lowercase();
        let (coding, body) = decode(&label, raw.body, limit)?;
        let deviations = shape::inspect(&body);
        let answer = Response::read(&body).map(Answer::new);
        let mut kept = body;
        kept.truncate(KEPT);
        kept.shrink_to_fit();
        Ok(Self { status: raw.status, headers: raw.headers, hops: raw.hops, coding, kept, deviations, answer })
    }

    /// Returns a header of the response.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Decodes a body according to its first bytes, because Content-Encoding can be wrong. Returns the actual coding, or
/// `None` if decoding failed. The error means that the body exceeds the limit.
fn decode(label: &str, body: Vec<u8>, limit: usize) -> Result<(Option<&'static str>, Vec<u8>), String> {
    // Reads one byte more than allowed to detect an excess, so that a small body that decodes to an endless one is
    // never held.
    let whole = |reader: &mut dyn io::Read| -> io::Result<Vec<u8>> {
        let mut decoded = Vec::new();
        reader.take((limit as u64).saturating_add(1)).read_to_end(&mut decoded)?;
        Ok(decoded)
    };
    let (name, decoded) = if body.starts_with(&[0x1f, 0x8b]) {
        ("gzip", whole(&mut flate2::read::MultiGzDecoder::new(&body[..])))
    } else if body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::Decoder::new(&body[..]).and_then(|mut decoder| {
            decoder.window_log_max(LARGEST_WINDOW)?;
            Ok(decoder)
        });
        ("zstd", decoder.and_then(|mut decoder| whole(&mut decoder)))
    } else if label == "deflate" && body.first().is_some_and(|byte| byte & 0x0f == 8) {
        ("deflate", whole(&mut flate2::read::ZlibDecoder::new(&body[..])))
    } else {
        return Ok((Some("identity"), body));
    };
    match decoded {
        Ok(decoded) if decoded.len() > limit => Err(format!("the decoded response is larger than {limit} bytes")),
        Ok(decoded) => Ok((Some(name), decoded)),
        Err(_) => Ok((None, body)),
    }
}

impl Answer {
    fn new(response: Response) -> Self {
        let entries = response.records.into_iter().map(|record| Entry {
            metadata: record.metadata.as_ref().map(metadata::look),
            abouts: record.about.len(),
            // An identifier is an anyURI: the schema removes whitespace around it.
            identifier: record.identifier.trim().to_owned(),
            is_padded: record.identifier.trim() != record.identifier,
            datestamp: record.datestamp,
            sets: record.sets,
            deleted: record.deleted,
        });
        Self {
            entries: entries.collect(),
            response_date: response.response_date,
            url: response.url,
            arguments: response.arguments,
            errors: response.errors,
            verb: response.verb.map(modoai_protocol::Verb::as_str),
            identify: response.identify,
            descriptions: response.descriptions,
            formats: response.formats,
            sets: response.sets,
            token: response.token,
        }
    }

    /// Returns the text of an element of Identify, without whitespace around it.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.texts(name).next().map(str::trim)
    }

    /// Returns all strings of an element of Identify, unmodified: most types of the schema are strings, in which
    /// whitespace is significant.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.identify.iter().filter(move |(given, _)| given == name).map(|(_, text)| text.as_str())
    }

    /// Returns the codes of its errors.
    pub(crate) fn codes(&self) -> Vec<&str> {
        self.errors.iter().map(|(code, _)| code.as_str()).collect()
    }

    /// Returns true if one of its errors has this code.
    pub(crate) fn is_refused_with(&self, code: &str) -> bool {
        self.errors.iter().any(|(given, _)| given == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut coder: impl io::Read) -> Vec<u8> {
        let mut coded = Vec::new();
        coder.read_to_end(&mut coded).expect("memory can be read");
        coded
    }

    #[test]
    fn what_grows_beyond_the_limit_is_named_and_never_cut() {
        let (body, level) = (vec![b'x'; 100_000], flate2::Compression::fast());
        let coded = [
            ("gzip", read(flate2::read::GzEncoder::new(&body[..], level))),
            ("deflate", read(flate2::read::ZlibEncoder::new(&body[..], level))),
            ("zstd", zstd::encode_all(&body[..], 1).expect("memory can be read")),
        ];
        for (coding, coded) in coded {
            assert_eq!(decode(coding, coded.clone(), body.len()), Ok((Some(coding), body.clone())));
            let beyond = decode(coding, coded.clone(), body.len() - 1);
            assert_eq!(beyond, Err("the decoded response is larger than 99999 bytes".to_owned()), "{coding}");
            let cut = coded[..coded.len() - 5].to_vec();
            assert_eq!(decode(coding, cut.clone(), body.len()), Ok((None, cut)), "{coding}");
        }
        assert_eq!(decode("gzip", body.clone(), 1), Ok((Some("identity"), body)), "a limit for what is decoded");
    }

    #[test]
    fn a_window_larger_than_http_allows_is_refused() {
        let mut coder = zstd::Encoder::new(Vec::new(), 1).expect("a coder");
        coder.window_log(27).expect("a window");
        io::Write::write_all(&mut coder, &[b'x'; 1000]).expect("memory can be written");
        let coded = coder.finish().expect("memory can be written");
        assert_eq!(decode("zstd", coded.clone(), 10_000), Ok((None, coded)));
    }
}
