//! Parses `<meta http-equiv=refresh content="5; url=there">`, by the steps of the HTML standard.

/// Returns the URL as written; `None` if the page is only reloaded, or if the value is invalid.
pub(super) fn target(content: &str) -> Option<&str> {
    let rest = trim(content);
    let time = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    if time.len() == rest.len() && !rest.starts_with('.') {
        return None;
    }
    let rest = time.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    if !rest.starts_with(|character: char| is_space(character) || matches!(character, ';' | ',')) {
        return None;
    }
    let rest = trim(rest);
    let whole = trim(rest.strip_prefix([';', ',']).unwrap_or(rest));
    if whole.is_empty() {
        return None;
    }
    let rest = match after_url(whole) {
        Named::Url(rest) => rest,
        // It only begins like `url`.
        Named::Almost => return Some(whole),
        Named::Not => whole,
    };
    let url = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => rest[1..].split(quote).next().unwrap_or_default(),
        _ => rest,
    };
    Some(url)
}

enum Named<'a> {
    /// `url=`, followed by this text.
    Url(&'a str),
    /// Text that begins like `url=`.
    Almost,
    /// Other text.
    Not,
}

fn after_url(text: &str) -> Named<'_> {
    if !text.starts_with(['u', 'U']) {
        return Named::Not;
    }
    let is_word = text.as_bytes().get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"url"));
    match is_word.then(|| trim(&text[3..])).and_then(|rest| rest.strip_prefix('=')) {
        Some(rest) => Named::Url(trim(rest)),
        None => Named::Almost,
    }
}

fn trim(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_are_read_as_browsers_do() {
        for (content, expected) in [
            ("5; url=there", Some("there")),
            ("0;URL='there'", Some("there")),
            ("0, url = \"there\" and more", Some("there")),
            ("0 there", Some("there")),
            ("0;there", Some("there")),
            (".5;url=there", Some("there")),
            ("0;url", Some("url")),
            ("0;ukulele", Some("ukulele")),
            ("0;url=", Some("")),
            ("5", None),
            ("5;", None),
            ("", None),
            ("url=there", None),
            ("5x;url=there", None),
            ("-1;url=there", None),
        ] {
            assert_eq!(target(content), expected, "{content:?}");
        }
    }
}
