//! Tests index documents for readers, browsers and attackers.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use html5gum::{Token, Tokenizer};
use modoai_testkit::effort::effort;
use tempfile::TempDir;

use super::super::fixture::{Fixture, Vast, at};
use super::*;
use crate::targets::Targets;

/// A page as parsed by a browser.
#[derive(Default)]
struct Parsed {
    ids: HashSet<String>,
    hrefs: Vec<String>,
    elements: HashSet<String>,
    attributes: HashSet<String>,
    text: String,
}

/// Fails if elements are not closed in the order in which they were opened.
fn parse(path: &Path) -> Parsed {
    const VOID: [&str; 4] = ["meta", "br", "input", "link"];
    let html = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut parsed = Parsed::default();
    let mut open = Vec::new();
    for token in Tokenizer::new(&html) {
        match token.expect("memory does not fail") {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                for (key, value) in &tag.attributes {
                    let (key, value) = (String::from_utf8_lossy(key), String::from_utf8_lossy(value));
                    match &*key {
                        "id" => assert!(parsed.ids.insert(value.to_string()), "{}: two of {value}", path.display()),
                        "href" => parsed.hrefs.push(value.to_string()),
                        _ => {}
                    }
                    parsed.attributes.insert(key.into_owned());
                }
                parsed.elements.insert(name.clone());
                if !VOID.contains(&name.as_str()) {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                assert_eq!(open.pop(), Some(name), "{}", path.display());
            }
            Token::String(text) => parsed.text.push_str(&String::from_utf8_lossy(&text)),
            Token::Error(error) => panic!("{}: {error:?}", path.display()),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    parsed
}

/// Writes an index, and reads all its pages.
fn written(results: &dyn Results, folder: &Path) -> (Written, BTreeMap<String, Parsed>) {
    let written = write(results, 0, &folder.join("report.html")).expect("it can be written");
    let mut pages = BTreeMap::from([("report.html".to_owned(), parse(&written.index))]);
    if let Some(further) = &written.folder {
        let name = further.file_name().expect("a name").to_string_lossy().into_owned();
        for entry in fs::read_dir(further).expect("a folder") {
            let path = entry.expect("a file").path();
            pages.insert(format!("{name}/{}", path.file_name().expect("a name").to_string_lossy()), parse(&path));
        }
    }
    (written, pages)
}

/// Fails unless every link within the index refers to an existing page, and to an entry on it. Returns the number of
/// links.
fn expect_links(pages: &BTreeMap<String, Parsed>) -> usize {
    let base = url::Url::parse("file:///").expect("a URL");
    let mut followed = 0;
    for (name, page) in pages {
        let here = base.join(name).expect("a URL");
        for href in page.hrefs.iter().filter(|href| !href.starts_with("http")) {
            let to = here.join(href).unwrap_or_else(|error| panic!("{name}: {href}: {error}"));
            let target = pages.get(to.path().trim_start_matches('/')).unwrap_or_else(|| panic!("{name}: {href}"));
            assert!(to.fragment().is_none_or(|id| target.ids.contains(id)), "{name}: {href}");
            followed += 1;
        }
    }
    followed
}

#[test]
fn a_small_index_is_one_page_that_has_everything() {
    let folder = TempDir::new().expect("a folder");
    let fixture = Fixture::small();
    let (written, pages) = written(&fixture, folder.path());
    assert_eq!((written.pages, &written.folder, &written.prior), (0, &None, &None));
    let page = &pages["report.html"];
    for (document, references) in &fixture.documents {
        assert!(page.ids.contains(&format!("d{}", document.node)));
        assert!(page.text.contains(document.title.as_deref().expect("a title")));
        for reference in references {
            assert!(page.text.contains(&reference.text), "{}", reference.text);
            assert!(reference.reason.as_ref().is_none_or(|reason| page.text.contains(reason)));
        }
    }
    for id in ["broken", "fragment", "moved", "changed", "expiring", "not-tested", "fixed", "documents", "made"] {
        assert!(page.ids.contains(id), "{id}");
    }
    for text in [
        "Last modified",
        "2026-08-30 12:00 UTC",
        "maria",
        "since 2026-10-02 (44 days)",
        "7 new",
        "1 fixed",
        "Execution time",
    ] {
        assert!(page.text.contains(text), "{text}");
    }
    assert!(page.hrefs.iter().any(|href| href == "https://home.tides.example/"));
    assert!(expect_links(&pages) > 20);
    let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    keep(folder.path(), "small");
}

#[test]
fn a_run_that_found_nothing_says_so() {
    let folder = TempDir::new().expect("a folder");
    let (_, pages) = written(&Fixture::clean(), folder.path());
    assert!(pages["report.html"].text.contains("All tested links work."));
    expect_links(&pages);
    keep(folder.path(), "clean");
}

#[test]
fn a_run_that_was_cut_short_says_so_first() {
    let folder = TempDir::new().expect("a folder");
    let mut fixture = Fixture::small();
    fixture.run.cut_short = Some("interrupted after 2 pages".to_owned());
    let (_, pages) = written(&fixture, folder.path());
    let text = &pages["report.html"].text;
    assert!(text.contains("This index is incomplete: the run stopped early: interrupted after 2 pages."), "{text}");
    assert!(!text.contains("every page was read"));
    keep(folder.path(), "cut-short");
}

#[test]
fn nothing_strangers_write_becomes_markup() {
    let clean = TempDir::new().expect("a folder");
    let (_, usual) = written(&Fixture::small(), clean.path());
    let folder = TempDir::new().expect("a folder");
    let (_, pages) = written(&Fixture::hostile(), folder.path());
    let (usual, page) = (&usual["report.html"], &pages["report.html"]);
    let strange: Vec<_> = page.elements.difference(&usual.elements).collect();
    assert!(strange.iter().all(|name| *name == "strong"), "{strange:?}");
    assert!(!page.elements.contains("script") && !page.elements.contains("img"));
    assert_eq!(page.attributes.difference(&usual.attributes).count(), 0);
    for href in &page.hrefs {
        assert!(href.starts_with("https://tidewater.example") || href.starts_with('#'), "{href}");
    }
    let html = fs::read_to_string(folder.path().join("report.html")).expect("a page");
    assert!(!html.chars().any(|c| c.is_control() && c != '\n'));
    // Text that imitates a hole was not replaced.
    assert!(page.text.contains("<!--hole:entries-->") && page.text.contains("{{ title }}"));
    keep(folder.path(), "hostile");
}

#[test]
fn a_large_index_is_split_and_its_parts_find_each_other() {
    let folder = TempDir::new().expect("a folder");
    let vast = Vast::new(2_600, 30);
    let (written, pages) = written(&vast, folder.path());
    let parts = pages.keys().filter(|name| name.contains("/part-")).count();
    assert!(parts >= 6, "{parts}");
    assert_eq!(pages.len(), written.pages + 1);
    let entries: usize = pages.values().map(|page| page.ids.iter().filter(|id| is_entry(id)).count()).sum();
    assert_eq!(entries, 2_600);
    assert!(expect_links(&pages) > 2_600 * 20);
    for (name, page) in &pages {
        let bytes = fs::metadata(folder.path().join(name)).expect("a file").len();
        assert!(bytes < 1_300_000, "{name}: {bytes}");
        assert!(name.contains("part-") || page.ids.iter().all(|id| !is_entry(id)));
    }
    // Every target has a row, with the number of its pages.
    let targets = Targets::gather(&vast, Some(0)).expect("made up");
    let front = &pages["report.html"].text;
    for target in targets.all() {
        assert!(front.contains(&target.url()), "{}", target.url());
    }
    keep(folder.path(), "large");
}

fn is_entry(id: &str) -> bool {
    id.strip_prefix('d').is_some_and(|number| number.parse::<u32>().is_ok())
}

#[test]
fn a_verdict_with_many_targets_has_pages_of_its_own() {
    let folder = TempDir::new().expect("a folder");
    let mut fixture = Fixture::small();
    let first = fixture.findings[0].clone();
    fixture.findings = (0..2_500)
        .map(|n| crate::results::Finding { target: format!("https://x.example/{n}"), ..first.clone() })
        .collect();
    let (written, pages) = written(&fixture, folder.path());
    assert_eq!(written.pages, 3);
    let rows = |name: &str| {
        let html = fs::read_to_string(folder.path().join(name)).expect("a page");
        html.matches("class=\"target\"").count()
    };
    let further: usize = pages.keys().filter(|name| name.contains("/broken-")).map(|name| rows(name)).sum();
    assert_eq!((rows("report.html"), further), (100, 2_500));
    expect_links(&pages);
}

#[test]
fn a_dead_link_in_the_template_is_one_row() {
    let folder = TempDir::new().expect("a folder");
    let (written, pages) = written(&Fixture::templated(3_000), folder.path());
    let size: u64 = pages.keys().map(|name| fs::metadata(folder.path().join(name)).expect("a file").len()).sum();
    assert!(size < 3_000 * 1_000, "{size} bytes");
    let with: Vec<_> = pages.iter().filter(|(_, page)| page.text.contains("templated.example/imprint")).collect();
    assert_eq!(with.len(), 1, "only the index names it");
    assert!(pages["report.html"].text.contains("2,990 of 3,000 in the site's template"));
    assert!(pages["report.html"].ids.contains("template"));
    assert!(written.pages > 6);
    expect_links(&pages);
    keep(folder.path(), "templated");
}

#[test]
fn all_references_of_a_document_are_listed() {
    let folder = TempDir::new().expect("a folder");
    let mut fixture = Fixture::clean();
    let reference = fixture.documents[0].1[0].clone();
    fixture.documents[0].1 = (0..6_000)
        .map(|n| Referenced {
            target: format!("https://x.example/{n}"),
            text: format!("link {n}."),
            ..reference.clone()
        })
        .collect();
    let (_, pages) = written(&fixture, folder.path());
    let all: String = pages.values().map(|page| page.text.as_str()).collect();
    for n in 0..6_000 {
        assert!(all.contains(&format!("link {n}.")), "{n}");
    }
    expect_links(&pages);
}

#[test]
fn unchanged_parts_are_not_written_again() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("report.html");
    let inodes = |written: &Written| -> BTreeMap<String, u64> {
        let pages = fs::read_dir(written.folder.as_ref().expect("a folder")).expect("a folder");
        pages
            .map(|page| page.expect("a file"))
            .map(|page| (page.file_name().to_string_lossy().into_owned(), page.metadata().expect("a file").ino()))
            .collect()
    };
    let mut fixture = Fixture::templated(3_000);
    let first = write(&fixture, 0, &path).expect("it can be written");
    let before = inodes(&first);
    // Another run, a day later, with the same results.
    fixture.run.number += 1;
    fixture.run.began = at("2026-11-17T05:45:12Z");
    fixture.run.ended = at("2026-11-17T05:45:19Z");
    let second = write(&fixture, 0, &path).expect("it can be written");
    assert_eq!(inodes(&second), before);
    // A document is added: its part changes, and perhaps the previous one.
    let added = Document::new(9_999, "https://templated.example/page-1500-and-a-half");
    let at_place = fixture.documents.iter().position(|(one, _)| one.url > added.url).expect("a place");
    fixture.documents.insert(at_place, (added, Vec::new()));
    fixture.run.began = at("2026-11-18T05:45:12Z");
    let third = write(&fixture, 0, &path).expect("it can be written");
    let changed = inodes(&third).iter().filter(|(name, inode)| before.get(*name) != Some(inode)).count();
    assert!(changed <= 3, "{changed} of {} parts were written", before.len());
}

#[test]
fn ten_times_as_many_documents_take_about_ten_times_as_long() {
    let folder = TempDir::new().expect("a folder");
    let mut took = Vec::new();
    for documents in [1_000, 10_000] {
        let file = folder.path().join(format!("{documents}.html"));
        let (written, effort) = effort(|| write(&Vast::new(documents, 10), 0, &file));
        written.expect("it can be written");
        took.push(effort.as_secs_f64());
        println!("{documents} documents: {:.2} s", effort.as_secs_f64());
    }
    // Quadratic time would be a hundred times as long.
    assert!(took[1] < took[0].max(0.05) * 50.0, "{took:?}");
}

/// The guide shows this example.
#[test]
fn an_index_links_to_the_version_before() {
    let folder = TempDir::new().expect("a folder");
    let mut before = Fixture::clean();
    before.run.began = at("2026-11-09T05:45:03Z");
    written(&before, folder.path());
    let (written, pages) = written(&Fixture::small(), folder.path());
    let page = &pages["report.html"];
    assert!(page.text.contains("Prior version of 2026-11-09 05:45 UTC"));
    assert!(page.hrefs.iter().any(|href| href == "report-2026-11-09T054503Z.html"));
    let prior = parse(&written.prior.expect("a version before"));
    assert!(prior.text.contains("All tested links work."));
    keep(folder.path(), "guide");
}

#[test]
fn versions_before_are_kept_and_linked_to() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("report.html");
    let mut fixture = Fixture::small();
    for day in 1..=14 {
        fixture.run.began = at(&format!("2026-10-{day:02}T05:45:12Z"));
        fixture.infostructures[0].task.index_title = Some(format!("of day {day}"));
        let written = write(&fixture, 0, &path).expect("it can be written");
        assert!(fs::read_to_string(&path).expect("a page").contains(&format!("of day {day}")));
        let prior = (day > 1).then(|| folder.path().join(format!("report-2026-10-{:02}T054512Z.html", day - 1)));
        assert_eq!(written.prior, prior);
        if let Some(prior) = prior {
            assert!(fs::read_to_string(prior).expect("a page").contains(&format!("of day {}", day - 1)));
        }
    }
    let page = parse(&path);
    let versions: Vec<_> = page.hrefs.iter().filter(|href| href.starts_with("report-")).collect();
    assert_eq!(versions.len(), 10);
    assert_eq!(versions[0], "report-2026-10-13T054512Z.html");
    assert!(versions.iter().all(|version| folder.path().join(version).exists()), "{versions:?}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 11);
    assert!(page.text.contains("Prior version of 2026-10-13 05:45 UTC"));
}

#[test]
fn versions_before_keep_their_further_pages() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("my report.html");
    let vast = Vast::new(600, 2);
    let first = write(&vast, 0, &path).expect("it can be written");
    let second = write(&vast, 0, &path).expect("it can be written");
    let prior = second.prior.expect("a version before");
    assert_ne!(first.folder, second.folder);
    for (page, folder_of) in [(&prior, &first.folder), (&path, &second.folder)] {
        let hrefs = parse(page).hrefs;
        let part = hrefs.iter().find(|href| href.contains("/part-") && href.ends_with(".html")).expect("a part");
        let part = part.replace("%20", " ");
        assert!(folder.path().join(&part).exists());
        assert!(folder_of.as_ref().is_some_and(|of| folder.path().join(&part).starts_with(of)), "{part}");
    }
}

#[test]
fn what_somebody_else_wrote_is_neither_lost_nor_cleared_away() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("index.html");
    fs::write(&path, "my home page").expect("written");
    let alien = folder.path().join("index-2001-01-01T000000Z.html");
    fs::write(&alien, "not ours").expect("written");
    let aliens = folder.path().join("index-2001-02-01T000000Z");
    fs::create_dir(&aliens).expect("a folder");
    fs::write(aliens.join("part-001.txt"), "not ours").expect("written");
    let mut fixture = Fixture::small();
    let prior = write(&fixture, 0, &path).expect("it can be written").prior.expect("the home page");
    for day in 1..=14 {
        fixture.run.began = at(&format!("2026-10-{day:02}T05:45:12Z"));
        write(&fixture, 0, &path).expect("it can be written");
    }
    assert_eq!(fs::read_to_string(prior).expect("kept"), "my home page");
    assert_eq!(fs::read_to_string(alien).expect("kept"), "not ours");
    assert!(aliens.join("part-001.txt").exists());
}

#[test]
fn what_a_crash_left_is_cleared_away() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("report.html");
    let fixture = Fixture::small();
    write(&fixture, 0, &path).expect("it can be written");
    // The next run was interrupted between the second name and the new index …
    fs::hard_link(&path, folder.path().join("report-2026-11-16T054512Z.html")).expect("a link");
    // … and after its pages were moved.
    let orphan = folder.path().join("report-2026-11-17T000000Z");
    fs::create_dir(&orphan).expect("a folder");
    fs::write(orphan.join("part-001.html"), "<p>half").expect("written");
    let unfinished = folder.path().join(".report.unfinished");
    fs::create_dir(&unfinished).expect("a folder");
    fs::write(unfinished.join("index"), "<p>half").expect("written");

    let written = write(&fixture, 0, &path).expect("it can be written");
    assert_eq!(written.prior, Some(folder.path().join("report-2026-11-16T054512Z.html")));
    assert!(!orphan.exists() && !unfinished.exists());
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
    let hrefs = parse(&path).hrefs;
    assert_eq!(hrefs.iter().filter(|href| href.starts_with("report-")).count(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    let error = write(&Fixture::small(), 0, &file.join("report.html")).expect_err("a file is no folder");
    assert!(error.to_string().contains(&file.display().to_string()), "{error}");
}

/// If `MODOAI_KEEP_REPORTS=FOLDER` is set, stores the output of the tests there.
fn keep(folder: &Path, name: &str) {
    let Some(to) = std::env::var_os("MODOAI_KEEP_REPORTS") else { return };
    let to = Path::new(&to).join(name);
    let _ = fs::remove_dir_all(&to);
    fs::create_dir_all(&to).expect("a folder to keep it in");
    let copied = std::process::Command::new("cp").arg("-r").arg(folder.join(".")).arg(&to).status().expect("cp");
    assert!(copied.success());
}
