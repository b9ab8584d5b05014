//! `modoai harvest` and `modoai status`, as a person and as a script meet them. What they do with servers that are wrong
//! is shown in the testkit.

use std::fmt::Write as _;

use modoai_harvester::quirks::QUIRKS;
use modoai_testkit::endpoint::{Endpoint, Holdings, Page, Reply, Script, Visit};
use modoai_testkit::process::Server;
use modoai_testkit::waiting::wait_until;
use serde_json::Value;

use crate::desk::{Desk, Ended};
use crate::documents::expect_shown;

fn base_url(server: &Server) -> String {
    format!("{}/modoai", server.url())
}

/// The last line that was printed, as JSON.
fn summary(ended: &Ended) -> Value {
    let last = ended.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn a_harvest_goes_on_where_it_was_and_says_how_it_stands() {
    let desk = Desk::new();
    let server = desk.serve();
    let url = base_url(&server);
    let first = desk.run(&["harvest", &url, "--into", "copy", "--sink", "mirror"]);
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(first.stdout.starts_with(&format!("{url}: 3 added or updated, 0 deleted")), "{}", first.stdout);
    assert!(first.stdout.contains("  complete; the next run requests changes since 20"), "{}", first.stdout);
    assert_eq!(std::fs::read(desk.at("copy/docs/b.txt")).expect("mirrored"), b"b");

    // Every change is seen by the server first.
    desk.write("site/c.txt", "c");
    std::fs::remove_file(desk.at("site/a.txt")).expect("it is there");
    wait_until("what changed is mirrored", || {
        let next = desk.run(&["harvest", &url, "--into", "copy", "--sink", "mirror", "--json"]);
        assert_eq!(next.status, 0, "{}", next.stderr);
        desk.at("copy/c.txt").exists() && !desk.at("copy/a.txt").exists()
    });
    let idle = desk.run(&["harvest", &url, "--into", "copy", "--sink", "mirror", "--json"]);
    assert_eq!(summary(&idle)["complete"], true);
    assert_eq!(summary(&idle)["requests"], 2, "who it is, and what changed: {}", idle.stdout);

    let status = desk.run(&["status", "copy"]).printed();
    assert!(status.contains("stored    3 records and 1 deletion, oai_didl as mirror"), "{status}");
    assert!(status.contains("complete  everything: at 20"), "{status}");
    let status: Value = serde_json::from_str(&desk.run(&["status", "copy", "--json"]).printed()).expect("JSON");
    assert_eq!((&status["source"], &status["records"]), (&Value::from(url.as_str()), &Value::from(3)));
}

#[test]
fn the_list_of_urls_is_all_a_crawler_needs() {
    let desk = Desk::new();
    let server = desk.serve();
    let listed = desk.run(&["harvest", &base_url(&server), "--list-only"]).printed();
    let mut urls: Vec<_> = listed.lines().collect();
    urls.sort_unstable();
    let expected = ["a.txt", "docs/b.txt", "index.html"].map(|name| format!("{}/{name}", server.url()));
    assert_eq!(urls, expected);
    let texts = desk.run(&["harvest", &base_url(&server), "--list-only", "--set", "mime:text:html"]).printed();
    assert_eq!(texts, format!("{}/index.html\n", server.url()));
}

#[test]
fn many_repositories_are_harvested_at_once() {
    let (desk, other) = (Desk::new(), Desk::new());
    let (one, two) = (desk.serve(), other.serve());
    let nobody = "http://127.0.0.1:9/oai";
    let endpoints = format!("# ours\n{}\n{} # the second\n\n{nobody}\n", base_url(&one), base_url(&two));
    desk.write("endpoints.txt", endpoints);
    let arguments = ["harvest", "--all", "endpoints.txt", "--into", "all", "--json", "--attempts", "1"];
    let ended = desk.run(&arguments);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    let total = summary(&ended);
    assert_eq!((&total["sources"], &total["failed"], &total["records"]), (&3.into(), &1.into(), &6.into()));
    let status = desk.run(&["status", "all"]).printed();
    assert_eq!(status.matches("stored    3 records").count(), 2, "{status}");
    let never = format!("  source    {nobody}\n  stored    nothing yet\n  run       20");
    let why = format!("Z: failed: {nobody} did not return an OAI-PMH response: ");
    assert!(status.contains(&never) && status.contains(&why), "one that never answered is told, too: {status}");
    assert!(ended.stderr.ends_with("modoai: 1 repository could not be harvested\n"), "{}", ended.stderr);
    desk.write("endpoints.txt", format!("{}\nftp://example.org/\n", base_url(&one)));
    let ended = desk.run(&arguments);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("endpoints.txt line 2: a base URL must begin with http"), "{}", ended.stderr);
    let total = summary(&ended);
    assert_eq!((&total["sources"], &total["failed"], &total["incomplete"]), (&2.into(), &1.into(), &0.into()));
}

#[test]
fn hosts_take_turns() {
    let endpoints: Vec<_> = (0..4).map(|_| Endpoint::start(Script::of(Holdings::of(1)))).collect();
    let mut urls: Vec<_> = endpoints.iter().map(|endpoint| endpoint.url().to_owned()).collect();
    urls[3] = urls[3].replace("127.0.0.1", "localhost");
    let desk = Desk::new();
    desk.write("endpoints.txt", urls.join("\n"));
    let ended = desk.run(&["harvest", "--all", "endpoints.txt", "--into", "all", "--parallel", "1", "--json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let told = ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let order: Vec<_> = told.filter_map(|told| told["source"].as_str().map(str::to_owned)).collect();
    assert_eq!(order, [&urls[0], &urls[3], &urls[1], &urls[2]].map(String::as_str));
}

/// What an endpoint was told by those who asked it.
fn secrets(endpoint: &Endpoint) -> Vec<Option<String>> {
    let mut told: Vec<_> =
        endpoint.log().iter().map(|it| it.request.header("authorization").map(str::to_owned)).collect();
    told.dedup();
    told
}

#[test]
fn a_secret_is_for_the_host_it_was_given_for() {
    let start = || Endpoint::start(Script::of(Holdings::of(1)));
    let (basic, token) = (|| Some("Basic bWU6c2VjcmV0".to_owned()), || Some("Bearer geheim".to_owned()));
    let with_password = |endpoint: &Endpoint| endpoint.url().replace("//", "//me:secret@");
    let desk = Desk::new();

    // Those of the environment and of the command line are for the one that is asked; those in its URL come first.
    let (one, two) = (start(), start());
    let harvest = |what: &str| desk.shell(&format!("MODOAI_TOKEN=geheim modoai harvest {what}"), &desk.at(""));
    assert_eq!(harvest(&format!("{} --into one", one.url())).status, 0);
    assert_eq!(secrets(&one), [token()]);
    assert_eq!(harvest(&format!("{} --into two", with_password(&two))).status, 0);
    assert_eq!(secrets(&two), [basic()]);

    // Among many, only those in URLs.
    let (one, two) = (start(), start());
    desk.write("endpoints.txt", format!("{}\n{}\n", with_password(&one), two.url()));
    let ended = harvest("--all endpoints.txt --into all");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("ignored MODOAI_TOKEN: with --all"), "{}", ended.stderr);
    assert_eq!((secrets(&one), secrets(&two)), (vec![basic()], vec![None]));
    assert!(!format!("{ended:?}").contains("secret"), "{ended:?}");

    desk.write("token", "geheim");
    for option in ["--user bob", "--token-file token"] {
        let (one, two) = (start(), start());
        desk.write("endpoints.txt", format!("{}\n{}\n", one.url(), two.url()));
        let ended = desk.shell(
            &format!("MODOAI_PASSWORD=geheim modoai harvest --all endpoints.txt --into all {option}"),
            &desk.at(""),
        );
        assert_eq!(ended.status, 64, "{}", ended.stderr);
        assert!(ended.stderr.contains("hint: put name and password into the URLs"), "{}", ended.stderr);
        assert!(one.log().is_empty() && two.log().is_empty());
    }
}

#[test]
fn a_folder_remembers_its_sink() {
    let desk = Desk::new();
    let server = desk.serve();
    let url = base_url(&server);
    assert_eq!(desk.run(&["harvest", &url, "--into", "copy", "--sink", "mirror"]).status, 0);
    let again = desk.run(&["harvest", &url, "--into", "copy", "--json"]);
    assert_eq!((again.status, &summary(&again)["sink"]), (0, &"mirror".into()), "{}", again.stderr);
    let other = desk.run(&["harvest", &url, "--into", "copy", "--sink", "records"]);
    assert_eq!(other.status, 1, "{}", other.stderr);
    assert!(other.stderr.contains("hint: give another directory with --into"), "{}", other.stderr);
}

#[test]
fn a_harvest_that_comes_to_nothing_leaves_nothing() {
    let desk = Desk::new();
    let nobody = "http://127.0.0.1:9/oai";
    for arguments in [vec![], vec!["--json"], vec!["--list-only"]] {
        let ended =
            desk.run(&[&["harvest", nobody, "--into", "new/folder", "--attempts", "1"], &arguments[..]].concat());
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        assert!(!desk.at("new").exists(), "{arguments:?}");
    }
    desk.write("mine/notes.txt", "notes");
    desk.run(&["harvest", nobody, "--into", "mine", "--attempts", "1"]);
    let left: Vec<_> =
        std::fs::read_dir(desk.at("mine")).expect("it is there").flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
}

#[test]
fn a_run_that_failed_is_told_as_one() {
    let desk = Desk::new();
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)));
    let harvest = |more: &[&str]| desk.run(&[&["harvest", endpoint.url(), "--into", "copy"], more].concat());
    let last_run = || {
        let status = desk.run(&["status", "copy"]).printed();
        status.lines().find(|line| line.starts_with("  run ")).unwrap_or_default().to_owned()
    };
    assert_eq!(harvest(&["--set", "nope"]).status, 1);
    assert!(last_run().contains(&format!("Z: failed: {} has no set 'nope'; its sets are a, a:b, c", endpoint.url())));
    assert_eq!(harvest(&[]).status, 0);
    assert!(last_run().ends_with("Z: complete, 3 added or updated, 0 deleted"), "{}", last_run());
    // What was harvested cannot be used any more.
    std::fs::remove_dir_all(desk.at("copy/segments")).expect("it is there");
    desk.write("copy/segments", "not a folder");
    assert_eq!(harvest(&[]).status, 1);
    assert!(last_run().contains("Z: failed: ") && last_run().contains("copy/segments"), "{}", last_run());
}

#[test]
fn what_servers_say_does_not_reach_the_terminal_as_it_is() {
    let desk = Desk::new();
    let evil = |visit: &Visit<'_>, page: &mut Page| {
        page.identify("repositoryName").into_iter().for_each(|name| "Evil\u{1b}[31m".clone_into(name));
        if visit.verb() == "ListRecords" {
            page.fail("cannotDisseminateFormat", "no\u{1b}[2Jway");
        }
    };
    let endpoint = Endpoint::start(Script::default().page(evil));
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "copy"]);
    let status = desk.run(&["status", "copy"]).printed();
    assert!(ended.stderr.contains("no\u{fffd}[2Jway"), "{}", ended.stderr);
    assert!(status.contains("(Evil\u{fffd}[31m)") && status.contains("no\u{fffd}[2Jway"), "{status}");
    assert!(!format!("{}{}{status}", ended.stdout, ended.stderr).contains('\u{1b}'));
}

#[test]
fn what_cannot_be_done_is_said_with_advice() {
    let desk = Desk::new();
    let server = desk.serve();
    let url = base_url(&server);
    let site = format!("{}/index.html", server.url());
    assert_eq!(desk.run(&["harvest", &url, "--into", "taken"]).status, 0);
    desk.write("file", "not a folder");
    for (arguments, status, words) in [
        (vec!["harvest", &url], 64, "--into <DIR>"),
        (vec!["harvest", "example.org/oai", "--into", "x"], 64, "expected a base URL such as https://example.org/oai"),
        (vec!["harvest", &url, "--into", "x", "--from", "yesterday"], 64, "expected a date such as 2024-01-31"),
        (
            vec!["harvest", &url, "--into", "x", "--from", "2024-02-01", "--until", "2024-01-01"],
            64,
            "later than --until",
        ),
        (vec!["harvest", &url, "--into", "x", "--format", "marc21"], 1, "only oai_dc, http_header, oai_didl"),
        (vec!["harvest", &url, "--into", "taken", "--sink", "mirror"], 1, "hint: give another directory with --into"),
        (
            vec!["harvest", &site, "--into", "x", "--attempts", "1"],
            1,
            "/index.html is not an OAI-PMH repository, but http://127",
        ),
        (vec!["harvest", "http://127.0.0.1:9/", "--into", "x", "--attempts", "1"], 1, "hint: check the base URL"),
        (vec!["harvest", &url, "--into", "file/x"], 1, "failed to create"),
        (vec!["harvest", &url, "--into", "x", "--user", "me"], 64, "MODOAI_PASSWORD"),
        (vec!["harvest", &url, "--into", "x", "--contact", "not mail"], 64, "expected an email address"),
        (vec!["harvest", &url, "--into", "x", "--attempts", "0"], 64, "--attempts"),
        (
            vec!["harvest", &url, "--into", "x", "--catalogue", "x.sqlite"],
            64,
            "--catalogue requires --sink catalogue; the sink is records",
        ),
        (vec!["harvest", &url, "--into", "taken", "--keep-deleted"], 64, "--keep-deleted requires --sink mirror"),
        (vec!["harvest", &url, "--list-only", "--keep-deleted"], 64, "cannot be used with"),
        (vec!["status", "site"], 1, "no harvest found in site"),
        (vec!["records", "site"], 1, "site"),
    ] {
        let ended = desk.run(&arguments);
        assert_eq!(ended.status, status, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
    let failed = desk.run(&["harvest", &site, "--into", "x", "--attempts", "1", "--json"]);
    assert_eq!((&summary(&failed)["complete"], &summary(&failed)["records"]), (&false.into(), &0.into()));
}

#[test]
fn busy_server_is_reported_with_the_request_and_the_attempt() {
    let desk = Desk::new();
    let endpoint = Endpoint::start(Script::default().instead(|_| Some(Reply::html(429, "Too many requests"))));
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "copy", "--attempts", "2"]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("modoai: Identify: server is busy (HTTP 429); retrying in "), "{}", ended.stderr);
    assert!(ended.stderr.contains(" s (attempt 2 of 2)\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: run the same command again later"), "{}", ended.stderr);
}

#[test]
fn wait_that_a_server_requests_is_reported_once() {
    let desk = Desk::new();
    let busy = |visit: &Visit<'_>| (visit.number == 0).then(|| Reply::html(429, "Busy").with("Retry-After", "1"));
    let endpoint = Endpoint::start(Script::default().instead(busy));
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "copy"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("429").count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("127.0.0.1 sent HTTP 429 with Retry-After: no request for 1 s"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("retrying"), "{}", ended.stderr);
}

#[test]
fn every_request_that_was_sent_is_counted() {
    let desk = Desk::new();
    let endpoint =
        Endpoint::start(Script::default().instead(|_| Some(Reply::html(503, "Busy").with("Retry-After", "7200"))));
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "busy"]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    assert_eq!(endpoint.log().len(), 1);
    assert!(ended.stdout.contains("; 1 request, "), "{}", ended.stdout);
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "busy"]);
    assert_eq!(endpoint.log().len(), 1, "the wait is kept");
    assert!(ended.stdout.contains("; 0 requests, "), "{}", ended.stdout);

    let moves = |visit: &Visit<'_>| {
        let again = format!("?{}", visit.request.query());
        (visit.times == 0).then(|| Reply::html(302, "Found").with("Location", &again))
    };
    let endpoint = Endpoint::start(Script::default().instead(moves));
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "moving", "--json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(endpoint.log().iter().any(|asked| asked.status == 302), "{}", endpoint.story());
    assert_eq!(summary(&ended)["requests"], endpoint.log().len(), "{}", endpoint.story());
}

#[test]
fn only_damaged_responses_are_called_repaired() {
    let desk = Desk::new();
    let fails = |visit: &Visit<'_>| (visit.verb() == "ListIdentifiers").then(|| Reply::html(500, "Error"));
    let unwell =
        |visit: &Visit<'_>| (visit.verb() == "ListRecords" && visit.times == 0).then(|| Reply::html(500, "Error"));
    let damaged = |visit: &Visit<'_>, xml: &mut Vec<u8>| {
        if visit.verb() == "ListRecords" {
            xml.extend_from_slice(b"<p>junk</p>");
        }
    };
    let script = Script::default().instead(move |visit| fails(visit).or_else(|| unwell(visit))).xml(damaged);
    let endpoint = Endpoint::start(script);
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "copy"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("  found    unstable ("), "{}", ended.stdout);
    assert!(ended.stdout.contains("  repaired junk-around ("), "{}", ended.stdout);
    assert!(!ended.stdout.contains("repaired unstable"), "{}", ended.stdout);
    let status = desk.run(&["status", "copy"]).printed();
    assert!(status.contains("  found     unstable (") && status.contains("  repaired  junk-around ("), "{status}");
}

#[test]
fn the_quirks_in_the_guide_are_those_of_the_table() {
    let mut table = "| name | server error | workaround |\n|---|---|---|\n".to_owned();
    for quirk in QUIRKS {
        writeln!(table, "| `{}` | {} | {} |", quirk.name, quirk.symptom, quirk.remedy)
            .expect("memory takes everything");
    }
    let marks = ("<!-- the table in crates/harvester/src/quirks.rs -->\n", "<!-- end of the table -->\n");
    expect_shown("docs/guide/harvest.md", marks, &table, "stands in crates/harvester/src/quirks.rs");
}
