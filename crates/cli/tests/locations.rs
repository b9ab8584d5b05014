//! Locations of catalogues and other state are paths. A URL is refused, and no folder of that name is created.

use crate::desk::Desk;

#[test]
fn a_url_of_an_engine_is_not_a_folder() {
    let desk = Desk::new();
    desk.write("a.jsonl", "{\"identifier\":\"1\",\"title\":\"One\"}\n");
    let url = "postgres://user@127.0.0.1/oai";
    let oai = "http://127.0.0.1:9/oai";
    for arguments in [
        &["import", "a.jsonl", "--namespace", "example.org", "--into", url][..],
        &["import", "a.jsonl", "--namespace", "example.org", "--into", "sqlite:catalogue.sqlite"],
        &["import", "a.jsonl", "--namespace", "example.org", "--into", "made", "--faults", "s3://bucket/faults"],
        &["harvest", oai, "--into", url],
        &["harvest", oai, "--into", "made", "--sink", "catalogue", "--catalogue", url],
        &["serve", "--catalogue", url],
        &["serve", "site", "--data", url],
        &["index", "site", "--data", url],
        &["ask", "--catalogue", url, "verb=Identify"],
        &["harvesters", "--catalogue", url],
        &["harvesters", "--data", url],
        &["spider", oai, "--table", url],
        &["spider", oai, "--html", "ftp://example.org/a.html"],
    ] {
        let ended = desk.run(arguments);
        assert_eq!(ended.status, 64, "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains("expected a path"), "{arguments:?}: {ended:?}");
    }
    let here = std::fs::read_dir(desk.at(".")).expect("a folder");
    let mut names: Vec<_> = here.map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.jsonl", "site"]);
}

#[test]
fn a_folder_can_be_called_like_a_url() {
    let desk = Desk::new();
    desk.write("a.jsonl", "{\"identifier\":\"1\",\"title\":\"One\"}\n");
    let ended = desk.run(&["import", "a.jsonl", "--namespace", "example.org", "--into", "./postgres:/here"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(desk.at("postgres:/here/catalogue.sqlite").exists());
}
