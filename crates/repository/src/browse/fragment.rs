//! Foreign XML in an HTML page: as fields if it is flat, such as Dublin Core; otherwise indented.
//!
//! The XML was read from a response, so its nesting is known to be correct, but this module does not rely on that: any
//! text results in a page, and the length of the page is limited.

use modoai_protocol::xml::document::Part;
use serde::Serialize;

use super::links;
use super::tokens::{Token, name, pieces, tokens};

/// The maximum length of a text; longer ones, such as base64, are truncated.
const MOST_OF_A_TEXT: usize = 2_000;

/// The maximum length of a fragment; longer ones are truncated.
const MOST_OF_ALL: usize = 20_000;

/// A start tag longer than this is shown with one attribute per line.
const LINE: usize = 90;

/// The depth from which elements are not indented further.
const DEEPEST: usize = 12;

/// The maximum indentation of a line, also for text with its own whitespace.
const MOST_INDENT: usize = 2 * (DEEPEST + 2);

/// A foreign element.
#[derive(Debug, Serialize)]
pub(super) struct Fragment {
    /// Its heading.
    pub(super) label: String,
    /// Its values, if it is flat.
    pub(super) fields: Option<Vec<Field>>,
    /// Its XML, if it is not flat.
    pub(super) xml: Vec<Line>,
    /// True if it was truncated.
    pub(super) is_cut: bool,
    /// Its meaning, shown instead of the XML.
    pub(super) sentence: Option<&'static str>,
}

/// A line of XML.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    /// The number of leading spaces.
    pub(super) indent: usize,
    /// The line, including those spaces.
    pub(super) text: String,
}

/// The values with one name.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Field {
    pub(super) label: String,
    pub(super) values: Vec<Value>,
}

/// A value, with its link.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) link: Option<String>,
}

impl Fragment {
    pub(super) fn new(part: &Part) -> Self {
        let xml = String::from_utf8_lossy(&part.bytes);
        let tokens = tokens(&xml);
        let root = tokens.iter().find_map(|token| match token {
            Token::Start(tag) | Token::Empty(tag) => Some(name(tag)),
            _ => None,
        });
        let mut cut = Cut::default();
        let fields = fields(&tokens, &mut cut);
        let xml = if fields.is_some() { Vec::new() } else { lines(&indented(&tokens, &mut cut)) };
        Self { label: root.map(label).unwrap_or_default(), fields, xml, is_cut: cut.happened, sentence: None }
    }

    /// Returns the same, shown as a sentence.
    pub(super) fn with_sentence(self, sentence: &'static str) -> Self {
        Self { sentence: Some(sentence), ..self }
    }

    /// Returns the first value of a field.
    pub(super) fn first(&self, label: &str) -> Option<&str> {
        let field = self.fields.iter().flatten().find(|field| field.label == label)?;
        field.values.first().map(|value| value.text.as_str())
    }
}

/// Adds a value to the last field if that has the same name, otherwise to a new one.
pub(super) fn add(fields: &mut Vec<Field>, name: &str, value: Value) {
    let label = label(name);
    match fields.last_mut() {
        Some(last) if last.label == label => last.values.push(value),
        _ => fields.push(Field { label, values: vec![value] }),
    }
}

/// Returns the name of an element as a label: `earliestDatestamp` becomes "Earliest datestamp", `dc:title` becomes
/// "Title".
fn label(name: &str) -> String {
    let local = name.rsplit(':').next().unwrap_or_default();
    let mut label = String::new();
    let mut letters = local.chars().peekable();
    let mut before = None::<char>;
    while let Some(letter) = letters.next() {
        let begins_word = letter.is_uppercase() && before.is_some_and(char::is_lowercase);
        let in_acronym = letters.peek().is_none_or(|next| next.is_uppercase());
        match before {
            None => label.extend(letter.to_uppercase()),
            Some(_) if begins_word && in_acronym => label.extend([' ', letter]),
            Some(_) if begins_word => {
                label.push(' ');
                label.extend(letter.to_lowercase());
            }
            Some(_) => label.push(if letter == '_' { ' ' } else { letter }),
        }
        before = Some(letter);
    }
    label
}

/// Returns the values of a root that contains only elements with only text, truncated for display.
fn fields(tokens: &[Token<'_>], cut: &mut Cut) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    for (name, text) in flat(tokens)? {
        add(&mut fields, name, Value { text: cut.text(&text), link: links::web(&text) });
    }
    (!fields.is_empty()).then_some(fields)
}

/// Returns the names and values of such elements, in full. `None` if the root contains anything else.
pub(super) fn flat<'a>(tokens: &[Token<'a>]) -> Option<Vec<(&'a str, String)>> {
    let [Token::Start(_), inner @ .., Token::End(_)] = tokens else { return None };
    let mut texts = Vec::new();
    let mut rest = inner.iter();
    while let Some(token) = rest.next() {
        let tag = match token {
            Token::Start(tag) if is_plain(tag) => tag,
            Token::Text(text) if text.trim().is_empty() => continue,
            Token::Aside(_) => continue,
            _ => return None,
        };
        let mut text = String::new();
        loop {
            match rest.next()? {
                Token::Text(piece) => text.push_str(&html_escape::decode_html_entities(piece)),
                Token::Cdata(piece) => text.push_str(piece),
                Token::End(_) => break,
                _ => return None,
            }
        }
        texts.push((name(tag), text.trim().to_owned()));
    }
    Some(texts)
}

/// Returns true if a start tag has only attributes that can be omitted on a page.
fn is_plain(tag: &str) -> bool {
    let is_aside =
        |attribute: &&str| [">", "xml:lang", "xmlns", "xsi:"].iter().any(|known| attribute.starts_with(known));
    pieces(tag).iter().skip(1).all(is_aside)
}

fn indented(tokens: &[Token<'_>], cut: &mut Cut) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if out.len() > MOST_OF_ALL {
            cut.happened = true;
            line(&mut out, 0, "…");
            break;
        }
        at += 1;
        match token {
            Token::Start(tag) => {
                line(&mut out, depth, &broken(tag, depth, cut));
                // An element with only text stays on one line.
                match &tokens[at..] {
                    [Token::Text(text) | Token::Cdata(text), Token::End(end), ..] => {
                        out.push_str(&cut.text(text.trim()));
                        out.push_str(end);
                        at += 2;
                    }
                    [Token::End(end), ..] => {
                        out.push_str(end);
                        at += 1;
                    }
                    _ => depth += 1,
                }
            }
            Token::End(tag) => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth, tag);
            }
            Token::Empty(tag) => line(&mut out, depth, &broken(tag, depth, cut)),
            Token::Text(text) if text.trim().is_empty() => {}
            Token::Text(text) | Token::Cdata(text) | Token::Aside(text) => {
                line(&mut out, depth, &cut.text(text.trim()));
            }
        }
    }
    out
}

fn lines(text: &str) -> Vec<Line> {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    text.lines().map(|line| Line { indent: indent(line).min(MOST_INDENT), text: line.to_owned() }).collect()
}

fn line(out: &mut String, depth: usize, text: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&"  ".repeat(depth.min(DEEPEST)));
    out.push_str(text);
}

/// Returns a tag, over several lines if it is long.
fn broken(tag: &str, depth: usize, cut: &mut Cut) -> String {
    let joint = if tag.len() > LINE { format!("\n{}", "  ".repeat(depth.min(DEEPEST) + 2)) } else { " ".to_owned() };
    cut.text(&pieces(tag).join(&joint))
}

/// Truncates values, and records if it did.
#[derive(Default)]
struct Cut {
    happened: bool,
}

impl Cut {
    fn text(&mut self, text: &str) -> String {
        match text.char_indices().nth(MOST_OF_A_TEXT) {
            None => text.to_owned(),
            Some((end, _)) => {
                self.happened = true;
                format!("{}… [{} more characters]", &text[..end], text[end..].chars().count())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fragment(xml: &str) -> Fragment {
        Fragment::new(&Part { bytes: xml.as_bytes().to_vec(), ..Part::default() })
    }

    fn text(fragment: &Fragment) -> String {
        fragment.xml.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn flat_elements_are_fields() {
        let dublin_core = fragment(
            "<oai_dc:dc xmlns:dc='a'>\n<dc:title xml:lang='en'>R&amp;D <![CDATA[<b>]]></dc:title><!-- - -->\
             <dc:format>text/html</dc:format><dc:format>12 bytes</dc:format>\
             <dc:identifier>https://a/</dc:identifier></oai_dc:dc>",
        );
        assert_eq!(dublin_core.label, "Dc");
        assert_eq!(dublin_core.first("Title"), Some("R&D <b>"));
        let fields = dublin_core.fields.expect("flat");
        assert_eq!(fields.len(), 3, "values of one name stand together");
        assert_eq!(fields[2].values[0].link.as_deref(), Some("https://a/"));
    }

    #[test]
    fn everything_else_is_indented() {
        let nested = fragment("<a x='1 > 0'><b><c>text</c><d/><e></e></b>mixed</a>");
        assert_eq!(nested.fields, None);
        assert_eq!(
            text(&nested),
            "<a x='1 > 0'>\n  <b>\n    <c>text</c>\n    <d/>\n    <e></e>\n  </b>\n  mixed\n</a>"
        );
        assert_eq!(fragment("<h><header name='a'>b</header></h>").fields, None, "the attribute says something");
        let long = format!("<a one=\"{0}\" two=\"{0}\">b</a>", "x ".repeat(30).trim());
        assert_eq!(fragment(&long).xml.len(), 3);
    }

    #[test]
    fn what_is_long_is_cut_and_that_is_said() {
        let long = fragment(&format!("<a><b><c>{}</c></b></a>", "é".repeat(3_000)));
        assert!(long.is_cut && text(&long).contains("… [1000 more characters]"), "{}", text(&long));
        let many = fragment(&format!("<a>{}</a>", "<b><c/></b>".repeat(10_000)));
        assert!(many.is_cut && text(&many).len() < 2 * MOST_OF_ALL);
    }

    #[test]
    fn names_become_words() {
        for (name, words) in [
            ("dc:title", "Title"),
            ("earliestDatestamp", "Earliest datestamp"),
            ("baseURL", "Base URL"),
            ("adminEmail", "Admin email"),
            ("", ""),
        ] {
            assert_eq!(label(name), words);
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_a_page(xml in "[<>/!?\\[\\]\"' a-eé&;-]{0,60}", wrapped in any::<bool>()) {
            let fragment = fragment(&if wrapped { format!("<a>{xml}</a>") } else { xml });
            prop_assert!(text(&fragment).len() < MOST_OF_ALL);
        }
    }
}
