//! What modoai keeps for itself is for its owner alone: it names protected files, and holds the key of resumption tokens.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use modoai_testkit::process::{Launch, binary};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;
use modoai_testkit::web::Web;

use crate::harvest::Harvest;
use crate::running::to_its_end;

/// All files and folders below a folder, and the folder.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(all_below(&path));
        } else {
            all.push(path);
        }
    }
    all
}

/// Nobody else may do anything with what is below a folder, nor with the folder; and there is something.
#[track_caller]
fn expect_private(folder: &Path) {
    let all = all_below(folder);
    assert!(all.iter().any(|path| path.is_file()), "{all:?}");
    for path in all {
        let mode = fs::symlink_metadata(&path).expect("it is there").permissions().mode() & 0o777;
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{} has {mode:o}", path.display());
    }
}

#[test]
fn the_state_of_a_site_is_private() {
    let site = TestSite::with(&[("a.txt", "x"), ("private/b.txt", "x")]);
    let home = tempfile::tempdir().expect("a folder");
    let state = home.path().join("new/state");
    let server = Launch::of(site.path()).state(&state).start();
    let list = "/modoai?verb=ListRecords&metadataPrefix=oai_didl";
    assert_eq!(server.client().get(list).expect("an answer").status, 200);
    expect_private(&state);
    server.terminate();
    expect_private(&state);
}

#[test]
fn the_state_of_index_and_ask_is_private() {
    let site = TestSite::with(&[("a.txt", "x")]);
    let home = tempfile::tempdir().expect("a folder");
    for (name, arguments) in [("index", vec!["index"]), ("ask", vec!["ask"])] {
        let state = home.path().join(name);
        let mut command = Command::new(binary());
        command.args(arguments).arg(site.path());
        if name == "ask" {
            command.arg("verb=Identify");
        }
        let told = to_its_end(command.arg("--data").arg(&state)).expect("it ends");
        assert!(told.status.success(), "{}", told.err);
        expect_private(&state);
    }
    // The place that is chosen when none is given, too.
    let mut command = Command::new(binary());
    command.arg("index").arg(site.path()).env("HOME", home.path()).env_remove("XDG_STATE_HOME");
    let told = to_its_end(&mut command).expect("it ends");
    assert!(told.status.success(), "{}", told.err);
    expect_private(&home.path().join(".local"));
}

#[test]
fn the_state_of_a_crawl_is_private() {
    let host = Web::default().page("/", "<a href=\"/a\">a</a>").page("/a", "a").start();
    let home = tempfile::tempdir().expect("a folder");
    let state = home.path().join("state");
    let server = Launch::of_crawl(&host.at("/")).state(&state).start();
    wait_until("the crawl is listed", || {
        server.client().get("/modoai?verb=ListRecords&metadataPrefix=oai_dc").expect("an answer").status == 200
    });
    expect_private(&state);
}

/// The rights of a file.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn the_state_of_a_harvest_is_private_and_what_it_brings_follows_the_umask() {
    let site = TestSite::with(&[("a.txt", "x"), ("b/c.html", "<title>x</title>")]);
    let server = Launch::of(site.path()).start();
    let url = format!("{}/modoai", server.url());
    for (sink, brought) in
        [("records", Some("segments/000001.jsonl.zst")), ("warc", None), ("mirror", Some("a.txt")), ("catalogue", None)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let into = folder.path().join("copy");
        let ended = Harvest::new(&url, &into, sink).run().expect("it ends");
        assert_eq!(ended.code, Some(0), "{sink}: {}", ended.said);
        expect_private(&into.join(".modoai"));
        let plain = folder.path().join("plain");
        fs::write(&plain, "x").expect("a file");
        if let Some(brought) = brought {
            assert_eq!(mode(&into.join(brought)), mode(&plain), "{sink}: {brought}");
        }
    }
}

#[test]
fn the_state_of_the_spider_is_private() {
    let host = Web::default().page("/", "<a href=\"/a\">a</a>").page("/a", "a").start();
    let home = tempfile::tempdir().expect("a folder");
    let table = home.path().join("new/table.sqlite");
    let report = home.path().join("report.html");
    let mut command = Command::new(binary());
    command.args(["spider", &host.at("/"), "--table"]).arg(&table).arg("--html").arg(&report);
    let told = to_its_end(&mut command).expect("it ends");
    assert!(told.status.success(), "{}", told.err);
    expect_private(&home.path().join("new"));
    let plain = home.path().join("plain");
    fs::write(&plain, "x").expect("a file");
    assert_eq!(mode(&report), mode(&plain), "a report is for others, as far as the umask lets it be");
}
