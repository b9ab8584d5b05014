//! Parsers for the values of settings. An error states the expected kind of value.

use std::time::Duration;

use toml::Value;

/// Parses a string.
pub fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| "needs text in quotes".to_owned())
}

/// Parses one string, or a list of them.
pub fn texts(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        other => text(other).map(|one| vec![one]).map_err(|_| "needs text, or a list of strings".to_owned()),
    }
}

/// Parses one URL, or a list of them.
pub fn urls(value: &Value) -> Result<Vec<String>, String> {
    let urls = texts(value)?;
    match urls.iter().find(|url| !is_url(url)) {
        Some(bad) => Err(format!("has the invalid URL '{bad}'")),
        None => Ok(urls),
    }
}

/// Returns true if a text has the form of a URL: a scheme, and a rest of characters that need no escaping.
/// HTTP.
pub fn is_url(text: &str) -> bool {
    let scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    let rest =
        |rest: &str| rest.len() > 2 && rest.bytes().all(|b| b.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&b));
    text.split_once("://").is_some_and(|(head, tail)| scheme(head) && rest(tail))
}

/// Parses an integer of at least `least`.
pub fn number(value: &Value, least: u64) -> Result<u64, String> {
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
    number.filter(|number| *number >= least).ok_or_else(|| format!("needs a whole number of at least {least}"))
}

/// Parses true or false.
pub fn flag(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "needs true or false".to_owned())
}

/// Parses a number of bytes: `65536`, `"64K"`, `"16M"`, `"1G"`.
pub fn bytes(value: &Value) -> Result<u64, String> {
    let problem = || "needs a number of bytes, such as 65536, \"64K\", \"16M\" or \"1G\"".to_owned();
    if let Some(number) = value.as_integer() {
        return u64::try_from(number).map_err(|_| problem());
    }
    let text = value.as_str().ok_or_else(problem)?.trim();
    let (digits, shift) = match text.bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.trim().parse().map_err(|_| problem())?;
    number.checked_mul(1 << shift).ok_or_else(problem)
}

/// Parses a duration of up to a year: `30`, `"30s"`, `"15m"`, `"2h"`, `"1d"`; a bare number is seconds.
pub fn duration(value: &Value) -> Result<Duration, String> {
    const LONGEST: u64 = 366 * 86_400;
    let problem = || "needs a duration, such as 30, \"30s\", \"15m\", \"2h\" or \"1d\"".to_owned();
    let within = |seconds: u64| Some(seconds).filter(|seconds| *seconds <= LONGEST).map(Duration::from_secs);
    if let Some(number) = value.as_integer() {
        return u64::try_from(number).ok().and_then(within).ok_or_else(problem);
    }
    let text = value.as_str().ok_or_else(problem)?.trim();
    let (digits, unit) = match text.bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1),
        Some(b'm') => (&text[..text.len() - 1], 60),
        Some(b'h') => (&text[..text.len() - 1], 3_600),
        Some(b'd') => (&text[..text.len() - 1], 86_400),
        _ => (text, 1),
    };
    let number: u64 = digits.trim().parse().map_err(|_| problem())?;
    number.checked_mul(unit).and_then(within).ok_or_else(problem)
}
