//! One question and what came back, read once: everything a check looks at.

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

/// How much of an answer is kept to quote from. Answers are judged whole when they arrive.
const KEPT: usize = 256 * 1024;

/// The logarithm of what zstd may make us remember: 8 MiB, and no more is allowed in HTTP (RFC 9659).
const LARGEST_WINDOW: u32 = 23;

/// What is asked, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    /// The arguments, encoded.
    pub(crate) query: String,
    /// In the body of a POST instead of in the URL.
    pub(crate) post: bool,
    /// The Accept-Encoding to send.
    pub(crate) coding: &'static str,
    /// Tells the same question asked again from the first.
    pub(crate) take: u8,
}

impl Question {
    /// With these arguments, encoded as they must be.
    pub(crate) fn of(arguments: &[(&str, &str)]) -> Self {
        // Colons, too: section 3.1.1.3 wants them encoded, and servers must understand it.
        Self::raw(&query::render(arguments.iter().copied()).replace(':', "%3A"))
    }

    /// With exactly these bytes.
    pub(crate) fn raw(query: &str) -> Self {
        Self { query: query.to_owned(), post: false, coding: "identity", take: 0 }
    }

    /// The same by POST.
    pub(crate) fn posted(self) -> Self {
        Self { post: true, ..self }
    }

    /// The same with another Accept-Encoding.
    pub(crate) fn coded(self, coding: &'static str) -> Self {
        Self { coding, ..self }
    }

    /// The same once more.
    pub(crate) fn again(self) -> Self {
        Self { take: self.take + 1, ..self }
    }

    /// The arguments as the server is to read them.
    pub(crate) fn arguments(&self) -> Arguments {
        query::parse(self.query.as_bytes()).unwrap_or_default()
    }

    /// One of them.
    pub(crate) fn argument(&self, name: &str) -> Option<String> {
        self.arguments().into_iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }
}

/// What came through the wire, untouched.
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

/// A request to come back later.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
}

/// A question, and what became of it.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) question: Question,
    /// As it can be asked again by hand.
    pub(crate) url: String,
    /// When it was asked, by our clock, in seconds since 1970.
    pub(crate) at: i64,
    pub(crate) waits: Vec<Wait>,
    /// Why there was no HTTP answer, if there was none.
    pub(crate) outcome: Result<Reply, String>,
}

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) hops: Vec<Hop>,
    /// What the body is really coded in: `gzip`, `deflate`, `zstd`, `identity`; `None` if it could not be decoded.
    pub(crate) coding: Option<&'static str>,
    /// The beginning of the decoded body.
    pub(crate) kept: Vec<u8>,
    /// What is wrong with it as XML and by the schema.
    pub(crate) deviations: Vec<Deviation>,
    pub(crate) answer: Result<Answer, ReadError>,
}

/// What an answer says.
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
    /// Whether white space stands around the identifier.
    pub(crate) is_padded: bool,
    pub(crate) datestamp: String,
    pub(crate) sets: Vec<String>,
    pub(crate) deleted: bool,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) abouts: usize,
}

impl Exchange {
    /// The HTTP answer, if there was one.
    pub(crate) fn reply(&self) -> Option<&Reply> {
        self.outcome.as_ref().ok()
    }

    /// Returns true if the server put the question off to the last: it was never answered.
    pub(crate) fn is_refused(&self) -> bool {
        self.reply().is_some_and(|reply| is_refusal(reply.status))
    }

    /// What the answer says, if it could be read.
    pub(crate) fn answer(&self) -> Option<&Answer> {
        self.reply()?.answer.as_ref().ok()
    }

    /// Whether it has the root element of an answer, though it may not be readable.
    pub(crate) fn is_of_the_protocol(&self) -> bool {
        let has =
            |text: &str| self.reply().is_some_and(|reply| memchr::memmem::find(&reply.kept, text.as_bytes()).is_some());
        self.answer().is_some() || has("<OAI-PMH") || has(":OAI-PMH")
    }

    /// What came instead of an answer that can be read.
    pub(crate) fn trouble(&self) -> String {
        match &self.outcome {
            Err(reason) => format!("no response: {reason}"),
            Ok(Reply { answer: Err(error), status, .. }) => {
                format!("cannot read the response (HTTP {status}): {error}")
            }
            Ok(Reply { status, .. }) => format!("HTTP {status}"),
        }
    }

    /// What is wrong with the answer as XML and by the schema.
    pub(crate) fn deviations(&self) -> impl Iterator<Item = &Deviation> {
        self.reply().map_or(&[][..], |reply| &reply.deviations).iter()
    }

    /// Where a text stands in the answer, if that part of it was kept: as all that an element holds, or else anywhere. The
    /// name of a set may well be a letter of every word.
    pub(crate) fn excerpt(&self, text: &str) -> Option<Excerpt> {
        let kept = &self.reply()?.kept;
        let find = |text: &str| memchr::memmem::find(kept, text.as_bytes());
        let whole = || find(&format!(">{}<", escaped(text))).map(|before| before + 1);
        Some(Excerpt::around(kept, whole().or_else(|| find(text))?))
    }

    /// Where it stands last: of what is there twice, the second is too many.
    pub(crate) fn last_excerpt(&self, text: &str) -> Option<Excerpt> {
        let kept = &self.reply()?.kept;
        let at = memchr::memmem::rfind(kept, format!(">{}<", escaped(text)).as_bytes());
        at.map_or_else(|| self.excerpt(text), |before| Some(Excerpt::around(kept, before + 1)))
    }

    /// The first bytes of the answer.
    pub(crate) fn beginning(&self) -> Option<Excerpt> {
        self.reply().map(|reply| Excerpt::around(&reply.kept, 0))
    }
}

impl Reply {
    /// Decodes, inspects and reads. `limit` is what a body may grow to; one that is larger is no answer.
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

    /// A header of the answer.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Decodes by what the first bytes show, because labels lie, and tells what it was: `None` where that failed. The error
/// says that there is more than the limit.
fn decode(label: &str, body: Vec<u8>, limit: usize) -> Result<(Option<&'static str>, Vec<u8>), String> {
    // One byte more than is allowed shows that there is more, and a small body that grows without end is never held.
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
            // An identifier is an anyURI: the schema drops white space around it.
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

    /// The text of Identify with that name, without white space around it.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.texts(name).next().map(str::trim)
    }

    /// All texts of Identify with that name, as they are: most types of the schema are strings, where white space counts.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.identify.iter().filter(move |(given, _)| given == name).map(|(_, text)| text.as_str())
    }

    /// The codes of its errors.
    pub(crate) fn codes(&self) -> Vec<&str> {
        self.errors.iter().map(|(code, _)| code.as_str()).collect()
    }

    /// Whether one of its errors has this code.
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
