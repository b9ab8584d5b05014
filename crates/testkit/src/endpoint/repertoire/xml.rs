//! Answers that are almost XML.

use super::{Defect, Outcome, VICTIM, is_victim, ordinary_changes, row, swap};
use crate::endpoint::holdings::{Holdings, Record, dublin_core};
use crate::endpoint::script::Script;

/// Stands in holdings for what cannot be a character, until the bytes are made.
const PLACEHOLDER: &str = "\u{fffd}";

pub(super) const DEFECTS: &[Defect] = &[
    row("junk-around", "a notice before the XML", || {
        around(
            b"<br />\n<b>Notice</b>:  Undefined index: from in <b>/var/www/oai.php</b> on line <b>12</b><br />\n",
            b"",
        )
    })
    .told(),
    row("junk-around", "a warning after the XML", || {
        around(b"", b"\n<br />\n<b>Warning</b>:  mysql_close(): 5 is not valid")
    })
    .told(),
    row("junk-around", "both", || around(b"Notice: no session & no user\n\n", b"<!-- 0.2 s --></body></html>")).told(),
    row("junk-around", "blank lines before the XML", || around(b"\n\n  ", b"")),
    row("junk-around", "a byte order mark", || around(b"\xef\xbb\xbf", b"")),
    row("junk-around", "zeros after the XML", || around(b"", b"\0\0\0\0")).told(),
    row("control-characters", "in metadata", || in_metadata(b"form\x0cfeed \x01 \x1b[0m \x00"))
        .or_as(|record| clean(record, &[0x0c, 0x01, 0x1b, 0x00])),
    row("control-characters", "as references in metadata", || in_metadata(b"bell &#7; &#x1F; &#0;"))
        .or_as(|record| replaced(record, &["&#7;", "&#x1F;", "&#0;"])),
    row("control-characters", "U+FFFE and U+FFFF in metadata", || in_metadata("\u{fffe} and \u{ffff}".as_bytes()))
        .or_as(|record| replaced(record, &["\u{fffe}", "\u{ffff}"])),
    row("control-characters", "in an identifier", || in_identifier(b"\x02")).told(),
    row("control-characters", "as references in an identifier", || in_identifier(b"&#2;")).told(),
    row("invalid-utf8", "in metadata", || in_metadata(b"caf\xe9 \xff\xfe \xc3( \xed\xa0\x80"))
        .or_as(|record| windows_1252(&record.metadata)),
    row("invalid-utf8", "in an identifier", || in_identifier(b"\xe9").holding(rename("é"))).told(),
    row("invalid-utf8", "in a set's name", || {
        Script::default().xml(|_, xml| swap(xml, b"Set a:b", b"Set \xe0 la carte"))
    }),
    row("surrogates", "in metadata", || in_metadata(b"bicycle &#xD83D;&#xDEB2; and half &#55357;")).or_as(|record| {
        let text = String::from_utf8_lossy(&record.metadata).into_owned();
        text.replace("&#xD83D;&#xDEB2;", "🚲").replace("&#55357;", PLACEHOLDER).into_bytes()
    }),
    row("surrogates", "a pair in an identifier", || in_identifier(b"&#xD83D;&#xDEB2;").holding(rename("🚲"))).told(),
    row("surrogates", "half a pair in an identifier", || in_identifier(b"&#xD83D;")).told(),
    row("encoding", "UTF-16, little end first", || encoded("UTF-16", |text| utf16(text, u16::to_le_bytes))).told(),
    row("encoding", "UTF-16, big end first", || encoded("UTF-16", |text| utf16(text, u16::to_be_bytes))).told(),
    row("encoding", "Latin-1, declared", || encoded("ISO-8859-1", latin_1).holding(western))
        .meanwhile(western_changes)
        .told(),
    row("encoding", "Latin-1, declared in the Content-Type only", || {
        encoded("UTF-8", latin_1)
            .holding(western)
            .reply(|_, reply| reply.set_header("Content-Type", "text/xml; charset=ISO-8859-1"))
    })
    .meanwhile(western_changes)
    .or_as(|record| latin_1(&String::from_utf8_lossy(&record.metadata))),
    row("encoding", "Latin-1, undeclared", || encoded("UTF-8", latin_1).holding(western))
        .meanwhile(western_changes)
        .or_as(|record| latin_1(&String::from_utf8_lossy(&record.metadata))),
    row("encoding", "Latin-1, undeclared, in identifiers too", || {
        encoded("UTF-8", latin_1).holding(western).holding(rename("é"))
    })
    .or_as(|record| latin_1(&String::from_utf8_lossy(&record.metadata)))
    .meanwhile(western_changes)
    .told_as(&["invalid-utf8"]),
    row("encoding", "UTF-8, declared as Latin-1", || encoded("ISO-8859-1", |text| text.as_bytes().to_vec())).told(),
    row("encoding", "UTF-8, declared as UTF-16", || encoded("UTF-16", |text| text.as_bytes().to_vec())).told(),
    row("encoding", "UTF-8, misspelt", || encoded("utf8", |text| text.as_bytes().to_vec())),
    row("ampersands", "bare in metadata", || in_metadata(b"AT&T, Q&A; a=1&b=2 &nbsp; &")),
    row("ampersands", "bare in an identifier", || in_identifier(b"&").holding(rename("&"))).told(),
    row("ampersands", "an entity of HTML in an identifier", || in_identifier(b"&eacute;").holding(rename("é"))).told(),
    row("ampersands", "bare in sets", || {
        Script::default()
            .holding(|holdings| {
                for record in holdings.records.iter_mut().filter(|record| record.sets == ["c"]) {
                    record.sets = vec!["R&D".to_owned()];
                }
                holdings.sets.push("R&D".to_owned());
            })
            .xml(|_, xml| swap(xml, b"R&amp;D", b"R&D"))
    })
    .told(),
    row("angle-brackets", "before a space in metadata", || in_metadata(b"3 < 5 and <= 7")).told().or_as(|record| {
        let mut metadata = record.metadata.clone();
        swap(&mut metadata, b"3 < 5 and <= 7", b"3 &lt; 5 and &lt;= 7");
        metadata
    }),
    row("angle-brackets", "before a letter in metadata", || in_metadata(b"a <b and c"))
        .outcome(Outcome::WithoutRecords(is_victim)),
    row("angle-brackets", "before a letter in metadata, all of one second", || {
        in_metadata(b"a <b and c").holding(super::of_one_second)
    })
    .outcome(Outcome::WithoutRecords(is_victim)),
    row("namespace", "missing", || in_namespace("")).told(),
    row("namespace", "with https", || in_namespace(" xmlns=\"https://www.openarchives.org/OAI/2.0/\"")).told(),
    row("namespace", "without the slash at its end", || in_namespace(" xmlns=\"http://www.openarchives.org/OAI/2.0\""))
        .told(),
    row("many-deletions", "with a status that is written differently", || {
        Script::default().xml(|_, xml| swap(xml, b"status=\"deleted\"", b"status=\" Deleted \""))
    }),
    row("outer-namespaces", "on the root element", || {
        undeclared().xml(|_, xml| {
            swap(xml, b"<OAI-PMH ", b"<OAI-PMH xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:x='urn:example:x' ");
        })
    }),
    row("outer-namespaces", "on the metadata element", || {
        undeclared().xml(|_, xml| {
            swap(
                xml,
                b"<metadata>",
                b"<metadata xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:x='urn:example:x'>",
            );
        })
    }),
    row("outer-namespaces", "with a prefix for the protocol's own", || {
        Script::default().xml(|_, xml| {
            const OWN: [&str; 20] = [
                "OAI-PMH",
                "responseDate",
                "request",
                "error",
                "Identify",
                "ListMetadataFormats",
                "ListSets",
                "ListRecords",
                "ListIdentifiers",
                "GetRecord",
                "record",
                "header",
                "identifier",
                "datestamp",
                "setSpec",
                "setName",
                "set",
                "metadata",
                "about",
                "resumptionToken",
            ];
            const OF_IDENTIFY: [&str; 7] = [
                "repositoryName",
                "baseURL",
                "protocolVersion",
                "adminEmail",
                "earliestDatestamp",
                "deletedRecord",
                "granularity",
            ];
            const OF_FORMATS: [&str; 4] = ["metadataFormat", "metadataPrefix", "schema", "metadataNamespace"];
            for name in OWN.iter().chain(&OF_IDENTIFY).chain(&OF_FORMATS) {
                for end in [">", " "] {
                    swap(xml, format!("<{name}{end}").as_bytes(), format!("<o:{name}{end}").as_bytes());
                }
                swap(xml, format!("</{name}>").as_bytes(), format!("</o:{name}>").as_bytes());
            }
            swap(
                xml,
                b" xmlns=\"http://www.openarchives.org/OAI/2.0/\"",
                b" xmlns:o=\"http://www.openarchives.org/OAI/2.0/\"",
            );
        })
    }),
    row("outer-namespaces", "declared twice", || {
        Script::default().holding(|holdings| {
            let victim = holdings.record(VICTIM).expect("it is there");
            swap(&mut victim.metadata, b"<oai_dc:dc ", b"<oai_dc:dc xmlns:dc='http://purl.org/dc/elements/1.1/' ");
        })
    }),
    row("deep-nodes", "12 MB of text", || {
        Script::default().holding(|holdings| {
            let text = "no parser may end here; ".repeat(500_000);
            holdings.record(VICTIM).expect("it is there").metadata =
                format!("<long xmlns=\"urn:example:long\">{text}</long>").into_bytes();
        })
    }),
    row("deep-nodes", "900 elements in each other", || nested(900)),
    row("deep-nodes", "100,000 elements in each other", || nested(100_000)).outcome(Outcome::WithoutRecords(is_victim)),
    row("document-type", "without entities", || doctype("<!DOCTYPE OAI-PMH SYSTEM \"http://127.0.0.1:1/oai.dtd\">")),
    row("document-type", "with a bomb", || {
        let mut entities = "<!ENTITY e0 \"boom\">".to_owned();
        for level in 1..10 {
            entities.push_str(&format!("<!ENTITY e{level} \"{}\">", format!("&e{};", level - 1).repeat(10)));
        }
        let doctype_with_bomb = format!("<!DOCTYPE OAI-PMH [\n<!ELEMENT b ANY>{entities}\n]>\n");
        in_metadata(b"&e9;").xml(move |_, xml| declare(xml, &doctype_with_bomb))
    })
    .or_as(|record| String::from_utf8_lossy(&record.metadata).replace("&e9;", "&amp;e9;").into_bytes())
    .told(),
    row("document-type", "with a file of the machine", || {
        doctype("<!DOCTYPE OAI-PMH [ <!ENTITY file SYSTEM \"file:///etc/passwd\"> <!ENTITY % more \"]>\"> ]>")
    })
    .told(),
];

fn around(before: &'static [u8], after: &'static [u8]) -> Script {
    Script::default().xml(move |_, xml| *xml = [before, xml, after].concat())
}

/// A script in which one record's metadata has these bytes in it.
/// The protocol's namespace is declared in another way.
fn in_namespace(declaration: &'static str) -> Script {
    Script::default().xml(move |_, xml| {
        swap(xml, b" xmlns=\"http://www.openarchives.org/OAI/2.0/\"", declaration.as_bytes());
    })
}

fn in_metadata(bytes: &'static [u8]) -> Script {
    Script::default().holding(|holdings| {
        let victim = holdings.record(VICTIM).expect("it is there");
        victim.metadata = dublin_core(PLACEHOLDER);
        swap(&mut victim.metadata, PLACEHOLDER.as_bytes(), bytes);
    })
}

/// A script in which one record's identifier has these bytes in it; what they mean is unknown unless it is renamed.
fn in_identifier(bytes: &'static [u8]) -> Script {
    Script::default().holding(rename(PLACEHOLDER)).xml(move |_, xml| {
        for meant in [PLACEHOLDER, "é", "🚲", "&amp;"] {
            swap(xml, format!("<identifier>oai:a{meant}b").as_bytes(), &[b"<identifier>oai:a", bytes, b"b"].concat());
        }
    })
}

/// Gives one record an identifier with this in it.
fn rename(character: &'static str) -> impl Fn(&mut Holdings) {
    move |holdings| holdings.records[7].identifier = format!("oai:a{character}b")
}

/// Only characters that Latin-1 has.
fn western(holdings: &mut Holdings) {
    for record in &mut holdings.records {
        let text = String::from_utf8_lossy(&record.metadata).into_owned();
        record.metadata = text.chars().filter(|character| u32::from(*character) < 256).collect::<String>().into_bytes();
    }
}

/// The ordinary changes, in characters that Latin-1 has.
fn western_changes(holdings: &mut Holdings) {
    ordinary_changes(holdings);
    western(holdings);
}

/// A script whose answers are in some encoding, under some name.
fn encoded(name: &'static str, encode: fn(&str) -> Vec<u8>) -> Script {
    Script::default().xml(move |_, xml| {
        let text = String::from_utf8_lossy(xml).replace("encoding=\"UTF-8\"", &format!("encoding=\"{name}\""));
        *xml = encode(&text);
    })
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// Every character as one byte; those that have none are question marks.
fn latin_1(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect()
}

/// What mends bytes that are not UTF-8: each is a character of Windows-1252, of which only a few are tried here.
fn windows_1252(bytes: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| if *byte == 0x80 { '€' } else { char::from(*byte) }));
    }
    text.into_bytes()
}

/// What mends characters that XML cannot carry.
fn clean(record: &Record, characters: &[u8]) -> Vec<u8> {
    let mut mended = record.metadata.clone();
    characters.iter().for_each(|byte| swap(&mut mended, &[*byte], PLACEHOLDER.as_bytes()));
    mended
}

fn replaced(record: &Record, texts: &[&str]) -> Vec<u8> {
    let mut mended = record.metadata.clone();
    texts.iter().for_each(|text| swap(&mut mended, text.as_bytes(), PLACEHOLDER.as_bytes()));
    mended
}

/// Records that rely on what is declared around them.
fn undeclared() -> Script {
    Script::default().holding(|holdings| {
        for (number, record) in holdings.records.iter_mut().enumerate() {
            record.metadata = format!("<x:dc><dc:title>Record {number}</dc:title></x:dc>").into_bytes();
        }
    })
}

fn nested(depth: usize) -> Script {
    Script::default().holding(move |holdings| {
        let metadata =
            format!("<n xmlns=\"urn:example:n\">{}{}</n>", "<n>".repeat(depth - 1), "</n>".repeat(depth - 1));
        holdings.record(VICTIM).expect("it is there").metadata = metadata.into_bytes();
    })
}

fn doctype(declaration: &'static str) -> Script {
    Script::default().xml(move |_, xml| declare(xml, declaration))
}

fn declare(xml: &mut Vec<u8>, declaration: &str) {
    swap(xml, b"<OAI-PMH ", &[declaration.as_bytes(), b"<OAI-PMH "].concat());
}
