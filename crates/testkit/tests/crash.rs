//! `kill -9` is a normal event.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

use modoai_testkit::dice::Dice;
use modoai_testkit::process::{Launch, binary};
use modoai_testkit::site::{self, TestSite};

use crate::oai;

/// Fifty times the indexer is killed at a random moment while the site changes; the catalogue is never unusable, and in the
/// end it is what an undisturbed index makes of it.
#[test]
fn an_indexer_killed_at_random_loses_nothing() {
    let folder = TestSite::with(&[]);
    let state = tempfile::tempdir().expect("a folder");
    site::many(folder.path(), 3_000).expect("files");
    let mut dice = Dice::new(2_006);
    let index = || {
        let mut command = Command::new(binary());
        command.arg("index").arg(folder.path()).arg("--data").arg(state.path()).stdout(Stdio::null());
        command
    };
    let mut gone = BTreeSet::new();
    for round in 0..50 {
        let mut child = index().spawn().expect("the command runs");
        std::thread::sleep(Duration::from_millis(dice.below(60)));
        child.kill().expect("killed, or ended by itself");
        child.wait().expect("it has ended");
        let name = format!("round-{round}.txt");
        folder.write(&name, "x");
        if round % 3 == 2 {
            // Deleted again, sometimes after it was seen and sometimes before.
            let victim = format!("round-{}.txt", round - 1);
            folder.remove(&victim);
            gone.insert(victim);
        }
    }
    assert!(index().status().expect("the command runs").success());
    let server = Launch::of(folder.path()).state(state.path()).start();
    let mut client = server.client();
    let records = oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    let name = |identifier: &str| identifier[server.url().len() + 1..].to_owned();
    let live: BTreeSet<String> =
        records.iter().filter(|record| !record.deleted).map(|record| name(&record.identifier)).collect();
    let files = site::files_below(folder.path()).expect("readable");
    assert_eq!(live, files.into_iter().map(|path| path.to_string_lossy().into_owned()).collect());
    assert_eq!(
        records.len(),
        live.len() + records.iter().filter(|record| gone.contains(&name(&record.identifier))).count()
    );
}

#[test]
fn a_server_killed_while_it_writes_starts_again_with_everything_it_had_told() {
    let folder = TestSite::with(&[("a", "x")]);
    let state = tempfile::tempdir().expect("a folder");
    let mut told: BTreeSet<(String, bool)> = BTreeSet::new();
    for round in 0..8 {
        let server =
            Launch::of(folder.path()).state(state.path()).argument("--url").argument("http://same.example").start();
        let mut client = server.client();
        let records = oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
        let now: BTreeSet<(String, bool)> =
            records.into_iter().map(|record| (record.identifier, record.deleted)).collect();
        for (identifier, _) in &told {
            assert!(now.iter().any(|(listed, _)| listed == identifier), "{identifier} was told and is forgotten");
        }
        told = now;
        for number in 0..200 {
            folder.write(format!("{round}/{number}"), "x");
        }
        std::thread::sleep(Duration::from_millis(20 * round));
        server.kill();
        std::fs::remove_dir_all(folder.at(round.to_string())).expect("removed");
    }
}
