//! Splits XML into pieces for display. This is not a parser: all input is returned, in order.

/// A piece of XML with its delimiters, except for CDATA, which is its text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Start(&'a str),
    End(&'a str),
    Empty(&'a str),
    Text(&'a str),
    Cdata(&'a str),
    /// A comment, processing instruction or declaration.
    Aside(&'a str),
}

/// Splits XML into pieces. Markup that does not end is text, with everything after it.
pub(super) fn tokens(mut rest: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let length = match rest.find('<') {
            Some(0) => markup(rest),
            next => {
                let (text, after) = rest.split_at(next.unwrap_or(rest.len()));
                tokens.push(Token::Text(text));
                rest = after;
                continue;
            }
        };
        let Some(length) = length else {
            tokens.push(Token::Text(rest));
            break;
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        tokens.push(match piece.strip_prefix("<![CDATA[").and_then(|inner| inner.strip_suffix("]]>")) {
            Some(text) => Token::Cdata(text),
            None if piece.starts_with("<!") || piece.starts_with("<?") => Token::Aside(piece),
            None if piece.starts_with("</") => Token::End(piece),
            None if piece.ends_with("/>") => Token::Empty(piece),
            None => Token::Start(piece),
        });
    }
    tokens
}

/// Returns the length of the markup at the beginning of a text, if it begins with markup that ends.
fn markup(text: &str) -> Option<usize> {
    for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if let Some(inner) = text.strip_prefix(start) {
            return inner.find(end).map(|at| start.len() + at + end.len());
        }
    }
    let mut quote = None;
    for (at, byte) in text.strip_prefix('<')?.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 2),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Returns the element's name in a tag.
pub(super) fn name(tag: &str) -> &str {
    let inner = tag.trim_start_matches('<');
    &inner[..inner.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(inner.len())]
}

/// Splits a tag at whitespace outside of quotes: its name, then its attributes.
pub(super) fn pieces(tag: &str) -> Vec<&str> {
    let mut quote = None;
    let is_gap = |letter: char| {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        quote.is_none() && letter.is_whitespace()
    };
    tag.split(is_gap).filter(|piece| !piece.is_empty()).collect()
}
