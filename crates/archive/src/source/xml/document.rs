//! Checks an XML document that could be part of an OAI-PMH response, and reports its content.
//!
//! A document that is sent as received must pass the [strict check](modoai_protocol::xml::reader::fragment) of the
//! protocol, because one bad byte would make a whole page unreadable.

use modoai_protocol::xml::reader::fragment::{self, Fragment, Start};
use modoai_protocol::xml::{OAI_NAMESPACE, XSI_NAMESPACE};

use crate::flaw::Flaw;
use crate::source::Fault;

/// A document that was checked.
pub(in crate::source) struct Document<'a> {
    /// The root element, with its content.
    pub(in crate::source) root: &'a str,
    /// Its name without prefix.
    pub(in crate::source) name: String,
    /// Its namespace.
    pub(in crate::source) namespace: String,
    /// The URL of the schema, as the document declares it for its namespace.
    pub(in crate::source) schema: Option<String>,
}

/// A part of the document's content, in order.
pub(in crate::source) enum Node<'a> {
    /// The start of an element.
    Start {
        /// The namespace.
        namespace: &'a str,
        /// The name without prefix.
        name: &'a str,
        /// Names without prefix, and values.
        attributes: &'a [(String, String)],
    },
    /// More text in the innermost open element.
    Text(&'a str),
    /// The end of the innermost open element.
    End,
}

/// Checks a document, and reports its content.
pub(in crate::source) fn read<'a>(text: &'a str, sink: &mut dyn FnMut(Node<'_>)) -> Result<Document<'a>, Fault> {
    let mut fragment = Fragment::document();
    let (mut root, mut attributes, mut start, mut end) = (None, Vec::new(), 0, 0);
    let read = fragment.push(text.as_bytes(), &mut |node| -> Result<(), Flaw> {
        match node {
            fragment::Node::Start(tag) => {
                let schemas = list_attributes(&tag, &mut attributes)?;
                sink(Node::Start { namespace: tag.namespace, name: tag.name, attributes: &attributes });
                if root.is_none() {
                    root = Some(root_of(&tag, schemas.as_deref())?);
                    start = tag.offset;
                }
            }
            fragment::Node::Text(more) => sink(Node::Text(&String::from_utf8_lossy(more))),
            fragment::Node::End { after } => {
                sink(Node::End);
                end = after;
            }
        }
        Ok(())
    });
    read.and_then(|()| Ok(fragment.finish()?)).map_err(|flaw| fault(text, &flaw))?;
    let range = usize::try_from(start).unwrap_or_default()..usize::try_from(end).unwrap_or_default();
    let (name, namespace, schema) = root.unwrap_or_default();
    Ok(Document { root: text.get(range).unwrap_or_default(), name, namespace, schema })
}

/// Lists the attributes of an element: names without prefix, and values. Returns `xsi:schemaLocation`.
fn list_attributes(start: &Start<'_>, attributes: &mut Vec<(String, String)>) -> Result<Option<String>, Flaw> {
    attributes.clear();
    let mut schemas = None;
    for attribute in start.attributes() {
        let (namespace, name, value) = attribute?;
        if namespace == XSI_NAMESPACE && name == "schemaLocation" {
            schemas = Some(value.clone().into_owned());
        }
        attributes.push((name.to_owned(), value.into_owned()));
    }
    Ok(schemas)
}

/// Returns name, namespace and schema of the root element, if the document can be metadata.
fn root_of(start: &Start<'_>, schemas: Option<&str>) -> Result<(String, String, Option<String>), Flaw> {
    let (namespace, name) = (start.namespace, start.name);
    let wrong = |what: String| Err(Flaw::new(usize::try_from(start.offset).unwrap_or_default(), what));
    if namespace.is_empty() {
        return wrong(format!("the root element `{name}` has no namespace, but OAI-PMH requires one"));
    }
    if namespace == OAI_NAMESPACE {
        return wrong("this is a response of an OAI-PMH repository, or part of one, not metadata".to_owned());
    }
    let schema = schemas.and_then(|schemas| location(schemas, namespace));
    Ok((name.to_owned(), namespace.to_owned(), schema))
}

/// Returns the schema of a namespace from pairs of both.
fn location(pairs: &str, namespace: &str) -> Option<String> {
    let mut words = pairs.split_ascii_whitespace();
    while let (Some(known), Some(schema)) = (words.next(), words.next()) {
        if known == namespace {
            return Some(schema.to_owned());
        }
    }
    None
}

/// Returns an error with its line.
fn fault(text: &str, flaw: &Flaw) -> Fault {
    let before = &text.as_bytes()[..flaw.at.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    Fault(format!("line {line}: {}", flaw.what))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::crosswalk::judge;

    fn check(text: &str) -> Result<(String, String), String> {
        let mut said = String::new();
        let document = read(text, &mut |node| match node {
            Node::Start { name, .. } => said.push_str(name),
            Node::Text(text) => said.push_str(text),
            Node::End => said.push('.'),
        });
        document.map(|document| (document.root.to_owned(), said)).map_err(|fault| fault.0)
    }

    #[test]
    fn the_root_stands_on_its_own() {
        let root =
            "<a:r xmlns:a=\"urn:a\" a:x='1'>\n<!-- in --><b xmlns=\"urn:b\">&lt;&#233;<![CDATA[&]]></b ><a:e/></a:r>";
        let text = format!("<?xml version=\"1.0\"?>\n<?style x?><!-- out -->\n{root}\n<!-- after -->\n");
        assert_eq!(check(&text), Ok((root.to_owned(), "r\nb<é&.e..".to_owned())));
        assert_eq!(check("<r xmlns='urn:a'/>").map(|(root, _)| root), Ok("<r xmlns='urn:a'/>".to_owned()));
    }

    #[test]
    fn schemas_are_those_of_the_root() {
        let text = "<r xmlns='urn:a' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' \
            i:schemaLocation='urn:b b.xsd\n urn:a a.xsd'/>";
        let document = read(text, &mut |_| {}).expect("legal");
        assert_eq!((document.name.as_str(), document.namespace.as_str()), ("r", "urn:a"));
        assert_eq!(document.schema.as_deref(), Some("a.xsd"));
    }

    #[test]
    fn what_is_not_xml_is_refused_with_its_line() {
        for (text, said) in [
            ("", "line 1: no complete element found"),
            ("<r xmlns='urn:a'>\n", "line 2: "),
            ("<r xmlns='urn:a'>\n<b>\n</c></r>", "line 3: "),
            ("<r/>", "has no namespace"),
            ("<r xmlns='http://www.openarchives.org/OAI/2.0/'/>", "a response of an OAI-PMH repository"),
            (
                "<!DOCTYPE r [<!ENTITY a 'b'>]>\n<r xmlns='urn:a'>&a;</r>",
                "line 1: the document type has an internal subset",
            ),
            ("<r xmlns='urn:a'>\n&nbsp;</r>", "line 2: the entity '&nbsp;' is not defined"),
            ("<r xmlns='urn:a'>a & b</r>", "line 1: "),
            ("<r xmlns='urn:a'>&#0;</r>", "'&#0;' is not a character"),
            ("<r xmlns='urn:a'>\u{1}</r>", "U+0001 is not allowed in XML"),
            ("<r xmlns='urn:a'><x:b/></r>", "the namespace prefix 'x' is not declared"),
            ("<r xmlns='urn:a' x:b='1'/>", "the namespace prefix 'x' is not declared"),
            ("<r xmlns='urn:a' b='1' b='2'/>", "line 1: "),
            ("<r xmlns='urn:a' xmlns:x='u' xmlns:y='u' x:b='1' y:b='2'/>", "the attribute 'b' is repeated"),
            ("<r xmlns='urn:a' b='<'/>", "'<' inside a tag"),
            ("<r xmlns='urn:a' b='&nbsp;'/>", "line 1: "),
            ("<r xmlns='urn:a'b='1'/>", "no whitespace between attributes"),
            ("<r xmlns='urn:a' b/>", "line 1: "),
            ("<r xmlns='urn:a' xmlns:b=''/>", "an invalid namespace declaration"),
            ("<r xmlns='http://www.w3.org/2000/xmlns/'/>", "line 1: "),
            ("<xmlns:r xmlns='urn:a'/>", "prefix 'xmlns' is not declared"),
            ("<r xmlns='urn:a'><?1?></r>", "'1' is not a valid XML name"),
            ("<r xmlns='urn:a'><1/></r>", "'<' is not followed by a name"),
            ("<r xmlns='urn:a'>]]></r>", "']]>' in text"),
            ("<r xmlns='urn:a'><!-- a -- b --></r>", "line 1: "),
            ("<r xmlns='urn:a'/><r xmlns='urn:a'/>", "unexpected content after the root element"),
            ("<r xmlns='urn:a'/>x", "unexpected content after the root element"),
            ("x<r xmlns='urn:a'/>", "content before the root element"),
            (" <?xml version='1.0'?><r xmlns='urn:a'/>", "declaration that is not at the beginning"),
            ("<r xmlns='urn:a'><?XML x?></r>", "declaration that is not at the beginning"),
        ] {
            let error = check(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
        let long = format!("<r xmlns='urn:{}'/>", "x".repeat(2000));
        assert!(check(&long).expect_err("long").contains("1024 bytes in a namespace"));
        let deep = format!("<r xmlns='urn:a'>{}", "<a>".repeat(100_000));
        assert!(check(&deep).expect_err("deep").contains("open elements"));
    }

    #[test]
    fn many_attributes_are_compared_in_no_time() {
        let attributes: String = (0..50_000).map(|number| format!(" a:x{number}=''")).collect();
        let text = format!("<r xmlns='urn:a' xmlns:a='urn:b'{attributes}/>");
        assert!(check(&text).is_ok());
        let twice = text.replace("/>", " a:x0=''/>");
        assert!(check(&twice).is_err());
    }

    const PIECES: &[&str] = &[
        "<b>",
        "</b>",
        "<b ",
        "<p:b ",
        "<q:b ",
        "c='",
        "'",
        "/>",
        ">",
        "<",
        "xmlns:q='urn:p' ",
        "xmlns:q='' ",
        "p:c='1' ",
        "q:c='2' ",
        "<!--",
        "--",
        "-->",
        "<?",
        "?>",
        "<?xml ",
        "<![CDATA[",
        "]]",
        "]]>",
        "&amp;",
        "&",
        ";",
        "&#0;",
        "&#X41;",
        "\u{1}",
        "\u{fffe}",
        " ",
        "x",
        "²",
        ":",
        "!",
        "<b²/>",
        "<x:b:c/>",
        "<!DOCTYPE b>",
    ];

    proptest! {
        #[test]
        fn documents_are_accepted_exactly_if_harvesters_accept_them(pieces in vec(select(PIECES), 0..8)) {
            let element = format!("<a xmlns='urn:a' xmlns:p='urn:p'>{}</a>", pieces.concat());
            let checked = Fragment::check(element.as_bytes(), &[]);
            prop_assert_eq!(check(&element).is_ok(), checked.is_ok(), "{}: {:?}", element, checked);
            prop_assert_eq!(judge(&element, "urn:a").is_ok(), checked.is_ok(), "{}: {:?}", element, checked);
        }
    }
}
