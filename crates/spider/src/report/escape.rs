//! Foreign text, made harmless: titles, link texts and URLs were written by strangers, and end up on terminals, in
//! spreadsheets and on web pages.

use std::fmt::{self, Write as _};

/// Text as it may stand anywhere in HTML or XML, within quotes too. White space is folded into single spaces by whoever read
/// it; should a line break be left, it becomes a space. What neither language allows becomes U+FFFD.
pub(super) struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        // Nearly everything is plain, and there are millions of URLs.
        if rest.bytes().all(is_plain) {
            return f.write_str(rest);
        }
        while let Some((at, c, instead)) =
            rest.char_indices().find_map(|(at, c)| markup_instead(c).map(|instead| (at, c, instead)))
        {
            f.write_str(&rest[..at])?;
            f.write_str(instead)?;
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

fn is_plain(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte) && !matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'')
}

fn markup_instead(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        '\n' | '\r' | '\t' => " ",
        c if is_senseless(c) => "\u{fffd}",
        _ => return None,
    })
}

/// Text as it may be sent to a terminal: nothing in it moves the cursor, colours what follows, or turns the direction of
/// reading around.
pub(super) struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            f.write_char(match c {
                '\n' | '\r' | '\t' => ' ',
                c if is_senseless(c) || is_direction(c) => '\u{fffd}',
                c => c,
            })?;
        }
        Ok(())
    }
}

/// Control characters, and what Unicode keeps for programs' own use.
fn is_senseless(c: char) -> bool {
    c.is_control() || matches!(u32::from(c), 0xfdd0..=0xfdef) || u32::from(c) & 0xfffe == 0xfffe
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a browser would go to the web for it, and run nothing. Only such URLs ever become links.
pub(super) fn is_web(url: &str) -> bool {
    let begins = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins("https://") || begins("http://")
}

/// Whether a browser could also make sense of the rest of it.
pub(super) fn is_followable(url: &str) -> bool {
    is_web(url) && url::Url::parse(url).is_ok()
}

/// The start of a text, with `…` if that is not all.
pub(super) fn cut(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some(_) => {
            let kept = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", text[..kept].trim_end()).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_taken_for_markup() {
        assert_eq!(
            Escaped("<a href='x' title=\"y\">&\u{1b}\n\u{ffff}").to_string(),
            "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;\u{fffd} \u{fffd}"
        );
    }

    #[test]
    fn terminals_are_left_in_peace() {
        assert_eq!(Printable("a\u{1b}[31mb\u{9b}c\u{202e}d\ne").to_string(), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d e");
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
        fn escaped_text_is_read_back(text in "\\PC*") {
            let xml = format!("<x a=\"{0}\">{0}</x>", Escaped(&text));
            let mut reader = quick_xml::Reader::from_str(&xml);
            while !matches!(reader.read_event().expect("well-formed"), quick_xml::events::Event::Eof) {}
            prop_assert!(!Escaped(&text).to_string().contains(['<', '>', '"', '\'']));
        }

        #[test]
        fn any_text_is_cut(text in any::<String>(), most in 1_usize..20) {
            prop_assert!(cut(&text, most).chars().count() <= most);
        }
    }
}
