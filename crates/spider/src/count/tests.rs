//! Tests the count of a small site with all sources.

use url::Url;

use super::*;
use crate::verdict::{Fault, Outcome, Reason};

fn site() -> Count {
    let mut ledger = Ledger::new(Place::new(&Url::parse("http://h/").expect("a URL"), "index.html"));
    for (file, digest) in
        [("index.html", 1), ("a.html", 2), ("copy.html", 2), ("orphan.pdf", 3), ("style.css", 4), ("known.txt", 5)]
    {
        ledger.add(Source::Files, &format!("http://h/{file}"), Some("text/html"), Some(digest));
    }
    let there = Fate::from(&Outcome::Good);
    ledger.crawled("http://h/", there, Some("text/html; charset=utf-8"), None);
    ledger.crawled("http://h/index.html", there, None, None);
    ledger.crawled("http://h/a.html", there, None, None);
    ledger.crawled("http://h/style.css?v=2", there, Some("text/css"), None);
    ledger.crawled("http://h/gone.html", Fate::from(&Outcome::Broken(Fault::Status(404))), None, None);
    ledger.crawled("http://h/private", Fate::from(&Outcome::NotTested(Reason::Robots("x".into()))), None, None);
    ledger.crawled("http://h/closed", Fate::from(&Outcome::Broken(Fault::Status(403))), None, None);
    ledger.crawled("http://h/down", Fate::from(&Outcome::Broken(Fault::Status(500))), None, None);
    ledger.crawled("http://elsewhere/", there, None, None);
    for claimed in ["https://h/a.html", "https://h/gone.html", "https://h/never.html", "http://other/"] {
        ledger.add(Source::Sitemap, claimed, None, None);
    }
    for asked in ["/", "/a.html", "/known.txt", "/search?q=x"] {
        ledger.add(Source::Log, asked, None, None);
    }
    Count::of(ledger)
}

fn urls(count: &Count, list: &str) -> Vec<String> {
    let path = |url: &String| url.trim_start_matches("http://h").to_owned();
    count.list(list).iter().flat_map(|row| row.urls.iter().map(path)).collect()
}

#[test]
fn every_difference_has_its_list() {
    let count = site();
    assert_eq!(count.sources, [Source::Files, Source::Crawl, Source::Sitemap, Source::Log]);
    assert_eq!(count.totals, [6, 3, 3, 4]);
    assert_eq!(count.reached(), Some((3, 6)));
    assert_eq!(urls(&count, "orphans"), ["/copy.html", "/known.txt", "/orphan.pdf"]);
    assert_eq!(urls(&count, "ghosts"), ["/gone.html", "/never.html"]);
    assert_eq!(count.list("ghosts")[0].note, "linked, sitemap");
    assert_eq!(urls(&count, "forbidden"), ["/closed", "/private"]);
    assert_eq!(urls(&count, "duplicates"), ["/", "/index.html", "/a.html", "/copy.html"]);
    assert_eq!(urls(&count, "nowhere"), ["/copy.html", "/orphan.pdf"]);
    assert_eq!(urls(&count, "everywhere"), ["/a.html"]);
    assert_eq!(urls(&count, "once"), ["/copy.html", "/gone.html", "/never.html", "/orphan.pdf", "/search?q=x"]);
    assert!(count.remarks[0].contains("1 URLs of the sitemap"));
}

#[test]
fn without_files_orphans_are_what_others_know() {
    let mut ledger = Ledger::new(Place::new(&Url::parse("http://h/").expect("a URL"), "index.html"));
    ledger.crawled("http://h/", Fate::There, None, None);
    ledger.add(Source::Sitemap, "http://h/unlinked.html", None, None);
    let count = Count::of(ledger);
    assert_eq!(urls(&count, "orphans"), ["/unlinked.html"]);
    assert_eq!(count.reached(), None);
    assert!(urls(&count, "ghosts").is_empty(), "nobody has looked");
}

#[test]
fn it_is_told_to_people_and_nothing_foreign_is_taken_for_markup() {
    let mut ledger = Ledger::new(Place::new(&Url::parse("http://h/").expect("a URL"), "index.html"));
    ledger.crawled("http://h/?'<script>", Fate::There, Some("<b>"), None);
    ledger.add(Source::Files, "http://h/a.html", None, None);
    let html = page::render(&Count::of(ledger), jiff::Timestamp::UNIX_EPOCH);
    assert!(!html.contains("<script") && !html.contains("<b>.") && html.contains("&lt;b&gt;"));
    let text = text::render(&site());
    assert!(text.contains("reaches 3 of the 6 resources of the site (50.0 %)"), "{text}");
    assert!(text.lines().any(|line| line.split_whitespace().eq(["all", "6", "3", "3", "4", "9"])), "{text}");
    assert!(serde_json::to_string(&site()).expect("JSON").contains("\"orphans\""));
}
