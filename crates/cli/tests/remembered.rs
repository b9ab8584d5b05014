//! What the folder of a harvest remembers from one run to the next, and what `modoai status` and the reports tell of it.

use modoai_harvester::state::State;
use modoai_testkit::endpoint::{Body, Endpoint, Holdings, Page, Script, Visit, dublin_core};
use modoai_testkit::waiting::next_second;
use serde_json::Value;

use crate::desk::{Desk, Ended};

/// The last line that was printed, as JSON.
fn summary(ended: &Ended) -> Value {
    let last = ended.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn the_next_run_is_told_of_the_selection_that_was_harvested() {
    let desk = Desk::new();
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)));
    let harvest = |more: &[&str]| {
        let ended = desk.run(&[&["harvest", endpoint.url(), "--into", "copy", "--json"], more].concat());
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        summary(&ended)["next"]["from"].as_str().expect("a date").to_owned()
    };
    let once = harvest(&["--from", "2015-01-01"]);
    // Dates have seconds; the next must be another one.
    next_second();
    let everything = harvest(&[]);
    assert!(everything > once, "{everything} is not that of the other selection, {once}");
    assert!(harvest(&["--from", "2015-01-01"]) >= everything);
}

#[test]
fn a_selection_of_which_something_is_missing_is_not_called_complete() {
    let desk = Desk::new();
    let bare = |_: &Visit<'_>, page: &mut Page| {
        let entries = match &mut page.body {
            Body::List(list) => list.entries.as_mut_slice(),
            Body::Record(entry) => std::slice::from_mut(entry),
            _ => &mut [],
        };
        let bad = entries.iter_mut().filter(|it| it.identifier.as_deref() == Some("oai:endpoint.example:0001"));
        bad.for_each(|entry| entry.metadata = None);
    };
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)).page(bare));
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "copy"]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    let status = desk.run(&["status", "copy"]).printed();
    assert!(status.contains("\n  incomplete  everything: 1 record missing at 20"), "{status}");
    assert!(status.contains("\n  missing   oai:endpoint.example:0001: "), "{status}");
    assert!(!status.contains("\n  complete  "), "{status}");
}

#[test]
fn a_full_disk_is_told_as_the_reason() {
    let desk = Desk::new();
    // Text that nothing can compress by much.
    let mut seed = 1_u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{seed:016x}")
    };
    let mut holdings = Holdings::of(40);
    for record in &mut holdings.records {
        record.metadata = dublin_core(&(0..8_000).map(|_| noise()).collect::<String>());
    }
    let endpoint = Endpoint::start(Script::of(holdings));
    std::fs::create_dir(desk.at("disk")).expect("a folder");
    let on_small_disk = |what: &str| {
        // The disk is gone with the shell.
        let mount = "mount -t tmpfs -o size=2m none disk";
        desk.shell(&format!("unshare --map-root-user --mount sh -c '{mount} && {what}'"), &desk.at(""))
    };
    if on_small_disk("true").status != 0 {
        modoai_testkit::skipped("no right to mount");
        return;
    }
    for sink in ["records", "catalogue"] {
        let harvest = format!("modoai harvest {} --into disk/copy --sink {sink} --min-free 0", endpoint.url());
        let told = on_small_disk(&format!("{harvest} || echo exit code $?; modoai status disk/copy"));
        assert!(told.stdout.contains("exit code 1\n"), "{sink}: {told:?}");
        let run = told.stdout.lines().find(|line| line.starts_with("  run ")).unwrap_or_default();
        let full = run.contains("No space left") || run.contains("disk is full");
        assert!(run.contains("Z: failed: ") && full, "{sink}: {told:?}");
    }
}

#[test]
fn a_folder_remembers_its_catalogue() {
    let desk = Desk::new();
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)));
    let run = |arguments: &[&str]| {
        let ended = desk.run(arguments);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        ended
    };
    let told = |catalogue: &str| {
        let question = "verb=ListIdentifiers&metadataPrefix=oai_dc";
        desk.run(&["ask", "--catalogue", catalogue, question]).printed().matches("<header").count()
    };
    std::fs::create_dir(desk.at("g")).expect("a folder");
    let once = ["harvest", endpoint.url(), "--into", "copy", "--sink", "catalogue", "--catalogue", "g/all.sqlite"];
    run(&once);
    endpoint.change(Holdings::add);
    // Also from another place.
    let again = desk.shell(&format!("modoai harvest {} --into ../copy --json", endpoint.url()), &desk.at("g"));
    assert_eq!((again.status, &summary(&again)["records"]), (0, &1.into()), "{}", again.stderr);
    assert_eq!(told("g/all.sqlite"), 4);
    assert!(!desk.at("copy/catalogue.sqlite").exists());
    let status = desk.run(&["status", "copy"]).printed();
    assert!(status.contains(&format!("\n  catalogue {}\n", desk.at("g/all.sqlite").display())), "{status}");
    // A catalogue that was moved is known again when it is named, and remembered from then on.
    std::fs::rename(desk.at("g"), desk.at("h")).expect("moved");
    let moved = ["harvest", endpoint.url(), "--into", "copy", "--catalogue", "h/all.sqlite", "--json"];
    assert_eq!(summary(&run(&moved))["records"], 0, "nothing is asked for again");
    endpoint.change(Holdings::add);
    run(&["harvest", endpoint.url(), "--into", "copy"]);
    assert_eq!(told("h/all.sqlite"), 5);

    // Of many, those that join later join the others; and each may be harvested by itself.
    desk.write("endpoints.txt", endpoint.url());
    run(&["harvest", "--all", "endpoints.txt", "--into", "all", "--sink", "catalogue", "--catalogue", "h/many.sqlite"]);
    let other = Endpoint::start(Script::of(Holdings::of(2)));
    desk.write("endpoints.txt", format!("{}\n{}\n", endpoint.url(), other.url()));
    run(&["harvest", "--all", "endpoints.txt", "--into", "all", "--sink", "catalogue"]);
    assert!(!desk.at("all/catalogue.sqlite").exists());
    let sets = desk.run(&["ask", "--catalogue", "h/many.sqlite", "verb=ListSets"]).printed();
    assert!(
        told("h/many.sqlite") == 5 && sets.matches("<setName>An endpoint of the tests</setName>").count() >= 1,
        "{sets}"
    );
    let folders = std::fs::read_dir(desk.at("all")).expect("it is there").flatten();
    for folder in folders.map(|folder| folder.path()) {
        assert!(
            State::look(&folder)
                .expect("harvested")
                .catalogue()
                .expect("readable")
                .is_some_and(|it| it.path() == desk.at("h/many.sqlite"))
        );
    }
}

#[test]
fn what_is_left_to_another_source_is_told() {
    let desk = Desk::new();
    // Six, of which one is deleted; the second source has one more, and has deleted another.
    let [first, second] = [Holdings::of(6), Holdings::of(7)].map(|holdings| Endpoint::start(Script::of(holdings)));
    second.change(|holdings| holdings.records[0].deleted = true);
    let harvest = |endpoint: &Endpoint, into: &str| {
        let ended = desk.run(&[
            "harvest",
            endpoint.url(),
            "--into",
            into,
            "--sink",
            "catalogue",
            "--catalogue",
            "all.sqlite",
            "--json",
        ]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let told = summary(&ended);
        ["records", "deleted", "elsewhere", "unchanged"].map(|name| told[name].as_u64().expect("a number"))
    };
    assert_eq!(harvest(&first, "one"), [5, 1, 0, 0]);
    // What is gone at both is nobody's, so that the deletion is the second one's as well.
    assert_eq!(harvest(&second, "two"), [1, 1, 5, 0]);
    let status = desk.run(&["status", "two"]).printed();
    assert!(
        status
            .contains("\n  stored    1 record and 1 deletion, oai_dc as catalogue\n  skipped   5 that another source "),
        "{status}"
    );
    second.change(|holdings| holdings.change_first("again"));
    assert_eq!(harvest(&second, "two")[2], 1);
    let again = desk.run(&["harvest", second.url(), "--into", "two", "--from", "2010-01-01"]);
    assert!(
        again.stdout.contains("\n  skipped  5 that another source of the catalogue provides\n"),
        "{}",
        again.stdout
    );
    let status = desk.run(&["status", "one"]).printed();
    assert!(status.contains("stored    5 records and 1 deletion") && !status.contains("skipped "), "{status}");
}

#[test]
fn a_line_keeps_its_folder_whatever_the_order() {
    let desk = Desk::new();
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)));
    let (plain, slash) = (endpoint.url().to_owned(), format!("{}/", endpoint.url()));
    let harvest = |lines: &[&str]| {
        desk.write("endpoints.txt", lines.join("\n"));
        let ended = desk.run(&["harvest", "--all", "endpoints.txt", "--into", "all", "--json"]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        summary(&ended)["records"].as_u64().expect("a number")
    };
    let folders = || {
        let entries = std::fs::read_dir(desk.at("all")).expect("it is there").flatten();
        let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    };
    assert_eq!(harvest(&[&plain, &slash]), 6);
    let both = folders();
    assert_eq!(both.len(), 2);
    assert_eq!(harvest(&[&slash, &plain]), 0, "in another order");
    assert_eq!(harvest(&[&slash]), 0, "by itself");
    std::fs::rename(desk.at("all").join(&both[0]), desk.at("all/mine")).expect("renamed");
    assert_eq!(harvest(&[&plain, &slash]), 0, "under another name");
    assert_eq!(folders().len(), 2);
}

#[test]
fn a_folder_is_told_that_its_repository_moved() {
    let desk = Desk::new();
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)));
    let (old, new) = (endpoint.url().to_owned(), endpoint.url().replace("127.0.0.1", "localhost"));
    let harvest = |url: &str, more: &[&str]| desk.run(&[&["harvest", url, "--into", "copy", "--json"], more].concat());
    assert_eq!(harvest(&old, &["--sink", "catalogue"]).status, 0);
    endpoint.change(|holdings| holdings.change_first("moved"));
    let refused = harvest(&new, &[]);
    assert_eq!(refused.status, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: if the repository has moved there, use --moved;"), "{}", refused.stderr);
    let other = harvest(&new, &["--moved", "--sink", "records"]);
    assert!(other.status == 1 && !other.stderr.contains("--moved"), "the sink is another, too: {}", other.stderr);
    let moved = harvest(&new, &["--moved"]);
    assert_eq!(moved.status, 0, "{}", moved.stderr);
    let told = summary(&moved);
    assert_eq!((&told["records"], &told["elsewhere"]), (&1.into(), &0.into()), "it is the same source: {told}");
    assert_eq!(summary(&harvest(&new, &[]))["records"], 0, "and from then on it is there");
    assert_eq!(harvest(&old, &[]).status, 1);

    // Of many, as long as the name of the folder can be the same.
    let line = |url: &str, more: &[&str]| {
        desk.write("endpoints.txt", url);
        desk.run(&[&["harvest", "--all", "endpoints.txt", "--into", "all", "--json"], more].concat())
    };
    assert_eq!(line(&old, &[]).status, 0);
    let slash = format!("{old}/");
    let refused = line(&slash, &[]);
    assert!(refused.status == 1 && refused.stdout.contains("use --moved"), "{refused:?}");
    assert_eq!(line(&slash, &["--moved"]).status, 0);
    assert_eq!(summary(&line(&slash, &[]))["records"], 0);
}
