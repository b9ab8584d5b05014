//! `modoai index`: one pass, for cron.

use std::sync::Arc;

use modoai_repository::catalogue::{Access, Catalogue, Change, Location, open};
use modoai_repository::item::Item;
use modoai_repository::site::kind::set_of;

use crate::desk::{Desk, Ended};

/// The counts in the line it prints.
#[track_caller]
fn counts(desk: &Desk, ended: Ended) -> String {
    let printed = ended.printed();
    let site = format!("{}: ", desk.at("site").display());
    let counts = printed.strip_prefix(&site).and_then(|rest| rest.strip_suffix('\n'));
    counts.unwrap_or_else(|| panic!("not one line about the site: {printed}")).to_owned()
}

#[test]
fn what_is_new_changed_and_gone_is_counted() {
    let desk = Desk::new();
    assert_eq!(counts(&desk, desk.run_on_site("index", &[])), "3 files, 3 added or updated, 0 deleted");
    assert_eq!(counts(&desk, desk.run_on_site("index", &[])), "3 files, 0 added or updated, 0 deleted");
    desk.write("site/a.txt", "changed");
    desk.write("site/new.txt", "new");
    std::fs::remove_file(desk.at("site/docs/b.txt")).expect("it was there");
    assert_eq!(counts(&desk, desk.run_on_site("index", &[])), "3 files, 2 added or updated, 1 deleted");
}

#[test]
fn json_is_one_object() {
    let desk = Desk::new();
    let printed = desk.run_on_site("index", &["--json"]).printed();
    let summary: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    let state = desk.at("state");
    assert_eq!(
        summary,
        serde_json::json!({ "files": 3, "new_or_changed": 3, "deleted": 0, "unsettled": summary["unsettled"], "unknown": 0, "withheld": 0, "state": state })
    );
    assert!(summary["unsettled"].is_u64(), "{summary}");
    assert_eq!(printed.lines().count(), 1);
}

#[test]
fn the_catalogue_is_kept_below_the_users_state_folder_unless_told_otherwise() {
    let desk = Desk::new();
    assert_eq!(counts(&desk, desk.run(&["index", "site"])), "3 files, 3 added or updated, 0 deleted");
    let site = desk.at("site");
    let inside = site.strip_prefix("/").expect("absolute");
    let state = desk.at("home/.local/state/modoai/sites").join(inside);
    assert!(state.join("catalogue.sqlite").is_file(), "nothing in {}", state.display());
}

#[test]
fn a_folder_that_is_suddenly_empty_is_not_believed_until_someone_says_so() {
    let desk = Desk::new();
    desk.run_on_site("index", &[]).printed();
    std::fs::remove_dir_all(desk.at("site")).expect("it was there");
    std::fs::create_dir(desk.at("site")).expect("room for it");
    let said = "modoai: the catalogue was not changed: the directory of the site is empty, but the catalogue has 3 resources; check that the disk is mounted
  hint: if these deletions are intended, run `modoai index` with --accept-deletions";
    desk.run_on_site("index", &[]).failed(1, said);
    desk.run_on_site("index", &["--json"]).failed(1, said);
    let believed = desk.run_on_site("index", &["--accept-deletions"]);
    assert_eq!(counts(&desk, believed), "0 files, 0 added or updated, 3 deleted");
    assert_eq!(counts(&desk, desk.run_on_site("index", &[])), "0 files, 0 added or updated, 0 deleted");
}

#[test]
fn while_a_server_runs_there_is_nothing_to_do() {
    let desk = Desk::new();
    let _server = desk.serve();
    let said = "another modoai process keeps this catalogue current; nothing to do\n";
    assert_eq!(desk.run_on_site("index", &[]).printed(), said);
    assert_eq!(desk.run_on_site("index", &["--json"]).printed(), "{\"kept_by_another\":true}\n");
}

#[test]
fn a_folder_that_cannot_be_opened_is_named() {
    let desk = Desk::new();
    desk.write("file", "not a folder");
    for (dir, why) in [("nowhere", "No such file or directory (os error 2)"), ("file", "Not a directory (os error 20)")]
    {
        let said = format!("modoai: failed to open the directory {dir}: {why}");
        desk.run(&["index", dir, "--data", "state"]).failed(1, &said);
    }
    assert!(!desk.at("state").exists(), "nothing is kept of a folder that is not there");
}

#[test]
fn a_state_folder_inside_the_site_is_refused() {
    let desk = Desk::new();
    let state = desk.at("site/state");
    let said = format!(
        "modoai: the state directory {} is inside the site and would be served with it\n  hint: give another directory with --data",
        state.display()
    );
    desk.run(&["index", "site", "--data", "site/state"]).failed(64, &said);
    // A link on the way does not hide it.
    std::os::unix::fs::symlink(desk.at("site"), desk.at("link")).expect("a link");
    let ended = desk.run(&["index", "site", "--data", "link/state"]);
    assert_eq!(ended.status, 64, "{}", ended.stderr);
    assert!(!state.exists());
}

#[test]
fn a_catalogue_that_is_none_is_named_and_left_alone() {
    let desk = Desk::new();
    desk.write("state/catalogue.sqlite", "this is something else entirely");
    let ended = desk.run_on_site("index", &[]);
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.starts_with("modoai: failed to open the catalogue of site: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("catalogue.sqlite"), "{}", ended.stderr);
    assert!(ended.stderr.ends_with("\n  hint: to use another directory, give it with --data\n"), "{}", ended.stderr);
    let content = std::fs::read(desk.at("state/catalogue.sqlite")).expect("still there");
    assert_eq!(content, b"this is something else entirely");
}

/// A stand-in for httpd: prints the TOML of mod_oai, between what other modules say.
fn httpd(desk: &Desk, servers: &[(&str, &str)]) -> String {
    let mut script = String::from(
        "#!/bin/sh\ntest \"$*\" = '-t -D MODOAI_SHOW_ROOTS' || exit 3\ncat << 'END'\nchatter\n# mod_oai roots\n",
    );
    for (name, roots) in servers {
        let folder = desk.at("index").join(format!("{name}_80"));
        script += &format!("\n[[server]]\nname = \"{name}\"\nfolder = \"{}\"\n", folder.display());
        script += "ignore = [\"*.bak\"]\n";
        for root in roots.split(' ') {
            let (prefix, path) = root.split_once('=').expect("prefix=path");
            script += &format!("[[server.root]]\nprefix = \"{prefix}\"\npath = \"{}\"\n", desk.at(path).display());
        }
    }
    desk.write("httpd", script + "\nmore chatter\nEND\n");
    std::fs::create_dir_all(desk.at("index")).expect("a folder");
    format!("sh '{}'", desk.at("httpd").display())
}

fn catalogue(desk: &Desk, server: &str) -> std::sync::Arc<dyn Catalogue> {
    open(&Location::at(desk.at("index").join(format!("{server}_80"))), Access::Write).expect("a catalogue")
}

#[test]
fn every_server_of_an_apache_is_filled_and_left_for_httpd_to_complete() {
    let desk = Desk::new();
    desk.write("site/x.bak", "ignored");
    desk.write("more/c.html", "<title>C</title>");
    let httpd = httpd(&desk, &[("one", "=site extra=more"), ("two", "=more")]);
    let run = || desk.run(&["index", "--apache", "--httpd", &httpd]);
    assert_eq!(
        run().printed(),
        "one: 4 files, 4 added or updated, 0 deleted, 4 read; httpd completes it when it starts\n\
         two: 1 file, 1 added or updated, 0 deleted, 1 read; httpd completes it when it starts\n"
    );
    assert_eq!(
        run().printed(),
        "one: 4 files, 0 added or updated, 0 deleted, 0 read; httpd completes it when it starts\n\
         two: 1 file, 0 added or updated, 0 deleted, 0 read; httpd completes it when it starts\n"
    );
    let one = catalogue(&desk, "one");
    assert!(!one.standing().expect("a standing").ready);
    let item = one.item("extra/c.html").expect("no trouble").expect("it is known");
    assert_eq!((&*item.media_type, item.facts.title.as_deref()), ("text/html", Some("C")));
    assert!(item.facts.digests.is_some());
}

#[test]
fn what_httpd_said_of_media_types_is_kept() {
    let desk = Desk::new();
    let httpd = httpd(&desk, &[("one", "=site")]);
    let run = |more: &[&str]| desk.run(&[&["index", "--apache", "--httpd", &httpd], more].concat());
    run(&[]).printed();
    let one = catalogue(&desk, "one");
    let name = "a.txt".to_owned();
    let Item { fingerprint, publicity, .. } = one.item(&name).expect("no trouble").expect("it is known");
    let (media_type, sets) = ("text/x-told".into(), vec![Arc::new(set_of("text/x-told"))]);
    let mut writer = one.writer().expect("the only writer");
    writer.apply(&[Change::Put { name, fingerprint, media_type, sets, publicity }]).expect("applied");
    writer.complete().expect("complete");
    let said = "one: httpd is running and keeps this catalogue current; nothing to do\n";
    assert_eq!(run(&[]).printed(), said, "as long as the lock is held");
    let said = "modoai: one: a running httpd is updating this catalogue and has withheld the deletions
  hint: stop it, run this command again, and restart it";
    run(&["--accept-deletions"]).failed(1, said);
    drop(writer);
    desk.write("site/new.txt", "new");
    assert_eq!(run(&[]).printed(), "one: 4 files, 1 added or updated, 0 deleted, 1 read\n");
    let media_type = |name: &str| one.item(name).expect("no trouble").expect("it is known").media_type;
    assert_eq!((&*media_type("a.txt"), &*media_type("new.txt")), ("text/x-told", "text/plain"));
    std::fs::remove_file(desk.at("site/new.txt")).expect("it was there");
    let summary: serde_json::Value = serde_json::from_str(&run(&["--json"]).printed()).expect("JSON");
    let expected = serde_json::json!({ "servers": [{
        "server": "one", "state": desk.at("index/one_80"), "complete": true, "read": 0,
        "files": 3, "new_or_changed": 0, "deleted": 1, "unsettled": 0, "unknown": 0, "withheld": 0,
    }]});
    assert_eq!(summary, expected);
}

#[test]
fn the_trouble_of_one_server_is_not_that_of_another() {
    let desk = Desk::new();
    let httpd = httpd(&desk, &[("one", "=nowhere"), ("two", "=site"), ("three", "=nowhere")]);
    let ended = desk.run(&["index", "--apache", "--httpd", &httpd]);
    let trouble = |name: &str| {
        let nowhere = desk.at("nowhere");
        let why = "No such file or directory (os error 2)";
        format!("modoai: {name}: failed to find its files: failed to open the directory {}: {why}\n", nowhere.display())
    };
    assert_eq!(ended.stderr, trouble("one") + &trouble("three"));
    assert!(ended.stdout.starts_with("two: 3 files, 3 added or updated"), "{}", ended.stdout);
    assert_eq!(ended.status, 78);
}

#[test]
fn only_the_user_who_owns_the_index_directory_may_fill_it() {
    let desk = Desk::new();
    let httpd = httpd(&desk, &[("one", "=site")]);
    let index = desk.at("index");
    let run = || desk.run(&["index", "--apache", "--httpd", &httpd]);
    // Only root can give it away.
    if std::os::unix::fs::chown(&index, Some(65_533), None).is_ok() {
        let said = format!(
            "modoai: one: the index directory {} belongs to '#65533', the user of httpd
  hint: run this as that user: sudo -u '#65533' modoai index --apache",
            index.display()
        );
        run().failed(1, &said);
        assert_eq!(std::fs::read_dir(&index).expect("a folder").count(), 0, "nothing was made there");
    }
    std::fs::remove_dir(&index).expect("it is empty");
    let said = format!(
        "modoai: one: the index directory {} does not exist\n  hint: start httpd once to create it, and stop it again",
        index.display()
    );
    run().failed(1, &said);
    assert!(!index.exists());
}

#[test]
fn an_httpd_that_cannot_be_asked_or_has_nothing_to_say_is_an_error() {
    let desk = Desk::new();
    desk.write("sick", "echo 'AH00526: Syntax error' >&2\nexit 1\n");
    desk.write("silent", "echo 'Syntax OK'\n");
    desk.write("bare", "echo '# mod_oai roots'\n");
    let run = |program: &str| desk.run(&["index", "--apache", "--httpd", program]);
    let said = "modoai: `sh sick -t -D MODOAI_SHOW_ROOTS` failed (exit status: 1): AH00526: Syntax error
  hint: if only root may read its configuration, run: sudo sh sick -t -D MODOAI_SHOW_ROOTS | modoai index --apache --httpd -";
    run("sh sick").failed(1, said);
    let said = "modoai: mod_oai is not loaded in httpd\n  hint: load the module: `a2enmod oai`, or LoadModule";
    run("sh silent").failed(1, said);
    let said = "modoai: no server of this httpd has a repository
  hint: configure one: <Location \"/modoai\"> SetHandler oai-handler </Location>";
    run("sh bare").failed(78, said);
}

#[test]
fn what_root_has_asked_is_taken_from_standard_input() {
    let desk = Desk::new();
    let httpd = httpd(&desk, &[("one", "=site")]);
    let line = format!("{httpd} -t -D MODOAI_SHOW_ROOTS | modoai index --apache --httpd -");
    let printed = desk.shell(&line, &desk.at("")).printed();
    assert!(printed.starts_with("one: 3 files, 3 added or updated, 0 deleted"), "{printed}");
}

#[test]
fn a_folder_and_an_apache_do_not_go_together() {
    let desk = Desk::new();
    for (arguments, name) in [
        (&["index", "site", "--apache"][..], "DIR"),
        (&["index", "--apache", "--data", "state"], "--data"),
        (&["index", "--apache", "--option", "a=b"], "--option"),
    ] {
        let ended = desk.run(arguments);
        let said = format!("error: {name} cannot be used with --apache: the httpd configuration defines the sites\n");
        assert!(ended.status == 64 && ended.stderr.starts_with(&said), "{ended:?}");
    }
    assert_eq!(desk.run(&["index"]).status, 64);
    assert_eq!(desk.run(&["index", "site", "--httpd", "x"]).status, 64);
}
