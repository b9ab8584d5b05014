use super::*;

const INPUT: &str = include_str!("../../../tests/input/static.xml");

/// Lines, and their content.
type Met = Vec<(u64, Result<Content, String>)>;

fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("static.xml");
    std::fs::write(&path, text).expect("a file");
    let mut items = Items::of(Files::of(&[path], &[]).expect("it is there"), 4000);
    let mut met = Vec::new();
    while let Some(entry) = items.next().map_err(|error| error.to_string())? {
        met.push(entry);
    }
    Ok(met)
}

fn read(text: &str) -> Result<Met, String> {
    let reading = StaticRepository::new(&Options::default()).expect("no options");
    let met = entries(text)?.into_iter().map(|entry| {
        let content = entry.bytes.and_then(|bytes| {
            let content = reading.read(&bytes, &entry.place)?;
            assert_eq!(reading.identifier(&bytes, &entry.place)?, content.record.identifier);
            Ok(content)
        });
        (entry.place.line, content.map_err(|fault| fault.0))
    });
    Ok(met.collect())
}

#[test]
fn an_item_has_all_its_formats() {
    let met = read(INPUT).expect("legal");
    assert_eq!(met.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [29, 42]);
    let content = met[0].1.as_ref().expect("legal");
    let prefixes: Vec<_> = content.given.iter().map(|given| given.format.prefix.as_str()).collect();
    assert_eq!(prefixes, ["oai_dc", "oai_rfc1807"]);
    let dc = std::str::from_utf8(&content.given[0].xml).expect("text");
    assert!(dc.starts_with("<oai_dc:dc xmlns") && !dc.contains(" xmlns=") && !dc.contains("xmlns:oai="), "{dc}");
    assert!(dc.contains("xmlns:dc=\"http://purl.org/dc/elements/1.1/\"") && dc.ends_with("</oai_dc:dc>"), "{dc}");
    let own = std::str::from_utf8(&content.given[1].xml).expect("text");
    assert!(own.starts_with("<rfc1807 xmlns=\"http://info"), "{own}");
    let record = &content.record;
    assert_eq!(record.identifier, "oai:arXiv.org:cs/0112017");
    assert_eq!(record.datestamp.as_deref(), Some("2002-01-01"));
    assert_eq!((record.creators[0].family.as_str(), record.dates["issued"].as_str()), ("Dushay", "2001-12-14"));
    let provenance = record.provenance.as_ref().expect("it came from somewhere");
    assert_eq!(provenance.base_url, "http://gateway.example.org/oai/an.oai.org/ma/mini.xml");
    assert_eq!((provenance.datestamp.as_str(), provenance.altered), ("2001-12-14", false));
    assert_eq!(provenance.harvest_date.len(), 20);
    let second = met[1].1.as_ref().expect("legal");
    let dc = std::str::from_utf8(&second.given[0].xml).expect("text");
    assert_eq!(dc.matches("xmlns:dc=").count(), 1, "{dc}");
}

#[test]
fn a_prefix_that_means_something_else_gives_way() {
    let met = read(&INPUT.replace("oai_rfc1807", "mods")).expect("legal");
    let content = met[0].1.as_ref().expect("legal");
    let format = &content.given[1].format;
    assert!(format.prefix.starts_with("mods.") && format.namespace.ends_with("/rfc1807.txt"), "{format:?}");
}

#[test]
fn what_is_wrong_with_one_item_does_not_stop_the_others() {
    let met =
        read(&INPUT.replace("<dc:title>Germany and", "<dd:title>Germany and").replace("Tribes</dc", "Tribes</dd"));
    let met = met.expect("legal");
    assert!(met[0].1.is_ok());
    assert!(met[1].1.as_ref().is_err_and(|fault| fault.contains("'dd' is not declared")), "{met:?}");
    let long = INPUT.replace("Germany and its Tribes", &"x".repeat(5000));
    let met = read(&long).expect("legal");
    assert!(met[1].1.as_ref().is_err_and(|fault| fault.contains("longer than 4000 bytes")), "{met:?}");
    let met =
        read(&INPUT.replace("<ListRecords metadataPrefix=\"oai_rfc1807\">", "<ListRecords metadataPrefix=\"x\">"));
    assert!(met.expect("legal")[0].1.as_ref().is_err_and(|fault| fault.contains("`x` is not one of")));
}

#[test]
fn a_bad_record_is_the_fault_of_its_item_alone() {
    let tribes = INPUT.split_once("<dc:title>Germany").expect("it is there").0.rfind("<oai_dc:dc").expect("its root");
    let element = &INPUT[tribes..tribes + INPUT[tribes..].find("</oai_dc:dc>").expect("its end") + 12];
    let name = "<oai:identifier>oai:perseus:1</oai:identifier>";
    for (from, to, said, is_named) in [
        (name, "", "missing field `identifier`", false),
        (element, "", "oai:perseus:1: its record in `oai_dc` has no metadata", true),
        (element, &element.repeat(2), "oai:perseus:1: two elements in one `metadata`", true),
    ] {
        let met = read(&INPUT.replacen(from, to, 1)).expect(said);
        assert!(met[0].1.is_ok(), "{met:?}");
        assert_eq!(met[1].1, Err(said.to_owned()));
        // An item with an identifier is kept unchanged; one without could be any item.
        assert_eq!(entries(&INPUT.replacen(from, to, 1)).expect(said)[1].bytes.is_ok(), is_named, "{said}");
    }
    // The opposite order: the second record in a format belongs to the item that has the first.
    let start = INPUT.find("<ListRecords metadataPrefix=\"oai_rfc1807\">").expect("a list");
    let list = &INPUT[start..INPUT.find("</Repository>").expect("the end")];
    let met = read(&INPUT.replacen(list, &list.repeat(2), 1)).expect("legal");
    let said = "oai:arXiv.org:cs/0112017: two records in `oai_rfc1807`";
    assert_eq!(met[0].1, Err(said.to_owned()));
    assert!(met[1].1.is_ok());
    let lists: String = (0..70).map(|number| list.replace("oai_rfc1807", &format!("x{number}"))).collect();
    let met = read(&INPUT.replacen(list, &lists, 1)).expect("legal");
    assert!(met[0].1.as_ref().is_err_and(|fault| fault.ends_with("more than 64 formats")), "{met:?}");
    assert!(met[1].1.is_ok());
}

#[test]
fn a_file_that_cannot_be_trusted_ends_the_reading() {
    for (from, to, said) in [
        ("<Repository ", "<Other ", "the root element is `Other`, not"),
        ("</ListRecords>\n</Repository>", "", "line 69: the file is truncated"),
        ("static-repository\"", "else\"", "the root element is `Repository`, not"),
        ("<Repository ", &format!("<Repository xmlns:x=\"urn:{}\" ", "x".repeat(2000)), "more than 1024 bytes"),
        ("<Repository ", "<!DOCTYPE x><Repository ", "a document type declaration"),
        ("Small &amp;", "Small &x;", "line 8: the entity '&x;' is not defined"),
        (" metadataPrefix=\"oai_dc\"", "", "has no `metadataPrefix`"),
    ] {
        let text = INPUT.replacen(from, to, 1);
        assert_ne!(text, INPUT, "{from}");
        let error = read(&text).expect_err(said);
        assert!(error.contains(said), "{said}: {error}");
    }
}
