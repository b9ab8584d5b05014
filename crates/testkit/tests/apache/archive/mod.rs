//! A catalogue of documents or records in httpd.
//!
//! | file | what it shows |
//! |---|---|
//! | `equal` | the answers are those of the standalone server |
//! | this one | imports show, nothing is written, what cannot be read is waited for, budgets hold |

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use modoai_testkit::apache::{self, Httpd, Launch, Mpm, machine};
use modoai_testkit::http::Client;
use modoai_testkit::process;
use serde_json::{Value, json};

use super::{listed, paths};
use crate::archive::{Archive, record, record_with};
use crate::oai;

mod equal;

const ARCHIVE: &str = "repository_identifier = \"example.org\"\nfiles = \"files\"\n";

/// Only whoever made the folder may enter it, and that is not the user that httpd runs as.
fn opened_to_all(archive: Archive) -> Archive {
    set_mode(&archive.path(""), 0o755);
    archive
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("permissions set");
}

/// A few documents; the first has files.
fn small() -> Archive {
    let archive = opened_to_all(Archive::configured(ARCHIVE));
    archive.write("files/1/paper.pdf", b"%PDF-1.4\nnothing but a test\n");
    archive.write("files/1/source.tex", r"\bye");
    let files = json!([{ "path": "1/paper.pdf", "url": "https://example.org/1.pdf" }, { "path": "1/source.tex" }]);
    archive.fill(&[record_with("1", "With files", json!({ "files": files })), record("2", "Ω & <tags>")]);
    archive
}

/// httpd with a catalogue, and nothing else, at `/modoai`.
fn launch(mpm: Mpm, catalogue: &Path, directives: &str) -> Launch {
    let catalogue = catalogue.display();
    Launch::new(mpm).text("OAIIndexDir \"${SITE}/index\"").text(&format!(
        "<Location \"/modoai\">\nSetHandler oai-handler\nRequire all granted\nOAICatalogue \"{catalogue}\"\n{directives}\n</Location>"
    ))
}

/// Waits for a status at a path.
#[track_caller]
fn wait_for(httpd: &Httpd, path: &str, status: u16) {
    httpd.wait(&format!("{status} at {path}"), || {
        Client::new(&httpd.url()).get(path).is_ok_and(|answer| answer.status == status)
    });
}

/// The names in a folder, sorted.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn imports_show_while_httpd_runs_and_nothing_is_written_but_by_them() {
    if apache::is_missing() {
        return;
    }
    let archive = small();
    let before = names_in(&archive.path(""));
    let httpd = launch(Mpm::Prefork, &archive.catalogue(), "").start();
    let told = |query: &str| {
        // Each connection may come to another child.
        let answers = (0..6).map(|_| oai::harvest(&mut httpd.client(), query));
        let answers: Vec<Vec<_>> = answers.collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        answers.into_iter().next().expect("six of them")
    };
    let list = "verb=ListRecords&metadataPrefix=oai_dc";
    assert_eq!(told(list).len(), 2);
    archive.fill(&[record("2", "Another title"), record("3", "A third")]);
    let now = told(list);
    let find = |number: &str| now.iter().find(|record| record.identifier.ends_with(number)).expect("it is listed");
    assert!(find(":1").deleted && !find(":2").deleted && !find(":3").deleted, "{now:?}");
    assert!(String::from_utf8_lossy(&find(":2").metadata.as_ref().expect("a record").bytes).contains("Another title"));
    // A format that was not there before; and nobody who asks meanwhile is in the way, or turned away.
    archive.write("archive.toml", format!("formats = [\"mods\"]\n{ARCHIVE}"));
    let mut import = archive.import("records.jsonl").start();
    while import.try_wait().expect("our own child").is_none() {
        assert_eq!(told(list).len(), 3);
    }
    assert!(import.wait().expect("our own child").success());
    assert_eq!(told("verb=ListRecords&metadataPrefix=mods").iter().filter(|record| !record.deleted).count(), 2);
    assert_eq!(names_in(&archive.path("")), before);
    // There is no site, and so nothing of one.
    assert_eq!(names_in(&httpd.path().join("index")), ["archives"]);
    httpd.expect_clean_log(&[]);
}

#[test]
fn what_cannot_be_read_is_waited_for() {
    if apache::is_missing() {
        return;
    }
    let archive = opened_to_all(Archive::configured("repository_identifier = \"example.org\"\n"));
    let httpd = launch(Mpm::Event, &archive.catalogue(), "").start();
    let identify = "/modoai?verb=Identify";
    let refused = httpd.client().get(identify).expect("an answer");
    assert_eq!(refused.status, 503);
    assert!(refused.header("Retry-After").is_some_and(|seconds| seconds.parse::<u64>().is_ok()), "{refused:?}");
    httpd.wait("it is said why", || {
        httpd.error_log().contains("failed to open the repository") && httpd.error_log().contains("No such file")
    });

    archive.fill(&[record("1", "One")]);
    wait_for(&httpd, identify, 200);
    // Taken away, and given back to others only.
    let catalogue = archive.catalogue();
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", catalogue.display()));
    for suffix in ["", "-wal", "-shm"] {
        fs::rename(beside(suffix), beside(&format!("{suffix}.away"))).expect("it is there");
    }
    wait_for(&httpd, identify, 503);
    fs::copy(beside(".away"), &catalogue).expect("a copy");
    set_mode(&catalogue, 0o200);
    wait_for(&httpd, identify, 503);
    httpd.wait("it is said why", || httpd.error_log().contains("Permission denied"));
    // A copy alone, in a folder where nothing can be made beside it.
    set_mode(&catalogue, 0o444);
    set_mode(&archive.path(""), 0o555);
    wait_for(&httpd, identify, 503);
    httpd.wait("it is said why", || httpd.error_log().contains("its -wal and -shm"));
    set_mode(&archive.path(""), 0o755);
    set_mode(&catalogue, 0o644);
    archive.fill(&[record("1", "One"), record("2", "Two")]);
    wait_for(&httpd, identify, 200);
    assert_eq!(oai::harvest(&mut httpd.client(), "verb=ListRecords&metadataPrefix=oai_dc").len(), 2);
    httpd.expect_clean_log(&["failed to open the repository", "its repository is unavailable until it exists"]);
}

#[test]
fn what_holds_no_records_is_refused() {
    if apache::is_missing() {
        return;
    }
    let folder = opened_to_all(Archive::configured(ARCHIVE));
    folder.write("site/a.txt", "a");
    let mut index = Command::new(process::binary());
    index.arg("index").arg(folder.path("site")).arg("--data").arg(folder.path("state"));
    assert!(index.output().expect("it can be run").status.success());
    // Only its owner may read it; here all may.
    set_mode(&folder.path("state"), 0o755);
    for name in names_in(&folder.path("state")) {
        set_mode(&folder.path("state").join(name), 0o644);
    }
    let httpd = launch(Mpm::Event, &folder.path("state"), "").start();
    assert_eq!(httpd.client().get("/modoai?verb=Identify").expect("an answer").status, 500);
    httpd.wait("it is said why", || httpd.error_log().contains("contains the files of a site"));
    httpd.expect_clean_log(&["failed to open the repository"]);
}

#[test]
fn budgets_hold_across_children_and_where_nothing_can_be_kept_it_serves_all_the_same() {
    if apache::is_missing() {
        return;
    }
    let archive = small();
    let list = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    // The location may be a URL of the engine.
    let catalogue = PathBuf::from(format!("sqlite:{}", archive.catalogue().display()));
    let httpd = launch(Mpm::Prefork, &catalogue, "OAIListDelay 1h").start();
    let ask = || Client::new(&httpd.url()).get(list).expect("an answer").status;
    let statuses: Vec<u16> = (0..24).map(|_| ask()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 503)), "{statuses:?}");
    httpd.graceful();
    wait_for(&httpd, "/modoai?verb=Identify", 200);
    assert_eq!(ask(), 503);
    let kept = httpd.path().join("index/archives");
    let [folder] = &names_in(&kept)[..] else { panic!("{:?}", names_in(&kept)) };
    let asking =
        format!("{} -d {folder} -f {folder}/httpd.conf", machine::httpd().display(), folder = httpd.path().display());
    httpd.wait(&format!("{folder} has a log"), || {
        let told =
            Command::new(process::binary()).args(["harvesters", "--apache", "--json", "--httpd", &asking]).output();
        let told: Value = serde_json::from_slice(&told.expect("it can be run").stdout).expect("JSON");
        let is_ours = told["server"].as_str() == archive.catalogue().to_str();
        is_ours && told["harvesters"][0]["records"].as_u64() == Some(2)
    });
    httpd.expect_clean_log(&[]);

    let launch = launch(Mpm::Event, &archive.catalogue(), "");
    launch.write("index-dir/file", "in the way");
    let httpd = launch.text("OAIIndexDir \"${SITE}/index-dir/file\"").start();
    assert_eq!(oai::harvest(&mut httpd.client(), "verb=ListRecords&metadataPrefix=oai_dc").len(), 2);
}

#[test]
fn a_site_and_an_archive_share_a_host() {
    if apache::is_missing() {
        return;
    }
    let archive = small();
    let hosts = r#"
        OAIIndexDir "${SITE}/index"
        OAIRepositoryName "The site"
        OAIAdminEmail site@example.org
        <Directory "${SITE}/docs">
            Require all granted
        </Directory>
        <Location "/modoai">
            SetHandler oai-handler
        </Location>
        <VirtualHost 127.0.0.1:${PORT}>
            ServerName http://127.0.0.1:${PORT}
            DocumentRoot "${SITE}/docs"
            <Location "/theses">
                SetHandler oai-handler
                OAIRepositoryName "The theses"
                OAICatalogue "CATALOGUE"
            </Location>
        </VirtualHost>
        # Nothing but the archive, wherever the handler is.
        <VirtualHost 127.0.0.1:${PORT}>
            ServerName http://localhost:${PORT}
            DocumentRoot "${SITE}/docs"
            OAICatalogue "CATALOGUE"
        </VirtualHost>"#;
    let launch = Launch::new(Mpm::Worker).text(&hosts.replace("CATALOGUE", &archive.catalogue().to_string_lossy()));
    launch.write("docs/a.txt", "a");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    assert_eq!(listed(&mut client), paths(["a.txt"]));
    let identify = oai::ask(&mut client, "verb=Identify").answer;
    assert_eq!(identify.identify("repositoryName"), Some("The site"));
    let answer = client.get("/theses?verb=Identify").expect("an answer").text();
    for part in [
        "<repositoryName>The theses</repositoryName>",
        "<adminEmail>site@example.org</adminEmail>",
        &format!("<baseURL>{}/theses</baseURL>", httpd.url()),
        "oai:example.org:1",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let answer = client.get("/theses?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer").text();
    assert!(answer.contains("oai:example.org:2") && !answer.contains("a.txt"), "{answer}");
    let mut other = Client::new(&httpd.url().replace("127.0.0.1", "localhost"));
    let listed = oai::harvest(&mut other, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    assert_eq!(
        listed.iter().map(|record| record.identifier.as_str()).collect::<Vec<_>>(),
        ["oai:example.org:1", "oai:example.org:2"]
    );
    let kept = names_in(&httpd.path().join("index"));
    assert!(!kept.iter().any(|name| name.starts_with("localhost")), "{kept:?}");
    httpd.expect_clean_log(&[]);
}
