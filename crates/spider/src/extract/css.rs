//! Extracts the references of style sheets, `<style>` elements and `style` attributes: `url()`, `@import` and the
//! strings of `image-set()`.
//!
//! It implements the parts of CSS Syntax that are needed to distinguish a reference from a comment, a string or a part
//! of a name. URLs within the document (`url(#…)`), embedded data (`data:`) and names of namespaces are not references.

use std::borrow::Cow;

use memchr::memmem;

use super::resolve::starts_with;
use crate::reference::Kind;

/// Reports each reference of a style sheet: its kind, its position, and the URL.
pub(super) fn read(css: &str, mut found: impl FnMut(Kind, usize, &str)) {
    let mut scanner = Scanner { css, at: 0 };
    let mut rule = Rule::Other;
    let mut depth = 0_usize;
    // The depth of brackets at which strings are URLs.
    let mut image_set = None;
    while let Some(byte) = scanner.peek(0) {
        let start = scanner.at;
        let mut tell = |url: &str, is_in_image_set: bool| match rule {
            _ if url.is_empty() || url.starts_with('#') || starts_with(url, "data:") => {}
            Rule::Import => found(Kind::CssImport, start, url),
            Rule::Namespace => {}
            Rule::Other if is_in_image_set => found(Kind::CssUrl, start, url),
            Rule::Other => {}
        };
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                scanner.at += 1;
                continue;
            }
            b'/' if scanner.peek(1) == Some(b'*') => {
                scanner.skip_comment();
                continue;
            }
            b'"' | b'\'' => tell(&scanner.string(byte), image_set == Some(depth)),
            b'@' => {
                scanner.at += 1;
                let name = scanner.name();
                rule = match &*name {
                    name if name.eq_ignore_ascii_case("import") => Rule::Import,
                    name if name.eq_ignore_ascii_case("namespace") => Rule::Namespace,
                    _ => Rule::Other,
                };
                continue;
            }
            b'(' => {
                depth += 1;
                scanner.at += 1;
            }
            b')' => {
                depth = depth.saturating_sub(1);
                scanner.at += 1;
                if image_set.is_some_and(|at| at > depth) {
                    image_set = None;
                }
            }
            _ if is_name(byte) || byte == b'\\' || byte == b'#' => {
                scanner.at += usize::from(byte == b'#');
                let name = scanner.name();
                if byte == b'#' || byte.is_ascii_digit() || scanner.peek(0) != Some(b'(') {
                    // A colour, a number with its unit, or a word.
                } else if name.eq_ignore_ascii_case("url") {
                    scanner.at += 1;
                    if let Some(url) = scanner.url(&mut depth) {
                        tell(&url, true);
                    }
                } else {
                    scanner.at += 1;
                    depth += 1;
                    let name = name.strip_prefix("-webkit-").unwrap_or(&name);
                    if name.eq_ignore_ascii_case("image-set") {
                        image_set = Some(depth);
                    }
                }
            }
            _ => scanner.at += 1,
        }
        // Only the first value after `@import` is imported; a namespace may be the second one, after its prefix.
        if rule == Rule::Import || matches!(byte, b';' | b'{' | b'}') {
            rule = Rule::Other;
        }
        if matches!(byte, b'{' | b'}') {
            (depth, image_set) = (0, None);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Import,
    Namespace,
    Other,
}

struct Scanner<'a> {
    css: &'a str,
    /// Always at the beginning of a character.
    at: usize,
}

impl<'a> Scanner<'a> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.css.as_bytes().get(self.at + ahead).copied()
    }

    fn skip_comment(&mut self) {
        let rest = &self.css.as_bytes()[self.at + 2..];
        self.at = memmem::find(rest, b"*/").map_or(self.css.len(), |end| self.at + 2 + end + 2);
    }

    fn skip_space(&mut self) {
        while self.peek(0).is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn name(&mut self) -> Cow<'a, str> {
        self.collect(|byte| if is_name(byte) { Step::Take } else { Step::Stop })
    }

    /// Reads a string, whose opening quote is next.
    fn string(&mut self, quote: u8) -> Cow<'a, str> {
        self.at += 1;
        let string = self.collect(|byte| match byte {
            // A string ends at the end of its line, unless that is escaped.
            b'\n' | b'\r' | b'\x0c' => Step::Stop,
            _ if byte == quote => Step::Stop,
            _ => Step::Take,
        });
        if self.peek(0) == Some(quote) {
            self.at += 1;
        }
        string
    }

    /// Reads the rest of `url(`; `None` if it is invalid.
    fn url(&mut self, depth: &mut usize) -> Option<Cow<'a, str>> {
        self.skip_space();
        if let Some(quote @ (b'"' | b'\'')) = self.peek(0) {
            *depth += 1;
            return Some(self.string(quote));
        }
        let url = self.collect(|byte| match byte {
            b')' | b'"' | b'\'' | b'(' | ..=b' ' | b'\x7f' => Step::Stop,
            _ => Step::Take,
        });
        self.skip_space();
        match self.peek(0) {
            Some(b')') => self.at += 1,
            None => {}
            Some(_) => {
                self.collect(|byte| if byte == b')' { Step::Stop } else { Step::Take });
                return None;
            }
        }
        Some(url)
    }

    /// Collects characters until `want` stops; escaped ones are always included.
    fn collect(&mut self, want: impl Fn(u8) -> Step) -> Cow<'a, str> {
        let mut start = self.at;
        let mut unescaped = None::<String>;
        while let Some(byte) = self.peek(0) {
            if byte == b'\\' {
                let text = unescaped.get_or_insert_default();
                text.push_str(&self.css[start..self.at]);
                text.extend(self.escaped());
                start = self.at;
            } else if want(byte) == Step::Stop {
                break;
            } else {
                // The bytes that end anything are ASCII, so a multi-byte character is always read completely.
                self.at += 1;
            }
        }
        let last = &self.css[start..self.at];
        match unescaped {
            Some(text) => (text + last).into(),
            None => last.into(),
        }
    }

    /// Returns the character that is escaped here; `None` if it is the end of a line.
    fn escaped(&mut self) -> Option<char> {
        self.at += 1;
        let rest = &self.css[self.at..];
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let character = rest.chars().next();
            self.at += if rest.starts_with("\r\n") { 2 } else { character.map_or(0, char::len_utf8) };
            return character.filter(|character| !matches!(character, '\n' | '\r' | '\x0c'));
        }
        let code = u32::from_str_radix(&rest[..digits], 16).unwrap_or_default();
        self.at += digits;
        if self.peek(0).is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += if self.css[self.at..].starts_with("\r\n") { 2 } else { 1 };
        }
        Some(char::from_u32(code).filter(|character| *character != '\0').unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

#[derive(PartialEq, Eq)]
enum Step {
    Take,
    Stop,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(css: &str) -> Vec<String> {
        let mut urls = Vec::new();
        read(css, |kind, _, url| {
            urls.push(if kind == Kind::CssImport { format!("import {url}") } else { url.to_owned() });
        });
        urls
    }

    #[test]
    fn references_are_told_from_what_looks_like_them() {
        for (css, expected) in [
            ("a { b: url(c.png) }", vec!["c.png"]),
            ("a { b: URL( 'c d.png' ) }", vec!["c d.png"]),
            ("a{b:url(\"c\")url(d)}", vec!["c", "d"]),
            ("@import 'x.css';", vec!["import x.css"]),
            ("@import url(x.css) screen; @IMPORT\n/**/ \"y\"", vec!["import x.css", "import y"]),
            ("@charset \"utf-8\"; @import \"y\"", vec!["import y"]),
            ("@import screen 'x.css'", vec![]),
            ("@namespace svg url(http://www.w3.org/2000/svg); a{b:url(c)}", vec!["c"]),
            ("/* url(a) */ b{c:'url(d)'} /* url(e)", vec![]),
            ("a{b:url(data:image/png;base64,AA)}", vec![]),
            ("a{b:url(#c)} d{e:url()}", vec![]),
            ("a{b:url(c\\29 d\\(e)}", vec!["c)d(e"]),
            ("a{b:\\75 rl(c)}", vec!["c"]),
            ("a{b:url('c\\\nd')}", vec!["cd"]),
            ("a{b:url(c d) e:url(f)}", vec!["f"]),
            ("a{b:url(c'd) e:url(f)}", vec!["f"]),
            ("a{b:url(c", vec!["c"]),
            ("a{b:'c\n;d:url(e)", vec!["e"]),
            ("a{b:curl(c) 1url(d) #url(e) xurl(f)}", vec![]),
            (
                "a{b:image-set('c.png' 1x, 'd.avif' type('image/avif') 2x, url(e) 3x); f:'g'}",
                vec!["c.png", "d.avif", "e"],
            ),
            ("a{src:url(f.woff2) format('woff2'),local('f')}", vec!["f.woff2"]),
            ("--x: url(é.png)", vec!["é.png"]),
            ("\\", vec![]),
        ] {
            assert_eq!(urls(css), expected, "{css}");
        }
    }
}
