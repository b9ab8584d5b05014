//! Tries a template before it is used.
//!
//! Each template is rendered from a record with nearly no fields and from one with all of them, with markup in all
//! strings. The output must be one element in the declared namespace. So an element that is not closed, a prefix that
//! is not declared or a value that is not escaped is found when the program starts, not by a harvester.
//!
//! A template that prints fields as markup (`|safe`) relies on their being well-formed: in its samples they are.

use modoai_protocol::xml::is_legal;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::{NsReader, XmlVersion};
use serde_json::{Map, Value as Json, json};

use super::scan::Scan;
use crate::record::Record;

/// A problem in a document, and its position.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The position in the document, in bytes.
    pub(super) at: usize,
    pub(super) what: String,
}

/// Checks that this is exactly one element, well-formed and in the namespace.
pub(super) fn judge(xml: &str, namespace: &str) -> Result<(), Flaw> {
    if let Some((at, character)) = xml.char_indices().find(|&(_, character)| !is_legal(character)) {
        return Err(Flaw { at, what: format!("the character U+{:04X} is not allowed in XML", u32::from(character)) });
    }
    let mut reader = NsReader::from_str(xml);
    reader.config_mut().check_comments = true;
    // Compared here, where the position of the start tag is known.
    reader.config_mut().check_end_names = false;
    let (mut open, mut roots) = (Vec::new(), 0);
    loop {
        let depth = open.len();
        let before = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let flaw = |what: String| Flaw { at: before, what };
        let unclosed = |at: usize| Flaw { at, what: format!("`<{}>` is not closed", name_at(xml, at)) };
        let event = reader.read_event().map_err(|error| flaw(error.to_string()))?;
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                let (bound, _) = reader.resolver().resolve_element(tag.name());
                if depth == 0 {
                    roots += 1;
                    if roots > 1 {
                        return Err(flaw("second root element".to_owned()));
                    }
                    expect_namespace(&bound, namespace).map_err(flaw)?;
                }
                if let ResolveResult::Unknown(prefix) = bound {
                    return Err(flaw(format!("the prefix `{prefix}` is not declared")));
                }
                judge_tag(tag, &reader).map_err(flaw)?;
                if matches!(event, Event::Start(_)) {
                    open.push(before);
                }
            }
            Event::End(tag) => match open.pop() {
                Some(at) if name_at(xml, at) == tag.name().as_ref() => {}
                Some(at) => return Err(unclosed(at)),
                None => return Err(flaw(format!("`</{}>` has no start tag", tag.name().as_ref()))),
            },
            Event::Text(text) if depth == 0 && !text.trim_ascii().is_empty() => {
                return Err(flaw("text outside of the root element".to_owned()));
            }
            Event::Text(text) if text.contains("]]>") => return Err(flaw("`]]>` in text".to_owned())),
            Event::GeneralRef(reference) => {
                let known = matches!(&**reference, "amp" | "lt" | "gt" | "quot" | "apos");
                let character = reference.resolve_char_ref().map_err(|error| flaw(error.to_string()))?;
                if depth == 0 || !known && !character.is_some_and(is_legal) {
                    return Err(flaw(format!("unknown entity `&{};`", &**reference)));
                }
            }
            Event::CData(_) if depth == 0 => return Err(flaw("text outside of the root element".to_owned())),
            Event::Text(_) | Event::CData(_) | Event::Comment(_) => {}
            Event::Decl(_) | Event::DocType(_) | Event::PI(_) => {
                return Err(flaw(
                    "a record must not contain an XML declaration, DOCTYPE or processing instruction".to_owned(),
                ));
            }
            Event::Eof if depth > 0 => return Err(unclosed(open[depth - 1])),
            Event::Eof if roots == 0 => return Err(flaw("no element found".to_owned())),
            Event::Eof => return Ok(()),
        }
    }
}

/// Returns the name of the element that is opened at a position.
fn name_at(xml: &str, at: usize) -> &str {
    let rest = xml.get(at + 1..).unwrap_or_default();
    rest.split([' ', '\t', '\r', '\n', '/', '>']).next().unwrap_or_default()
}

fn expect_namespace(bound: &ResolveResult<'_>, namespace: &str) -> Result<(), String> {
    match bound {
        ResolveResult::Bound(found) if found.as_ref() == namespace => Ok(()),
        ResolveResult::Bound(found) => {
            Err(format!("the root element is in the namespace {}, not in {namespace}", found.as_ref()))
        }
        ResolveResult::Unbound => Err(format!("the root element is in no namespace, not in {namespace}")),
        ResolveResult::Unknown(prefix) => Err(format!("the prefix `{prefix}` is not declared")),
    }
}

fn judge_tag(tag: &BytesStart<'_>, reader: &NsReader<&[u8]>) -> Result<(), String> {
    judge_name(tag.name().as_ref())?;
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        judge_name(attribute.key.as_ref())?;
        if attribute.value.contains('<') {
            return Err("`<` in an attribute".to_owned());
        }
        attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        if let (ResolveResult::Unknown(prefix), _) = reader.resolver().resolve_attribute(attribute.key) {
            return Err(format!("the prefix `{prefix}` is not declared"));
        }
    }
    Ok(())
}

/// As strict as necessary: names come from templates, and a mistake in one is a stray sign.
fn judge_name(name: &str) -> Result<(), String> {
    let starts = name.starts_with(|character: char| character.is_alphabetic() || character == '_');
    let goes_on = name.chars().all(|character| character.is_alphanumeric() || "-_.:".contains(character));
    if starts && goes_on { Ok(()) } else { Err(format!("`{name}` is not a valid name")) }
}

/// Returns the line of a template that causes a flaw of its output, if it can be determined.
pub(super) fn blame(scan: &Scan<'_>, namespace: &str) -> Option<usize> {
    let markup = scan.markup();
    match judge(&markup, namespace) {
        Ok(()) => scan.unescaped(),
        Err(flaw) => {
            let start = markup.len() - markup.trim_start().len();
            let at = flaw.at.max(start).min(markup.len());
            Some(1 + markup.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count())
        }
    }
}

/// The strings of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Text that resembles markup, and would break any document in which it is not escaped.
    Hostile,
    /// Markup that is valid in a document unescaped.
    WellFormed,
}

impl Texts {
    /// Returns the strings for the trial of a template.
    pub(super) fn fit_for(scan: &Scan<'_>) -> Self {
        if scan.trusting().is_some() { Self::WellFormed } else { Self::Hostile }
    }
}

/// Returns a record with all fields, with markup in every string.
pub(super) fn full(texts: Texts) -> Record {
    serde_json::from_value(everything(texts)).expect("the sample is a record")
}

fn everything(texts: Texts) -> Json {
    let text = "Sample <text> & \"more\" -- ']]>";
    let agent = json!({"family": text, "given": text, "suffix": "Jr.", "affiliations": [text, text],
        "orcid": "https://orcid.org/0000-0002-1825-0097"});
    let day = "2024-02-29";
    let mut sample = json!({
        "identifier": "sample/1<&\"",
        "datestamp": day,
        "title": text,
        "creators": [agent, {"family": "Sample Body"}],
        "contributors": [agent],
        "abstract": text,
        "subjects": [text, text],
        "dates": {"created": day, "updated": "2024-03-01T10:00:00Z", "issued": "2024", "available": "2024-03", "submitted": day},
        "versions": [
            {"version": "v1", "date": "Thu, 29 Feb 2024 10:00:00 GMT", "size": "12kb", "source_type": "D"},
            {"version": text, "date": text},
        ],
        "licence": "http://creativecommons.org/licenses/by/4.0/?a=1&b=<2>",
        "links": [{"url": "https://example.org/a?b=1&c=\"2\"", "rel": "landing", "media_type": "text/html"}],
        "files": [{"path": "a<b>.pdf", "url": "https://example.org/a.pdf?b&c", "media_type": "application/pdf", "state": [1, 2]}],
        "sets": ["sample:set"],
        "provenance": {"base_url": "http://example.org/oai", "identifier": "oai:example.org:1", "datestamp": day,
            "metadata_namespace": "http://www.openarchives.org/OAI/2.0/oai_dc/", "harvest_date": "2024-03-01T10:00:00Z"},
        "doi": "10.1000/<sample>&\"1\"", "language": "en", "publisher": text, "type": "article", "comments": text,
        "journal_ref": text, "report_no": text, "submitter": text, "categories": "math.AG hep-th <x>", "msc_class": text,
        "acm_class": text, "proxy": text, "authors": text, "rights": text, "relation": text, "source": text,
    });
    if texts == Texts::WellFormed {
        mend(&mut sample);
    }
    sample
}

/// Replaces bad markup with good markup. A URL remains a URL, without invalid characters.
fn mend(value: &mut Json) {
    match value {
        Json::String(text) if text.starts_with("http") => text.retain(|character| !"<>&\"".contains(character)),
        Json::String(text) if text.contains(['<', '&']) => *text = "Sample <i>text</i> &#38; more".to_owned(),
        Json::Array(values) => values.iter_mut().for_each(mend),
        Json::Object(fields) => fields.values_mut().for_each(mend),
        _ => {}
    }
}

/// Returns a record with only an identifier and the fields that a format requires.
pub(super) fn bare(requires: &[String], texts: Texts) -> Record {
    let full = everything(texts);
    let mut kept = Map::from_iter([("identifier".to_owned(), json!("sample/1"))]);
    for path in requires.iter().filter_map(|names| names.split(" or ").next()) {
        // Derived values need the fields that they are derived from.
        let name = match path.trim().split('.').next().unwrap_or_default() {
            "date" | "date_text" => "dates",
            "landing" => "links",
            "access" => "licence",
            "authors" => "creators",
            name => name,
        };
        if let Some(field) = full.get(name) {
            kept.insert(name.to_owned(), field.clone());
        }
    }
    serde_json::from_value(Json::Object(kept)).expect("parts of a record are one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(xml: &str) -> String {
        judge(xml, "urn:a").expect_err(xml).what
    }

    #[test]
    fn one_element_in_its_namespace_passes() {
        for xml in [
            "<a xmlns=\"urn:a\"/>",
            "<p:a xmlns:p='urn:a' p:b=\"&amp;&#39;\"><p:c>&lt;x&gt;<!-- c --></p:c><d xmlns=\"urn:d\"/></p:a>\n",
        ] {
            assert_eq!(judge(xml, "urn:a"), Ok(()), "{xml}");
        }
    }

    #[test]
    fn everything_else_is_told() {
        assert_eq!(flaw("<a xmlns='urn:a'>text<b></a>"), "`<b>` is not closed");
        assert_eq!(judge("<a xmlns='urn:a'>text<b c='d'></a>", "urn:a").map_err(|flaw| flaw.at), Err(21));
        assert_eq!(flaw("<a xmlns='urn:a'>"), "`<a>` is not closed");
        assert_eq!(flaw("<a/>"), "the root element is in no namespace, not in urn:a");
        assert_eq!(flaw("<a xmlns='urn:b'/>"), "the root element is in the namespace urn:b, not in urn:a");
        assert_eq!(flaw("<p:a/>"), "the prefix `p` is not declared");
        assert_eq!(flaw("<a xmlns='urn:a' p:b='1'/>"), "the prefix `p` is not declared");
        assert_eq!(flaw("<a xmlns='urn:a'/><a xmlns='urn:a'/>"), "second root element");
        assert_eq!(flaw("x<a xmlns='urn:a'/>"), "text outside of the root element");
        assert_eq!(flaw("<a xmlns='urn:a'>&nbsp;</a>"), "unknown entity `&nbsp;`");
        assert_eq!(flaw("<a xmlns='urn:a'>]]></a>"), "`]]>` in text");
        assert_eq!(flaw("<a xmlns='urn:a' b='<'/>"), "`<` in an attribute");
        assert_eq!(flaw(""), "no element found");
        for xml in [
            "<a xmlns='urn:a' b='1' b='2'/>",
            "<a xmlns='urn:a'><!-- a -- b --></a>",
            "<a xmlns='urn:a'>\u{1}</a>",
            "<a xmlns='urn:a'>&#1;</a>",
            "<a xmlns='urn:a'>a & b</a>",
            "<a xmlns='urn:a' b='&nbsp;'/>",
            "<a xmlns='urn:a' b=1/>",
            "<a xmlns='urn:a'><1/></a>",
            "<?xml version='1.0'?><a xmlns='urn:a'/>",
            "<!DOCTYPE a><a xmlns='urn:a'/>",
            "<a xmlns='urn:a'/></a>",
            "<a xmlns='urn:a'><text> & \"more\"</a>",
        ] {
            assert!(judge(xml, "urn:a").is_err(), "{xml}");
        }
    }
}
