//! Parses values that both syntaxes have. Each function returns what it needs if the value is invalid, in words that
//! follow the name of a key or directive: "'site' needs …".

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use url::Url;

use super::error::shown;

/// Parses the name of a task or an owner: one word.
pub(super) fn name(text: &str) -> Result<String, String> {
    const LONGEST: usize = 200;
    let text = text.trim();
    let is_word = !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    if !is_word || text.len() > LONGEST {
        return Err(format!("needs one word, such as physics-lab, not '{}'", shown(text)));
    }
    Ok(text.to_owned())
}

/// Parses the name of an owner, which may be written as in CODEOWNERS: `@physics` is physics.
pub(super) fn owner(text: &str) -> Result<String, String> {
    name(text.trim().trim_start_matches('@'))
}

/// Parses the URL where a task starts.
pub(super) fn top(text: &str) -> Result<Url, String> {
    let mut url = web_url(text)?;
    url.set_fragment(None);
    Ok(url)
}

/// Parses a prefix of URLs, and normalises it.
pub(super) fn prefix(text: &str) -> Result<String, String> {
    let url = web_url(text)?;
    without_fragment(url, text)
}

/// Parses a prefix that may also be a path on the site of a task.
pub(super) fn prefix_on(top: &Url, text: &str) -> Result<String, String> {
    if !text.starts_with('/') || text.starts_with("//") {
        return prefix(text);
    }
    let url = top.join(text).map_err(|error| format!("needs a path or a URL, not '{}': {error}", shown(text)))?;
    without_fragment(url, text)
}

fn without_fragment(url: Url, text: &str) -> Result<String, String> {
    if url.fragment().is_some() {
        return Err(format!("'{}' has a fragment; omit the # and the rest", shown(text)));
    }
    Ok(url.into())
}

/// Parses a URL that can be requested.
fn web_url(text: &str) -> Result<Url, String> {
    let url = absolute_url(text)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("needs an http or https URL, not '{}'", shown(text)));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a user name or password in its URL, which would appear in every report; remove it".to_owned());
    }
    Ok(url)
}

/// Parses an absolute URL.
pub(super) fn absolute_url(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let problem =
        |why: &str| format!("needs an absolute URL such as https://www.example.org/, not '{}': {why}", shown(text));
    if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(problem("empty, or contains whitespace"));
    }
    Url::parse(text).map_err(|error| problem(&error.to_string()))
}

/// Parses an email address: `alice@example.org` or `Alice <alice@example.org>`.
pub(super) fn address(text: &str) -> Result<String, String> {
    let text = text.trim();
    let bare = match text.split_once('<') {
        Some((_, rest)) => rest.strip_suffix('>').unwrap_or_default(),
        None => text,
    };
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "<>,;\"()\\".contains(c);
    // Some mail programs interpret an address that begins with a minus sign as an option.
    let is_local = |local: &str| !local.is_empty() && !local.starts_with('-');
    let parts = bare.rsplit_once('@').filter(|(local, domain)| is_local(local) && !domain.is_empty());
    if parts.is_none() || bare.contains(is_odd) || text.contains(char::is_control) {
        return Err(format!("needs an address such as alice@example.org, not '{}'", shown(text)));
    }
    Ok(text.to_owned())
}

/// Parses the contact for servers: an address without a name, or the URL of a page about it. It is sent in headers.
pub(super) fn contact(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.starts_with("http://") || text.starts_with("https://") {
        return web_url(text).map(String::from);
    }
    let is_bare = text.is_ascii() && !text.contains('<');
    address(text).ok().filter(|_| is_bare).ok_or_else(|| {
        format!("needs an address such as alice@example.org, or the URL of a page, not '{}'", shown(text))
    })
}

/// Parses an expiry; `None` is permanent, which is written `*`. A date without a time includes the whole day, in UTC.
pub(super) fn until(text: &str) -> Result<Option<Timestamp>, String> {
    let text = text.trim();
    if text == "*" {
        return Ok(None);
    }
    let in_utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok();
    let whole = || text.parse::<Timestamp>().ok();
    let local = || text.parse::<DateTime>().ok().filter(|_| text.contains(':')).and_then(in_utc);
    let day = || text.parse::<Date>().and_then(Date::tomorrow).ok().and_then(|day| in_utc(day.into()));
    let of_http = || httpdate::parse_http_date(text).ok().and_then(|time| Timestamp::try_from(time).ok());
    let instant = whole().or_else(|| local().or_else(day).as_ref().map(Zoned::timestamp)).or_else(of_http);
    instant.map(Some).ok_or_else(|| {
        format!(
            "needs a date such as 2030-12-31 or 'Tue, 31 Dec 2030 23:59:59 GMT', or * for permanently, not '{}'",
            shown(text)
        )
    })
}

/// Parses a whole number: days, or links to follow.
pub(super) fn number(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| format!("needs a whole number, not '{}'", shown(text.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_in_many_forms() {
        for (text, expected) in [
            ("2030-12-31", "2031-01-01T00:00:00Z"),
            ("2030-12-31T10:00:00Z", "2030-12-31T10:00:00Z"),
            ("2030-12-31 10:00:00+02:00", "2030-12-31T08:00:00Z"),
            ("2030-12-31T10:00:00", "2030-12-31T10:00:00Z"),
            ("Sat, 02 Apr 1994 00:00:00 GMT", "1994-04-02T00:00:00Z"),
            ("Saturday, 02-Apr-94 00:00:00 GMT", "1994-04-02T00:00:00Z"),
            ("Sat Apr  2 00:00:00 1994", "1994-04-02T00:00:00Z"),
        ] {
            let expected: Timestamp = expected.parse().expect("a time");
            assert_eq!(until(text), Ok(Some(expected)), "{text}");
        }
        assert_eq!(until("*"), Ok(None));
        for wrong in ["", "tomorrow", "2030-13-01", "9999-12-31", "10:00:00"] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_hold_nothing_that_could_become_a_header() {
        for good in ["alice@example.org", "Alice <alice@example.org>", "o'neil+web@sub.example.org"] {
            assert_eq!(address(good).as_deref(), Ok(good));
        }
        for wrong in
            ["alice", "@example.org", "alice@", "a b@c", "a@b\r\nBcc: c@d", "A <a@b", "a@b, c@d", "A\n<a@b>", "-f@b"]
        {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        assert_eq!(contact("alice@example.org").as_deref(), Ok("alice@example.org"));
        assert_eq!(contact("https://example.org/bot").as_deref(), Ok("https://example.org/bot"));
        for wrong in ["Alice <alice@example.org>", "josé@example.org", "alice", "ftp://h/"] {
            assert!(contact(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn urls_are_normalised_or_refused() {
        assert_eq!(prefix("HTTP://Example.ORG:80").as_deref(), Ok("http://example.org/"));
        assert_eq!(top("http://h/a#b").map(String::from).as_deref(), Ok("http://h/a"));
        let site = Url::parse("https://h/a/b.html").expect("a URL");
        assert_eq!(prefix_on(&site, "/c/").as_deref(), Ok("https://h/c/"));
        assert_eq!(prefix_on(&site, "http://other/c/").as_deref(), Ok("http://other/c/"));
        for wrong in ["", "a b", "www.example.org", "ftp://h/", "http://", "http://me:pw@h/", "http://h/#f", "//h/a"] {
            assert!(prefix(wrong).is_err(), "{wrong}");
        }
    }
}
