use std::sync::Arc;

use modoai_protocol::MetadataPrefix;

use super::super::input::Files;
use super::super::{Source as _, whole::Whole};
use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/input/xml")
}

/// Reads all files of the directory, in the order of their names.
fn read(options: &Options) -> Vec<Result<Content, String>> {
    let inputs = [folder()];
    let mut files = Whole::of(Files::of(&inputs, &["xml"]).expect("it is there"), 100_000);
    let xml = Xml::new(&inputs, options).expect("legal options");
    let mut met = Vec::new();
    while let Some(entry) = files.next().expect("it can be read") {
        met.push(entry.bytes.and_then(|bytes| xml.read(&bytes, &entry.place)).map_err(|fault| fault.0));
    }
    met
}

fn one(text: &[u8], options: &Options) -> Result<Content, String> {
    let place = Place { file: Arc::new("/x/y.xml".into()), line: 0 };
    let xml = Xml::new(&["/x/y.xml".into()], options).map_err(|error| error.to_string())?;
    xml.read(text, &place).map_err(|fault| fault.0)
}

#[test]
fn well_known_formats_are_understood() {
    let options = Options { empty_is_deleted: Some(true), ..Options::default() };
    let met: Vec<Content> = read(&options).into_iter().map(|content| content.expect("legal")).collect();
    let names: Vec<_> = met.iter().map(|content| content.record.identifier.as_str()).collect();
    assert_eq!(names, ["a/dc", "datacite", "marc", "mods", "withdrawn"]);
    let prefixes: Vec<_> =
        met.iter().flat_map(|content| &content.given).map(|given| given.format.prefix.as_str()).collect();
    assert_eq!(prefixes, ["oai_dc", "datacite", "marcxml", "mods"]);

    let dc = &met[0].record;
    assert!(met[0].given[0].xml.starts_with(b"<oai_dc:dc ") && met[0].given[0].xml.ends_with(b"</oai_dc:dc>"));
    assert_eq!(dc.title.as_deref(), Some("A title over two lines"));
    assert_eq!(dc.creators.len(), 2);
    assert_eq!(dc.abstract_.as_deref(), Some("What it & others say."));
    assert_eq!((dc.links.len(), dc.links[0].url.as_str()), (1, "https://example.org/1/"));
    assert_eq!((&dc.further["doi"], &dc.further["language"]), (&"10.1000/1".into(), &"de".into()));

    let datacite = &met[1].record;
    assert_eq!(datacite.title.as_deref(), Some("Data of rings"));
    assert_eq!(datacite.creators.len(), 2);
    let first = &datacite.creators[0];
    assert_eq!((first.family.as_str(), first.given.as_deref()), ("Noether", Some("Emmy")));
    assert_eq!((first.orcid.as_deref(), first.affiliations[0].as_str()), (Some("0000-0001-2345-6789"), "Göttingen"));
    assert_eq!(datacite.further["type"], "Dataset");
    assert_eq!(datacite.links[0].url, "https://doi.org/10.1000/3");
    assert_eq!(datacite.licence.as_deref(), Some("https://creativecommons.org/publicdomain/zero/1.0/"));
    assert_eq!(datacite.dates["issued"], "1921");

    let marc = &met[2].record;
    assert_eq!(marc.title.as_deref(), Some("Idealtheorie in Ringbereichen"));
    assert_eq!(marc.creators, [crate::record::Agent::named("Noether, Emmy")]);
    assert_eq!((marc.dates["issued"].as_str(), &marc.further["publisher"]), ("1921", &"Springer".into()));

    let mods = &met[3].record;
    assert_eq!(mods.title.as_deref(), Some("The theory of rings"));
    assert_eq!(mods.creators.len(), 2);
    assert_eq!((mods.creators[0].family.as_str(), mods.creators[0].given.as_deref()), ("Noether", Some("Emmy")));
    assert_eq!(mods.creators[1].family, "University of Göttingen");
    assert_eq!((mods.subjects.len(), &mods.further["language"]), (2, &"ger".into()));
}

#[test]
fn an_empty_file_is_a_deletion_only_if_that_was_chosen() {
    let met = read(&Options::default());
    assert_eq!(met[4], Err("the file is empty".to_owned()));
    let options = Options { empty_is_deleted: Some(true), ..Options::default() };
    let met = read(&options);
    let content = met[4].as_ref().expect("legal");
    assert_eq!(content.record.identifier, "withdrawn");
    assert!(content.record.deleted && content.given.is_empty());
    let options = Options { identifier: Some("recordInfo/recordIdentifier".to_owned()), ..Options::default() };
    let met = read(&options);
    assert_eq!(met[3].as_ref().map(|content| content.record.identifier.as_str()), Ok("m-17"));
    assert!(met[0].as_ref().is_err_and(|fault| fault.contains("no element matches the path of the identifier")));
    assert_eq!(met[4], Err("the file is empty".to_owned()));
    let options = Options { empty_is_deleted: Some(true), ..options };
    assert!(one(b"", &options).is_err_and(|error| error.starts_with("option `empty_is_deleted`")));
}

#[test]
fn unknown_formats_are_called_after_their_root() {
    let text = b"<?xml version='1.0' encoding='ISO-8859-1'?><\xfcber xmlns='urn:x' \
        xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:schemaLocation='urn:x http://example.org/x.xsd'>\
        <name role='main'>\xe9</name><name>b</name></\xfcber>";
    let format = one(text, &Options::default()).expect("legal").given.remove(0).format;
    assert!(format.prefix.starts_with("_ber."), "{}", format.prefix);
    assert_eq!(format.schema, "http://example.org/x.xsd");
    let options: Options = toml::from_str(
        "namespace = 'urn:x'\nprefix = 'mine'\nschema = 'http://example.org/y.xsd'\n\
         [fields]\ntitle = 'name[role=main]'\nroles = ['name/@role', 'name[!role]']",
    )
    .expect("legal");
    let content = one(text, &options).expect("legal");
    assert_eq!(content.record.title.as_deref(), Some("é"));
    assert_eq!(content.record.further["roles"], serde_json::json!(["main", "b"]));
    assert_eq!(content.given[0].format.prefix, "mine");
    assert!(std::str::from_utf8(&content.given[0].xml).expect("UTF-8 now").starts_with("<über"));
}

#[test]
fn bad_files_and_options_are_told() {
    for (text, said) in [
        (&b"<a"[..], "line 1: "),
        (b"<!DOCTYPE a><a xmlns='urn:a'/>", "a document type declaration"),
        (b"<a xmlns='urn:a'>\xff</a>", "it is not valid UTF-8"),
        (b" ", "no complete element found"),
    ] {
        let error = one(text, &Options::default()).expect_err(said);
        assert!(error.contains(said), "{error}");
    }
    for toml in ["prefix = 'a b'", "identifier = 'a//b'", "[fields]\ntitle = '@'", "[fields]\nfiles = 'a'"] {
        let options = toml::from_str(toml).expect("legal TOML");
        assert!(one(b"", &options).expect_err(toml).starts_with("option `"), "{toml}");
    }
    assert!(toml::from_str::<Options>("colums = 1").is_err());
}

#[test]
fn what_was_read_before_changes_no_name() {
    let xml = Xml::new(&["/x".into()], &Options::default()).expect("no options");
    let read = |text: &str| {
        let place = Place { file: Arc::new("/x/1.xml".into()), line: 0 };
        xml.read(text.as_bytes(), &place).expect("legal").given.remove(0).format
    };
    let first = read("<r xmlns='urn:a'/>");
    let (other, same) = (read("<r xmlns='urn:b'/>"), read("<s xmlns='urn:a'/>"));
    assert_ne!(first.prefix, other.prefix);
    assert_ne!(first.prefix, same.prefix);
    assert_eq!(read("<r xmlns='urn:a'>x</r>"), first);
    assert_eq!((first.namespace.as_str(), other.namespace.as_str()), ("urn:a", "urn:b"));
}

#[test]
fn paths_of_well_known_formats_can_be_parsed() {
    for format in FORMATS {
        assert!(MetadataPrefix::parse(format.prefix).is_some());
        assert!(format.fields.len() <= fields::MOST);
        for (field, path) in format.fields {
            assert!(FieldPlace::parse(field, path).is_ok(), "{path}");
        }
    }
}
