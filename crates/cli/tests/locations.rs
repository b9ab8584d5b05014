//! A catalogue is named by a path or a URL of its engine, other state by a path. A URL of another engine is refused, and no
//! directory of that name is created.

use crate::desk::Desk;

#[test]
fn a_url_of_an_engine_is_not_a_folder() {
    let desk = Desk::new();
    desk.write("a.jsonl", "{\"identifier\":\"1\",\"title\":\"One\"}\n");
    let url = "postgres://user@127.0.0.1/oai";
    let oai = "http://127.0.0.1:9/oai";
    for arguments in [
        &["import", "a.jsonl", "--namespace", "example.org", "--into", url][..],
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
        let is_named =
            ended.stderr.contains("expected a path") || ended.stderr.contains("supported: PATH or sqlite:PATH");
        assert!(is_named, "{arguments:?}: {ended:?}");
    }
    let here = std::fs::read_dir(desk.at(".")).expect("a folder");
    let mut names: Vec<_> = here.map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.jsonl", "site"]);
}

#[test]
fn url_of_an_engine_names_a_catalogue_in_every_command() {
    let desk = Desk::new();
    desk.write("a.jsonl", "{\"identifier\":\"1\",\"title\":\"One\"}\n");
    let into = ["--quiet", "import", "a.jsonl", "--namespace", "example.org", "--into", "sqlite:papers.db"];
    assert_eq!(desk.run(&into).status, 0);
    assert!(desk.at("papers.db").exists());
    let listed = desk.run(&["ask", "--catalogue", "sqlite:papers.db", "verb=ListIdentifiers&metadataPrefix=oai_dc"]);
    assert!(listed.printed().contains("oai:example.org:1"));
    desk.run(&["serve", "--catalogue", "sqlite:papers.db", "--check-config"]).printed();
    assert!(desk.run(&["index", "site", "--data", "sqlite:state"]).printed().contains("3 files"));
    assert!(desk.at("state/catalogue.sqlite").exists());
    let asked = desk.run(&["ask", "site", "--data", "sqlite:state", "verb=ListIdentifiers&metadataPrefix=oai_dc"]);
    assert_eq!(asked.printed().matches("<header>").count(), 3);
    desk.run(&["harvesters", "--data", "sqlite:state"]).printed();
    desk.run(&["harvesters", "--catalogue", "sqlite:papers.db"]).printed();

    let server = desk.serve();
    let base_url = format!("{}/modoai", server.url());
    let harvest = |location: &[&str]| {
        let arguments =
            [&["--quiet", "harvest", base_url.as_str(), "--into", "copy", "--sink", "catalogue"], location].concat();
        let ended = desk.run(&arguments);
        assert_eq!(ended.status, 0, "{ended:?}");
    };
    harvest(&["--catalogue", "sqlite:all.db"]);
    // The directory of the harvest stores the location.
    harvest(&[]);
    assert!(desk.at("all.db").exists() && !desk.at("copy/catalogue.sqlite").exists());
    let status = desk.run(&["status", "copy"]).printed();
    assert!(status.contains("all.db"), "{status}");
}

#[test]
fn a_folder_can_be_called_like_a_url() {
    let desk = Desk::new();
    desk.write("a.jsonl", "{\"identifier\":\"1\",\"title\":\"One\"}\n");
    let ended = desk.run(&["import", "a.jsonl", "--namespace", "example.org", "--into", "./postgres:/here"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(desk.at("postgres:/here/catalogue.sqlite").exists());
}
