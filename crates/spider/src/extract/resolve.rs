//! Resolves references by the rules of the URL standard, with the base and the charset of the document.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use memchr::{memchr, memmem};
use url::{ParseError, Position, Url};

use super::tokens::beginning;
use super::{mailto, tel};
use crate::reference::Target;

/// The maximum number of bytes kept of a URL that is never requested.
const MOST_ELSEWHERE: usize = 200;

/// The maximum length of a URL: twice the limit of the most generous servers.
const MOST_OF_A_URL: usize = 64 * 1024;
/// The maximum number of bytes kept of an invalid or `mailto:` URL: enough to find it in the page.
const MOST_WRITTEN: usize = 2_000;

/// Resolves the references of a document.
#[derive(Clone)]
pub(super) struct Resolver {
    base: Url,
    encoding: &'static Encoding,
    /// The positions in the base; `None` if it is not http or https.
    places: Option<Places>,
}

/// The positions in the base at which it is cut.
#[derive(Clone, Copy)]
struct Places {
    /// Without the fragment.
    whole: usize,
    /// Without the path.
    origin: usize,
    /// Up to and including the last slash of the path.
    folder: usize,
}

impl Resolver {
    /// Creates a resolver with this base, for a text without a charset.
    pub(super) fn new(base: &Url) -> Self {
        Self::with_encoding(base, UTF_8)
    }

    /// Creates a resolver with this base; queries are encoded in the charset of the document.
    pub(super) fn with_encoding(base: &Url, encoding: &'static Encoding) -> Self {
        let places = matches!(base.scheme(), "http" | "https").then(|| {
            let origin = base[..Position::BeforePath].len();
            let path = &base[Position::BeforePath..Position::AfterPath];
            Places {
                whole: base[..Position::AfterQuery].len(),
                origin,
                folder: origin + path.rfind('/').map_or(0, |slash| slash + 1),
            }
        });
        Self { base: base.clone(), encoding, places }
    }

    /// Returns the same resolver with another base, as declared in a document, or `None` if that cannot be a base.
    pub(super) fn rebased(&self, raw: &str) -> Option<Self> {
        let base = without_user(self.join(raw).ok()?);
        let is_base = !matches!(base.scheme(), "data" | "javascript");
        is_base.then(|| Self::with_encoding(&base, self.encoding))
    }

    /// Resolves a reference.
    pub(super) fn resolve(&self, raw: &str) -> Target {
        self.plainly(raw).unwrap_or_else(|| self.by_the_standard(raw))
    }

    /// Resolves a path and a fragment without special characters, which most references are: a part of the base
    /// followed by the text.
    fn plainly(&self, raw: &str) -> Option<Target> {
        let places = self.places?;
        let (path, fragment) = match memchr(b'#', raw.as_bytes()) {
            Some(hash) => (&raw[..hash], &raw[hash + 1..]),
            None => (raw, ""),
        };
        if !path.bytes().all(is_plain_in_path) || !fragment.bytes().all(is_plain_in_fragment) {
            return None;
        }
        if memmem::find(fragment.as_bytes(), b":~:").is_some() || path.starts_with("//") {
            return None;
        }
        let base = self.base.as_str();
        let mut rest = path;
        let mut kept = match path.as_bytes().first() {
            None => places.whole,
            Some(b'/') => places.origin,
            Some(_) => places.folder,
        };
        loop {
            if let Some(beyond) = rest.strip_prefix("../") {
                let above = base[places.origin..kept - 1].rfind('/').map_or(kept, |slash| places.origin + slash + 1);
                (kept, rest) = (above, beyond);
            } else if let Some(beyond) = rest.strip_prefix("./") {
                rest = beyond;
            } else {
                break;
            }
        }
        if rest.starts_with('.') || memmem::find(rest.as_bytes(), b"/.").is_some() {
            return None;
        }
        let mut url = String::with_capacity(kept + rest.len());
        url.push_str(&base[..kept]);
        url.push_str(rest);
        Some(Target::Web { url: url.into(), fragment: (!fragment.is_empty()).then(|| fragment.into()) })
    }

    fn by_the_standard(&self, raw: &str) -> Target {
        let written = raw.trim_matches(|character: char| character <= ' ');
        // An image within a page can be megabytes long.
        if starts_with(written, "data:") {
            return Target::Elsewhere { url: cut(written, MOST_ELSEWHERE) };
        }
        let url = match self.join(written) {
            Ok(url) => without_user(url),
            Err(error) => return Target::Invalid { text: masked(written), fault: fault(error) },
        };
        if url.as_str().len() > MOST_OF_A_URL {
            return Target::Invalid { text: masked(written), fault: "URL too long" };
        }
        match url.scheme() {
            "http" | "https" => {
                let fragment = url.fragment().unwrap_or_default();
                // The rest is a text directive, with which the browser searches for words.
                let fragment = fragment.find(":~:").map_or(fragment, |directive| &fragment[..directive]);
                Target::Web {
                    url: url[..Position::AfterQuery].into(),
                    fragment: (!fragment.is_empty()).then(|| fragment.into()),
                }
            }
            "mailto" => Target::Mail { url: cut(written, MOST_WRITTEN), fault: mailto::fault(url.as_str()) },
            "tel" | "sms" => match tel::fault(url.as_str()) {
                Some(fault) => Target::Invalid { text: masked(written), fault },
                None => Target::Elsewhere { url: cut(url.as_str(), MOST_ELSEWHERE) },
            },
            // The file may exist on the author's computer, but not on a visitor's.
            "file" => Target::Invalid {
                text: masked(written),
                fault: "a file: URL refers to a file on the computer of the visitor",
            },
            _ => Target::Elsewhere { url: cut(url.as_str(), MOST_ELSEWHERE) },
        }
    }

    fn join(&self, raw: &str) -> Result<Url, ParseError> {
        let options = Url::options().base_url(Some(&self.base));
        if self.encoding == UTF_8 {
            return options.parse(raw);
        }
        let encode: &dyn Fn(&str) -> Cow<'_, [u8]> = &|query| encode(self.encoding, query);
        options.encoding_override(Some(encode)).parse(raw)
    }
}

/// Returns the text as written, without a possible password.
fn masked(written: &str) -> Box<str> {
    let user = written.find("//").and_then(|start| {
        let rest = &written[start + 2..];
        Some((start + 2, start + 2 + rest.split(['/', '?', '#']).next()?.rfind('@')?))
    });
    match user {
        Some((start, end)) => cut(&format!("{}…{}", &written[..start], &written[end..]), MOST_WRITTEN),
        None => cut(written, MOST_WRITTEN),
    }
}

/// Removes user and password from a URL: they must not appear in reports, and modoai must not use them.
fn without_user(mut url: Url) -> Url {
    if !url.username().is_empty() || url.password().is_some() {
        // Cannot fail in a URL that has a user.
        let _ = (url.set_username(""), url.set_password(None));
    }
    url
}

/// Encodes a query in the charset of its document. Missing characters become character references, as in forms.
fn encode<'q>(encoding: &'static Encoding, query: &'q str) -> Cow<'q, [u8]> {
    let (bytes, _, is_lacking) = encoding.encode(query);
    if !is_lacking {
        return bytes;
    }
    let mut encoded = Vec::new();
    for character in query.chars() {
        let mut buffer = [0; 4];
        let (bytes, _, is_lacking) = encoding.encode(character.encode_utf8(&mut buffer));
        if is_lacking {
            encoded.extend_from_slice(format!("%26%23{}%3B", u32::from(character)).as_bytes());
        } else {
            encoded.extend_from_slice(&bytes);
        }
    }
    encoded.into()
}

/// Returns true if a byte needs no escape in a path and has no special meaning there.
fn is_plain_in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./~!$&'()*+,;=@".contains(&byte)
}

/// Returns true if a byte needs no escape in a fragment.
fn is_plain_in_fragment(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"<>`".contains(&byte)
}

/// Returns the reason why a URL is invalid.
fn fault(error: ParseError) -> &'static str {
    match error {
        ParseError::EmptyHost => "missing host",
        ParseError::IdnaError | ParseError::InvalidDomainCharacter => "invalid host name",
        ParseError::InvalidPort => "invalid port",
        ParseError::InvalidIpv4Address => "invalid IPv4 address",
        ParseError::InvalidIpv6Address => "invalid IPv6 address",
        ParseError::RelativeUrlWithoutBase | ParseError::RelativeUrlWithCannotBeABaseBase => {
            "relative URL without a base URL"
        }
        ParseError::Overflow => "URL too long",
        _ => "not a URL",
    }
}

/// Returns true if a text starts with an ASCII string, regardless of case.
pub(super) fn starts_with(text: &str, start: &str) -> bool {
    text.as_bytes().get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

fn cut(text: &str, most: usize) -> Box<str> {
    if text.len() <= most {
        return text.into();
    }
    let mut kept = String::from(beginning(text, most));
    kept.push('…');
    kept.into()
}

#[cfg(test)]
mod tests {
    use encoding_rs::WINDOWS_1252;
    use proptest::prelude::*;

    use super::*;

    fn resolver(base: &str) -> Resolver {
        Resolver::new(&Url::parse(base).expect("the base is legal"))
    }

    fn web(target: Target) -> (String, Option<String>) {
        match target {
            Target::Web { url, fragment } => (url.into(), fragment.map(Into::into)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn references_are_resolved_by_the_standard() {
        let resolver = resolver("http://h.test/a/b.html?q#f");
        for (raw, url, fragment) in [
            ("", "http://h.test/a/b.html?q", None),
            ("http://admin:secret@other.test/x", "http://other.test/x", None),
            ("#", "http://h.test/a/b.html?q", None),
            ("#x", "http://h.test/a/b.html?q", Some("x")),
            ("#x y", "http://h.test/a/b.html?q", Some("x%20y")),
            ("#:~:text=word", "http://h.test/a/b.html?q", None),
            ("c.html#x:~:text=word", "http://h.test/a/c.html", Some("x")),
            (" c\n.html\t", "http://h.test/a/c.html", None),
            ("..\\up\\c.html", "http://h.test/up/c.html", None),
            ("\\\\other.test\\c", "http://other.test/c", None),
            ("//other.test", "http://other.test/", None),
            ("HTTPS://Other.TEST:443/%7e", "https://other.test/%7e", None),
            ("?n=1", "http://h.test/a/b.html?n=1", None),
            ("http:c.html", "http://h.test/a/c.html", None),
            ("é", "http://h.test/a/%C3%A9", None),
            ("http://bücher.test/", "http://xn--bcher-kva.test/", None),
            ("../../../c", "http://h.test/c", None),
        ] {
            assert_eq!(web(resolver.resolve(raw)), (url.to_owned(), fragment.map(str::to_owned)), "{raw:?}");
        }
    }

    #[test]
    fn what_is_no_page_is_told_apart() {
        let resolver = resolver("http://h.test/");
        assert!(matches!(resolver.resolve("mailto:a@b.test"), Target::Mail { fault: None, .. }));
        assert!(matches!(resolver.resolve("MAILTO:a"), Target::Mail { fault: Some(_), .. }));
        assert!(matches!(resolver.resolve("tel:+420"), Target::Elsewhere { .. }));
        assert!(matches!(resolver.resolve("tel:call us"), Target::Invalid { .. }));
        assert!(matches!(resolver.resolve("javascript:void(0)"), Target::Elsewhere { .. }));
        assert!(matches!(resolver.resolve("ftp://ftp.h.test/a"), Target::Elsewhere { .. }));
        assert!(matches!(resolver.resolve("file:///home/me/a.html"), Target::Invalid { .. }));
        assert_eq!(
            resolver.resolve("http://["),
            Target::Invalid { text: "http://[".into(), fault: "invalid IPv6 address" }
        );
        assert!(matches!(resolver.resolve("http://h:99999/"), Target::Invalid { .. }));
        let long = format!("data:image/png;base64,{}", "A".repeat(1_000_000));
        let Target::Elsewhere { url } = resolver.resolve(&long) else { panic!("data is elsewhere") };
        assert!(url.len() < 300);
    }

    #[test]
    fn queries_are_in_the_charset_of_the_page_and_paths_in_utf8() {
        let base = Url::parse("http://h.test/").expect("the base is legal");
        let resolver = Resolver::with_encoding(&base, WINDOWS_1252);
        assert_eq!(web(resolver.resolve("é?é#é")).0, "http://h.test/%C3%A9?%E9");
        assert_eq!(web(resolver.resolve("é?é#é")).1.as_deref(), Some("%C3%A9"));
        assert_eq!(web(resolver.resolve("?ž€☃&b")).0, "http://h.test/?%9E%80%26%239731%3B&b");
    }

    proptest! {
        /// The fast path has the same result as the standard.
        #[test]
        fn plain_references_are_resolved_as_others(
            base in "https?://h\\.test(:81)?(/[a-z.~;]{0,3}){0,4}(\\?[a-z/]{0,3})?(#[a-z]{0,2})?",
            raw in "[a-z.~/;@&=!'()*+,$%:?#-]{0,12}",
        ) {
            let resolver = resolver(&base);
            if let Some(target) = resolver.plainly(&raw) {
                prop_assert_eq!(target, resolver.by_the_standard(&raw));
            }
        }

        /// The same with many dots and slashes.
        #[test]
        fn plain_paths_are_resolved_as_others(
            base in "http://h\\.test/[a./]{0,8}",
            raw in "[a./#]{0,10}",
        ) {
            let resolver = resolver(&base);
            if let Some(target) = resolver.plainly(&raw) {
                prop_assert_eq!(target, resolver.by_the_standard(&raw));
            }
        }

        /// Resolving never panics.
        #[test]
        fn anything_is_resolved(raw in ".{0,40}") {
            resolver("http://h.test/a/b?c#d").resolve(&raw);
            resolver("mailto:a@b").resolve(&raw);
            resolver("file:///a").resolve(&raw);
        }
    }
}
