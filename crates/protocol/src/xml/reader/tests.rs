//! Tests of the reader with valid and invalid responses. A property test in `tests/main.rs` of this crate checks that
//! the result does not depend on the sizes of the pieces.

use super::*;

const OPEN: &str = r#"<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">"#;

/// Returns the events of a complete response, one per line, and the outcome.
fn read(answer: impl AsRef<[u8]>) -> (Vec<String>, Result<(), Fault>) {
    let mut events = Vec::new();
    let mut reader = Reader::default();
    let mut sink = |event: Event<'_>| {
        events.push(match event {
            Event::PartBytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            event => format!("{event:?}"),
        });
    };
    let outcome = reader.push(answer.as_ref(), &mut sink).and_then(|()| reader.finish());
    (events, outcome.map_err(|error| error.fault))
}

/// Returns the events of a valid response with this content of the root element.
fn events(inside: &str) -> Vec<String> {
    let (events, outcome) = read(format!("{OPEN}{inside}</OAI-PMH>"));
    assert_eq!(outcome, Ok(()), "{inside}");
    events
}

fn fault(answer: impl AsRef<[u8]>) -> Fault {
    read(answer).1.expect_err("a fault")
}

#[test]
fn the_envelope_and_errors() {
    let inside = "<responseDate>2002-02-08T12:00:01Z</responseDate>\
        <request verb=\"GetRecord\" identifier='a&quot;b' xml:lang='en'>http://a/?x=1&amp;y</request>\
        <error code='idDoesNotExist'>no <![CDATA[<b> & ]]]]><!-- - -- -->such</error><error/>";
    assert_eq!(
        events(inside),
        [
            r#"ResponseDate("2002-02-08T12:00:01Z")"#,
            r#"Request { url: "http://a/?x=1&y", arguments: [("verb", "GetRecord"), ("identifier", "a\"b")] }"#,
            r#"Error { code: "idDoesNotExist", message: "no <b> & ]]such" }"#,
            r#"Error { code: "", message: "" }"#,
        ]
    );
}

#[test]
fn identify_formats_and_sets() {
    let inside = "<Identify><repositoryName>R</repositoryName><adminEmail>a@b.c</adminEmail>\
        <description><x xmlns='urn:x'>1</x></description></Identify>\
        <ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix><schema>s</schema>\
        <metadataNamespace>n</metadataNamespace></metadataFormat></ListMetadataFormats>\
        <ListSets><set><setSpec>a:b</setSpec><setName>A &lt; B</setName><setDescription><d/></setDescription></set>\
        <set><setSpec>c</setSpec></set></ListSets>";
    let inherited = r#"namespaces: [("", "http://www.openarchives.org/OAI/2.0/")]"#;
    assert_eq!(
        events(inside),
        [
            "Verb(Identify)",
            r#"Identify { name: "repositoryName", text: "R" }"#,
            r#"Identify { name: "adminEmail", text: "a@b.c" }"#,
            "PartStart { kind: Description, namespaces: [] }",
            "<x xmlns='urn:x'>1</x>",
            "PartEnd",
            "Verb(ListMetadataFormats)",
            r#"Format { prefix: "oai_dc", schema: "s", namespace: "n" }"#,
            "Verb(ListSets)",
            &format!("PartStart {{ kind: SetDescription, {inherited} }}"),
            "<d/>",
            "PartEnd",
            r#"Set { spec: "a:b", name: "A < B" }"#,
            r#"Set { spec: "c", name: "" }"#,
        ]
    );
}

#[test]
fn records_headers_and_tokens() {
    let inside = "<ListRecords><record><header><identifier>1</identifier><datestamp>2001</datestamp>\
        <setSpec>a</setSpec><setSpec>b:c</setSpec></header><metadata>\n <m a='>'>&nbsp;<m/><![CDATA[</m>]]>\
        <!--</m>--><?x </m>?></m ></metadata><about><r/></about></record>\
        <record><header status='deleted'><identifier>2</identifier></header></record>\
        <resumptionToken cursor='0' completeListSize='9' expirationDate='2003'>t</resumptionToken></ListRecords>\
        <ListIdentifiers><header><identifier>3</identifier></header><resumptionToken/></ListIdentifiers>";
    let inherited = r#"namespaces: [("", "http://www.openarchives.org/OAI/2.0/")]"#;
    assert_eq!(
        events(inside),
        [
            "Verb(ListRecords)",
            "RecordStart",
            r#"Header { identifier: "1", datestamp: "2001", sets: ["a", "b:c"], deleted: false }"#,
            &format!("PartStart {{ kind: Metadata, {inherited} }}"),
            "<m a='>'>&nbsp;<m/><![CDATA[</m>]]><!--</m>--><?x </m>?></m >",
            "PartEnd",
            &format!("PartStart {{ kind: About, {inherited} }}"),
            "<r/>",
            "PartEnd",
            "RecordEnd",
            "RecordStart",
            r#"Header { identifier: "2", datestamp: "", sets: [], deleted: true }"#,
            "RecordEnd",
            r#"Token { value: "t", cursor: Some("0"), size: Some("9"), expiration: Some("2003") }"#,
            "Verb(ListIdentifiers)",
            r#"Header { identifier: "3", datestamp: "", sets: [], deleted: false }"#,
            r#"Token { value: "", cursor: None, size: None, expiration: None }"#,
        ]
    );
}

#[test]
fn elements_are_known_by_namespace_whatever_the_prefix() {
    let answer = "<o:OAI-PMH xmlns:o='http://www.openarchives.org/OAI/2.0/' xmlns='urn:d' xmlns:x='urn:x'>\
        <o:GetRecord><o:record xmlns:y='urn:y'><o:header xmlns:p='http://www.openarchives.org/OAI/2.0/'>\
        <p:identifier>1</p:identifier></o:header><o:metadata xmlns=''><m xmlns:x='urn:x2'/></o:metadata></o:record>\
        </o:GetRecord><GetRecord/><error xmlns='http://www.openarchives.org/OAI/2.0/' code='c'/></o:OAI-PMH>";
    let (events, outcome) = read(answer);
    assert_eq!(outcome, Ok(()));
    assert_eq!(
        events,
        [
            "Verb(GetRecord)",
            "RecordStart",
            r#"Header { identifier: "1", datestamp: "", sets: [], deleted: false }"#,
            // The default namespace was undeclared, and the fragment declares x itself.
            r#"PartStart { kind: Metadata, namespaces: [("o", "http://www.openarchives.org/OAI/2.0/"), ("y", "urn:y")] }"#,
            "<m xmlns:x='urn:x2'/>",
            "PartEnd",
            "RecordEnd",
            r#"Stray("GetRecord")"#,
            r#"Error { code: "c", message: "" }"#,
        ]
    );
}

#[test]
fn what_does_not_belong_is_named_and_skipped() {
    let inside = "x y<junk><error/></junk><ListRecords><header/><record><metadata>text<a/><b/></metadata>\
        <header><identifier>1<b>x</b>2</identifier><identifier>3</identifier></header></record></ListRecords>";
    let inherited = r#"namespaces: [("", "http://www.openarchives.org/OAI/2.0/")]"#;
    assert_eq!(
        events(inside),
        [
            r##"Stray("#text")"##,
            r#"Stray("junk")"#,
            "Verb(ListRecords)",
            r#"Stray("header")"#,
            "RecordStart",
            r##"Stray("#text")"##,
            &format!("PartStart {{ kind: Metadata, {inherited} }}"),
            "<a/>",
            "PartEnd",
            &format!("PartStart {{ kind: Metadata, {inherited} }}"),
            "<b/>",
            "PartEnd",
            r#"Stray("b")"#,
            r#"Stray("identifier")"#,
            r#"Header { identifier: "12", datestamp: "", sets: [], deleted: false }"#,
            "RecordEnd",
        ]
    );
}

#[test]
fn prologue_and_epilogue() {
    let declared = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";
    for before in [
        declared,
        &format!("\u{feff}{declared}"),
        &format!("{declared}<!DOCTYPE OAI-PMH SYSTEM \"a[>b\"><?xml-stylesheet href='x'?><!---->\n"),
        "",
    ] {
        assert_eq!(read(format!("{before}{OPEN}</OAI-PMH>\n<!-- x --><?y?><?>?>\n")), (vec![], Ok(())), "{before}");
    }
    assert_eq!(read(format!("\n{declared}{OPEN}</OAI-PMH>")), (vec![r#"Stray("?xml")"#.to_owned()], Ok(())));
    assert_eq!(
        fault(format!("<?xml version='1.0' encoding='ISO-8859-1'?>{OPEN}</OAI-PMH>")),
        Fault::Encoding { name: "ISO-8859-1".to_owned() }
    );
    assert_eq!(fault(b"\xff\xfe<\0"), Fault::Encoding { name: "UTF-16".to_owned() });
    let bomb = format!("<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>{OPEN}<error>&b;</error></OAI-PMH>");
    assert_eq!(fault(bomb), Fault::InternalSubset);
    for after in ["x", "<a/>", OPEN, "\u{feff}"] {
        assert_eq!(fault(format!("{OPEN}</OAI-PMH>{after}")), Fault::Trailing, "{after}");
    }
}

#[test]
fn what_is_no_answer_is_called_by_its_name() {
    let not_oai = |name: &str| Fault::NotOai { name: name.to_owned() };
    for (answer, expected) in [
        ("", Fault::Empty),
        ("\u{feff} \n", Fault::Empty),
        ("{\"error\": 1}", Fault::NotXml { found: "JSON" }),
        ("\x1f\u{8b}", Fault::NotXml { found: "compressed" }),
        ("Service unavailable", Fault::NotXml { found: "plain text" }),
        ("<!doctype html>\n<html lang=en><body>", not_oai("html")),
        ("<br />\n<b>Warning</b>", not_oai("br")),
        ("<feed xmlns='http://www.w3.org/2005/Atom'/>", not_oai("feed")),
        ("<OAI-PMH/>", Fault::Namespace { found: String::new() }),
        ("<OAI-PMH xmlns='urn:x'/>", Fault::Namespace { found: "urn:x".to_owned() }),
        ("<o:OAI-PMH/>", Fault::Prefix { prefix: "o".to_owned() }),
    ] {
        assert_eq!(fault(answer), expected, "{answer}");
    }
}

#[test]
fn an_answer_cut_short_anywhere_is_not_taken_for_whole() {
    let whole = format!(
        "{OPEN}<GetRecord><record><metadata><a b='c'><![CDATA[x]]></a></metadata></record></GetRecord></OAI-PMH>"
    );
    for length in 1..whole.len() {
        assert!(matches!(fault(&whole[..length]), Fault::Truncated { .. }), "{}", &whole[..length]);
    }
    assert_eq!(fault(format!("{OPEN}<error>")), Fault::Truncated { open: "error".to_owned() });
}

#[test]
fn ill_formed_answers_are_refused_also_inside_metadata() {
    let mismatch = |open: &str, close: &str| Fault::Mismatch { open: open.to_owned(), close: close.to_owned() };
    let metadata = "<GetRecord><record><metadata>";
    for (inside, expected) in [
        ("</error>".to_owned(), mismatch("OAI-PMH", "error")),
        (format!("{metadata}<a><b></a>"), mismatch("b", "a")),
        (format!("{metadata}<a></metadata>"), mismatch("a", "metadata")),
        (format!("{metadata}<a <b>"), Fault::IllFormed { what: "'<' inside a tag" }),
        (format!("{metadata}<a b=c>"), Fault::IllFormed { what: "an unquoted attribute value" }),
        (format!("{metadata}<a>< b"), Fault::IllFormed { what: "'<' is not followed by a name" }),
        ("<error>&nbsp;</error>".to_owned(), Fault::Entity { name: "nbsp".to_owned() }),
        ("<error>AT&T</error>".to_owned(), Fault::Reference { text: "&T".to_owned() }),
        ("<error>&am<!-- -->p;</error>".to_owned(), Fault::Reference { text: "&am".to_owned() }),
        ("<x:y/>".to_owned(), Fault::Prefix { prefix: "x".to_owned() }),
    ] {
        assert_eq!(fault(format!("{OPEN}{inside}</OAI-PMH>")), expected, "{inside}");
    }
    let latin = [OPEN.as_bytes(), b"<error>caf\xe9</error>"].concat();
    let mut reader = Reader::default();
    let error = reader.push(&latin, &mut |_| {}).expect_err("not UTF-8");
    assert_eq!(error.fault, Fault::NotUtf8 { element: "error".to_owned() });
    assert_eq!(latin[usize::try_from(error.offset).expect("small")], 0xe9);
    assert_eq!(reader.push(b"", &mut |_| {}), Err(error), "an error stays");
}

#[test]
fn foreign_bytes_pass_through_in_any_encoding() {
    let answer = [
        OPEN.as_bytes(),
        b"<Identify><description><\xe9 a='\xe9&b;'>\xff\xfe\0</\xe9></description></Identify></OAI-PMH>",
    ]
    .concat();
    let mut part = Vec::new();
    let mut reader = Reader::default();
    let mut sink = |event: Event<'_>| {
        if let Event::PartBytes(bytes) = event {
            part.extend_from_slice(bytes);
        }
    };
    reader.push(&answer, &mut sink).expect("the bytes are the caller's affair");
    reader.finish().expect("whole");
    assert_eq!(part, b"<\xe9 a='\xe9&b;'>\xff\xfe\0</\xe9>");
}

#[test]
fn every_limit_is_a_named_error() {
    let limits = Limits { tag: 100, text: 50, depth: 10, namespaces: 3 };
    let declarations = "<a xmlns:a='1' xmlns:b='2' xmlns:c='3'/>";
    for (inside, what) in [
        (format!("<junk a='{}'/>", "x".repeat(100)), "bytes in a tag"),
        (format!("<!DOCTYPE {}>", "x".repeat(100)), "bytes in a tag"),
        (format!("<?x {}?>", "x".repeat(100)), "bytes in a tag"),
        (format!("<error>{}", "x".repeat(51)), "bytes of text"),
        (format!("<ListIdentifiers><header>{}", "<setSpec/>".repeat(3)), "bytes of text"),
        ("<a>".repeat(10), "open elements"),
        (format!("<a{0}><a{0}>", "a".repeat(60)), "bytes in names of open elements"),
        (declarations.to_owned(), "namespace declarations"),
    ] {
        let answer = format!("{OPEN}{inside}");
        for size in [1, answer.len()] {
            let mut reader = Reader::new(limits);
            let error = answer
                .as_bytes()
                .chunks(size)
                .try_for_each(|piece| reader.push(piece, &mut |_| {}))
                .expect_err(&answer);
            assert!(matches!(error.fault, Fault::Limit { what: found, .. } if found == what), "{error}");
        }
    }
}

#[test]
fn nesting_is_followed_to_the_limit() {
    let depth = Limits::default().depth - 3;
    let answer = format!("{OPEN}<Identify><description>{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert_eq!(read(answer + "</description></Identify></OAI-PMH>").1, Ok(()));
}

#[test]
fn a_huge_record_streams_through_in_slices_of_what_is_pushed() {
    const PIECE: usize = 1024 * 1024;
    let mut reader = Reader::default();
    let head = format!("{OPEN}<GetRecord><record><metadata><data>");
    reader.push(head.as_bytes(), &mut |_| {}).expect("well-formed");
    let piece = vec![b'A'; PIECE];
    for _ in 0..64 {
        let mut seen = 0;
        reader
            .push(&piece, &mut |event| match event {
                Event::PartBytes(bytes) => {
                    assert!(std::ptr::eq(bytes, piece.as_slice()), "copied");
                    seen += bytes.len();
                }
                event => panic!("{event:?}"),
            })
            .expect("well-formed");
        assert_eq!(seen, PIECE);
        assert!(reader.held() < 10_000, "{} bytes held", reader.held());
    }
}
