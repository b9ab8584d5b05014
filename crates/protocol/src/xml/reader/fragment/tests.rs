//! Tests of both modes: the result does not depend on the cuts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::{Event, Reader};
use super::*;

/// Returns the text of the element, and the outcome.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Result<(), ReadError>) {
    let mut text = Vec::new();
    let mut fragment = Fragment::new(Limits::default(), &[]);
    let read = pieces.into_iter().try_for_each(|piece| {
        fragment.push(piece, &mut |node| {
            if let Node::Text(more) = node {
                text.extend_from_slice(more);
            }
            Ok::<(), ReadError>(())
        })
    });
    (text, read.and_then(|()| fragment.finish()))
}

#[test]
fn what_is_wrong_and_where_does_not_depend_on_cuts() {
    let entity = Fault::Entity { name: "nbsp".to_owned() };
    for (xml, expected) in [
        ("<a>one &amp; t<![CDATA[&w\r\n]]>o</a>\n ", Ok(())),
        ("<a>one, two &nbsp; three</a>", Err(entity.at(12))),
        ("<a>one, two &lt three</a>", Err(Fault::Reference { text: "&lt three".to_owned() }.at(12))),
        ("<a/>\n \n then", Err(Fault::Trailing.at(8))),
        ("<a/>\n <b/>", Err(Fault::Trailing.at(6))),
        ("<a/> <![CDATA[  ]]>", Err(Fault::Trailing.at(14))),
        ("<a>", Err(Fault::Truncated { open: "a".to_owned() }.at(3))),
    ] {
        let whole = read([xml.as_bytes()]);
        assert_eq!(whole.1, expected, "{xml}");
        for size in 1..xml.len() {
            assert_eq!(read(xml.as_bytes().chunks(size)), whole, "{xml} in pieces of {size}");
        }
    }
    assert_eq!(read([&b"<a>one &amp; t<![CDATA[&w\r\n]]>o</a>"[..]]).0, b"one & t&w\no");
}

const INHERITED: &[(&str, &str)] = &[("", "urn:d"), ("p", "urn:p"), ("q", "urn:p")];

fn push(fragment: &mut Fragment, piece: &[u8]) -> Result<(), ReadError> {
    fragment.push(piece, &mut |_| Ok(()))
}

/// Returns the result, which must be the same for all sizes of pieces.
fn verdict(element: &[u8]) -> Result<(), ReadError> {
    let whole = Fragment::check(element, INHERITED);
    for size in [1, 2, 3, 5] {
        let mut check = Fragment::strict(INHERITED);
        let outcome = element.chunks(size).try_for_each(|piece| push(&mut check, piece)).and_then(|()| check.finish());
        assert_eq!(outcome, whole, "in pieces of {size}: {}", String::from_utf8_lossy(element));
    }
    whole
}

#[test]
fn what_is_xml_passes() {
    for element in [
        "<a/>",
        "<a></a >",
        "<p:a b='1' p:b=\"2\" xml:lang='en'\n/>",
        "<x:a xmlns:x='urn:x' xmlns=''><a x:b='&lt;&#x41;>'/>]] > ]]&gt; é\u{fffd}\u{ffbf}𝄞&#x1D11E;</x:a>",
        "<é·ü/>",
        "<a><!-- - & < --><!----><?p & ?x?><?q?><![CDATA[]] & <b> ]]]]>\t\r\n</a>",
        "<a xmlns:xml='http://www.w3.org/XML/1998/namespace'><b xmlns:n='u'/><b xmlns:n='u'/></a>",
        "<a>&amp;&quot;&apos;&gt;\u{85}\u{7f}</a>",
    ] {
        assert_eq!(verdict(element.as_bytes()), Ok(()), "{element}");
    }
}

#[test]
fn errors_have_a_position() {
    use Fault::{IllFormed, Mismatch, Trailing};
    let ill_formed = |what| IllFormed { what };
    let character = |code| Fault::Character { code };
    let reference = |text: &str| Fault::Reference { text: text.to_owned() };
    let entity = |name: &str| Fault::Entity { name: name.to_owned() };
    let repeated = |name: &str| Fault::Repeated { name: name.to_owned() };
    let undeclared = |prefix: &str| Fault::Prefix { prefix: prefix.to_owned() };
    let invalid = |name: &str| Fault::Name { name: name.to_owned() };
    let mismatch = |open: &str, close: &str| Mismatch { open: open.to_owned(), close: close.to_owned() };
    let truncated = |open: &str| Fault::Truncated { open: open.to_owned() };
    let not_utf8 = |element: &str| Fault::NotUtf8 { element: element.to_owned() };
    let declaration = ill_formed("an invalid namespace declaration");
    let before = ill_formed("content before the root element");
    let cases: &[(&[u8], u64, Fault)] = &[
        (b"<a>\0</a>", 3, character(0)),
        ("<a b='\u{ffff}'/>".as_bytes(), 6, character(0xffff)),
        ("<a>\u{fffe}</a>".as_bytes(), 3, character(0xfffe)),
        (b"<a>AT&T</a>", 5, reference("&T")),
        (b"<a>x&nbsp;</a>", 4, entity("nbsp")),
        (b"<a>&#xD800;</a>", 3, reference("&#xD800;")),
        (b"<a>&#X41;</a>", 3, reference("&#X41;")),
        (b"<a b='&'/>", 0, reference("&")),
        (b"<a>]]></a>", 5, ill_formed("']]>' in text")),
        (b"<a>&lt;]]]></a>", 10, ill_formed("']]>' in text")),
        (b"<a>< b</a>", 3, ill_formed("'<' is not followed by a name")),
        (b"<a b='<'/>", 0, ill_formed("'<' inside a tag")),
        (b"<a b/>", 0, ill_formed("an attribute without a value")),
        (b"<a b=1/>", 0, ill_formed("an unquoted attribute value")),
        (b"<a b='1'c='2'/>", 0, ill_formed("no whitespace between attributes")),
        (b"<a b='1' b='2'/>", 0, repeated("b")),
        (b"<a p:b='1' q:b='2'/>", 0, repeated("b")),
        (b"<a xmlns:n='u' xmlns:n='v'/>", 0, repeated("n")),
        (b"<a><x:b/></a>", 3, undeclared("x")),
        (b"<a x:b='1'/>", 0, undeclared("x")),
        (b"<a xmlns:p=''/>", 0, declaration.clone()),
        (b"<a xmlns:xmlns='u'/>", 0, declaration.clone()),
        (b"<a xmlns:y='http://www.w3.org/XML/1998/namespace'/>", 0, declaration),
        (b"<a><n:b xmlns:n='u'/><n:c/></a>", 21, undeclared("n")),
        (b"<xmlns:a/>", 0, undeclared("xmlns")),
        (b"<a:b:c/>", 0, invalid("a:b:c")),
        (b"<:a/>", 0, invalid(":a")),
        ("<a²/>".as_bytes(), 0, invalid("a²")),
        (b"<a -b='1'/>", 0, invalid("-b")),
        (b"<a /b='1'/>", 0, invalid("/b")),
        (b"<a></b>", 3, mismatch("a", "b")),
        (b"</a>", 0, mismatch("", "a")),
        (b"<a></a b='1'>", 3, ill_formed("an end tag contains more than a name")),
        (b"<a><!-- -- --></a>", 3, ill_formed("'--' inside a comment")),
        (b"<a><!-- a ---></a>", 3, ill_formed("'--' inside a comment")),
        (b"<a><?xml version='1.0'?></a>", 3, ill_formed("an XML declaration that is not at the beginning")),
        (b"<a><??></a>", 3, invalid("")),
        (b"<a><?p?q?></a>", 3, invalid("p?q")),
        (b"<!DOCTYPE a><a/>", 0, ill_formed("a document type declaration")),
        (b"<!-- --><a/>", 4, before.clone()),
        (b"x<a/>", 0, before.clone()),
        (b"<?p?><a/>", 0, before),
        (b"<a/> ", 4, Trailing),
        (b"<a/><b/>", 4, Trailing),
        (b"<a><b></b>", 10, truncated("a")),
        (b"<a", 2, truncated("")),
        (b"", 0, truncated("")),
        (b"<a>x\xe9</a>", 4, not_utf8("a")),
        (b"<a>\xed\xa0\xb4</a>", 3, not_utf8("a")),
        (b"<a/>\xc3", 4, not_utf8("")),
    ];
    for (element, offset, fault) in cases {
        assert_eq!(verdict(element), Err(fault.clone().at(*offset)), "{}", String::from_utf8_lossy(element));
    }
}

#[test]
fn documents_may_have_a_prolog() {
    let document = |text: &str| {
        let mut fragment = Fragment::document();
        let mut end = 0;
        let read = fragment.push(text.as_bytes(), &mut |node| -> Result<(), ReadError> {
            if let Node::End { after } = node {
                end = after;
            }
            Ok(())
        });
        read.and_then(|()| fragment.finish()).map(|()| end)
    };
    assert_eq!(document("<?xml version='1.0'?>\n<!-- a --><?p?><r><a/></r>\n<!-- b -->"), Ok(48));
    assert_eq!(document("<r/>"), Ok(4));
    for bad in
        [" <?xml version='1.0'?><r/>", "<r/><?xml version='1.0'?>", "<!DOCTYPE r><r/>", "x<r/>", "<r/>x", "<r/><r/>"]
    {
        assert!(document(bad).is_err(), "{bad}");
    }
}

#[test]
fn memory_is_bounded() {
    let mut check = Fragment::strict(INHERITED);
    let mut outcome = push(&mut check, b"<a>");
    for _ in 0..2000 {
        outcome = outcome.and_then(|()| push(&mut check, b"<b>"));
    }
    let limit = STRICT.depth;
    assert_eq!(outcome, Err(Fault::Limit { what: "open elements", limit }.at(3 * limit as u64)));

    let mut check = Fragment::strict(INHERITED);
    let mut outcome = push(&mut check, b"<a b='");
    for _ in 0..300 {
        outcome = outcome.and_then(|()| push(&mut check, &[b'x'; 4096]));
    }
    assert_eq!(outcome, Err(Fault::Limit { what: "bytes in a tag", limit: STRICT.tag }.at(0)));

    let mut check = Fragment::strict(INHERITED);
    let uri = "u".repeat(1000);
    let mut outcome = Ok(());
    for index in 0..2000 {
        outcome = outcome.and_then(|()| push(&mut check, format!("<a xmlns:n{index}='{uri}'>").as_bytes()));
    }
    assert!(matches!(outcome, Err(ReadError { fault: Fault::Limit { what: "namespace declarations", .. }, .. })));
    assert!(check.held() < STRICT.tag);

    let long = format!("<a xmlns='{uri}{uri}'/>");
    let limit = Fault::Limit { what: "bytes in a namespace", limit: LONGEST_NAMESPACE };
    assert_eq!(verdict(long.as_bytes()), Err(limit.at(0)));

    let mut check = Fragment::strict(INHERITED);
    let mut outcome = push(&mut check, b"<a>");
    for _ in 0..300 {
        outcome = outcome.and_then(|()| push(&mut check, &[b'x'; 65536]));
    }
    assert_eq!(outcome.and_then(|()| push(&mut check, b"</a>")), Ok(()));
    assert!(check.held() < 1024);
}

const FRAGMENTS: &[&[u8]] = &[
    b"<a>",
    b"</a>",
    b"<p:b ",
    b"c='",
    b"'",
    b"/>",
    b">",
    b"<",
    b"xmlns:p='urn:x'",
    b"<!--",
    b"--",
    b"-->",
    b"<?",
    b"?>",
    b"<![CDATA[",
    b"]]",
    b"]]>",
    b"&amp;",
    b"&",
    b";",
    b"&#0;",
    b"\0",
    b"\xc3",
    b"\xa9",
    b"\xef\xbf",
    b"\xbf",
    b" ",
    b"x",
    b"!",
];

proptest! {
    #[test]
    fn cuts_do_not_matter(element in vec(select(FRAGMENTS), 0..16)) {
        let _ = verdict(&element.concat());
    }

    /// A response with an element that passes is read, and returns the element.
    #[test]
    fn whatever_passes_is_read_in_a_response(element in vec(select(FRAGMENTS), 0..12)) {
        let element = [b"<a>", element.concat().as_slice(), b"</a>"].concat();
        if verdict(&element).is_ok() {
            let open = b"<o:OAI-PMH xmlns:o='http://www.openarchives.org/OAI/2.0/' xmlns='urn:d' xmlns:p='urn:p' xmlns:q='urn:p'>\
                <o:GetRecord><o:record><o:metadata>";
            let close = b"</o:metadata></o:record></o:GetRecord></o:OAI-PMH>";
            let response = [&open[..], &element, close].concat();
            let (mut reader, mut part) = (Reader::default(), Vec::new());
            let outcome = reader.push(&response, &mut |event| {
                if let Event::PartBytes(bytes) = event {
                    part.extend_from_slice(bytes);
                }
            });
            prop_assert_eq!(outcome.and_then(|()| reader.finish()), Ok(()));
            prop_assert_eq!(part, element);
        }
    }
}
