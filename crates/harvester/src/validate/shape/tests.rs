//! Tests of single responses against XML and the schemas.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::mend::PartCheck;

fn answer(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"\
         http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\">\
         <responseDate>2024-01-01T00:00:00Z</responseDate><request>http://a.example.org/</request>{content}</OAI-PMH>"
    )
}

#[track_caller]
fn finds(text: &str, expected: &[(Kind, &str)]) {
    let found = inspect(text.as_bytes());
    let told: Vec<_> = found.iter().map(|it| (it.kind, it.message.as_str())).collect();
    assert_eq!(told, expected, "{text}");
    for deviation in &found {
        let at = usize::try_from(deviation.excerpt.offset).expect("small");
        assert!(at <= text.len(), "{deviation:?}");
    }
}

#[test]
fn what_is_right_has_no_deviation() {
    finds(&answer("<error code=\"badVerb\">no</error><error code=\"badArgument\"/>"), &[]);
    finds(&answer("<!-- a comment --><ListSets><set><setSpec>a:b</setSpec><setName/></set></ListSets>"), &[]);
    finds(&format!("\u{feff}{}", answer("<error code=\"badVerb\">&#233;&lt;<![CDATA[<&]]></error>")), &[]);
}

#[test]
fn order_and_number_of_elements_are_those_of_the_schema() {
    let structure = |message| [(Kind::Structure, message)];
    finds(
        &answer(
            "<ListIdentifiers><header><datestamp>2024-01-01</datestamp><identifier>a:b</identifier></header></ListIdentifiers>",
        ),
        &[
            (Kind::Structure, "'header' has no 'identifier' before 'datestamp'"),
            (Kind::Structure, "'identifier' in 'header' is out of order"),
        ],
    );
    finds(&answer("<ListRecords></ListRecords>"), &structure("'ListRecords' has no 'record'"));
    finds(&answer("<ListSets><set><setSpec>a</setSpec></set></ListSets>"), &structure("'set' has no 'setName'"));
    finds(
        &answer("<error code=\"badVerb\"/><Identify/>")
            .replace("<Identify/>", "<ListSets><set><setSpec>a</setSpec><setName/></set></ListSets>"),
        &structure("'ListSets' is not allowed next to the other content of 'OAI-PMH'"),
    );
    let set = "<set><setSpec>a</setSpec><setName/></set>";
    finds(
        &answer(&format!("<ListSets>{set}<resumptionToken/><resumptionToken/></ListSets>")),
        &structure("'ListSets' has more than 1 'resumptionToken'"),
    );
    finds(
        &answer(&format!("<ListSets>{set}<folder xmlns=\"urn:x\"><anything/></folder></ListSets>")),
        &structure("'ListSets' contains 'folder' (namespace 'urn:x'), which is not allowed there"),
    );
    finds(&answer("hello<error code=\"badVerb\"/>"), &structure("'OAI-PMH' contains text"));
}

#[test]
fn texts_and_attributes_have_the_forms_of_the_schema() {
    let value = |message| [(Kind::Value, message)];
    finds(
        &answer("<error code=\"oops\"/>"),
        &value("the attribute 'code' of 'error' is 'oops', not one of the eight error codes"),
    );
    finds(&answer("<error/>"), &value("'error' has no attribute 'code'"));
    finds(
        &answer("<error lang=\"en\" code=\"badVerb\"/>"),
        &value("'error' has an attribute 'lang' that the schema does not define"),
    );
    let found =
        inspect(answer("<ListSets><set><setSpec>image/svg+xml</setSpec><setName/></set></ListSets>").as_bytes());
    assert_eq!((found.len(), found[0].kind, found[0].element), (1, Kind::Value, "setSpec"));
    assert!(found[0].excerpt.text.starts_with("<setSpec>image/svg+xml</setSpec>"));
}

#[test]
fn containers_hold_one_foreign_element() {
    let record = |metadata: &str| {
        let header = "<header><identifier>a:b</identifier><datestamp>2024-01-01</datestamp></header>";
        answer(&format!("<GetRecord><record>{header}<metadata>{metadata}</metadata></record></GetRecord>"))
    };
    let located = "xmlns=\"urn:x\" xsi:schemaLocation=\"urn:x x.xsd\"";
    finds(&record(&format!("<x {located}><y a=\"b\">z</y></x>")), &[]);
    finds(&record(""), &[(Kind::Container, "'metadata' contains 0 elements, not one")]);
    finds(
        &record("<x xmlns=\"urn:x\"/>"),
        &[(Kind::Location, "the metadata has no xsi:schemaLocation for its namespace 'urn:x'")],
    );
    finds(
        &record(&format!("<x {located}/><x {located}/>")),
        &[(Kind::Container, "'metadata' contains 2 elements, not one")],
    );
    let found = inspect(record("<dc>text</dc>").as_bytes());
    assert_eq!(found[0].message, "'metadata' contains 'dc', which must be in another namespace");
}

#[test]
fn what_is_not_xml_is_told_with_its_place() {
    for (text, said, offset) in [
        ("<html><body>", "the root element is 'html' in the namespace ''", 0),
        ("", "the XML declaration is missing", 0),
    ] {
        let found = inspect(text.as_bytes());
        let it = found.iter().find(|it| it.message == said).unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!(it.excerpt.offset, offset);
    }
    for (content, said) in [
        ("<error code=\"badVerb\">&eacute;</error>", "the entity '&eacute;' is not defined"),
        ("<error code=\"badVerb\">&#0;</error>", "'&#0;' is not a character or entity reference"),
        ("<error code=\"badVerb\">]]></error>", "XML is not well-formed: ']]>' in text"),
        ("<error code=\"bad\"Verb\"/>", "the response is truncated inside 'OAI-PMH'"),
        ("<x:error code=\"badVerb\"/>", "the namespace prefix 'x' is not declared"),
        ("<error code=\"badVerb\">", "'error' is closed as 'OAI-PMH'"),
    ] {
        let found = inspect(answer(content).as_bytes());
        let told: Vec<_> = found.iter().filter(|it| it.kind == Kind::IllFormed).collect();
        assert!(told.iter().any(|it| it.message.starts_with(said)), "{content}: {found:?}");
    }
    let found = inspect(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a>\xff</a>");
    assert_eq!((found[0].kind, found[0].excerpt.offset), (Kind::Encoding, 42));
    assert_eq!(found[0].excerpt.text, "\\xFF</a>");
    let found = inspect(answer("<error code=\"badVerb\"/>").replace("UTF-8", "ISO-8859-1").as_bytes());
    assert_eq!(found[0].message, "the XML declaration has version '1.0' and encoding 'ISO-8859-1'");
}

#[test]
fn nothing_makes_it_panic_or_tell_without_end() {
    let whole = answer("<ListSets><set><setSpec>a</setSpec><setName>é</setName></set></ListSets>");
    for end in 0..whole.len() {
        inspect(&whole.as_bytes()[..end]);
    }
    let many = answer(&"<x/>".repeat(1000));
    assert_eq!(inspect(many.as_bytes()).len(), MOST);
}

#[test]
fn many_of_one_kind_hide_none_of_another() {
    let record = |text: &str| {
        let header = "<header><identifier>oai:a.b:1</identifier><datestamp>2024-01-01</datestamp></header>";
        format!("<record>{header}<metadata><a xmlns=\"urn:a\">{text}</a></metadata></record>")
    };
    let records = record("").repeat(60);
    let text = answer(&format!("<ListRecords>{records}{}<x/></ListRecords>", record("&nbsp;")));
    let found = inspect(text.as_bytes());
    let count = |kind| found.iter().filter(|it| it.kind == kind).count();
    let counts = [count(Kind::Location), count(Kind::IllFormed), count(Kind::Structure)];
    assert_eq!(counts, [MOST, 1, 1], "{:?}", found.last());
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
    fn metadata_is_well_formed_exactly_if_the_aggregator_accepts_it(pieces in vec(select(PIECES), 0..8)) {
        let element = format!("<a xmlns='urn:a' xmlns:p='urn:p'>{}</a>", pieces.concat());
        let record = "<header><identifier>a:b</identifier><datestamp>2024-01-01</datestamp></header>";
        let response =
            answer(&format!("<GetRecord><record>{record}<metadata>{element}</metadata></record></GetRecord>"));
        let is_xml = |it: &Deviation| !matches!(it.kind, Kind::IllFormed | Kind::Character | Kind::Declaration);
        let accepted = inspect(response.as_bytes()).iter().all(is_xml);
        let checked = PartCheck::whole(element.as_bytes(), &[]);
        prop_assert_eq!(accepted, checked.is_ok(), "{}: {:?}", element, checked);
    }
}
