//! Guessing passwords through lists: a wrong one is answered as a GET would answer it, with one check, one challenge and
//! one line in the error log; and what is remembered of a check gives nobody more than a GET does.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::thread;
use std::time::{Duration, SystemTime};

use modoai_testkit::apache::{self, Httpd, Launch, Mpm};
use modoai_testkit::http::{Client, encode};
use modoai_testkit::lacks;

use crate::oai;

/// Of the members' realm, whose passwords are counted.
const MEMBERS: &str = "AuthType Basic\nAuthName Members\nAuthBasicProvider dbm\nRequire valid-user\n";

/// Of another realm, in which alice is not known.
const STAFF: &str = "AuthType Basic\nAuthName Staff\nAuthUserFile staff\nRequire valid-user\n";

const LIST: &str = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";

fn launch(mpm: Mpm) -> Launch {
    let launch = Launch::new(mpm).compiled("counted", include_str!("mod_counted.c")).ordinary_site();
    launch.write("docs/open.txt", "x");
    launch.write("docs/members/.htaccess", MEMBERS);
    for number in 0..30 {
        write_old(&launch, 1, &format!("docs/members/{number}.txt"), "x");
    }
    launch
}

/// Writes a file that is some days old. Lists begin with the oldest files.
fn write_old(launch: &Launch, days: u64, name: &str, content: &str) {
    launch.write(name, content);
    let file = File::options().write(true).open(launch.path().join(name)).expect("a file");
    file.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400)).expect("an older file");
}

fn start(launch: Launch) -> Httpd {
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    httpd
}

/// How often a password was checked while this was done.
fn checks(httpd: &Httpd, work: impl FnOnce()) -> usize {
    let count = || fs::read_to_string(httpd.path().join("run/checks")).unwrap_or_default().lines().count();
    let before = count();
    work();
    count() - before
}

/// The request for the record of a file.
fn record(httpd: &Httpd, name: &str) -> String {
    let id = encode(format!("{}/{name}", httpd.url()));
    format!("/modoai?verb=GetRecord&metadataPrefix=oai_dc&identifier={id}")
}

fn listed(client: &mut Client) -> BTreeSet<String> {
    let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc").into_iter();
    records.map(|record| record.identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_wrong_password_is_checked_once_answered_with_401_and_logged_once() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    for mpm in [Mpm::Event, Mpm::Prefork] {
        let httpd = start(launch(mpm));
        let mut wrong = httpd.client().with_password("alice", "guess");
        let get = wrong.get("/members/1.txt").expect("an answer");
        assert_eq!(get.status, 401);
        let record = record(&httpd, "members/1.txt");
        let (list, sets) = ("/modoai?verb=ListRecords&metadataPrefix=oai_didl", "/modoai?verb=ListSets");
        for target in [LIST, list, sets, &record] {
            for accepted in ["text/xml", "text/html"] {
                let before = httpd.error_log().len();
                let mut answer = None;
                let checked = checks(&httpd, || answer = wrong.get_with(target, &[("Accept", accepted)]).ok());
                let answer = answer.expect("an answer");
                assert_eq!(answer.status, 401, "{target} {accepted}: {}", answer.text());
                assert_eq!(answer.header("WWW-Authenticate"), get.header("WWW-Authenticate"), "{target}");
                assert_eq!(checked, 1, "{target} {accepted}");
                let log = httpd.error_log();
                let news: Vec<&str> = log[before..].lines().collect();
                assert_eq!(news.len(), 1, "{target} {accepted}: {news:?}");
                assert!(news[0].contains("[auth_basic:error]") && news[0].contains("AH01617"), "{}", news[0]);
                assert!(news[0].contains("user alice: authentication failure for \"/members/"), "{}", news[0]);
                assert!(news[0].contains("[client 127.0.0.1:"), "{}", news[0]);
            }
        }
        // A user that does not exist, and what does not depend on passwords.
        let before = httpd.error_log().len();
        assert_eq!(httpd.client().with_password("mallory", "x").get(LIST).expect("an answer").status, 401);
        assert_eq!(httpd.error_log()[before..].matches("AH01618").count(), 1);
        assert_eq!(wrong.get("/modoai?verb=Identify").expect("an answer").status, 200);
        httpd.expect_clean_log(&["AH01617", "AH01618"]);
    }
}

#[test]
fn a_wrong_password_that_is_sent_again_is_refused_by_one_check() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let httpd = start(launch(Mpm::Event));
    let list = "/modoai?verb=ListRecords&metadataPrefix=oai_dc";
    let mut wrong = httpd.client().with_password("alice", "guess");
    for _ in 0..50 {
        let checked = checks(&httpd, || assert_eq!(wrong.get(list).expect("an answer").status, 401));
        assert_eq!(checked, 1);
    }
    assert_eq!(httpd.error_log().matches("AH01617").count(), 50);
    // What the same requester may have is not refused, nor is the right password.
    assert_eq!(wrong.get(&record(&httpd, "open.txt")).expect("an answer").status, 200);
    let mut right = httpd.client().with_password("alice", "secret");
    assert_eq!(right.get(list).expect("an answer").status, 200);
    // A realm that is opened to everybody refuses nobody.
    fs::remove_file(httpd.path().join("docs/members/.htaccess")).expect("a file");
    assert_eq!(wrong.get(list).expect("an answer").status, 200);
    httpd.expect_clean_log(&["AH01617"]);
}

#[test]
fn a_right_password_is_checked_once_and_authorisation_runs_for_every_file() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let launch = launch(Mpm::Event);
    launch.write("docs/members/board/.htaccess", "Require user chair\n");
    launch.write("docs/members/board/x.txt", "x");
    // The same realm, described in another place.
    launch.write("docs/also/.htaccess", MEMBERS);
    launch.write("docs/also/x.txt", "x");
    let httpd = start(launch);
    let mut alice = httpd.client().with_password("alice", "secret");
    let mut found = BTreeSet::new();
    let checked = checks(&httpd, || found = listed(&mut alice));
    assert_eq!(checked, 1, "a password is checked once for a realm");
    assert_eq!(found.len(), 32, "{found:?}");
    assert!(found.contains("also/x.txt") && !found.contains("members/board/x.txt"), "{found:?}");
    httpd.expect_clean_log(&[]);
}

/// A provider may look at the URL, and a Digest header is for one URL.
#[test]
fn an_accepted_password_opens_nothing_else_where_it_may_be_for_one_url() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let launch = launch(Mpm::Event);
    launch.write("docs/members/.htaccess", MEMBERS.replace("dbm", "counted"));
    let httpd = start(launch);
    let mut guest = httpd.client().with_password("guest", "secret");
    let given: Vec<u16> =
        (0..3).map(|number| guest.get(&format!("/members/{number}.txt")).expect("an answer").status).collect();
    assert_eq!(given, [200, 401, 401]);
    assert_eq!(listed(&mut guest), BTreeSet::from(["members/0.txt", "open.txt"].map(str::to_owned)));
    let mut right = httpd.client().with_password("alice", "secret");
    assert_eq!(listed(&mut right).len(), 31);
}

#[test]
fn one_realm_of_a_site_says_nothing_about_the_password_for_another() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let launch = launch(Mpm::Event).text("OAIPageSize 3");
    // bob: secret
    launch.write("staff", "bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n");
    launch.write("docs/staff/.htaccess", STAFF);
    for number in 0..10 {
        write_old(&launch, 2, &format!("docs/staff/{number}.txt"), "x");
    }
    // The same name of the realm, and other passwords.
    launch.write("docs/namesake/.htaccess", STAFF.replace("Staff", "Members"));
    launch.write("docs/namesake/x.txt", "x");
    let httpd = start(launch);
    let members: BTreeSet<String> = (0..30).map(|number| format!("members/{number}.txt")).collect();
    let staff: BTreeSet<String> = (0..10).map(|number| format!("staff/{number}.txt")).collect();
    for (user, expected) in [("alice", members), ("bob", staff)] {
        let mut client = httpd.client().with_password(user, "secret");
        let found = listed(&mut client);
        let closed: Vec<&String> = expected.difference(&found).collect();
        assert!(closed.is_empty(), "{user}: {closed:?}");
        for name in &found {
            assert_eq!(client.get(&format!("/{name}")).expect("an answer").status, 200, "{user}: {name}");
        }
    }
    // Whoever is right somewhere is not reported for where it has no business.
    httpd.expect_clean_log(&[]);
    assert_eq!(httpd.client().with_password("bob", "guess").get(LIST).expect("an answer").status, 401);
}

#[test]
fn an_answer_under_way_goes_on_without_an_area_that_refuses_the_password() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let launch = Launch::new(Mpm::Event).compiled("counted", include_str!("mod_counted.c")).ordinary_site();
    for name in ["a.txt", "b.txt"] {
        // Together more than what is kept back.
        write_old(&launch, 1, &format!("docs/{name}"), &"x".repeat(900_000));
    }
    launch.write("docs/members/.htaccess", MEMBERS);
    launch.write("docs/members/x.txt", "x");
    launch.write("docs/members/y.txt", "x");
    let httpd = start(launch);
    let mut wrong = httpd.client().with_password("alice", "guess");
    let checked = checks(&httpd, || {
        let records = oai::harvest(&mut wrong, "verb=ListRecords&metadataPrefix=oai_didl");
        assert_eq!(records.len(), 2);
    });
    assert_eq!(checked, 1);
    assert_eq!(httpd.error_log().matches("AH01617").count(), 1);
    httpd.expect_clean_log(&["AH01617"]);
}

#[test]
fn a_password_for_no_area_is_not_tried_in_many() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let launch = launch(Mpm::Event);
    for number in 0..10 {
        launch.write(format!("docs/{number}/.htaccess"), MEMBERS.replace("Members", &format!("Area{number}")));
        launch.write(format!("docs/{number}/x.txt"), "x");
    }
    let httpd = start(launch);
    let mut wrong = httpd.client().with_password("alice", "guess");
    let checked = checks(&httpd, || assert_eq!(wrong.get(LIST).expect("an answer").status, 401));
    assert!((1..=3).contains(&checked), "{checked}");
    let mut right = httpd.client().with_password("alice", "secret");
    assert_eq!(listed(&mut right).len(), 41);
}

#[test]
fn a_password_that_is_not_needed_is_not_judged() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    launch.write("docs/open.txt", "x");
    let httpd = start(launch);
    let answer = httpd.client().with_password("alice", "guess").get(LIST).expect("an answer");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("Cache-Control"), Some("private, no-cache"));
}

/// A member's area for which the server keeps the password in a cookie, as `mod_session_cookie` does. Nothing but
/// `mod_session_crypto` keeps a client from writing one of its own.
#[test]
fn a_wrong_password_in_a_session_is_checked_once_and_logged_once() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    const FORM: &str = "AuthType form\nAuthName Members\nAuthFormProvider dbm\nSession On\n\
                        SessionCookieName session path=/\nRequire valid-user\n";
    for to_login in ["", "AuthFormLoginRequiredLocation /open.txt\n"] {
        let modules = ["mod_request", "mod_session", "mod_session_cookie", "mod_auth_form"];
        let launch = launch(Mpm::Event).modules(&modules);
        launch.write("docs/members/.htaccess", format!("{FORM}{to_login}"));
        let httpd = start(launch);
        let session = |password: &str| format!("session=Members-user=alice&Members-pw={password}");
        let ask =
            |cookie: &str, target: &str| httpd.client().get_with(target, &[("Cookie", cookie)]).expect("an answer");
        assert_eq!(ask(&session("secret"), "/members/1.txt").status, 200);
        assert_eq!(ask(&session("guess"), "/members/1.txt").status, if to_login.is_empty() { 401 } else { 302 });
        for _ in 0..3 {
            let before = httpd.error_log().len();
            let checked = checks(&httpd, || assert_eq!(ask(&session("guess"), LIST).status, 401));
            assert_eq!(checked, 1);
            let log = httpd.error_log();
            let news: Vec<&str> = log[before..].lines().collect();
            assert_eq!(news.len(), 1, "{news:?}");
            assert!(news[0].contains("user 'alice': authentication failure for \"/members/"), "{}", news[0]);
        }
        let mut list = String::new();
        let checked = checks(&httpd, || list = ask(&session("secret"), LIST).text());
        assert_eq!((list.matches("<header>").count(), checked), (31, 1), "{list}");
        // A cookie that has nothing to do with passwords.
        let answer = ask("_ga=1", LIST);
        assert_eq!((answer.status, answer.text().matches("<header>").count()), (200, 1));
        httpd.expect_clean_log(&["AH01807"]);
    }
}

#[test]
fn a_repository_that_logs_little_does_not_hide_wrong_passwords() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let httpd = start(launch(Mpm::Event).text("<Location \"/modoai\">\nLogLevel crit\n</Location>"));
    assert_eq!(httpd.client().with_password("alice", "guess").get(LIST).expect("an answer").status, 401);
    assert_eq!(httpd.error_log().matches("AH01617").count(), 1);
}

/// Nothing but deleted files asks for the password, and the rules of some of them were deleted, too.
#[test]
fn passwords_cannot_be_tried_on_deleted_files_without_a_trace() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let launch = launch(Mpm::Event).text(
        r#"<Directory "${SITE}/docs/outer">
            AuthType Basic
            AuthName Members
            AuthBasicProvider dbm
            Require valid-user
        </Directory>"#,
    );
    launch.write("docs/outer/x.txt", "x");
    launch.write("docs/inner/.htaccess", MEMBERS);
    launch.write("docs/inner/x.txt", "x");
    let httpd = start(launch);
    let mut right = httpd.client().with_password("alice", "secret");
    assert_eq!(listed(&mut right).len(), 33);
    fs::remove_file(httpd.path().join("docs/outer/x.txt")).expect("a file");
    fs::remove_dir_all(httpd.path().join("docs/inner")).expect("a folder");
    for name in ["outer/x.txt", "inner/x.txt"] {
        let record = record(&httpd, name);
        let mut is_deleted = || right.get(&record).is_ok_and(|answer| answer.text().contains("status=\"deleted\""));
        httpd.wait("the deletion is reported", &mut is_deleted);
        let before = httpd.error_log().len();
        let mut answer = None;
        let checked = checks(&httpd, || answer = httpd.client().with_password("alice", "guess").get(&record).ok());
        assert_eq!(answer.expect("an answer").status, 401, "{name}");
        assert_eq!((checked, httpd.error_log()[before..].matches("AH01617").count()), (1, 1), "{name}");
        assert!(is_deleted(), "{name}");
        assert_eq!(httpd.client().get(&record).expect("an answer").text().matches("idDoesNotExist").count(), 1);
    }
    httpd.expect_clean_log(&["AH01617"]);
}

/// The search for a realm that accepts a password has a budget. When it is used up, guesses must still be logged.
#[test]
fn too_many_wrong_passwords_leave_a_line_each() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    let launch = launch(Mpm::Event);
    for name in ["first", "second"] {
        launch.write(format!("docs/{name}/.htaccess"), MEMBERS.replace("Members", name));
        launch.write(format!("docs/{name}/x.txt"), "x");
    }
    let httpd = start(launch);
    // A deleted file that was listed for a user: guesses on it are compared with what was stored.
    let deleted = record(&httpd, "members/0.txt");
    let mut right = httpd.client().with_password("alice", "secret");
    assert_eq!(listed(&mut right).len(), 33);
    fs::remove_file(httpd.path().join("docs/members/0.txt")).expect("a file");
    let mut is_deleted = || right.get(&deleted).is_ok_and(|answer| answer.text().contains("status=\"deleted\""));
    httpd.wait("the deletion is reported", &mut is_deleted);
    // Two seconds of search each, more than the budget.
    thread::scope(|scope| {
        for _ in 0..8 {
            let mut wrong = httpd.client().with_password("alice", "slow");
            scope.spawn(move || assert_eq!(wrong.post_form("/modoai", &LIST[8..]).expect("an answer").status, 401));
        }
    });
    for target in [LIST, &deleted] {
        let before = httpd.error_log().len();
        let answer = httpd.client().with_password("alice", "guess").get(target).expect("an answer");
        assert_eq!(answer.status, 503, "{target}: {}", answer.text());
        let log = httpd.error_log();
        assert_eq!(log[before..].matches("AH01617").count(), 1, "{target}: {}", &log[before..]);
    }
    assert!(is_deleted());
    httpd.expect_clean_log(&["AH01617", "too many wrong passwords"]);
}
