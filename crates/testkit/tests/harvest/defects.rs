//! Whatever an endpoint does wrong: every live record arrives once, exactly as it is, or what is missing is named.
//!
//! Each row of the endpoint's repertoire is harvested twice, with changes in between. `MODOAI_DEFECT=part-of-a-name` runs
//! only the rows of that name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use modoai_harvester::quirks::QUIRKS;
use modoai_testkit::endpoint::repertoire::{Defect, Outcome, REPERTOIRE};
use modoai_testkit::endpoint::{Endpoint, Holdings, Record};
use serde_json::Value;

use super::stored::{self, Line};
use super::{Ended, Harvest};

/// Rows at the same time: most of what they do is waiting.
const AT_ONCE: usize = 4;

/// What a harvest may need beyond the pages it is made of: a page of 48 MB must not show.
const MEMORY: u64 = 64 << 20;

/// What a first harvest of a few records may take, whatever is wrong: three times what the worst row takes. A search for a
/// remedy that does not end sends thousands.
const MOST_REQUESTS: usize = 400;

/// Quirks that are shown elsewhere, and where.
const ELSEWHERE: [(&str, &str); 1] = [("tls-broken", "certificates.rs")];

#[test]
fn lists_that_do_not_say_where_they_end() {
    judge("lists");
}

#[test]
fn tokens_that_lead_astray() {
    judge("tokens");
}

#[test]
fn dates_that_are_wrong() {
    judge("dates");
}

#[test]
fn connections_that_break() {
    judge("http");
}

#[test]
fn lists_that_move_or_fail() {
    judge("remedies");
}

#[test]
fn answers_that_are_almost_xml() {
    judge("xml");
}

#[test]
fn every_quirk_has_a_case() {
    let cases: BTreeSet<&str> =
        REPERTOIRE.iter().flat_map(|(_, defects)| *defects).map(|defect| defect.quirk).collect();
    let known: BTreeSet<&str> = QUIRKS.iter().map(|quirk| quirk.name).collect();
    let without: Vec<_> =
        known.difference(&cases).filter(|name| ELSEWHERE.iter().all(|(quirk, _)| quirk != *name)).collect();
    assert!(without.is_empty(), "no endpoint does this: {without:?}");
    let unknown: Vec<_> = cases.difference(&known).collect();
    assert!(unknown.is_empty(), "no quirk has this name: {unknown:?}");
}

/// Runs all rows of a group, a few at a time, and tells of all that fail.
fn judge(group: &str) {
    let (_, defects) = REPERTOIRE.iter().find(|(name, _)| *name == group).expect("a group of that name");
    let only = std::env::var("MODOAI_DEFECT").unwrap_or_default();
    let chosen: Vec<&Defect> =
        defects.iter().filter(|defect| format!("{} {}", defect.quirk, defect.variant).contains(&only)).collect();
    let (next, complaints) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(defect) = chosen.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if let Err(complaint) = examine(defect) {
                        complaints.lock().expect("nobody panics").push(complaint);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("nobody panics");
    let (failed, all) = (complaints.len(), chosen.len());
    assert!(complaints.is_empty(), "{failed} of {all} rows fail\n\n{}", complaints.join("\n"));
}

/// Harvests, lets things happen, harvests again.
fn examine(defect: &Defect) -> Result<(), String> {
    let endpoint = Endpoint::start((defect.script)());
    let folder = tempfile::tempdir().expect("a folder");
    let before = endpoint.holdings();
    let mut first_asked = 0;
    let mut stage = "first harvest";
    let result = (|| {
        let first = harvest(defect, &endpoint, folder.path(), &[])?;
        let lines = stored::lines(folder.path());
        check_report(defect, &before, &first, false)?;
        check_records(defect, &before, &[], &lines, false)?;
        if defect.quirk == "huge-page" && first.peak > MEMORY {
            return Err(format!("it took {} MB of memory", first.peak >> 20));
        }
        first_asked = endpoint.log().len();
        if first_asked > MOST_REQUESTS {
            return Err(format!("it took {first_asked} requests"));
        }
        stage = "second harvest";
        endpoint.change(defect.meanwhile);
        let after = endpoint.holdings();
        let second = harvest(defect, &endpoint, folder.path(), defect.again)?;
        check_report(defect, &after, &second, true)?;
        check_records(defect, &after, &lines, &stored::lines(folder.path()), true)?;
        if matches!(defect.outcome, Outcome::Postponed) && endpoint.log().len() != first_asked {
            return Err("it was told to wait, and asked again".to_owned());
        }
        stage = "reports";
        let told = |quirk: &str| first.repaired(quirk) || second.repaired(quirk);
        if defect.told && !told(defect.quirk) && !defect.told_as.iter().any(|quirk| told(quirk)) {
            return Err(format!("the quirk is not told\n{}{}", first.said, second.said));
        }
        Ok(())
    })();
    result.map_err(|complaint| {
        let mut all = format!("=== {}: {}\n{stage}: {complaint}\n", defect.quirk, defect.variant);
        let story = endpoint.story();
        writeln!(all, "--- {} requests, {first_asked} of them at first\n{story}", endpoint.log().len())
            .expect("memory takes everything");
        all
    })
}

fn harvest(defect: &Defect, endpoint: &Endpoint, into: &std::path::Path, more: &[&str]) -> Result<Ended, String> {
    Harvest::new(endpoint.url(), into, "jsonl").with(defect.arguments).with(more).run()
}

/// Whether the report and the exit status say what the row says.
fn check_report(defect: &Defect, holdings: &Holdings, ended: &Ended, second: bool) -> Result<(), String> {
    let said = &ended.said;
    let ensure = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{what}\n{said}")) };
    let missing = ended.missing();
    let reason = |gap: &Value| gap["reason"].as_str().is_some_and(|reason| !reason.is_empty());
    ensure(missing.iter().all(reason), "something is missing without a reason")?;
    let named = ended.code == Some(3) && ended.report["complete"] == false && !missing.is_empty();
    match defect.outcome {
        Outcome::Whole => ensure(ended.is_complete(), "it is not complete"),
        Outcome::Later if second => ensure(ended.is_complete(), "it is not complete"),
        Outcome::Later => ensure(ended.is_complete() || named, "it should be incomplete"),
        Outcome::WithoutSome(_) | Outcome::Unproven => ensure(named, "it should be incomplete"),
        Outcome::WithoutRecords(lost) => {
            ensure(named, "it should be incomplete")?;
            let lost: BTreeSet<&str> = holdings.live(None).filter(|record| lost(record)).map(name).collect();
            let named: BTreeSet<&str> = missing.iter().filter_map(|gap| gap["identifier"].as_str()).collect();
            ensure(missing.iter().all(|gap| gap["what"] == "record"), "more is missing than records")?;
            ensure(named == lost && missing.len() == lost.len(), &format!("not these are missing: {lost:?}"))
        }
        Outcome::Nothing(word) => {
            ensure(ended.code == Some(1) || named, "it should have failed")?;
            ensure(said.contains(word), &format!("it does not say '{word}'"))
        }
        Outcome::Postponed => {
            ensure(ended.code == Some(3), "it should be incomplete")?;
            ensure(ended.report["next"]["not_before"].is_string(), "it does not say when to come again")
        }
    }
}

/// Whether what is stored is what the repository holds, and each thing once: `earlier` are the lines of the first harvest.
fn check_records(
    defect: &Defect,
    holdings: &Holdings,
    earlier: &[Line],
    lines: &[Line],
    second: bool,
) -> Result<(), String> {
    let ensure = |holds: bool, what: String| if holds { Ok(()) } else { Err(what) };
    ensure(lines.starts_with(earlier), "what was stored is no longer there".to_owned())?;
    let lost = |record: &Record| match defect.outcome {
        Outcome::Whole | Outcome::Unproven => false,
        Outcome::Later => !second,
        Outcome::WithoutRecords(lost) | Outcome::WithoutSome(lost) => lost(record),
        Outcome::Nothing(_) | Outcome::Postponed => true,
    };
    let set = defect.set();
    let mut latest: BTreeMap<&str, &Line> = lines.iter().map(|line| (line.identifier.as_str(), line)).collect();
    for record in holdings.records.iter().filter(|record| set.is_none_or(|set| record.is_in(set)) && !lost(record)) {
        let line = take(&mut latest, &record.identifier).ok_or_else(|| format!("{} is not there", name(record)))?;
        check_record(defect, holdings, record, line).map_err(|complaint| format!("{}: {complaint}", name(record)))?;
    }
    // What vanished without a trace must have been told as gone; what is lost may have been stored in part.
    let stray: Vec<&str> = latest.values().filter(|line| !line.deleted).map(|line| line.identifier.as_str()).collect();
    let known_as_lost = |name: &&str| holdings.records.iter().any(|record| record.identifier == *name && lost(record));
    let stray: Vec<&str> = stray.into_iter().filter(|name| !known_as_lost(name)).collect();
    ensure(stray.is_empty(), format!("nobody has these: {stray:?}"))?;
    for news in [earlier, &lines[earlier.len()..]] {
        let mut seen = BTreeSet::new();
        let twice = news.iter().find(|line| !seen.insert(&line.identifier));
        ensure(twice.is_none(), format!("{twice:?} is there twice"))?;
    }
    let same = |line: &&Line| earlier.iter().any(|old| old == *line);
    let again = lines[earlier.len()..].iter().find(same);
    ensure(again.is_none(), format!("{again:?} was there before, and is stored again"))
}

/// The line of a record. Where an identifier has something that is no character, any character will do.
fn take<'a>(latest: &mut BTreeMap<&'a str, &'a Line>, identifier: &str) -> Option<&'a Line> {
    let Some((start, end)) = identifier.split_once('\u{fffd}') else { return latest.remove(identifier) };
    let fits = |name: &&&str| name.starts_with(start) && name.ends_with(end) && name.len() <= identifier.len() + 16;
    let found = *latest.keys().find(fits)?;
    latest.remove(found)
}

fn check_record(defect: &Defect, holdings: &Holdings, record: &Record, line: &Line) -> Result<(), String> {
    let ensure = |holds: bool, what: String| if holds { Ok(()) } else { Err(what) };
    ensure(line.deleted == record.deleted, format!("deleted is {}", line.deleted))?;
    if !matches!(defect.quirk, "granularity-mixed" | "header-incomplete") {
        let datestamp = holdings.granularity.format(record.changed);
        ensure(line.datestamp == datestamp, format!("the datestamp is {}, not {datestamp}", line.datestamp))?;
    }
    ensure(line.sets == record.sets, format!("the sets are {:?}, not {:?}", line.sets, record.sets))?;
    if record.deleted {
        return ensure(line.metadata.is_none(), "a deleted record has metadata".to_owned());
    }
    let metadata = line.metadata.as_deref().unwrap_or_default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(1_500)]).into_owned();
    ensure(
        metadata == record.metadata || defect.also.is_some_and(|also| metadata == also(record)),
        format!("the metadata is\n{}\nnot\n{}", text(metadata), text(&record.metadata)),
    )?;
    ensure(line.abouts == record.abouts, format!("the abouts are {:?}", line.abouts.iter().map(|about| text(about))))?;
    for prefix in ["dc", "x"] {
        let used = text(metadata).contains(&format!("<{prefix}:"));
        let declared = text(metadata).contains(&format!("xmlns:{prefix}=")) || line.namespaces.contains_key(prefix);
        ensure(declared || !used, format!("what {prefix} means is lost: {:?}", line.namespaces))?;
    }
    Ok(())
}

fn name(record: &Record) -> &str {
    &record.identifier
}
