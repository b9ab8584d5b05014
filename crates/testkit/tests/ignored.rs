//! Files that are not listed because a pattern of the configuration matches their paths, in both hosts.

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::process::binary;
use modoai_testkit::site::TestSite;

use crate::apache::{listed, paths};
use crate::hosts::Host;
use crate::oai;
use crate::running::to_its_end;

fn site() -> TestSite {
    let names = [
        "index.html",
        "drafts/a.html",
        "old/deep/a.html",
        "docs/drafts/a.html",
        "docs/run.log",
        "docs/catalog",
        "docs/a%2Bb.html",
        "x.tmp",
    ];
    TestSite::with(&names.map(|name| (name, "x")))
}

fn expressions_stand_beside_globs(host: Host) {
    let site = site();
    let patterns = ["re:^/(drafts|old)/", r"re:\.log$", "*.tmp"];
    let server = host.serve(&site, &[("ignore", &patterns)]);
    let mut client = server.client();
    let shown = ["docs/a%252Bb.html", "docs/catalog", "docs/drafts/a.html", "index.html"];
    assert_eq!(listed(&mut client), paths(shown));
    if matches!(host, Host::Standalone) {
        let status = |path: &str| client.get(path).expect("an answer").status;
        assert_eq!(["/drafts/a.html", "/docs/run.log", "/x.tmp", "/index.html"].map(status), [404, 404, 404, 200]);
    }
}

#[test]
fn expressions_stand_beside_globs_in_the_standalone_server() {
    expressions_stand_beside_globs(Host::Standalone);
}

#[test]
fn expressions_stand_beside_globs_in_httpd() {
    if !apache::is_missing() {
        expressions_stand_beside_globs(Host::Apache);
    }
}

#[test]
fn a_directive_of_its_own_takes_expressions_and_another_forgets_them() {
    if apache::is_missing() {
        return;
    }
    let start = |directives: &str| {
        let launch = Launch::new(Mpm::Event).ordinary_site().text(directives);
        for name in ["a.html", "drafts/a.html", "b.log", "b.log~"] {
            launch.write(format!("docs/{name}"), "x");
        }
        let httpd = launch.start();
        let mut client = httpd.client();
        httpd.wait_for_index(&mut client);
        listed(&mut client)
    };
    assert_eq!(start("OAIIgnore re:^/drafts/ re:\\.log$"), paths(["a.html"]));
    let directives = "OAIIgnore re:^/drafts/\nOAIIgnore !* re:\\.log$";
    assert_eq!(start(directives), paths(["a.html", "b.log~", "drafts/a.html"]));
}

#[test]
fn a_pattern_that_cannot_match_stops_the_server_before_it_starts() {
    let site = site();
    for (pattern, said) in [
        ("/(a|ok).*/", "looks like a regular expression: write 're:/(a|ok).*/'"),
        ("re:^drafts/", "begins with a slash"),
        ("re:(", "unclosed group"),
        ("../secret", "matches no path"),
    ] {
        for key in ["ignore", "withhold"] {
            let mut command = std::process::Command::new(binary());
            command.arg("serve").arg(site.path()).arg("--check-config");
            command.arg("--option").arg(format!("{key}=['{pattern}']"));
            let ended = to_its_end(&mut command).expect("it ends");
            assert_eq!(ended.status.code(), Some(78), "{}", ended.err);
            assert!(ended.err.contains(&format!("setting '{key}' has '{pattern}'")), "{}", ended.err);
            assert!(ended.err.contains(said), "{}", ended.err);
        }
    }
}

#[test]
fn pages_have_a_size_for_each_verb() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site().text("OAIPageSize 2 3");
    for number in 0..7 {
        launch.write(format!("docs/{number}.txt"), "x");
    }
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let mut sizes = |verb: &str| {
        let pages = oai::pages(&mut client, &format!("verb={verb}&metadataPrefix=oai_dc"));
        pages.iter().map(|page| page.answer.records.len()).collect::<Vec<_>>()
    };
    assert_eq!(sizes("ListRecords"), [2, 2, 2, 1]);
    assert_eq!(sizes("ListIdentifiers"), [3, 3, 1]);
}
