//! Converts TeX in plain text to characters: `Schr\"odinger` is Schrödinger.
//!
//! Titles, names and abstracts in archives of preprints are written as their authors type. Accents, letters of other
//! alphabets, escaped signs (`\&`) and a few symbols become the characters that they represent. Everything else remains
//! unchanged, because readers may know TeX. Mathematics (`$…$`, `\(…\)`, `\[…\]`) is not converted: it is not text, and
//! programs that display it need it complete. The conventions are those of arXiv, the source of most such text: one
//! space after a command belongs to it, dashes and quotation marks remain as typed.
//!
//! The conversion is one pass without recursion, and its output is never longer than its input.

#[cfg(test)]
mod samples;
mod table;

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// Returns the text with accents and symbols as characters.
///
/// ```
/// use modoai_archive::tex;
///
/// assert_eq!(tex::to_unicode(r#"Schr\"odinger, {\O}rsted and \'{E}. Cartan"#), "Schrödinger, Ørsted and É. Cartan");
/// assert_eq!(tex::to_unicode(r"the \alpha-decay at $\alpha=1$"), r"the α-decay at $\alpha=1$");
/// ```
pub fn to_unicode(text: &str) -> Cow<'_, str> {
    // Without a backslash there is nothing to convert, and most strings have none.
    let Some(first) = memchr(b'\\', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut unclosed = Unclosed::default();
    let mut at = 0;
    // Before the first backslash, only mathematics and groups matter.
    if memchr2(b'$', b'{', &text.as_bytes()[..first]).is_none() {
        out.push_str(&text[..first]);
        at = first;
    }
    // True directly after a command that is not converted: a plain letter after it would become part of its name.
    let mut after_command = false;
    while at < text.len() {
        let rest = &text[at..];
        let plain = rest.bytes().position(|byte| matches!(byte, b'\\' | b'{' | b'$')).unwrap_or(rest.len());
        out.push_str(&rest[..plain]);
        after_command &= rest[..plain].bytes().all(|byte| byte == b' ');
        at += plain;
        let rest = &text[at..];
        let (converted, otherwise) = match rest.as_bytes().first() {
            None => break,
            Some(b'$') => (None, math(rest)),
            Some(b'{') => (group(rest), 1),
            Some(_) => (command(rest, text[..at].ends_with('/')), 0),
        };
        match converted.filter(|(_, converted)| !(after_command && converted.begins_plainly())) {
            Some((length, converted)) => {
                converted.put(&mut out);
                at += length;
                after_command = false;
            }
            None => {
                after_command = otherwise == 0;
                let length = if after_command { unknown(rest, &mut unclosed) } else { otherwise };
                out.push_str(&rest[..length]);
                after_command &= !rest[..length].ends_with('{');
                at += length;
            }
        }
    }
    Cow::Owned(out)
}

/// The maximum number of marks on one letter. Vietnamese has two; three suffice for transcriptions.
const MOST_MARKS: usize = 3;

/// The result of a command.
#[derive(Clone, Copy)]
enum Converted {
    One(char),
    /// A letter, and marks that are combined with it.
    Marked(char, [Option<char>; MOST_MARKS]),
    /// Two letters, and a mark that spans them.
    Tied(char, char),
}

impl Converted {
    fn put(self, out: &mut String) {
        match self {
            Self::One(character) => out.push(character),
            Self::Marked(letter, marks) => {
                out.push(letter);
                out.extend(marks.into_iter().flatten());
            }
            Self::Tied(first, second) => out.extend([first, table::TIE, second]),
        }
    }

    /// Returns true if its first character could be part of a command's name.
    fn begins_plainly(self) -> bool {
        let (Self::One(first) | Self::Marked(first, _) | Self::Tied(first, _)) = self;
        first.is_ascii_alphabetic()
    }
}

/// Kinds of mathematics whose end was not found, so that the search is not repeated.
#[derive(Default)]
struct Unclosed {
    round: bool,
    square: bool,
}

/// Returns the length of the text that begins with `$` and is not converted: up to the next `$` of the same paragraph,
/// or only this one. A text with a price has a single one, and a paragraph that ends inside mathematics contains a
/// mistake.
fn math(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let marks = if bytes.starts_with(b"$$") { 2 } else { 1 };
    let mut at = marks;
    while let Some(found) = bytes[at..].iter().position(|byte| matches!(byte, b'$' | b'\\' | b'\n')) {
        at += found;
        match bytes[at] {
            b'$' if marks == 1 || bytes[at + 1..].starts_with(b"$") => return at + marks,
            b'\\' => at = next_char(rest, at + 1),
            _ if bytes[at + 1..].starts_with(b"\n") => break,
            _ => at += 1,
        }
    }
    // The paragraph has no other `$`, so this search never repeats for the same text.
    marks
}

/// Returns the end of the character at this position, or of the text.
fn next_char(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}

/// Parses a group that contains only one command: `{\"o}`. The braces only end the command.
fn group(rest: &str) -> Option<(usize, Converted)> {
    let inner = rest.get(1..).filter(|inner| inner.starts_with('\\'))?;
    let (length, converted) = command(inner, false)?;
    inner[length..].starts_with('}').then_some((length + 2, converted))
}

/// Parses a command that becomes a character, and returns its length. `in_path`: the preceding text resembles a URL.
fn command(rest: &str, in_path: bool) -> Option<(usize, Converted)> {
    let name = word(&rest[1..]);
    if !name.is_empty() {
        let length = 1 + name.len();
        if let Some(mark) = table::letter_accent(name) {
            return accented(rest, length, mark);
        }
        if name == "t" {
            return tied(rest, length);
        }
        let character = table::symbol(name)?;
        return Some((length + terminator(&rest[length..]), Converted::One(character)));
    }
    let sign = *rest.as_bytes().get(1)?;
    if let Some(character) = table::sign(sign) {
        return Some((2, Converted::One(character)));
    }
    let mark = table::sign_accent(sign).filter(|_| !(sign == b'~' && in_path))?;
    accented(rest, 2, mark)
}

/// Returns the letters of a command's name.
fn word(text: &str) -> &str {
    &text[..text.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len())]
}

/// Returns the length of the text that only ends a command: a space, an empty group, or the backslash of `\ `.
fn terminator(rest: &str) -> usize {
    match rest.as_bytes() {
        [b' ', ..] | [b'\\', b' ', ..] => 1,
        [b'{', b'}', ..] => 2,
        _ => 0,
    }
}

/// Parses a letter with an accent: `o`, ` o`, `{o}`, `\i`, `{\i}`, `{\ae}`, or one with further accents: `\^o`,
/// `{\^{o}}`. `rest` begins with the accent, which has this `length`.
fn accented(rest: &str, length: usize, mark: char) -> Option<(usize, Converted)> {
    let mut marks = [Some(mark), None, None];
    let mut level = 0;
    // The current accent: the end of its name, and true if the name consists of letters.
    let (mut at, mut by_name) = (length, rest.as_bytes()[1].is_ascii_alphabetic());
    let mut open = 0;
    let (letter, is_command) = loop {
        // `\c c` needs the space; after `\'` a space is unusual enough to mean something else.
        let spaces = if by_name { rest[at..].len() - rest[at..].trim_start_matches(' ').len() } else { 0 };
        at += spaces;
        let braces = rest[at..].bytes().take(2).take_while(|byte| *byte == b'{').count();
        at += braces;
        open += braces;
        let inner = &rest[at..];
        match inner.as_bytes() {
            [letter, ..] if letter.is_ascii_alphabetic() && (!by_name || braces + spaces > 0) => {
                at += 1;
                break (char::from(*letter), false);
            }
            [b'\\', sign, ..] => {
                let name = word(&inner[1..]);
                let further = if name.is_empty() { table::sign_accent(*sign) } else { table::letter_accent(name) };
                let taken = 1 + name.len().max(1);
                at += taken;
                match (name, further) {
                    ("i" | "j", _) => break (char::from(*sign), true),
                    (_, Some(mark)) => {
                        level += 1;
                        *marks.get_mut(level)? = Some(mark);
                        by_name = !name.is_empty();
                    }
                    _ => break (table::symbol(name).filter(|letter| letter.is_alphabetic())?, true),
                }
            }
            _ => return None,
        }
    };
    if is_command && (open == 0 || rest[at..].starts_with(" }") || rest[at..].starts_with("{}")) {
        at += terminator(&rest[at..]);
    }
    // A name ends at the next character that is not a letter: `\v sx` is `š` and `x`, but `\'\imath` is something else.
    if rest[at..].bytes().take(open).filter(|byte| *byte == b'}').count() != open {
        return None;
    }
    Some((at + open, marked(letter, marks)))
}

/// Combines a letter with marks, the innermost last; in one character if Unicode has it.
fn marked(letter: char, marks: [Option<char>; MOST_MARKS]) -> Converted {
    let mut letter = letter;
    let mut left = [None; MOST_MARKS];
    let mut count = 0;
    for mark in marks.into_iter().rev().flatten() {
        // After a mark that could not be combined, composing would change the order of the marks.
        match table::composed(mark, letter).filter(|_| count == 0) {
            Some(composed) => letter = composed,
            None => {
                left[count] = Some(mark);
                count += 1;
            }
        }
    }
    if count == 0 { Converted::One(letter) } else { Converted::Marked(letter, left) }
}

/// Parses two letters with a tie: `\t{oo}`.
fn tied(rest: &str, length: usize) -> Option<(usize, Converted)> {
    match &rest.as_bytes()[length..] {
        [b'{', first, second, b'}', ..] if first.is_ascii_alphabetic() && second.is_ascii_alphabetic() => {
            Some((length + 4, Converted::Tied(char::from(*first), char::from(*second))))
        }
        _ => None,
    }
}

/// Returns the length of an unknown command that is copied in one step: its name, and a brace that would otherwise be
/// parsed as the start of a group; for mathematics the whole formula.
fn unknown(rest: &str, unclosed: &mut Unclosed) -> usize {
    let (closing, in_vain) = match rest.as_bytes().get(1) {
        Some(b'(') => ("\\)", &mut unclosed.round),
        Some(b'[') => ("\\]", &mut unclosed.square),
        _ => {
            let name = word(&rest[1..]).len();
            let end = if name > 0 { 1 + name } else { next_char(rest, 1) };
            return end + usize::from(name > 0 && rest[end..].starts_with('{'));
        }
    };
    let end = if *in_vain { None } else { rest.find(closing) };
    *in_vain = end.is_none();
    end.map_or(2, |at| at + 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accents_in_all_their_spellings() {
        for (tex, text) in [
            (r#"Schr\"odinger"#, "Schrödinger"),
            (r#"Schr{\"o}dinger"#, "Schrödinger"),
            (r#"Schr\"{o}dinger"#, "Schrödinger"),
            (r#"Schr{\"{o}}dinger"#, "Schrödinger"),
            (r"\'Elie, \`a, \^ile, \~n, \=a, \.z", "Élie, à, île, ñ, ā, ż"),
            (r"\u{a} \v{c} \H{o} \c{c} \k{a} \r{a} \d{s} \b{d}", "ă č ő ç ą å ṣ ḏ"),
            (r"Fran\c cois, Ho\v rava, Erd\H os", "François, Hořava, Erdős"),
            (r#"na\"{\i}ve, na\"\i ve, na{\"\i}ve, \v{\j}"#, "naïve, naïve, naïve, ǰ"),
            (r"\t{oo}", "o\u{361}o"),
            (r"\'q", "q\u{301}"),
            (r"M\'exico\'s", "Méxicoś"),
        ] {
            assert_eq!(to_unicode(tex), text, "{tex}");
        }
    }

    #[test]
    fn letters_and_symbols_take_what_ends_them() {
        for (tex, text) in [
            (r"S{\o}rensen, S\o rensen, S\o{}rensen, \O", "Sørensen, Sørensen, Sørensen, Ø"),
            (r"\L{}\'od\'z, Stra\ss e, \AE sir, \oe uvre, \AA ngstr\om", r"Łódź, Straße, Æsir, œuvre, Ångstr\om"),
            (r"\alpha\beta\gamma", "αβγ"),
            (r"foo \alpha\ bar", "foo α bar"),
            (r"foo \alpha bar", "foo αbar"),
            (r"foo \alpha{-}bar \alpha_7", "foo α{-}bar α_7"),
            (r"\DJ  fix", "Đ fix"),
            (r"\ddag \OE\S", "‡Œ§"),
            (r"\phi and \varphi", "ϕand φ"),
            (r"5\pm1\,K", r"5±1\,K"),
        ] {
            assert_eq!(to_unicode(tex), text, "{tex}");
        }
    }

    #[test]
    fn what_is_not_known_stays() {
        for tex in [
            "",
            "plain -- text ``quoted'' ~ 50% {braces} $",
            r"\alphabet \orensen \unknown{\it x} \",
            r"$\alpha\'e$ and $$\beta$$ and \(\gamma\) and \[\delta\]",
            r"http://example.org/\~name",
            r"\\ \{ \} \é",
            r"\'é \c{é} \v \H{oo} \c{\alpha",
        ] {
            let expected = tex.replace(r"{\alpha", "{α");
            assert_eq!(to_unicode(tex), expected, "{tex}");
        }
        assert_eq!(to_unicode(r"for 5$ \'a"), "for 5$ á");
        assert_eq!(to_unicode("5$\n\n\\'a $x"), "5$\n\ná $x");
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for piece in [r"\(", r"\[", "$$ ", "{", r"\c ", r"\c{", r"{\'", "\\", "$\\", r"\c       "] {
            let text = piece.repeat(300_000);
            assert!(to_unicode(&text).len() <= text.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn it_is_never_longer_and_done_once(text in r#"([\\{}$ \n/]|\\[cvHtuij'"~.=^`]|[ae-jo\"'é]|\\o|\\alph|\\[()\[\]]){0,24}"#) {
            let once = to_unicode(&text).into_owned();
            prop_assert!(once.len() <= text.len(), "{text:?} became {once:?}");
            // The dollar sign of `\$` would begin a formula.
            if !text.contains(r"\$") {
                prop_assert_eq!(to_unicode(&once), once.as_str(), "{:?}", text);
            }
        }

        #[test]
        fn any_text_is_taken(text in "\\PC*") {
            to_unicode(&text);
        }
    }
}
