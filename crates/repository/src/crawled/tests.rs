//! Tests with synthetic crawls, and the resulting catalogue.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use super::*;
use crate::catalogue::sqlite::system_clock;
use crate::catalogue::{Access, Catalogue, Location, Selected, open};
use crate::settings::{SETTINGS, Settings};

struct Crawled {
    folder: tempfile::TempDir,
    catalogue: Arc<dyn Catalogue>,
    shelf: Arc<Shelf>,
    intake: Intake,
}

fn crawled() -> Crawled {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue: Arc<dyn Catalogue> =
        open(&Location::at(folder.path().join("catalogue.sqlite")), Access::Write).expect("a catalogue");
    let shelf = Arc::new(Shelf::open(&folder.path().join("kept")).expect("a shelf"));
    let intake = Intake::new(catalogue.clone(), shelf.clone(), 50).expect("the only writer");
    Crawled { folder, catalogue, shelf, intake }
}

fn url(number: usize) -> String {
    format!("http://h/{number}")
}

impl Crawled {
    fn keep(&mut self, url: &str, body: &str, modified: &str) {
        let headers = [("Content-Type", "text/html; charset=utf-8"), ("Last-Modified", modified)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.intake.keep(url, &Sent { headers: &headers, body: body.as_bytes(), is_whole: true });
    }

    fn first(&mut self, count: usize) {
        self.intake.begin();
        for number in 0..count {
            self.keep(&url(number), "text", "Tue, 01 Jan 2019 00:00:00 GMT");
        }
        assert_eq!(self.intake.finish(false).expect("room").resources, count as u64);
    }

    fn deleted(&self) -> BTreeMap<String, bool> {
        let count = self.catalogue.count(Selected::ALL).expect("readable");
        let item = |number| self.catalogue.item(&url(number)).expect("readable").expect("known");
        (0..count as usize).map(|number| (url(number), item(number).deleted)).collect()
    }
}

#[test]
fn what_came_is_what_a_get_returns_and_its_date_that_of_its_server() {
    let mut crawled = crawled();
    crawled.intake.begin();
    crawled.keep("http://h/a", "one", "Tue, 01 Jan 2019 00:00:00 GMT");
    crawled.keep("http://h/never", "two", "Thu, 01 Jan 1970 00:00:00 GMT");
    crawled.keep("http://h/later", "three", "Tue, 01 Jan 2999 00:00:00 GMT");
    let before = system_clock()();
    assert_eq!(crawled.intake.finish(false).expect("room").put, 3);
    let item = |url| crawled.catalogue.item(url).expect("readable").expect("known");
    assert_eq!(item("http://h/a").datestamp.unix(), 1_546_300_800);
    for odd in ["http://h/never", "http://h/later"] {
        assert!((before.unix() - 60..=before.unix() + 60).contains(&item(odd).datestamp.unix()), "{odd}");
    }
    assert!(crawled.intake.has("http://h/a") && !crawled.intake.has("http://h/b"));
    let mut representation = crawled.shelf.get("http://h/a").expect("readable").expect("kept");
    let mut text = String::new();
    representation.file.read_to_string(&mut text).expect("readable");
    assert_eq!((text.as_str(), representation.fingerprint), ("one", item("http://h/a").fingerprint));
    assert_eq!(representation.headers[0].1, "text/html; charset=utf-8");
}

#[test]
fn the_same_bytes_are_no_change_and_others_are_stamped_now() {
    let mut crawled = crawled();
    crawled.first(2);
    crawled.intake.begin();
    crawled.keep(&url(0), "text", "Tue, 01 Jan 2020 00:00:00 GMT");
    crawled.keep(&url(1), "other", "Tue, 01 Jan 2019 00:00:00 GMT");
    assert_eq!(crawled.intake.finish(false).expect("room").put, 1);
    let item = |number| crawled.catalogue.item(&url(number)).expect("readable").expect("known");
    assert_eq!(item(0).datestamp.unix(), 1_546_300_800);
    assert!(item(1).datestamp.unix() > 1_700_000_000);
    assert_eq!(std::fs::read_dir(crawled.folder.path().join("kept")).expect("a folder").count(), 2);
}

#[test]
fn only_what_is_certainly_gone_is_deleted() {
    let mut crawled = crawled();
    crawled.first(8);
    // An interrupted crawl is never finished, and deletes nothing.
    crawled.intake.begin();
    crawled.intake.gone(&url(0));
    crawled.intake.begin();
    crawled.intake.same(&url(0));
    crawled.intake.gone(&url(1));
    crawled.intake.untested(&url(2), false);
    for number in 4..8 {
        crawled.intake.same(&url(number));
    }
    let taken = crawled.intake.finish(false).expect("room");
    assert_eq!((taken.deleted, taken.resources, taken.untested, taken.reprieve), (2, 6, 1, None));
    let deleted: Vec<bool> = crawled.deleted().into_values().collect();
    assert_eq!(deleted, [false, true, false, true, false, false, false, false]);
    assert!(crawled.shelf.get(&url(1)).expect("readable").is_none());

    // An unread document may link to resources that were not found; resources that the server reports as missing are
    // deleted anyway.
    crawled.intake.begin();
    crawled.intake.untested("http://h/new", true);
    crawled.intake.gone(&url(0));
    let taken = crawled.intake.finish(false).expect("room");
    assert_eq!((taken.deleted, taken.resources), (1, 5));
    assert!(taken.reprieve.is_some_and(|why| why.contains("http://h/new")));

    // A resource that is found again is listed again.
    crawled.intake.begin();
    crawled.keep(&url(1), "text", "Tue, 01 Jan 2019 00:00:00 GMT");
    assert_eq!(crawled.intake.finish(true).expect("room").resources, 6);
}

#[test]
fn when_most_of_a_site_is_gone_at_once_nothing_is() {
    let mut crawled = crawled();
    crawled.first(30);
    crawled.intake.begin();
    for number in 0..14 {
        crawled.intake.same(&url(number));
    }
    let taken = crawled.intake.finish(false).expect("room");
    assert_eq!((taken.deleted, taken.resources), (0, 30));
    assert!(taken.reprieve.is_some_and(|why| why.contains("16 of 30")));
}

#[test]
fn a_part_is_never_taken_for_the_whole() {
    let mut crawled = crawled();
    let headers = [("Content-Length".to_owned(), "5000".to_owned()), ("ETag".to_owned(), "1".to_owned())];
    crawled.intake.begin();
    crawled.intake.keep("http://h/big", &Sent { headers: &headers, body: b"begin", is_whole: false });
    assert_eq!(crawled.intake.finish(false).expect("room").resources, 1);
    let representation = crawled.shelf.get("http://h/big").expect("readable").expect("kept");
    assert_eq!(representation.fingerprint.size, 5000);
    assert_eq!(representation.file.metadata().expect("a file").len(), 0);
    assert!(crawled.intake.has("http://h/big"));
}

#[test]
fn rules_put_what_was_not_sent_again_into_their_sets_and_stamp_nothing_else() {
    let mut crawled = crawled();
    crawled.first(3);
    let item = |crawled: &Crawled, number| crawled.catalogue.item(&url(number)).expect("readable").expect("known");
    let before = [0, 1, 2].map(|number| item(&crawled, number));
    let table = "[[set]]\nspec = 'odd'\nname = 'Odd'\npatterns = ['/1', 're:^/[3579]$']";
    let mut settings = Settings::default();
    modoai_settings::load(table, std::path::Path::new(""), &mut (SETTINGS, &mut settings)).expect("good rules");
    let Crawled { folder, catalogue, shelf, intake } = crawled;
    let mut crawled = Crawled { folder, catalogue, shelf, intake: intake.with_sets(settings.set) };
    crawled.intake.begin();
    (0..3).for_each(|number| crawled.intake.same(&url(number)));
    assert_eq!(crawled.intake.finish(false).expect("room").put, 1);
    assert_eq!(before[0], item(&crawled, 0));
    assert_eq!(before[2], item(&crawled, 2));
    let moved = item(&crawled, 1);
    assert_eq!(moved.sets.iter().map(|set| set.as_str()).collect::<Vec<_>>(), ["mime:text:html", "odd"]);
    assert!(moved.datestamp > before[1].datestamp);
}
