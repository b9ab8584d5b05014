//! `modoai spider` as a command: its help, its exit codes, what becomes of the rest when one thing fails, and what nobody
//! gets to see. What it says of links is tested against many webs elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use modoai_spider::report::FORMATS;
use modoai_testkit::apache::machine::free_port;
use modoai_testkit::process::write_program;
use modoai_testkit::waiting::wait_until;
use modoai_testkit::web::{Host, Web};
use modoai_testkit::workspace;
use rustix::process::{Pid, Signal, kill_process};

use crate::desk::{Desk, finish};

/// A link that has moved, one that is forbidden, and one to another page.
fn web() -> Web {
    let top = r#"<a href="/old">old</a> <a href="ftp://ftp.example.org/">files</a> <a href="/more/">more</a>"#;
    Web::default().page("/", top).page("/more/", "more").page("/new", "new").redirect("/old", 301, "/new")
}

/// The same, with something broken.
fn broken_web() -> Web {
    web().page("/more/", r#"<a href="/nowhere">nowhere</a>"#)
}

/// Two tasks whose files would have one name.
fn two_tasks(host: &Host) -> String {
    let here = host.url();
    format!("[[task]]\nname = \"web/all\"\nsite = \"{here}/\"\n[[task]]\nname = \"web_all\"\ntree = \"{here}/more/\"\n")
}

fn text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_help_knows_every_format() {
    let desk = Desk::new();
    let (short, long) = (desk.run(&["spider", "-h"]).printed(), desk.run(&["spider", "--help"]).printed());
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    let words: Vec<_> = short.split_whitespace().collect();
    assert!(words.join(" ").contains(&names.join(", ")), "{short}");
    for format in FORMATS {
        assert!(long.contains(&format!("- {}: {}", format.name, format.about)), "{long}");
    }
    let refused = desk.run(&["spider", "http://127.0.0.1/", "--report", "pdf=a.pdf"]);
    assert_eq!(refused.status, 64, "{}", refused.stderr);
    assert!(
        refused.stderr.contains(&format!("unknown format \"pdf\"; the formats are {}", names.join(", "))),
        "{}",
        refused.stderr
    );
}

#[test]
fn every_flag_that_the_guide_names_exists() {
    let help = Desk::new().run(&["spider", "--help"]).printed();
    let flags = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_ascii_lowercase() && c != '-');
        let flags =
            words.filter(|word| word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic)));
        flags.map(str::to_owned).collect()
    };
    let known = flags(&help);
    let mut seen = 0;
    for entry in fs::read_dir(workspace().join("docs/guide")).expect("there is a guide") {
        let path = entry.expect("readable").path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("spider")) {
            for flag in flags(&text(&path)) {
                assert!(known.contains(&flag), "{}: {flag}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} flags were found");
}

#[test]
fn every_format_is_written_into_a_folder_that_is_made() {
    let (desk, host) = (Desk::new(), broken_web().start());
    let url = host.at("/");
    let reports: Vec<String> = FORMATS.iter().map(|format| format!("--report={0}=out/deep/{0}", format.name)).collect();
    let mut arguments =
        vec!["spider", &url, "--table", "table", "--html", "pages/index.html", "--map", "maps/map.html"];
    arguments.extend(reports.iter().map(String::as_str));
    let ended = desk.run(&arguments);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.ends_with("modoai: found 1 broken target\n"), "{}", ended.stderr);
    for format in FORMATS {
        assert!(text(desk.at("out/deep").join(format.name)).contains("/nowhere"), "{}", format.name);
    }
    assert!(text(desk.at("pages/index.html")).contains("/nowhere"));
    assert!(text(desk.at("maps/map.html")).contains("</html>"));
}

#[test]
fn a_report_that_cannot_be_written_does_not_keep_others_from_it() {
    let (desk, host) = (Desk::new(), broken_web().start());
    let url = host.at("/");
    desk.write("taken", "a file is no folder");
    let unwritable = ["--html", "taken/a.html", "--map", "taken/b.html", "--report", "csv=taken/c.csv"];
    let further = ["--report", "dot=web.dot", "--report", "json=all.jsonl", "--table", "table"];
    let ended = desk.run(&[&["spider", &url], &unwritable[..], &further[..]].concat());
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("modoai: error: ").count(),
        4,
        "three reports, and what was found: {}",
        ended.stderr
    );
    assert!(ended.stderr.contains("failed to write taken/c.csv: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("found 1 broken target\n"), "{}", ended.stderr);
    assert!(ended.stderr.ends_with("modoai: 3 operations failed; see the errors above\n"), "{}", ended.stderr);
    assert!(ended.stdout.contains("/nowhere"), "the terminal is told: {}", ended.stdout);
    assert!(text(desk.at("web.dot")).contains("/nowhere"));
    assert!(text(desk.at("all.jsonl")).lines().last().is_some_and(|last| last.contains("\"run\":1,")));

    let again = desk.run(&["spider", &url, "--table", "table", "--json"]);
    assert_eq!(again.status, 2, "{}", again.stderr);
    assert!(again.stdout.contains("\"run\":2,"), "the first run was closed: {}", again.stdout);
}

#[test]
fn tasks_of_one_name_have_files_of_their_own() {
    let (desk, host) = (Desk::new(), broken_web().start());
    desk.write("tasks.toml", two_tasks(&host));
    let ended = desk.run(&["spider", "tasks.toml", "--table", "table", "--report", "dot=out/web.dot", "-q"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    let (first, second) = (text(desk.at("out/web-web_all.dot")), text(desk.at("out/web-web_all-2.dot")));
    assert!(first.contains("/new") && !second.contains("/new"), "{first}\n{second}");
}

#[test]
fn a_server_that_is_not_there_is_a_failure_with_its_reason() {
    let desk = Desk::new();
    let port = free_port();
    let ended = desk.run(&["spider", &format!("http://127.0.0.1:{port}/"), "--no-table", "--ignore-robots"]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("1 of 1 pages (100%) could not be read: connection failed"), "{}", ended.stderr);
}

#[test]
fn one_says_what_makes_the_exit_code_2() {
    let (desk, host) = (Desk::new(), web().start());
    let url = host.at("/");
    let run = |fail_on: &[&str]| {
        let ended =
            desk.run(&[&["spider", &url, "--no-table", "--json", "--contact", "a@example.org"], fail_on].concat());
        (ended.status, ended.stderr)
    };
    assert_eq!(run(&[]), (0, String::new()));
    assert_eq!(run(&["--fail-on", "moved"]), (2, "modoai: found 1 moved target\n".to_owned()));
    for not_tested in ["not-tested", "not tested"] {
        let said = "modoai: found 1 moved target, 1 target not tested\n".to_owned();
        assert_eq!(run(&["--fail-on", &format!("{not_tested},moved,broken,moved")]), (2, said));
    }
    let (status, said) = run(&["--fail-on", "good"]);
    assert_eq!(status, 64, "{said}");
    assert!(said.contains("[possible values: broken, fragment, moved, changed, expiring, not-tested]"), "{said}");
}

#[test]
fn what_is_wrong_with_tasks_is_told_with_file_and_line() {
    let desk = Desk::new();
    desk.write("tasks.toml", "[[task]]\nname = \"home\"\nsiet = \"https://www.example.org/\"\n");
    let ended = desk.run(&["spider", "tasks.toml"]);
    ended.failed(78, "modoai: invalid tasks: tasks.toml:3: unknown setting 'siet'; did you mean 'site'?");
    desk.write("instructions", "<Site\n  Name home\n  TopURL https://www.example.org/\n");
    let ended = desk.run(&["spider", "instructions"]);
    assert_eq!(ended.status, 78, "{}", ended.stderr);
    assert!(ended.stderr.contains("invalid tasks: instructions:1: "), "{}", ended.stderr);
}

#[test]
fn a_password_in_a_url_is_told_to_its_host_alone() {
    const PASSWORD: &str = "open-sesame";
    let (desk, host) = (Desk::new(), broken_web().start());
    let url = |password: &str| host.at("/").replace("http://", &format!("http://ali:{password}@"));
    let reports = ["--html", "a.html", "--map", "b.html", "--report", "sarif=c.sarif"];
    let ended = desk.run(&[&["spider", &url(PASSWORD), "--json"], &reports[..]].concat());
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(host.log().iter().all(|asked| asked.request.header("authorization").is_some()), "it is told there");
    assert!(!format!("{}{}", ended.stdout, ended.stderr).contains(PASSWORD), "{}{}", ended.stdout, ended.stderr);

    let tables = || -> Vec<PathBuf> {
        let entries = fs::read_dir(desk.at("home/.local/state/modoai/spider")).expect("where tables are kept");
        let paths = entries.map(|entry| entry.expect("readable").path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "table")).collect()
    };
    for file in ["a.html", "b.html", "c.sarif"].map(|name| desk.at(name)).into_iter().chain(tables()) {
        let bytes = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let is_there = bytes.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes());
        assert!(!is_there, "it stands in {}", file.display());
    }
    assert_eq!(desk.run(&["spider", &url("another"), "--json"]).status, 2);
    assert_eq!(tables().len(), 1, "another password is no other web");
}

#[test]
fn without_a_way_for_mail_nobody_is_written_to_and_that_is_told() {
    let (desk, host) = (Desk::new(), broken_web().start());
    let task = format!("[[task]]\nname = \"home\"\nsite = \"{}/\"\nmail = \"ann@example.org\"\n", host.url());
    desk.write("tasks.toml", task);
    let ended = desk.run(&["spider", "tasks.toml", "--table", "table", "--json"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("no mail sent: the task file has no [mail]"), "{}", ended.stderr);
    let ended = desk.run(&["spider", "tasks.toml", "--table", "table", "--json", "--mail-dry-run", "drafts"]);
    assert!(!ended.stderr.contains("no mail sent"), "{}", ended.stderr);
    assert_eq!(fs::read_dir(desk.at("drafts")).expect("a folder").count(), 1, "one can see what would be written");
}

#[test]
fn an_owner_who_cannot_be_written_to_is_a_failure() {
    let (desk, host) = (Desk::new(), broken_web().start());
    desk.write("tasks.toml", mailed_by("/nowhere/sendmail", &host));
    let ended = desk.run(&["spider", "tasks.toml", "--table", "table", "--json"]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("failed to send mail to ann@example.org: "), "{}", ended.stderr);
    assert!(ended.stderr.ends_with("modoai: 1 operation failed; see the errors above\n"), "{}", ended.stderr);
}

#[test]
fn a_signal_is_heard_after_the_traversal() {
    let (desk, host) = (Desk::new(), broken_web().start());
    // Takes no message until whoever started it is gone.
    let script = "#!/bin/sh\n: > \"$0.begun\"\nwhile kill -0 $PPID; do sleep 0.1; done 2> /dev/null\n";
    write_program(&desk.at("sendmail"), script);
    desk.write("tasks.toml", mailed_by(&desk.at("sendmail").display().to_string(), &host));
    let child = desk.start(&["spider", "tasks.toml", "--table", "table", "--json"]);
    wait_until("a message is being sent", || desk.at("sendmail.begun").exists());
    kill_process(Pid::from_child(&child), Signal::INT).expect("our own child");
    assert_eq!(finish(child).status, 130);
}

fn mailed_by(program: &str, host: &Host) -> String {
    let mail = format!("[mail]\nsendmail = \"{program}\"\nfrom = \"spider@example.org\"\n");
    format!("{mail}[[task]]\nname = \"home\"\nsite = \"{}/\"\nmail = \"ann@example.org\"\n", host.url())
}
