//! Tests of valid and invalid elements, and that the result does not depend on the cuts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const INHERITED: &[(&str, &str)] = &[("", "urn:d"), ("p", "urn:p"), ("q", "urn:p")];

/// Returns the result, which must be the same for all sizes of pieces.
fn verdict(element: &[u8]) -> Result<(), Offence> {
    let whole = PartCheck::whole(element, INHERITED);
    for size in [1, 2, 3, 5] {
        let mut check = PartCheck::new(INHERITED);
        let outcome = element.chunks(size).try_for_each(|piece| check.push(piece)).and_then(|()| check.finish());
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
fn what_is_not_is_told_with_its_place() {
    use Wrong::{Character, IllFormed, Incomplete, Name, Prefix, Reference, Repeated};
    let declaration = "an invalid namespace declaration";
    let cases: &[(&str, u64, Wrong)] = &[
        ("<a>\0</a>", 3, Character(0)),
        ("<a b='\u{ffff}'/>", 6, Character(0xffff)),
        ("<a>\u{fffe}</a>", 3, Character(0xfffe)),
        ("<a>AT&T</a>", 5, Reference("&T".into())),
        ("<a>x&nbsp;</a>", 4, Reference("&nbsp;".into())),
        ("<a>&#xD800;</a>", 3, Reference("&#xD800;".into())),
        ("<a>&#X41;</a>", 3, Reference("&#X41;".into())),
        ("<a b='&'/>", 0, Reference("&".into())),
        ("<a>]]></a>", 5, IllFormed("']]>' in text")),
        ("<a>< b</a>", 3, IllFormed("'<' does not start a tag")),
        ("<a b='<'/>", 0, IllFormed("'<' in an attribute value")),
        ("<a b/>", 0, IllFormed("an attribute without a value")),
        ("<a b=1/>", 0, IllFormed("an unquoted attribute value")),
        ("<a b='1'c='2'/>", 0, IllFormed("no whitespace between attributes")),
        ("<a b='1' b='2'/>", 0, Repeated("b".into())),
        ("<a p:b='1' q:b='2'/>", 0, Repeated("b".into())),
        ("<a xmlns:n='u' xmlns:n='v'/>", 0, Repeated("n".into())),
        ("<a><x:b/></a>", 3, Prefix("x".into())),
        ("<a x:b='1'/>", 0, Prefix("x".into())),
        ("<a xmlns:p=''/>", 0, IllFormed(declaration)),
        ("<a xmlns:xmlns='u'/>", 0, IllFormed(declaration)),
        ("<a xmlns:y='http://www.w3.org/XML/1998/namespace'/>", 0, IllFormed(declaration)),
        ("<a><n:b xmlns:n='u'/><n:c/></a>", 21, Prefix("n".into())),
        ("<xmlns:a/>", 0, Prefix("xmlns".into())),
        ("<a:b:c/>", 0, Name("a:b:c".into())),
        ("<:a/>", 0, Name(":a".into())),
        ("<a×/>", 0, Name("a×".into())),
        ("<a -b='1'/>", 0, Name("-b".into())),
        ("<a></b>", 3, Wrong::Mismatch { open: "a".into(), close: "b".into() }),
        ("</a>", 0, Wrong::Mismatch { open: String::new(), close: "a".into() }),
        ("<a></a b='1'>", 3, Wrong::Mismatch { open: "a".into(), close: "a b='1'".into() }),
        ("<a><!-- -- --></a>", 3, IllFormed("'--' inside a comment")),
        ("<a><!-- a ---></a>", 3, IllFormed("'--' inside a comment")),
        ("<a><?xml version='1.0'?></a>", 3, Name("xml".into())),
        ("<a><??></a>", 3, Name(String::new())),
        ("<a><?p?q?></a>", 3, IllFormed("a processing instruction without a name")),
        ("<!DOCTYPE a><a/>", 0, IllFormed("a document type declaration")),
        ("<!-- --><a/>", 4, IllFormed("content before the root element")),
        ("x<a/>", 0, IllFormed("content before the root element")),
        ("<a/> ", 4, IllFormed("content after the root element")),
        ("<a/><b/>", 4, IllFormed("content after the root element")),
        ("<a><b></b>", 10, Incomplete),
        ("<a", 2, Incomplete),
        ("", 0, Incomplete),
    ];
    for (element, offset, wrong) in cases {
        assert_eq!(verdict(element.as_bytes()), Err(wrong.clone().at(*offset)), "{element}");
    }
    assert_eq!(verdict(b"<a>x\xe9</a>"), Err(Wrong::NotUtf8.at(4)));
    assert_eq!(verdict(b"<a>\xed\xa0\xb4</a>"), Err(Wrong::NotUtf8.at(3)));
    assert_eq!(verdict(b"<a/>\xc3"), Err(Wrong::NotUtf8.at(4)));
}

#[test]
fn memory_is_bounded() {
    let mut check = PartCheck::new(INHERITED);
    let mut outcome = check.push(b"<a>");
    for _ in 0..2000 {
        outcome = outcome.and_then(|()| check.push(b"<b>"));
    }
    assert_eq!(outcome, Err(Wrong::Limit { what: "open elements", limit: 1024 }.at(3 + 3 * 1023)));

    let mut check = PartCheck::new(INHERITED);
    let mut outcome = check.push(b"<a b='");
    for _ in 0..300 {
        outcome = outcome.and_then(|()| check.push(&[b'x'; 4096]));
    }
    assert_eq!(outcome, Err(Wrong::Limit { what: "bytes in a tag", limit: LONGEST }.at(0)));

    let mut check = PartCheck::new(INHERITED);
    let uri = "u".repeat(1000);
    let mut outcome = Ok(());
    for index in 0..2000 {
        outcome = outcome.and_then(|()| check.push(format!("<a xmlns:n{index}='{uri}'>").as_bytes()));
    }
    assert!(matches!(outcome, Err(Offence { wrong: Wrong::Limit { what: "namespace declarations", .. }, .. })));
    assert!(check.held() < 4 * LONGEST);

    let mut check = PartCheck::new(INHERITED);
    let mut outcome = check.push(b"<a>");
    for _ in 0..300 {
        outcome = outcome.and_then(|()| check.push(&[b'x'; 65536]));
    }
    assert_eq!(outcome.and_then(|()| check.push(b"</a>")), Ok(()));
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

    /// Another parser, which does not check characters and names, agrees on everything else.
    #[test]
    fn what_passes_is_well_formed(element in vec(select(FRAGMENTS), 0..12)) {
        let element = [b"<a>", element.concat().as_slice(), b"</a>"].concat();
        if verdict(&element).is_ok() {
            let mut reader = quick_xml::Reader::from_reader(element.as_slice());
            reader.config_mut().check_comments = true;
            loop {
                match reader.read_event() {
                    Ok(quick_xml::events::Event::Eof) => break,
                    event => prop_assert!(event.is_ok(), "{:?}", event),
                }
            }
        }
    }
}
