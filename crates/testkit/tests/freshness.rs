//! The catalogue follows the folder, and no harvester misses a change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use modoai_testkit::dice::Dice;
use modoai_testkit::http::{Client, encode};
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::{next_second, wait_for, wait_until};

use crate::oai;

/// Waits until a condition on the whole list holds. How soon it does is for the benchmark to measure.
#[track_caller]
fn until(client: &mut Client, holds: impl Fn(&BTreeMap<String, bool>) -> bool) {
    wait_for("the change is listed", || {
        let listed = list(client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
        if holds(&listed) { Ok(()) } else { Err(format!("listed: {listed:?}")) }
    });
}

/// Names (without the server) and whether they are deleted.
fn list(client: &mut Client, query: &str) -> BTreeMap<String, bool> {
    let records = oai::harvest(client, query).into_iter();
    let name = |identifier: &str| identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    records.map(|record| (name(&record.identifier), record.deleted)).collect()
}

#[test]
fn changes_show_soon_and_deletions_stay() {
    let site = TestSite::with(&[("a.txt", "a"), ("b.html", "b")]);
    let server = Server::of(site.path());
    let mut client = server.client();
    site.write("new/c.txt", "c");
    until(&mut client, |listed| listed.get("new/c.txt") == Some(&false));
    site.remove("b.html");
    until(&mut client, |listed| listed.get("b.html") == Some(&true));
    let id = encode(format!("{}/b.html", server.url()));
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        let page = oai::ask(&mut client, &format!("verb=GetRecord&metadataPrefix={prefix}&identifier={id}"));
        let record = &page.answer.records[0];
        assert!(record.deleted && record.metadata.is_none() && record.sets == ["mime:text:html"]);
        modoai_testkit::xsd::expect_valid("a deleted record", &page.xml);
    }
    let formats = oai::ask(&mut client, &format!("verb=ListMetadataFormats&identifier={id}"));
    assert_eq!(formats.answer.errors[0].0, "noMetadataFormats");
    assert!(list(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:text:html").contains_key("b.html"));
    let sets = oai::ask(&mut client, "verb=ListSets").answer.sets;
    assert!(sets.iter().all(|set| set.spec != "mime:text:html"), "no live item is left in that set");
    site.write("b.html", "back");
    until(&mut client, |listed| listed.get("b.html") == Some(&false));
}

#[test]
fn a_change_through_one_hard_link_shows_under_all_names() {
    let site = TestSite::with(&[("a.txt", "first"), ("other.txt", "x")]);
    fs::create_dir(site.at("deep")).expect("a folder");
    fs::hard_link(site.at("a.txt"), site.at("deep/b.txt")).expect("a hard link");
    // No rescan may help.
    let server = Launch::of(site.path()).set("rescan", "1000h").start();
    let mut client = server.client();
    let mut stamps = || -> BTreeMap<String, String> {
        let records = oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc").into_iter();
        records.map(|record| (record.identifier, record.datestamp)).collect()
    };
    let names =
        |names: &[&str]| -> Vec<String> { names.iter().map(|name| format!("{}/{name}", server.url())).collect() };
    let mut expect_moved = |change: &dyn Fn(), moved: &[String]| {
        next_second();
        let before = stamps();
        change();
        wait_for(&format!("{moved:?} have new datestamps"), || {
            let now = stamps();
            let missing: Vec<_> = moved.iter().filter(|name| now.get(*name) <= before.get(*name)).collect();
            if missing.is_empty() { Ok(()) } else { Err(format!("without: {missing:?}")) }
        });
        let other = format!("{}/other.txt", server.url());
        assert_eq!(stamps().get(&other), before.get(&other), "an unchanged file keeps its datestamp");
    };
    let both = names(&["a.txt", "deep/b.txt"]);
    // In place: a new file would be another inode.
    let append = |name: &'static str| {
        let path = site.at(name);
        move || {
            use std::io::Write as _;
            let mut file = fs::File::options().append(true).open(&path).expect("the file");
            file.write_all(b" more").expect("written");
        }
    };
    expect_moved(&append("deep/b.txt"), &both);
    expect_moved(&append("a.txt"), &both);
    // A name that comes later, and is written to at once.
    let link_and_append = || {
        fs::hard_link(site.at("a.txt"), site.at("c.txt")).expect("a hard link");
        append("c.txt")();
    };
    expect_moved(&link_and_append, &names(&["a.txt", "c.txt", "deep/b.txt"]));
    // A name that has become another file is no longer one of them.
    site.remove("c.txt");
    site.write("c.txt", "another file");
    let c = names(&["c.txt"]);
    wait_for("the new file is listed", || {
        let record = oai::ask(
            &mut server.client(),
            &format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={}", encode(&c[0])),
        );
        let is_new = String::from_utf8_lossy(&record.xml).contains("YW5vdGhlciBmaWxl");
        if is_new { Ok(()) } else { Err("not yet") }
    });
    expect_moved(&append("a.txt"), &both);
}

#[test]
fn a_root_that_is_a_switched_link_is_followed() {
    use std::os::unix::fs::symlink;
    let folder = TestSite::with(&[
        ("releases/1/a.txt", "first"),
        ("releases/1/old.txt", "x"),
        ("releases/2/a.txt", "second"),
        ("releases/2/new.txt", "x"),
        ("releases/3/a.txt", "third"),
        ("releases/3/old.txt", "x"),
        ("releases/3/new.txt", "x"),
    ]);
    let current = folder.at("current");
    symlink("releases/1", &current).expect("a link");
    // No rescan may help.
    let server = Launch::of(&current).set("rescan", "1000h").start();
    let mut client = server.client();
    until(&mut client, |listed| listed.len() == 2);
    // As deployments do it: another link takes the place of the first, and the old release goes.
    let switch = |release: &str| {
        symlink(format!("releases/{release}"), folder.at("next")).expect("a link");
        fs::rename(folder.at("next"), &current).expect("renamed");
    };
    switch("2");
    fs::remove_dir_all(folder.at("releases/1")).expect("removed");
    until(&mut client, |listed| {
        listed.get("new.txt") == Some(&false) && listed.get("old.txt") == Some(&true) && !listed["a.txt"]
    });
    assert_eq!(client.get("/a.txt").expect("an answer").text(), "second");
    // The new folder is watched, and the link still is.
    folder.write("releases/2/later.txt", "x");
    until(&mut client, |listed| listed.get("later.txt") == Some(&false));
    // Not at once: the link is gone for a moment.
    fs::remove_file(&current).expect("removed");
    symlink("releases/3", &current).expect("a link");
    until(&mut client, |listed| listed.get("later.txt") == Some(&true) && listed.get("old.txt") == Some(&false));
    assert_eq!(client.get("/a.txt").expect("an answer").text(), "third");
}

#[test]
fn what_changed_while_nobody_looked_is_found_after_a_restart() {
    let site = TestSite::with(&[("kept", "x"), ("changed", "x"), ("removed", "x")]);
    for name in ["kept", "changed", "removed"] {
        site.date(name, Duration::from_secs(1_000_000_000));
    }
    let state = tempfile::tempdir().expect("a folder");
    let server = Launch::of(site.path()).state(state.path()).start();
    let date = oai::ask(&mut server.client(), "verb=Identify").answer.response_date;
    assert!(server.terminate().success());
    next_second();
    site.write("changed", "other");
    site.date("changed", Duration::from_secs(1_000_000_000));
    site.write("created", "x");
    site.date("created", Duration::from_secs(1_000_000_000));
    site.remove("removed");
    let server = Launch::of(site.path()).state(state.path()).argument("--url").argument("http://same.example/").start();
    let mut client = server.client();
    until(&mut client, |listed| listed.len() == 4);
    let changed = list(&mut client, &format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={date}"));
    let expected = [("changed", false), ("created", false), ("removed", true)];
    assert_eq!(changed, expected.map(|(name, deleted)| (name.to_owned(), deleted)).into());
}

#[test]
fn a_missing_root_is_an_outage_and_not_a_deletion() {
    let outer = tempfile::tempdir().expect("a folder");
    let (root, away) = (outer.path().join("root"), outer.path().join("away"));
    fs::create_dir(&root).expect("a root");
    fs::write(root.join("a.txt"), "a").expect("a file");
    let server = Server::of(&root);
    let mut client = server.client();
    fs::rename(&root, &away).expect("moved away");
    fs::create_dir(&root).expect("an empty mount point");
    let status =
        |client: &mut Client| client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
    let refused = wait_for("the outage is told", || {
        let answer = status(&mut client);
        if answer.status == 503 { Ok(answer) } else { Err(answer.text()) }
    });
    let retry: u64 = refused.header("Retry-After").and_then(|text| text.parse().ok()).expect("a number of seconds");
    assert!((1..=3600).contains(&retry));
    assert_eq!(client.get("/healthz").expect("an answer").status, 503);
    fs::remove_dir(&root).expect("unmounted");
    fs::rename(&away, &root).expect("back");
    wait_until("the repository is back", || status(&mut client).status == 200);
    assert_eq!(list(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc"), [("a.txt".to_owned(), false)].into());
}

/// While files are created, changed and deleted, a list is taken page by page: what does not change is seen exactly once,
/// and the next incremental harvests bring all the rest.
#[test]
fn a_list_taken_during_changes_and_the_next_ones_miss_nothing() {
    let site = TestSite::with(&[]);
    for number in 0..300 {
        site.write(format!("still/{number}.txt"), "x");
        site.write(format!("busy/{number}.txt"), "x");
    }
    let server = Launch::of(site.path()).set("identifiers_per_page", "7").start();
    let mut client = server.client();
    let mut mirror: BTreeMap<String, bool> = BTreeMap::new();
    let mut from = String::new();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stopping = StopOnDrop(&stop);
        scope.spawn(|| {
            let mut dice = Dice::new(42);
            while !stop.load(Ordering::Relaxed) {
                let name = format!("busy/{}.txt", dice.below(400));
                match dice.below(3) {
                    0 if site.at(&name).exists() => site.remove(&name),
                    _ => site.write(&name, format!("{}", dice.roll())),
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let first = harvest(&mut client, &mut mirror, &mut from);
        let mut still: Vec<_> = first.iter().filter(|(name, _)| name.starts_with("still/")).collect();
        assert_eq!(still.len(), 300, "every unchanged file is seen once");
        still.sort();
        still.dedup();
        assert_eq!(still.len(), 300, "and not one of them twice instead of another");
        for _ in 0..5 {
            harvest(&mut client, &mut mirror, &mut from);
            std::thread::sleep(Duration::from_millis(300));
        }
    });
    let files = modoai_testkit::site::files_below(site.path()).expect("readable");
    let on_disk: BTreeSet<String> = files.into_iter().map(|path| path.to_string_lossy().into_owned()).collect();
    wait_for("the mirror is what is on disk", || {
        harvest(&mut client, &mut mirror, &mut from);
        let live = mirror.iter().filter(|(_, deleted)| !**deleted).map(|(name, _)| name.clone());
        let live: BTreeSet<String> = live.collect();
        let differs: Vec<_> = live.symmetric_difference(&on_disk).collect();
        if differs.is_empty() { Ok(()) } else { Err(format!("{differs:?}")) }
    });
    assert_eq!(mirror, list(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc"));
}

/// Brings a mirror up to date: everything the first time, then what changed since the first page of the last harvest.
fn harvest(client: &mut Client, mirror: &mut BTreeMap<String, bool>, from: &mut String) -> Vec<(String, bool)> {
    let selection = if from.is_empty() { String::new() } else { format!("&from={from}") };
    let pages = unchecked_pages(client, &format!("verb=ListIdentifiers&metadataPrefix=oai_dc{selection}"));
    from.clone_from(&pages[0].0);
    let records: Vec<_> = pages.into_iter().flat_map(|(_, records)| records).collect();
    mirror.extend(records.iter().cloned());
    records
}

/// Ends a thread that changes files, also when the test fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The pages of a list that may change while it is taken: dates and records, without judging sizes.
fn unchecked_pages(client: &mut Client, query: &str) -> Vec<(String, Vec<(String, bool)>)> {
    let mut pages = Vec::new();
    let mut next = query.to_owned();
    loop {
        let answer = oai::ask(client, &next).answer;
        let name = |identifier: &str| identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
        let records = answer.records.iter().map(|record| (name(&record.identifier), record.deleted)).collect();
        pages.push((answer.response_date, records));
        match answer.token.filter(|token| !token.value.is_empty()) {
            Some(token) => next = format!("verb=ListIdentifiers&resumptionToken={}", encode(&token.value)),
            None => return pages,
        }
    }
}
