//! Tries a template before it is used.
//!
//! Each template is rendered from a record with nearly no fields and from one with all of them, with markup in all
//! strings. The output must be one element in the declared namespace. So an element that is not closed, a prefix that
//! is not declared or a value that is not escaped is found when the program starts, not by a harvester.
//!
//! A template that prints fields as markup (`|safe`) relies on their being well-formed: in its samples they are.

use modoai_protocol::xml::reader::fragment::{Fragment, Node};
use serde_json::{Map, Value as Json, json};

use super::scan::Scan;
use crate::flaw::Flaw;
use crate::record::Record;

/// Checks that this is exactly one element that an OAI-PMH response may contain, and that it is in the namespace.
pub(crate) fn judge(xml: &str, namespace: &str) -> Result<(), Flaw> {
    let spaces = [' ', '\t', '\r', '\n'];
    let element = xml.trim_start_matches(spaces);
    let before = xml.len() - element.len();
    let mut fragment = Fragment::strict(&[]);
    // The positions of the open elements.
    let mut open = Vec::new();
    let read = fragment.push(element.trim_end_matches(spaces).as_bytes(), &mut |node| {
        match node {
            Node::Start(start) => {
                let at = usize::try_from(start.offset).unwrap_or(usize::MAX);
                if open.is_empty() && start.namespace != namespace {
                    return Err(Flaw::new(at, in_namespace(start.namespace, namespace)));
                }
                open.push(at);
            }
            Node::End { .. } => drop(open.pop()),
            Node::Text(_) => {}
        }
        Ok(())
    });
    read.and_then(|()| Ok(fragment.finish()?)).map_err(|flaw| match open.last() {
        // The start tag is the mistake, not the place at which it is noticed.
        Some(&at) if flaw.is_unclosed => {
            Flaw { at: before + at, what: format!("`<{}>` is not closed", name_at(element, at)), ..flaw }
        }
        _ => Flaw { at: before + flaw.at, ..flaw },
    })
}

/// Returns the name of the element that is opened at a position.
fn name_at(xml: &str, at: usize) -> &str {
    let rest = xml.get(at + 1..).unwrap_or_default();
    rest.split([' ', '\t', '\r', '\n', '/', '>']).next().unwrap_or_default()
}

fn in_namespace(found: &str, expected: &str) -> String {
    let found = if found.is_empty() { "no namespace".to_owned() } else { format!("the namespace {found}") };
    format!("the root element is in {found}, not in {expected}")
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
        assert_eq!(flaw("<p:a/>"), "the namespace prefix 'p' is not declared");
        assert_eq!(flaw("<a xmlns='urn:a' p:b='1'/>"), "the namespace prefix 'p' is not declared");
        assert_eq!(flaw("<a xmlns='urn:a'/><a xmlns='urn:a'/>"), "unexpected content after the root element");
        assert_eq!(flaw("x<a xmlns='urn:a'/>"), "XML is not well-formed: content before the root element");
        assert_eq!(flaw("<a xmlns='urn:a'>&nbsp;</a>"), "the entity '&nbsp;' is not defined");
        assert_eq!(flaw("<a xmlns='urn:a'>]]></a>"), "XML is not well-formed: ']]>' in text");
        assert_eq!(flaw("<a xmlns='urn:a' b='<'/>"), "XML is not well-formed: '<' inside a tag");
        assert_eq!(flaw(""), "no complete element found");
        for xml in [
            "<a xmlns='urn:a' b='1' b='2'/>",
            "<a xmlns='urn:a'><!-- a -- b --></a>",
            "<a xmlns='urn:a'>\u{1}</a>",
            "<a xmlns='urn:a'>&#1;</a>",
            "<a xmlns='urn:a'>a & b</a>",
            "<a xmlns='urn:a' b='&nbsp;'/>",
            "<a xmlns='urn:a' b=1/>",
            "<a xmlns='urn:a'><1/></a>",
            "<a²  xmlns='urn:a'/>",
            "<x:a:b xmlns:x='urn:a'/>",
            "<a xmlns='urn:a' xmlns:p='urn:p' xmlns:q='urn:p' p:b='1' q:b='1'/>",
            "<?xml version='1.0'?><a xmlns='urn:a'/>",
            "<!DOCTYPE a><a xmlns='urn:a'/>",
            "<a xmlns='urn:a'/></a>",
            "<a xmlns='urn:a'><text> & \"more\"</a>",
        ] {
            assert!(judge(xml, "urn:a").is_err(), "{xml}");
        }
    }
}
