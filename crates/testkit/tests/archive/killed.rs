//! `kill -9` is a normal event: whenever an import is killed, starting it again leaves exactly what an undisturbed one
//! leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use modoai_protocol::xml::document::Record;
use modoai_testkit::archive::{Shape, Wanted};
use modoai_testkit::dice::Dice;
use modoai_testkit::process::Launch;

use super::{Archive, here_and_now, told};

/// How often each import is killed.
const KILLS: usize = 10;

const RECORDS: u64 = 1_500;

/// All that a catalogue tells.
fn told_by(catalogue: &Path) -> BTreeMap<String, Record> {
    told(&Launch::of_catalogue(catalogue).start(), "oai_dc")
}

/// Imports into a catalogue, killed at random moments of the time it takes, until one import comes to its end; then once
/// more, undisturbed. Returns how often it was killed. An import that ended before it could be killed shortens the time: the
/// machine may have been busier when it was measured.
fn killed_again_and_again(archive: &Archive, catalogue: &Path, time: &mut Duration, dice: &mut Dice) -> usize {
    let mut kills = 0;
    while kills < KILLS {
        let mut child = archive.import_into("snapshot.json", catalogue).start();
        std::thread::sleep(time.mul_f64(dice.share()));
        let ended = child.try_wait().expect("our own child").is_some();
        child.kill().expect("killed, or ended by itself");
        child.wait().expect("it has ended");
        if ended {
            *time = time.mul_f64(0.7);
            break;
        }
        kills += 1;
    }
    archive.import_into("snapshot.json", catalogue).done();
    kills
}

#[test]
fn while_it_is_first_filled() {
    let archive = Archive::preset("arxiv");
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted::of(RECORDS));
    let start = Instant::now();
    archive.import("snapshot.json").done();
    let mut time = start.elapsed();
    let expected = archive.told();
    assert_eq!(expected.len() as u64, RECORDS);
    let (mut dice, mut kills) = (Dice::new(11), 0);
    for number in 0.. {
        let catalogue = archive.path(&format!("killed-{number}.sqlite"));
        kills += killed_again_and_again(&archive, &catalogue, &mut time, &mut dice);
        // The datestamps, too: the archive counts as filled only when it was filled whole.
        assert!(told_by(&catalogue) == expected, "catalogue {number}, {kills} kills: not what it should be");
        if kills >= KILLS || number >= KILLS {
            break;
        }
    }
    assert!(kills > 0, "no import was killed");
}

#[test]
fn while_much_has_changed() {
    let archive = Archive::preset("arxiv");
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted::of(RECORDS));
    archive.import("snapshot.json").done();
    let before = archive.told();
    let changed = Wanted { change: 0.4, remove: 0.05, ..Wanted::of(RECORDS) };
    archive.write_generated("snapshot.json", Shape::Snapshot, changed);

    let undisturbed = archive.path("undisturbed.sqlite");
    copy(&archive.catalogue(), &undisturbed);
    let moment = here_and_now();
    let start = Instant::now();
    archive.import_into("snapshot.json", &undisturbed).done();
    let mut time = start.elapsed();
    let expected = told_by(&undisturbed);

    let (mut dice, mut kills) = (Dice::new(12), 0);
    for number in 0.. {
        let catalogue = archive.path(&format!("killed-{number}.sqlite"));
        copy(&archive.catalogue(), &catalogue);
        kills += killed_again_and_again(&archive, &catalogue, &mut time, &mut dice);
        let found = told_by(&catalogue);
        assert_eq!(found.len(), expected.len());
        for (identifier, record) in &found {
            let wanted = &expected[identifier];
            let essence = |record: &Record| (record.deleted, record.sets.clone(), record.metadata.clone());
            assert_eq!(essence(record), essence(wanted), "{identifier}");
            // When a change became visible differs; whether it did must not.
            if wanted.datestamp < moment {
                assert_eq!(record, &before[identifier]);
            } else {
                assert!(record.datestamp >= moment, "{identifier}: {} hides a change", record.datestamp);
            }
        }
        if kills >= KILLS || number >= KILLS {
            break;
        }
    }
    assert!(kills > 0, "no import was killed");
}

/// Copies a catalogue that nobody has open, with what its engine keeps beside it.
fn copy(from: &Path, to: &Path) {
    let name = |path: &Path| path.file_name().expect("a file").to_string_lossy().into_owned();
    for entry in fs::read_dir(from.parent().expect("in a folder")).expect("readable") {
        let path = entry.expect("readable").path();
        if let Some(beside) = name(&path).strip_prefix(&name(from)) {
            fs::copy(&path, to.with_file_name(format!("{}{beside}", name(to)))).expect("room for it");
        }
    }
}
