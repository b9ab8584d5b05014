//! `modoai index`: one pass, for cron.

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
    assert_eq!(counts(&desk, desk.run_on_site("index", &[])), "3 files, 3 new or changed, 0 deleted");
    assert_eq!(counts(&desk, desk.run_on_site("index", &[])), "3 files, 0 new or changed, 0 deleted");
    desk.write("site/a.txt", "changed");
    desk.write("site/new.txt", "new");
    std::fs::remove_file(desk.at("site/docs/b.txt")).expect("it was there");
    assert_eq!(counts(&desk, desk.run_on_site("index", &[])), "3 files, 2 new or changed, 1 deleted");
}

#[test]
fn json_is_one_object() {
    let desk = Desk::new();
    let printed = desk.run_on_site("index", &["--json"]).printed();
    let summary: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    let state = desk.at("state");
    assert_eq!(
        summary,
        serde_json::json!({ "files": 3, "new_or_changed": 3, "deleted": 0, "unsettled": summary["unsettled"], "unknown": 0, "state": state })
    );
    assert!(summary["unsettled"].is_u64(), "{summary}");
    assert_eq!(printed.lines().count(), 1);
}

#[test]
fn the_catalogue_is_kept_below_the_users_state_folder_unless_told_otherwise() {
    let desk = Desk::new();
    assert_eq!(counts(&desk, desk.run(&["index", "site"])), "3 files, 3 new or changed, 0 deleted");
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
    let said = "modoai: the catalogue was kept as it was: the site's folder is empty, but 3 resources are known; is the disk mounted?
  hint: if these deletions are real, run `modoai index` with --accept-deletions";
    desk.run_on_site("index", &[]).failed(1, said);
    desk.run_on_site("index", &["--json"]).failed(1, said);
    let believed = desk.run_on_site("index", &["--accept-deletions"]);
    assert_eq!(counts(&desk, believed), "0 files, 0 new or changed, 3 deleted");
    assert_eq!(counts(&desk, desk.run_on_site("index", &[])), "0 files, 0 new or changed, 0 deleted");
}

#[test]
fn while_a_server_runs_there_is_nothing_to_do() {
    let desk = Desk::new();
    let _server = desk.serve();
    let said = "another modoai keeps this catalogue current; nothing to do\n";
    assert_eq!(desk.run_on_site("index", &[]).printed(), said);
    assert_eq!(desk.run_on_site("index", &["--json"]).printed(), "{\"kept_by_another\":true}\n");
}

#[test]
fn a_folder_that_cannot_be_opened_is_named() {
    let desk = Desk::new();
    desk.write("file", "not a folder");
    for (dir, why) in [("nowhere", "No such file or directory (os error 2)"), ("file", "Not a directory (os error 20)")]
    {
        let said = format!("modoai: failed to open the folder {dir}: {why}");
        desk.run(&["index", dir, "--data", "state"]).failed(1, &said);
    }
    assert!(!desk.at("state").exists(), "nothing is kept of a folder that is not there");
}

#[test]
fn a_state_folder_inside_the_site_is_refused() {
    let desk = Desk::new();
    let state = desk.at("site/state");
    let said = format!(
        "modoai: the state folder {} lies inside the site and would be served with it\n  hint: give another with --data",
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
    assert!(ended.stderr.ends_with("\n  hint: another place can be given with --data\n"), "{}", ended.stderr);
    let content = std::fs::read(desk.at("state/catalogue.sqlite")).expect("still there");
    assert_eq!(content, b"this is something else entirely");
}
