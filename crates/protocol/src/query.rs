//! Query strings and form bodies as argument pairs.
//!
//! They are decoded only here, and strictly: text that is not UTF-8 or far too long never reaches the other modules.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

/// The longest query string or form body that is read. The longest legal argument is an identifier (a URL) or a token
/// of a few hundred bytes; 16 KiB is enough for a URL of the length at which servers and browsers give up.
pub const MAX_BYTES: usize = 16 * 1024;

/// The maximum number of pairs. The largest legal request has five.
const MAX_PAIRS: usize = 64;

/// Argument pairs in the order they were sent.
pub type Arguments = Vec<(String, String)>;

/// The reason why a query could not be read as argument pairs. A repository reports it as badArgument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query is longer than [`MAX_BYTES`].
    #[error("the request is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The query has more arguments than any verb.
    #[error("the request has more than {MAX_PAIRS} arguments")]
    TooMany,
    /// A POST request has arguments in its URL. They would have to be ignored, or mixed with those of the body.
    #[error("a POST request must have its arguments in the body, not in the query of the URL")]
    InPost,
    /// A name or value is not UTF-8 after percent-decoding.
    #[error("the request is not valid UTF-8 after percent-decoding")]
    NotUtf8,
}

/// Splits `a=1&b=2` into pairs and decodes them. Empty pieces (`&&`) are skipped; a piece without `=` is a name with an
/// empty value.
pub fn parse(query: &[u8]) -> Result<Arguments, QueryError> {
    if query.len() > MAX_BYTES {
        return Err(QueryError::TooLong);
    }
    let mut pairs = Arguments::new();
    for piece in query.split(|&byte| byte == b'&').filter(|piece| !piece.is_empty()) {
        if pairs.len() == MAX_PAIRS {
            return Err(QueryError::TooMany);
        }
        let equals = memchr::memchr(b'=', piece).unwrap_or(piece.len());
        let value = piece.get(equals + 1..).unwrap_or_default();
        pairs.push((decode(&piece[..equals])?, decode(value)?));
    }
    Ok(pairs)
}

/// Returns the arguments of a POST: those of its body, unless its URL has a query as well.
pub fn parse_post(query: &[u8], body: &[u8]) -> Result<Arguments, QueryError> {
    if query.is_empty() { parse(body) } else { Err(QueryError::InPost) }
}

/// Writes pairs as a query string that [`parse`] reads back to the same pairs.
pub fn render<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    // Escapes all but unreserved characters and a few that every URL parser keeps in a query.
    const SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');
    let mut out = String::new();
    for (name, value) in pairs {
        if !out.is_empty() {
            out.push('&');
        }
        out.extend(utf8_percent_encode(name, SET));
        out.push('=');
        out.extend(utf8_percent_encode(value, SET));
    }
    out
}

fn decode(piece: &[u8]) -> Result<String, QueryError> {
    let spaced: Vec<u8> = piece.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
    match percent_decode(&spaced).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(QueryError::NotUtf8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_in_order() {
        let pairs = parse(b"verb=Get%52ecord&identifier=a+b%2Bc&&junk").expect("readable");
        let expected = [("verb", "GetRecord"), ("identifier", "a b+c"), ("junk", "")];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_broken_escape_is_kept_as_it_is() {
        assert_eq!(parse(b"a=%zz").expect("readable"), [("a".to_owned(), "%zz".to_owned())]);
    }

    #[test]
    fn a_post_has_its_arguments_in_one_place() {
        assert_eq!(parse_post(b"", b"a=1"), parse(b"a=1"));
        for query in [&b"a=1"[..], b"&", b"verb=Identify"] {
            assert_eq!(parse_post(query, b"a=1"), Err(QueryError::InPost));
        }
    }

    #[test]
    fn what_is_not_text_or_too_much_is_refused() {
        assert_eq!(parse(b"verb=%ff"), Err(QueryError::NotUtf8));
        assert_eq!(parse(&vec![b'a'; MAX_BYTES + 1]), Err(QueryError::TooLong));
        assert_eq!(parse("a=1&".repeat(65).as_bytes()), Err(QueryError::TooMany));
    }
}
