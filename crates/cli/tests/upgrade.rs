//! Catalogues and a harvest of the previous version, opened and continued.
//!
//! `version-7` has a site, harvested records, an archive and a crawl as modoai 0.2.0 before version 8 of the catalogue wrote
//! them, and the responses that it gave: every page of a list with its resumption token, without the responseDate.
//! `records-form-1` has a harvest as earlier versions wrote it with the sinks `records` (`000001.modoai`, and what `modoai records`
//! printed of it) and `jsonl`: three files, of which one changed and one was deleted.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use crate::desk::Desk;

/// Makes the database of a dump.
fn load(desk: &Desk, dump: &str, file: &str) {
    let path = desk.at(file);
    let folder = path.parent().expect("a directory");
    fs::create_dir_all(folder)
        .and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(0o700)))
        .expect("made");
    Connection::open(path).and_then(|database| database.execute_batch(dump)).expect("a database");
}

/// The version of a catalogue, and the kind that it stores.
fn version_and_kind(desk: &Desk, file: &str) -> (i64, Option<String>) {
    let database = Connection::open(desk.at(file)).expect("a database");
    let version = database.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version");
    (version, database.query_row("SELECT kind FROM standing", [], |row| row.get(0)).unwrap_or_default())
}

/// All pages of lists, as they were recorded.
fn pages(desk: &Desk, what: &[&str], lists: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (verb, prefix) in lists {
        let mut query = format!("verb={verb}&metadataPrefix={prefix}");
        loop {
            let options = ["--url=https://www.example.org", "--option", "identifiers_per_page=2"];
            let arguments = [&["ask"], what, &options, &["--option", "records_per_page=2", query.as_str()]].concat();
            let page = desk.run(&arguments).printed();
            text.extend(page.split_inclusive('\n').filter(|line| !line.starts_with("<responseDate>")));
            let token = page.split_once("<resumptionToken").and_then(|(_, rest)| rest.split(['>', '<']).nth(1));
            match token {
                Some(token) if !token.is_empty() => query = format!("verb={verb}&resumptionToken={token}"),
                _ => break,
            }
        }
    }
    text
}

/// Writes a file that has not changed since 2020.
fn write_old(desk: &Desk, name: &str, content: &str) {
    desk.write(name, content);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800);
    File::options().write(true).open(desk.at(name)).and_then(|file| file.set_modified(time)).expect("a file");
}

#[test]
fn site_is_continued() {
    let desk = Desk::new();
    write_old(&desk, "site/index.html", "<!doctype html><title>Hello</title>\n");
    write_old(&desk, "site/a.txt", "a");
    write_old(&desk, "site/docs/b.txt", "b");
    load(&desk, include_str!("version-7/site.sql"), "state/catalogue.sqlite");
    // The files are the same, but on another disk.
    let database = Connection::open(desk.at("state/catalogue.sqlite")).expect("a database");
    for name in ["index.html", "a.txt", "docs/b.txt"] {
        let file = fs::metadata(desk.at("site").join(name)).expect("a file");
        let changed = file.ctime() * 1_000_000_000 + file.ctime_nsec();
        let update = "UPDATE record SET changed = ?2, inode = ?3 WHERE name = ?1";
        database.execute(update, (name, changed, file.ino().cast_signed())).expect("updated");
    }
    drop(database);
    let site = ["site", "--data", "state"];
    let listed = || pages(&desk, &site, &[("ListIdentifiers", "oai_dc")]);
    assert_eq!(listed(), include_str!("version-7/site.xml"));
    let indexed = desk.run(&["index", "site", "--data", "state", "--json"]).printed();
    assert!(indexed.contains("\"new_or_changed\":0") && indexed.contains("\"deleted\":0"), "{indexed}");
    assert_eq!(listed(), include_str!("version-7/site.xml"));
    assert_eq!(version_and_kind(&desk, "state/catalogue.sqlite"), (10, Some("site".to_owned())));
    // What changes now is stamped now.
    desk.write("site/a.txt", "changed");
    let listed = listed();
    assert!(listed.contains("completeListSize=\"4\""), "{listed}");
    assert!(!listed.contains("/a.txt</identifier><datestamp>2020"), "{listed}");
}

#[test]
fn archive_is_continued() {
    let desk = Desk::new();
    desk.write("in.jsonl", include_str!("version-7/archive.jsonl"));
    load(&desk, include_str!("version-7/archive.sql"), "archive/catalogue.sqlite");
    let listed =
        || pages(&desk, &["--catalogue", "archive"], &[("ListRecords", "oai_dc"), ("ListRecords", "datacite")]);
    assert_eq!(listed(), include_str!("version-7/archive.xml"));
    desk.run(&["serve", "--catalogue", "archive", "--check-config"]).printed();
    assert_eq!(version_and_kind(&desk, "archive/catalogue.sqlite"), (7, None), "whoever only reads changes nothing");
    let imported = desk.run(&["--quiet", "import", "in.jsonl", "--into", "archive", "--json"]).printed();
    assert!(imported.contains("\"unchanged\":3"), "{imported}");
    assert!(imported.contains("\"new\":0,\"changed\":0"), "{imported}");
    assert_eq!(version_and_kind(&desk, "archive/catalogue.sqlite"), (10, Some("archive".to_owned())));
    assert_eq!(listed(), include_str!("version-7/archive.xml"));
    // The document that was deleted before the upgrade returns.
    let back = "{\"identifier\":\"4\",\"title\":\"Four\",\"subjects\":[\"dogs\"]}\n";
    desk.write("more.jsonl", back);
    let imported = desk.run(&["--quiet", "import", "more.jsonl", "--into", "archive", "--update", "--json"]).printed();
    assert!(imported.contains("\"back\":1"), "{imported}");
    // One that is missing from the source of the previous version is deleted.
    desk.write("in.jsonl", back);
    let imported = ["--quiet", "import", "in.jsonl", "--into", "archive", "--accept-deletions", "--json"];
    let imported = desk.run(&imported).printed();
    assert!(imported.contains("\"gone\":3") && imported.contains("\"unchanged\":1"), "{imported}");
}

#[test]
fn harvest_into_a_catalogue_is_continued() {
    let desk = Desk::new();
    fs::remove_dir_all(desk.at("site")).expect("removed");
    for name in ["index.html", "a.txt", "b.txt"] {
        let page = format!("<!doctype html><title>{name}</title><a href=/a.txt>a</a><a href=/b.txt>b</a>\n");
        write_old(&desk, &format!("site/{name}"), &page);
    }
    load(&desk, include_str!("version-7/records.sql"), "copy/catalogue.sqlite");
    let listed = || pages(&desk, &["--catalogue", "copy"], &[("ListRecords", "oai_dc")]);
    assert_eq!(listed(), include_str!("version-7/records.xml"));

    let server = desk.serve();
    let state = include_str!("version-7/harvest.sql").replace("http://127.0.0.1:9/", &format!("{}/", server.url()));
    load(&desk, &state, "copy/.modoai/harvest.sqlite");
    let base_url = format!("{}/modoai", server.url());
    let harvest = || {
        let ended = desk.run(&["--quiet", "harvest", &base_url, "--into", "copy", "--sink", "catalogue", "--json"]);
        assert_eq!(ended.status, 0, "{ended:?}");
        ended.stdout
    };
    let summary = harvest();
    assert!(summary.contains("\"records\":0"), "{summary}");
    assert_eq!(listed(), include_str!("version-7/records.xml"));
    desk.write("site/new.txt", "new");
    modoai_testkit::waiting::wait_until("the new file is harvested", || harvest().contains("\"records\":1"));
    let listed = listed();
    assert!(listed.contains("/new.txt</identifier>") && listed.contains("completeListSize=\"5\""), "{listed}");
}

#[test]
fn harvest_of_records_is_converted_and_continued() {
    let lines = include_str!("records-form-1/records.jsonl");
    // The two harvests differ in the time of one request.
    let times = ["2026-11-19T19:16:39Z", "2026-11-19T19:16:40Z"];
    let state_of_lines = ("'records','oai_dc','1:937:5'", "'jsonl','oai_dc','3485:755b9ac16afa0d27'");
    for sink in ["records", "jsonl"] {
        let desk = Desk::new();
        fs::remove_dir_all(desk.at("site")).expect("removed");
        write_old(&desk, "site/a.txt", "a");
        let server = desk.serve();
        let state =
            include_str!("records-form-1/state.sql").replace("http://127.0.0.1:18099/", &format!("{}/", server.url()));
        assert!(state.contains(state_of_lines.0));
        let (state, expected, file) = match sink {
            "records" => (state, lines.replace(times[1], times[0]), "copy/segments/000001.modoai"),
            _ => (state.replace(state_of_lines.0, state_of_lines.1), lines.to_owned(), "copy/records.jsonl"),
        };
        let content: &[u8] =
            if sink == "records" { include_bytes!("records-form-1/000001.modoai") } else { lines.as_bytes() };
        desk.write(file, content);
        load(&desk, &state, "copy/.modoai/harvest.sqlite");
        let expect_records = |what: &str| {
            assert_eq!(desk.run(&["records", "copy", "--json", "--versions"]).printed(), expected, "{sink}, {what}");
            let xml = desk.run(&["records", "copy", "--versions"]).printed().replace(times[1], times[0]);
            assert_eq!(xml, include_str!("records-form-1/records.xml"), "{sink}, {what}");
        };
        expect_records("before the next harvest");
        let base_url = format!("{}/modoai", server.url());
        let harvest = || {
            let ended = desk.run(&["--quiet", "harvest", &base_url, "--into", "copy", "--sink", sink, "--json"]);
            assert_eq!(ended.status, 0, "{ended:?}");
            ended.stdout
        };
        let summary = harvest();
        assert!(summary.contains("\"records\":0") && summary.contains("\"sink\":\"records\""), "{summary}");
        assert!(desk.at("copy/segments/000001.jsonl.zst").exists());
        expect_records("after the next harvest");
        desk.write("site/new.txt", "new");
        modoai_testkit::waiting::wait_until("the new file is harvested", || harvest().contains("\"records\":1"));
        // Lines can be read by other programs; segments cannot.
        assert_eq!(desk.at(file).exists(), sink == "jsonl");
        let printed = desk.run(&["records", "copy", "--json", "--versions"]).printed();
        let added = printed.strip_prefix(&expected).unwrap_or_else(|| panic!("{printed}"));
        assert!(added.lines().count() == 1 && added.contains("/new.txt\""), "{added}");
    }
}

#[test]
fn catalogue_is_not_written_as_another_kind() {
    let desk = Desk::new();
    for (dump, contents) in [
        (include_str!("version-7/crawl.sql"), "the pages of a crawled site"),
        (include_str!("version-7/archive.sql"), "the documents of an archive"),
        (include_str!("version-7/records.sql"), "harvested records"),
    ] {
        let _ = fs::remove_dir_all(desk.at("state"));
        load(&desk, dump, "state/catalogue.sqlite");
        let before = Connection::open(desk.at("state/catalogue.sqlite")).expect("a database");
        let ended = desk.run(&["index", "site", "--data", "state", "--accept-deletions"]);
        let expected = format!("the catalogue contains {contents}; a site needs a separate catalogue");
        assert!(ended.status == 1 && ended.stderr.contains(&expected), "{ended:?}");
        let gone = "SELECT count(*) FROM record WHERE deleted AND datestamp > unixepoch() - 3600";
        assert_eq!(before.query_row(gone, [], |row| row.get::<_, i64>(0)), Ok(0));
    }
    let _ = fs::remove_dir_all(desk.at("state"));
    load(&desk, include_str!("version-7/crawl.sql"), "state/catalogue.sqlite");
    let ended = desk.run(&["ask", "--catalogue", "state", "verb=Identify"]);
    assert!(ended.status == 1 && ended.stderr.contains("contains the pages of a crawled site"), "{ended:?}");
    assert_eq!(version_and_kind(&desk, "state/catalogue.sqlite"), (7, None), "nothing was written");
}
