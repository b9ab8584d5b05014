//! The lexical forms of text and attributes.

use modoai_protocol::{Bound, ErrorCode, MetadataPrefix, SetSpec, Verb};

/// A form: its name, and a function that returns true for a text of this form.
pub(crate) struct Lexical {
    pub(crate) what: &'static str,
    pub(crate) accepts: fn(&str) -> bool,
}

/// Any text, or text that a separate check examines.
pub(crate) const ANY: Lexical = Lexical { what: "any text", accepts: |_| true };
pub(crate) const URI: Lexical = Lexical { what: "a URI", accepts: |text| is_uri(text.trim()) };
pub(crate) const DATESTAMP: Lexical = Lexical {
    what: "a date of the form YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ",
    accepts: |text| Bound::parse(text.trim()).is_some(),
};
pub(crate) const SET_SPEC: Lexical =
    Lexical { what: "a setSpec (levels of letters, digits and -_.!~*'() joined by colons)", accepts: is_set_spec };
pub(crate) const PREFIX: Lexical = Lexical {
    what: "a metadataPrefix (letters, digits and -_.!~*'())",
    accepts: |text| MetadataPrefix::parse(text).is_some(),
};
pub(crate) const VERB: Lexical =
    Lexical { what: "one of the six verbs", accepts: |text| Verb::from_name(text).is_some() };
pub(crate) const ERROR_CODE: Lexical =
    Lexical { what: "one of the eight error codes", accepts: |text| ErrorCode::from_name(text).is_some() };
pub(crate) const DELETED: Lexical = Lexical { what: "'deleted'", accepts: |text| text == "deleted" };
pub(crate) const POSITIVE: Lexical =
    Lexical { what: "a positive integer", accepts: |text| is_number(text.trim()) && !is_zero(text.trim()) };
pub(crate) const NUMBER: Lexical = Lexical { what: "a non-negative integer", accepts: |text| is_number(text.trim()) };
pub(crate) const BOOLEAN: Lexical =
    Lexical { what: "true or false", accepts: |text| ["true", "false", "1", "0"].contains(&text.trim()) };
pub(crate) const EMAIL: Lexical = Lexical { what: "an email address", accepts: is_email };
pub(crate) const OAI: Lexical = Lexical { what: "'oai'", accepts: |text| text == "oai" };
pub(crate) const COLON: Lexical = Lexical { what: "':'", accepts: |text| text == ":" };
pub(crate) const DOMAIN: Lexical =
    Lexical { what: "a domain name with at least one dot, each part beginning with a letter", accepts: is_domain };
pub(crate) const OAI_IDENTIFIER: Lexical =
    Lexical { what: "an identifier of the form oai:DOMAIN:LOCAL", accepts: is_oai_identifier };
pub(crate) const MIME: Lexical = Lexical {
    what: "a media type",
    accepts: |text| {
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        text.split_once('/').is_some_and(|(kind, subtype)| is_word(kind) && is_word(subtype))
    },
};
pub(crate) const INTEGER: Lexical = Lexical {
    what: "an integer",
    accepts: |text| is_number(text.trim().strip_prefix(['-', '+']).unwrap_or(text.trim())),
};

/// Returns true if a text is a setSpec.
pub(crate) fn is_set_spec(text: &str) -> bool {
    SetSpec::parse(text).is_some()
}

/// Returns true if a text matches the schema's pattern for email addresses.
pub(crate) fn is_email(text: &str) -> bool {
    let has_space = text.contains(char::is_whitespace);
    let good = |(local, host): (&str, &str)| {
        let dot = host.get(..host.len().saturating_sub(1)).and_then(|inner| inner.rfind('.'));
        !local.is_empty() && dot.is_some_and(|dot| dot > 0)
    };
    !has_space && text.rsplit_once('@').is_some_and(good)
}

/// Returns true if a text can be a URI: a scheme, a colon, and only characters that URIs can contain.
pub(crate) fn is_absolute_uri(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    text.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty()) && is_uri(text)
}

fn is_uri(text: &str) -> bool {
    let escapes =
        |at: usize| text.as_bytes().get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
    let legal = |(at, byte): (usize, u8)| match byte {
        b'%' => escapes(at),
        b' ' | b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'\\' | b'^' | b'`' => false,
        _ => (0x21..0x7f).contains(&byte),
    };
    !text.is_empty() && text.bytes().enumerate().all(legal)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_zero(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'0')
}

/// Returns true if a text matches the schema's pattern for the namespace of oai identifiers.
pub(crate) fn is_domain(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.contains('.') && text.split('.').all(is_part)
}

/// Returns true if a text matches the schema's pattern for oai identifiers.
pub(crate) fn is_oai_identifier(text: &str) -> bool {
    let is_local = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,%".contains(&byte);
    let parts = text.strip_prefix("oai:").and_then(|rest| rest.split_once(':'));
    parts.is_some_and(|(domain, local)| is_domain(domain) && !local.is_empty() && local.bytes().all(is_local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_those_of_the_schemas() {
        for (form, good, bad) in [
            (&EMAIL, &["a@b.c", "x+y@sub.example.org"][..], &["a@localhost", "@b.c", "a b@c.d", "a@.c", "a@b."][..]),
            (&URI, &["http://a/b?c#d", "oai:x.y:1%20"], &["", "a b", "http://a/%zz", "é"]),
            (&DOMAIN, &["arXiv.org", "ebibpol.p.lodz.pl"], &["localhost", "1a.org", "a..b", ".org"]),
            (&OAI_IDENTIFIER, &["oai:arXiv.org:cs/0503069"], &["oai:x:1", "oai:a.b:", "http://a.b/c", "oai:a.b:c d"]),
            (&POSITIVE, &["1", "010", " 7 "], &["0", "00", "-1", "1.5", ""]),
            (&NUMBER, &["0"], &["-0", "x"]),
            (&MIME, &["text/xsl"], &["text", "text/xsl+xml", "/a"]),
            (&INTEGER, &["-3", "88"], &["3px"]),
            (&DATESTAMP, &["2024-02-29T00:00:00Z", "2024-02-29"], &["2024-02-29T00:00:00.5Z", "2023-02-29T00:00:00Z"]),
        ] {
            good.iter().for_each(|text| assert!((form.accepts)(text), "{}: {text}", form.what));
            bad.iter().for_each(|text| assert!(!(form.accepts)(text), "{}: {text}", form.what));
        }
        assert!(
            is_absolute_uri("urn:x") && !is_absolute_uri("x") && !is_absolute_uri("1a:b") && !is_absolute_uri("a:")
        );
    }
}
