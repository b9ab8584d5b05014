//! Properties of every response: a valid one is unchanged, cuts have no effect, and a repaired one can be parsed.

use modoai_protocol::xml::is_legal;
use modoai_protocol::xml::reader::{Fault, Limits, Reader};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// A response with an example of everything that is legal and that the parser accepts.
const FINE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- <OAI-PMH> &nbsp; --><!DOCTYPE OAI-PMH SYSTEM "x"><?style <?xml & ?>
<o:OAI-PMH xmlns:o="http://www.openarchives.org/OAI/2.0/" xmlns="http://www.openarchives.org/OAI/2.0/">
<responseDate>2002-02-08T12:00:01Z</responseDate><request verb="ListRecords" set='a"b'>http://a/?x&amp;&#x79;</request>
<ListRecords><record><header><identifier>é𝄞</identifier><setSpec>a</setSpec></header>
<metadata><m xmlns='urn:m' a=">&#9;"><OAI-PMH/><n/>&lt;<![CDATA[]] &nbsp; </o:OAI-PMH>]]><!-- - & ]]> --><?p ?x?>é€</m ></metadata>
</record><resumptionToken cursor="0">t</resumptionToken></ListRecords>
</o:OAI-PMH>
<!-- end --><?p?>
"#;

/// Fragments that make responses invalid.
const FRAGMENTS: &[&[u8]] = &[
    b"<?xml version='1.0' encoding='ISO-8859-1'?>",
    b"<?xml version='1.0' encoding='UTF-16'?>",
    b"<?xml ",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
    b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>",
    b"</OAI-PMH>",
    b"<error a='&",
    b"'>",
    b"</error>",
    b"<br/>",
    b"<",
    b">",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"<?p",
    b"?>",
    b"&",
    b"&nbsp;",
    b"&#xD834;",
    b"&#xDD1E;",
    b"&#0;",
    b";",
    b"\0",
    b"\x0b",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xef\xbf\xbf",
    b"\xed\xa0\xb4",
    b"\xed\xb4\x9e",
    b"\xe9",
    b"\xc3\xa9",
    b"[",
    b" ",
    b"text",
];

fn broken() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => select(FRAGMENTS).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 0..6),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn remedies() -> impl Strategy<Value = Remedies> {
    let each = [Remedies::ENCODING, Remedies::AROUND, Remedies::DOCTYPE, Remedies::CHARACTERS, Remedies::REFERENCES];
    proptest::sample::subsequence(each.to_vec(), 0..=each.len())
        .prop_map(|some| some.into_iter().fold(Remedies::default(), Remedies::union))
}

fn charset() -> impl Strategy<Value = Option<&'static str>> {
    select(vec![None, Some("utf-8"), Some("iso-8859-1"), Some("gbk"), Some("iso-2022-jp"), Some("x")])
}

type Outcome = (Vec<u8>, Vec<(&'static str, u64)>);

fn mend<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, remedies: Remedies, charset: Option<&str>) -> Outcome {
    let mut mended = Vec::new();
    let mut mender = Mender::new(remedies, charset);
    for piece in pieces {
        mender.push(piece, &mut |bytes| mended.extend_from_slice(bytes));
    }
    mender.finish(&mut |bytes| mended.extend_from_slice(bytes));
    (mended, mender.repairs().into_iter().map(|(quirk, count)| (quirk.name, count)).collect())
}

fn fault(answer: &[u8]) -> Option<Fault> {
    let mut reader = Reader::new(Limits::default());
    let outcome = reader.push(answer, &mut |_| {}).and_then(|()| reader.finish());
    outcome.err().map(|error| error.fault)
}

#[test]
fn the_fine_answer_is_fine() {
    assert_eq!(fault(FINE.as_bytes()), None);
}

/// The sequence for a page: it is parsed, and after an error parsed again with repairs, as long as there are further
/// ones.
#[test]
fn broken_answers_become_readable() {
    let open = "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>";
    let inside = |text: &str| format!("{open}<error code='x'>{text}</error></OAI-PMH>");
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let answers: &[(Vec<u8>, &[&str])] = &[
        (inside("a & b &nbsp; &#0;").into_bytes(), &["ampersands", "control-characters"]),
        (format!("<b>Notice</b>: x {} trailer", inside("&nbsp;")).into_bytes(), &["junk-around", "ampersands"]),
        (format!("<!DOCTYPE x [<!ENTITY a 'b'>]>{}", inside("&a;")).into_bytes(), &["document-type", "ampersands"]),
        (
            format!("x<?xml version='1.0' encoding='latin1'?>{}", inside("é&")).chars().map(|c| c as u8).collect(),
            &["junk-around", "encoding", "ampersands"],
        ),
        (inside("é").chars().map(|c| c as u8).collect(), &["invalid-utf8"]),
        (utf16(&inside("é")), &["encoding"]),
        (utf16(&format!("\u{feff}<?xml version='1.0' encoding='UTF-16'?>{}", inside("é"))), &["encoding"]),
        (inside("&#xD834;&#xDD1E;").into_bytes(), &["surrogates"]),
        (format!("{}<!-- 0.3 s", inside("x")).into_bytes(), &["junk-around"]),
    ];
    for (answer, expected) in answers {
        let mut remedies = Remedies::default();
        let (mut mended, mut repairs) = (answer.clone(), Vec::new());
        while let Some(fault) = fault(&mended) {
            remedies = Remedies::for_fault(&fault, remedies).unwrap_or_else(|| panic!("{fault}: {mended:?}"));
            (mended, repairs) = mend([answer.as_slice()], remedies, None);
        }
        let names: Vec<_> = repairs.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, *expected, "{}", String::from_utf8_lossy(answer));
    }
}

proptest! {
    #[test]
    fn what_is_fine_stays(
        remedies in remedies(), charset in charset(), text in "[ -%'-;=-~é€日𝄞\t\r\n]{0,40}", size in 1_usize..50,
    ) {
        let fine = FINE.replace("é", &text.replace("]]>", ""));
        prop_assert_eq!(mend(fine.as_bytes().chunks(size), remedies, charset), (fine.into_bytes(), vec![]));
    }

    #[test]
    fn cuts_do_not_matter_and_nothing_grows_without_bound(
        answer in broken(), remedies in remedies(), charset in charset(), size in 1_usize..20,
    ) {
        let whole = mend([answer.as_slice()], remedies, charset);
        prop_assert_eq!(&mend(answer.chunks(size), remedies, charset), &whole);
        // An ampersand becomes five bytes; the name of an encoding is written once.
        prop_assert!(whole.0.len() <= 5 * answer.len() + 16);
        prop_assert_eq!(whole.1.is_empty(), whole.0 == answer);
    }

    #[test]
    fn what_xml_cannot_carry_is_gone(inside in broken(), charset in charset()) {
        let answer = [b"<OAI-PMH>", inside.as_slice(), b"</OAI-PMH>"].concat();
        let (mended, _) = mend([answer.as_slice()], Remedies::ALL, charset);
        let text = String::from_utf8(mended);
        prop_assert!(text.is_ok_and(|text| text.chars().all(is_legal)));
    }

    #[test]
    fn what_can_be_read_once_mended_is_fine(inside in broken(), remedies in remedies()) {
        let open = b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>";
        let answer = [open, inside.as_slice(), b"</OAI-PMH>"].concat();
        let (once, _) = mend([answer.as_slice()], remedies, None);
        if fault(&once).is_none() {
            prop_assert_eq!(mend([once.as_slice()], remedies, None), (once, vec![]));
        }
    }
}
