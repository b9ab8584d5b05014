//! Doors that are closed and opened while the repository is asked, and what is behind them when it is gone. Nothing in an
//! answer tells of what its requester could not have had: not the lists, not the sets, not the tombstones.

use std::collections::BTreeSet;
use std::fs;

use modoai_testkit::apache::{self, Httpd, Launch, Mpm};
use modoai_testkit::http::{Client, encode};
use modoai_testkit::waiting::next_second;

use super::{listed, paths};
use crate::oai;

const MEMBERS: &str = "AuthType Basic\nAuthName Members\nAuthUserFile users\nRequire valid-user\n";

/// A public file, and two folders for members; the second one is the only one with a PDF.
fn guarded() -> Httpd {
    let launch = Launch::new(Mpm::Event).ordinary_site().text("OAIPageSize 2");
    // alice: secret
    launch.write("users", "alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n");
    launch.write("docs/open.txt", "x");
    launch.write("docs/zoo.txt", "x");
    for folder in ["members", "archive"] {
        launch.write(format!("docs/{folder}/.htaccess"), MEMBERS);
        launch.write(format!("docs/{folder}/x.txt"), "x");
    }
    launch.write("docs/archive/only.pdf", "%PDF-1.4");
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    httpd
}

fn alice(httpd: &Httpd) -> Client {
    httpd.client().with_password("alice", "secret")
}

/// Everything that a requester is told of, deleted or not.
fn told(client: &mut Client) -> BTreeSet<String> {
    let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc").into_iter();
    records.map(|record| record.identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_is_behind_a_door_shows_nowhere() {
    if apache::is_missing() {
        return;
    }
    let httpd = guarded();
    let (mut nobody, mut member) = (httpd.client(), alice(&httpd));
    assert_eq!(told(&mut nobody), paths(["open.txt", "zoo.txt"]));
    let all = paths(["archive/only.pdf", "archive/x.txt", "members/x.txt", "open.txt", "zoo.txt"]);
    assert_eq!(told(&mut member), all);
    assert!(!oai::harvest_sets(&mut nobody).contains("mime:application:pdf"));
    assert!(oai::harvest_sets(&mut member).contains("mime:application:pdf"));
    let set = "verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:application:pdf";
    assert_eq!(oai::ask(&mut nobody, set).answer.errors[0].0, "noRecordsMatch");
    let id = encode(format!("{}/members/x.txt", httpd.url()));
    let formats = format!("verb=ListMetadataFormats&identifier={id}");
    assert_eq!(oai::ask(&mut nobody, &formats).answer.errors[0].0, "idDoesNotExist");
    assert_eq!(oai::ask(&mut member, &formats).answer.errors, []);
    // A member's token in other hands opens nothing.
    let page = oai::ask(&mut member, "verb=ListIdentifiers&metadataPrefix=oai_dc").answer;
    let token = encode(page.token.expect("five do not fit on a page of two").value);
    let stolen = oai::ask(&mut nobody, &format!("verb=ListIdentifiers&resumptionToken={token}")).answer;
    for record in &stolen.records {
        assert!(["open.txt", "zoo.txt"].iter().any(|name| record.identifier.ends_with(name)), "{}", record.identifier);
    }
    httpd.expect_clean_log(&[]);
}

#[test]
fn a_door_that_is_closed_or_opened_is_so_at_once() {
    if apache::is_missing() {
        return;
    }
    let httpd = guarded();
    let mut nobody = httpd.client();
    for _ in 0..3 {
        httpd.write("docs/.htaccess", "<Files \"open.txt\">\nRequire all denied\n</Files>\n");
        assert_eq!(listed(&mut nobody), paths(["zoo.txt"]));
        fs::remove_file(httpd.path().join("docs/.htaccess")).expect("a door");
        assert_eq!(listed(&mut nobody), paths(["open.txt", "zoo.txt"]));
    }
    // A member loses the key.
    let mut member = alice(&httpd);
    // The indexer stamps what was closed and opened. A record that is stamped between two pages of a list is in the next list.
    httpd.wait("all files are listed", || listed(&mut member).len() == 5);
    httpd.write("users", "bob:{SHA}mdcsf8Pi4UWHC+qzfAtw40PqnDs=\n");
    let refused = member.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
    assert_eq!(refused.status, 401);
}

#[test]
fn what_was_private_stays_private_when_it_is_gone() {
    if apache::is_missing() {
        return;
    }
    let httpd = guarded();
    let (mut nobody, mut member) = (httpd.client(), alice(&httpd));
    assert_eq!(told(&mut member).len(), 5);
    // One file behind a door that stays, and a whole folder with its door.
    fs::remove_file(httpd.path().join("docs/members/x.txt")).expect("a file");
    fs::remove_dir_all(httpd.path().join("docs/archive")).expect("a folder");
    fs::remove_file(httpd.path().join("docs/zoo.txt")).expect("a file");
    let tombstone = |client: &mut Client, name: &str| {
        let id = encode(format!("{}/{name}", httpd.url()));
        let answer = oai::ask(client, &format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={id}")).answer;
        answer.records.first().is_some_and(|record| record.deleted)
    };
    httpd.wait("the deletions are noticed", || {
        tombstone(&mut nobody, "zoo.txt") && tombstone(&mut member, "members/x.txt")
    });
    httpd.wait("those of the folder are, too", || listed(&mut member) == paths(["open.txt"]));
    // It may take a moment until the last of them is written down.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(told(&mut nobody), paths(["open.txt", "zoo.txt"]));
    for name in ["members/x.txt", "archive/x.txt", "archive/only.pdf"] {
        assert!(!tombstone(&mut nobody, name), "{name}");
    }
    assert_eq!(told(&mut member).len(), 5, "those who had it learn that it is gone");
}

#[test]
fn what_is_closed_moved_or_opened_is_told_to_whoever_asks_what_changed() {
    if apache::is_missing() {
        return;
    }
    let httpd = guarded();
    let (mut nobody, mut member) = (httpd.client(), alice(&httpd));
    let changed = |client: &mut Client, from: &str| -> BTreeSet<(String, bool)> {
        let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={from}");
        let records = oai::harvest(client, &query).into_iter();
        let name = |identifier: String| identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
        records.map(|record| (name(record.identifier), record.deleted)).collect()
    };
    let news = |told: &[(&str, bool)]| -> BTreeSet<(String, bool)> {
        told.iter().map(|(name, deleted)| ((*name).to_owned(), *deleted)).collect()
    };
    let now = |client: &mut Client| {
        next_second();
        oai::ask(client, "verb=Identify").answer.response_date
    };
    // The files themselves stay as they are all the time.
    let start = now(&mut nobody);
    httpd.write(
        "docs/.htaccess",
        "Redirect permanent /open.txt /elsewhere\n<Files zoo.txt>\nRequire all denied\n</Files>\n",
    );
    httpd.write("docs/members/.htaccess", "Require all granted\n");
    let told = news(&[("members/x.txt", false), ("open.txt", true), ("zoo.txt", true)]);
    httpd.wait("all of it is told", || changed(&mut nobody, &start) == told);
    assert!(!changed(&mut member, &start).contains(&("archive/x.txt".to_owned(), true)));
    let later = now(&mut nobody);
    fs::remove_file(httpd.path().join("docs/.htaccess")).expect("a door");
    let told = news(&[("open.txt", false), ("zoo.txt", false)]);
    httpd.wait("and that it is back", || changed(&mut nobody, &later) == told);
    httpd.expect_clean_log(&[]);
}

#[test]
fn a_link_that_httpd_does_not_follow_is_not_walked_through() {
    if apache::is_missing() {
        return;
    }
    let rules = "<Directory \"${SITE}/docs/shut\">\nOptions -FollowSymLinks\n</Directory>\n";
    let launch = Launch::new(Mpm::Event).ordinary_site().text(rules);
    launch.write("docs/open/x.txt", "x");
    launch.write("docs/shut/x.txt", "x");
    launch.write("elsewhere/y.txt", "y");
    // To where there is very much, and to where there is a little.
    std::os::unix::fs::symlink("/", launch.path().join("docs/shut/machine")).expect("a link");
    std::os::unix::fs::symlink("../../elsewhere", launch.path().join("docs/open/folder")).expect("a link");
    std::os::unix::fs::symlink("/proc", launch.path().join("docs/open/kernel")).expect("a link");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    assert_eq!(listed(&mut client), paths(["open/folder/y.txt", "open/x.txt", "shut/x.txt"]));
    httpd.expect_clean_log(&[]);
}
