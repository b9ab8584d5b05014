use super::*;
use crate::source::Source as _;
use crate::source::input::Files;

/// Lines, and their records.
type Met = Vec<(u64, Result<Record, String>)>;

fn read(name: &str, text: &[u8], options: &Options) -> Result<Met, String> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(name);
    std::fs::write(&path, text).expect("a file");
    let files = Files::of(&[path], &[]).expect("it is there");
    let mut rows = Rows::of(files, options).map_err(|error| error.to_string())?;
    let table = Table::new(options);
    let mut met = Vec::new();
    while let Some(entry) = rows.next().map_err(|error| error.to_string())? {
        let record = entry.bytes.and_then(|bytes| {
            let content = table.read(&bytes, &entry.place)?;
            assert_eq!(table.identifier(&bytes, &entry.place)?, content.record.identifier);
            Ok(content.record)
        });
        met.push((entry.place.line, record.map_err(|fault| fault.0)));
    }
    Ok(met)
}

#[test]
fn columns_are_called_as_fields_unless_mapped() {
    let text = "\u{feff}identifier,title,creators,dates.issued,keywords,note\n\
        1,\"On, and\noff\",\"Noether, Emmy; Hilbert, David\",1921,a;b,n\n\n2,B,,,,\n";
    let options = Options { lists: vec!["keywords".to_owned()], ..Options::default() };
    let met = read("a.csv", text.as_bytes(), &options).expect("legal");
    assert_eq!(met.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 5]);
    let record = met[0].1.as_ref().expect("legal");
    assert_eq!(record.title.as_deref(), Some("On, and\noff"));
    assert_eq!(record.creators, [Agent::named("Noether, Emmy"), Agent::named("Hilbert, David")]);
    assert_eq!(record.dates["issued"], "1921");
    assert_eq!(record.further["keywords"], serde_json::json!(["a", "b"]));
    assert_eq!(record.further["note"], "n");
    assert_eq!(met[1].1.as_ref().expect("legal").further.len(), 0);
}

#[test]
fn lines_are_those_in_which_rows_begin() {
    for text in ["identifier\n1\n\n2\n\"3\n\"\n4", "identifier\r\n1\r\n\r\n2\r\n\"3\n\"\r\n4\r\n"] {
        let met = read("a.csv", text.as_bytes(), &Options::default()).expect("legal");
        assert_eq!(met.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4, 5, 7], "{text:?}");
    }
}

#[test]
fn a_map_tells_what_columns_hold() {
    let columns = [("identifier", "Nr"), ("title", "Titel"), ("subjects", "Thema"), ("deleted", "weg")];
    let options = Options {
        columns: columns.map(|(field, column)| (field.to_owned(), column.to_owned())).into(),
        list_separator: Some("|".to_owned()),
        ..Options::default()
    };
    let met = read("a.tsv", b"Nr\tTitel\tThema\tweg\n7\tX\ta | b\tyes\n8\tY\t\tmaybe\n", &options).expect("legal");
    let record = met[0].1.as_ref().expect("legal");
    assert_eq!((record.identifier.as_str(), record.deleted), ("7", true));
    assert_eq!(record.subjects, ["a", "b"]);
    assert_eq!(met[1].1, Err("field `deleted`: \"maybe\" is neither true nor false".to_owned()));
    let both = read("a.tsv", b"Nr\tTitel\tThema\tweg\ttitle\n", &options).expect_err("two titles");
    assert!(both.contains("the column `title` is not used"), "{both}");
    let missing = read("a.tsv", b"Nr\tTitel\tweg\n7\tX\tno\n", &options).expect_err("missing column");
    assert!(missing.contains("a.tsv: missing column `Thema`; the columns are: Nr, Titel, weg"), "{missing}");
}

#[test]
fn bad_rows_are_told_and_the_others_read() {
    let text = b"identifier,title\n1\n2,b,c\n,x\n3,\xff\n4,\xc3\xa4\n";
    let met = read("a.csv", text, &Options::default()).expect("legal");
    let said: Vec<_> =
        met.iter().map(|(line, record)| (*line, record.as_ref().err().cloned().unwrap_or_default())).collect();
    assert_eq!(
        said,
        [
            (2, "the row has 1 cells, but there are 2 columns".to_owned()),
            (3, "the row has 3 cells, but there are 2 columns".to_owned()),
            (4, "missing field `identifier`".to_owned()),
            (5, "column `title`: invalid UTF-8".to_owned()),
            (6, String::new()),
        ]
    );
}

#[test]
fn an_open_quotation_mark_ends_it() {
    let mut text = b"identifier,title\n1,\"open\n".to_vec();
    text.extend(b"x\n".repeat(100_000));
    let options = Options { longest_line: Some(1000), ..Options::default() };
    assert!(read("a.csv", &text, &options).expect_err("too long").contains("quotation mark"));
    assert!(
        read("a.csv", b"a,b\n", &Options::default())
            .expect_err("no identifier")
            .contains("missing column `identifier`")
    );
    assert!(read("a.csv", b"identifier,x,x\n", &Options::default()).expect_err("twice").contains("two columns `x`"));
    let options = Options { separator: Some('→'), ..Options::default() };
    assert!(read("a.csv", b"", &options).expect_err("not a byte").contains("option `separator`"));
}

#[test]
fn a_table_that_breaks_off_inside_quotation_marks_is_not_whole() {
    for cut in ["2,\"te", "2,\"text\n", "2,\"text\n\n3,more\n", "2,\"te\"\"", "\"", "2,\"\n\0"] {
        let said = read("a.csv", format!("identifier,title\n1,\"whole\n\"\n{cut}").as_bytes(), &Options::default());
        let said = said.expect_err(cut);
        assert!(said.contains("a.csv: line 4: the file is truncated, or a quotation mark is not closed"), "{said}");
    }
    let said = read("a.csv", b"identifier,\"title\n", &Options::default()).expect_err("columns break off");
    assert!(said.contains("line 1: the file is truncated"), "{said}");
    for whole in
        ["2,\"text\"", "2,\"text\"\n", "2,\"text\"\r\n", "2,text", "2,te\"xt\n", "2,\"\0\"", "2,\0\n", "2,\"te\"xt"]
    {
        let met = read("a.csv", format!("identifier,title\n1,\"whole\n\"\n{whole}").as_bytes(), &Options::default());
        let met = met.expect(whole);
        assert_eq!(met.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4], "{whole:?}");
    }
    let met = read("a.csv", b"identifier\n\0\n", &Options::default()).expect("legal");
    assert_eq!(met.len(), 1, "a row of that byte is a row like any other: {met:?}");
    let empty = read("a.csv", b"", &Options::default()).expect_err("nothing");
    assert!(empty.contains("missing column `identifier`"), "{empty}");
}
