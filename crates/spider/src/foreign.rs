//! Sanitises untrusted text. Titles, link text, owners and URLs are written by third parties, and appear on terminals,
//! in messages, in spreadsheets and on web pages. There they could move a cursor, break a header, run a program, or
//! imitate output of the spider. The dangerous characters are defined here once, and all reports use this module.

use std::borrow::Cow;
use std::fmt;

use modoai_fetch::is_senseless;
pub(crate) use modoai_fetch::{is_invisible, is_joiner};

/// Text on one line for terminals, plain files and templates that escape: a line break becomes a space, and an
/// [invisible](is_invisible) character becomes U+FFFD, so that its presence is visible.
pub(crate) struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        replaced(self.0, visible_instead, f)
    }
}

/// The same for any place in HTML, including attributes in quotes.
pub(crate) struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(self.0, is_invisible, f)
    }
}

/// Text for any place in XML. Since programs read it, only characters that XML forbids are replaced.
pub(crate) struct Legal<'a>(pub &'a str);

impl fmt::Display for Legal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(self.0, is_senseless, f)
    }
}

fn escaped(text: &str, is_unwanted: fn(char) -> bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // Nearly all text is plain, and a report contains millions of URLs.
    let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'');
    if text.bytes().all(is_plain) {
        return f.write_str(text);
    }
    replaced(text, |c| markup_instead(c).or_else(|| visible_instead(c).filter(|_| is_unwanted(c))), f)
}

fn replaced(mut text: &str, instead: impl Fn(char) -> Option<&'static str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    while let Some((at, c, put)) = text.char_indices().find_map(|(at, c)| instead(c).map(|put| (at, c, put))) {
        f.write_str(&text[..at])?;
        f.write_str(put)?;
        text = &text[at + c.len_utf8()..];
    }
    f.write_str(text)
}

fn visible_instead(c: char) -> Option<&'static str> {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(" "),
        c => is_invisible(c).then_some("\u{fffd}"),
    }
}

fn markup_instead(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    })
}

/// Returns words on one line, at most `most` characters: without [invisible](is_invisible) characters and repeated
/// spaces.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let (mut length, mut is_apart) = (0, false);
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            is_apart = length > 0;
            continue;
        }
        if is_invisible(c) {
            continue;
        }
        if std::mem::take(&mut is_apart) {
            line.push(' ');
            length += 1;
        }
        line.push(c);
        length += 1;
        // The text may be megabytes long; one character above the limit is enough to know that it is cut.
        if length > most {
            break;
        }
    }
    cut(&line, most).into_owned()
}

/// Returns the start of a text: at most `most` characters, the last of which is `…` if the text was cut.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some(_) => {
            let kept = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", text[..kept].trim_end()).into()
        }
    }
}

/// Returns true if a browser would open a URL on the web, and run nothing. Only such URLs become links.
pub(crate) fn is_web(url: &str) -> bool {
    let begins = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins("https://") || begins("http://")
}

/// Returns true if a browser could also parse the rest of a URL.
pub(crate) fn is_followable(url: &str) -> bool {
    is_web(url) && url::Url::parse(url).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_taken_for_markup() {
        assert_eq!(
            Escaped("<a href='x' title=\"y\">&\u{1b}\n\u{ffff}\u{202e}").to_string(),
            "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;\u{fffd} \u{fffd}\u{fffd}"
        );
        assert_eq!(Legal("<\u{1b}\n\u{ffff}\u{202e}").to_string(), "&lt;\u{fffd} \u{fffd}\u{202e}");
    }

    #[test]
    fn terminals_are_left_in_peace() {
        assert_eq!(Printable("a\u{1b}[31mb\u{9b}c\u{202e}d\ne").to_string(), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d e");
        assert_eq!(Printable("a\u{200b}b\u{2028}c\u{e0041}d").to_string(), "a\u{fffd}b c\u{fffd}d");
    }

    #[test]
    fn words_are_spelt_as_their_languages_do() {
        let word = "می\u{200c}خواهم";
        assert_eq!((Printable(word).to_string(), Escaped(word).to_string()), (word.to_owned(), word.to_owned()));
        assert_eq!(one_line(word, 80), word);
    }

    #[test]
    fn foreign_words_stay_on_one_line_and_in_one_direction() {
        assert_eq!(one_line("  a\r\nBcc: x@y\t b\u{202e}c\u{0} ", 80), "a Bcc: x@y bc");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
        assert_eq!(one_line("\r\n", 4), "");
    }

    #[test]
    fn only_the_web_is_linked_to() {
        for url in ["http://a/", "https://a/", "HTTPS://a/"] {
            assert!(is_web(url), "{url}");
        }
        for url in ["javascript:alert(1)", " http://a/", "data:text/html,x", "http:a", "", "h", "//a/", "ftp://a/", "é"]
        {
            assert!(!is_web(url), "{url}");
        }
    }

    #[test]
    fn what_no_browser_understands_is_not_linked_to() {
        assert!(is_followable("https://a/b#c"));
        assert!(!is_followable("http://[harbour"));
        assert!(!is_followable("javascript://a/"));
    }

    #[test]
    fn what_is_long_is_cut() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("längere Wörter", 8), "längere…");
    }

    proptest! {
        #[test]
        fn escaped_text_is_read_back(text in any::<String>()) {
            let xml = format!("<x a=\"{0}\" b=\"{1}\">{0}{1}</x>", Escaped(&text), Legal(&text));
            let mut reader = quick_xml::Reader::from_str(&xml);
            while !matches!(reader.read_event().expect("well-formed"), quick_xml::events::Event::Eof) {}
            prop_assert!(!Escaped(&text).to_string().contains(|c| is_invisible(c) || "<>\"'".contains(c)));
        }

        #[test]
        fn nothing_invisible_is_told(text in any::<String>(), most in 1_usize..60) {
            prop_assert!(!Printable(&text).to_string().contains(is_invisible));
            let line = one_line(&text, most);
            prop_assert!(!line.contains(is_invisible) && line.chars().count() <= most);
        }

        #[test]
        fn any_text_is_cut(text in any::<String>(), most in 1_usize..20) {
            prop_assert!(cut(&text, most).chars().count() <= most);
        }
    }
}
