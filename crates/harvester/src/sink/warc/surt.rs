//! SURT keys: the form of a URL by which indexes of web archives are sorted and searched (`org,example)/a?b=c`).
//!
//! Programs that search an index compute the key of the wanted URL themselves, so a key must be exactly the one that
//! they compute: the default of the Python package `surt`, which pywb and cdxj-indexer use. Its rules, oddities
//! included: escapes are decoded until none is left and written again once; `www.` and `www1.` are removed; path and
//! query are in lower case; one slash at the end of the path is removed; session identifiers are removed; arguments are
//! sorted. A test compares the keys with those of cdxj-indexer.

use std::net::Ipv4Addr;

use percent_encoding::percent_decode;

/// Returns the key of a URL.
pub(super) fn surt(url: &str) -> String {
    if url.is_empty() {
        return "-".to_owned();
    }
    // The package returns the URL if it fails; only an invalid port makes it fail.
    key(url).unwrap_or_else(|| url.to_owned())
}

fn key(url: &str) -> Option<String> {
    let url = with_scheme(url.trim());
    let parts = Parts::split(&url)?;
    let host = canonical_host(parts.host);
    let path = unescaped(parts.path);
    let path = if host.is_empty() { path } else { normalised(&path) };
    let path = without_path_session(escaped(&path).to_ascii_lowercase());
    let path = if path.len() > 1 { path.strip_suffix('/').unwrap_or(&path) } else { &path };
    let query = without_query_sessions(escaped(&unescaped(parts.query)));
    let query = sorted(&query.to_ascii_lowercase());

    let mut key = String::new();
    if host.is_empty() {
        key.push_str(parts.scheme);
        key.push(':');
    } else {
        let host = strip_www(&host);
        key.push_str(&host.split('.').rev().collect::<Vec<_>>().join(","));
        let default = match parts.scheme.to_ascii_lowercase().as_str() {
            "http" => 80,
            "https" => 443,
            _ => 0,
        };
        if parts.port != 0 && parts.port != default {
            key.push_str(&format!(":{}", parts.port));
        }
        key.push(')');
    }
    key.push_str(path);
    if !query.is_empty() {
        if path.is_empty() {
            key.push('/');
        }
        key.push('?');
        key.push_str(&query);
    }
    Some(key)
}

/// Adds a missing scheme, and keeps the last of several in a row.
fn with_scheme(url: &str) -> String {
    let letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let scheme = url.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme =
        scheme.is_some_and(|text| text.starts_with(|first: char| first.is_ascii_alphabetic()) && letters(text));
    let url = if has_scheme { url.to_owned() } else { format!("http://{url}") };
    let mut rest = url.as_str();
    let mut last = "";
    while let Some(scheme) = ["http://", "https://"].into_iter().find(|scheme| rest.starts_with(scheme)) {
        (rest, last) = (&rest[scheme.len()..], scheme);
    }
    format!("{last}{rest}")
}

/// The parts of a URL that its key needs.
struct Parts<'a> {
    scheme: &'a str,
    host: &'a str,
    port: u16,
    path: &'a str,
    query: &'a str,
}

impl<'a> Parts<'a> {
    /// Returns `None` if the port is not a valid number.
    fn split(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, mut path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let authority = authority.trim_end_matches(':');
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (mut host, port) = match authority.split_once('[') {
            Some((_, rest)) => {
                let (host, rest) = rest.split_once(']').unwrap_or((rest, ""));
                (host, rest.split_once(':').map_or("", |(_, port)| port))
            }
            None => authority.split_once(':').unwrap_or((authority, "")),
        };
        let port = match port {
            "" => 0,
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok()?,
            _ => return None,
        };
        if host.is_empty() && scheme.starts_with("http") && !path.is_empty() {
            let start = path.trim_start_matches('/');
            (host, path) = start.split_at(start.find('/').unwrap_or(start.len()));
        }
        Some(Self { scheme, host, port, path, query })
    }
}

fn canonical_host(host: &str) -> String {
    let bytes = unescaped(host);
    let host = String::from_utf8_lossy(&bytes).replace('\u{fffd}', "");
    let host = match url::Host::parse(&host) {
        Ok(url::Host::Domain(ascii)) if !host.is_ascii() => ascii,
        _ => host,
    };
    let host = host.replace("..", ".");
    let host = host.trim_matches('.');
    match address(host) {
        Some(address) => address.to_string(),
        None => escaped(host.to_ascii_lowercase().as_bytes()).to_ascii_lowercase(),
    }
}

/// Returns the IPv4 address for a host of digits and dots: its last number fills the remaining bytes.
fn address(host: &str) -> Option<Ipv4Addr> {
    if !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_digit()) {
        let modulus = |sum: u32, digit: u8| sum.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
        return Some(Ipv4Addr::from(host.bytes().fold(0, modulus)));
    }
    let parts: Vec<&str> = host.split('.').collect();
    let mut numbers = Vec::new();
    for part in &parts {
        let radix = if part.len() > 1 && part.starts_with('0') { 8 } else { 10 };
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        numbers.push(u32::from_str_radix(part, radix).ok()?);
    }
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 255) {
        return None;
    }
    let room = 8 * (4 - u32::try_from(first.len()).ok()?);
    if u64::from(*last) >= 1 << room {
        return None;
    }
    let high = first.iter().fold(0_u32, |sum, number| sum << 8 | number);
    Some(Ipv4Addr::from(high.checked_shl(room).unwrap_or(0) | last))
}

fn strip_www(host: &str) -> &str {
    let rest = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

/// Removes segments of dots, and empty segments except for a last one.
fn normalised(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if kept.pop().is_some() => {}
            segment => kept.push(segment),
        }
    }
    let mut path = b"/".to_vec();
    if let Some((last, others)) = kept.split_last() {
        for segment in others.iter().filter(|segment| !segment.is_empty()) {
            path.extend_from_slice(segment);
            path.push(b'/');
        }
        path.extend_from_slice(last);
    }
    path
}

/// Decodes escapes until none is left.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    loop {
        let less: Vec<u8> = percent_decode(&bytes).collect();
        if less.len() == bytes.len() {
            return bytes;
        }
        bytes = less;
    }
}

/// Escapes everything that is not printable ASCII, and `#`, `%` and blanks.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'#' | b'%' => text.push_str(&format!("%{byte:02X}")),
            0x21..=0x7e => text.push(char::from(*byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Sorts arguments by name, then by value; a name without a value comes first.
fn sorted(query: &str) -> String {
    let mut arguments: Vec<Vec<&str>> = query.split('&').map(|argument| argument.splitn(2, '=').collect()).collect();
    arguments.sort();
    arguments.iter().map(|argument| argument.join("=")).collect::<Vec<_>>().join("&")
}

/// Removes the session identifier that ASP.NET puts into paths: `/(24 characters)/` or `/(x(24 characters)…)/` before a
/// name with `.aspx`. The path is in lower case.
fn without_path_session(path: String) -> String {
    let is_session = |segment: &str| {
        let Some(inner) = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
            return (false, false);
        };
        let is_identifier = |text: &str| text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let mut rest = inner;
        while rest.len() >= 27 && rest.is_char_boundary(27) {
            let (one, after) = rest.split_at(27);
            let marked = one.starts_with(|mark: char| mark.is_ascii_lowercase())
                && one.get(1..2) == Some("(")
                && one.ends_with(')')
                && one.get(2..26).is_some_and(is_identifier);
            if !marked {
                break;
            }
            rest = after;
        }
        (rest.is_empty() && !inner.is_empty(), is_identifier(inner))
    };
    let mut path = path;
    for plain in [false, true] {
        let mut from = path.len();
        // The last that matches is removed.
        while let Some(slash) = path[..from].rfind('/') {
            from = slash;
            let rest = &path[slash + 1..];
            let Some((segment, after)) = rest.split_once('/') else { continue };
            let (marked, bare) = is_session(segment);
            let is_page = after.find(".aspx").is_some_and(|at| at > 0 && !after[..at].contains('?'));
            if is_page && if plain { bare } else { marked } {
                path = format!("{}{after}", &path[..=slash]);
                break;
            }
        }
    }
    path
}

/// Removes the session identifiers that are common in queries.
fn without_query_sessions(query: String) -> String {
    let alphanumeric = |length: usize| {
        move |text: &str| {
            let end = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
            (end == length).then_some(length)
        }
    };
    let aspsession = |text: &str| {
        let (name, value) = (text.get(..8)?, text.get(9..33)?);
        let letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
        (letters(name) && text.as_bytes()[8] == b'=' && letters(value)).then_some(33)
    };
    let cold_fusion = |text: &str| {
        let (first, second) = text.split_once('&')?;
        let token = second.get(..8).filter(|name| name.eq_ignore_ascii_case("cftoken="))?.len();
        let value = second[token..].split('&').next().unwrap_or_default();
        (!first.is_empty() && !value.is_empty()).then(|| first.len() + 1 + token + value.len())
    };
    let query = without_session(query, "jsessionid=", alphanumeric(32));
    let query = without_session(query, "phpsessid=", alphanumeric(32));
    let query = without_session(query, "sid=", alphanumeric(32));
    let query = without_session(query, "aspsessionid", aspsession);
    without_session(query, "cfid=", cold_fusion)
}

/// Removes the last occurrence of a name and its value, which must be followed by `&` or the end.
fn without_session(query: String, name: &str, value: impl Fn(&str) -> Option<usize>) -> String {
    let lower = query.to_ascii_lowercase();
    let mut end = lower.len();
    while let Some(at) = lower[..end].rfind(name) {
        let rest = &query[at + name.len()..];
        if let Some(length) = value(rest) {
            let after = &rest[length..];
            if after.is_empty() || after.starts_with('&') {
                let after = after.strip_prefix('&').unwrap_or(after);
                return format!("{}{after}", &query[..at]);
            }
        }
        end = at + name.len() - 1;
    }
    query
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys computed by the package `surt` 0.3.1.
    #[test]
    fn keys_are_those_of_the_python_package() {
        let session = "0123456789abcdef0123456789ABCDEF";
        for (url, expected) in [
            ("http://example.org/", "org,example)/"),
            ("http://example.org", "org,example)/"),
            ("http://www2.Example.org:80/A/B/?b=2&a&a=1#x", "org,example)/a/b?a&a=1&b=2"),
            ("https://example.org:8443/a%2520b%20c/../d%23", "org,example:8443)/d%23"),
            ("http://127.0.0.1:8080/names/100%25%20sure.txt", "1,0,0,127:8080)/names/100%25%20sure.txt"),
            ("http://h/%C3%BCn%C3%AF?q=%C3%BC", "h)/%c3%bcn%c3%af?q=%c3%bc"),
            ("http://user:pw@h/a//b/./c/", "h)/a/b/c"),
            ("http://[::1]:8080/a", "::1:8080)/a"),
            ("http://h:x/a b", "http://h:x/a b"),
            ("oai:example.org:1/A", "oai:example.org:1/a"),
            ("http://h/?", "h)/"),
            (&format!("http://h/a?x=1&JSESSIONID={session}&y=2"), "h)/a?x=1&y=2"),
            ("http://h/(a(0123456789abcdefghijklmn))/x.aspx", "h)/x.aspx"),
            ("http://h/(0123456789abcdefghijklmn)/x.aspx?y", "h)/x.aspx?y"),
            ("http://16909060/", "4,3,2,1)/"),
        ] {
            assert_eq!(surt(url), expected, "{url}");
        }
    }
}
