//! Audiences (decision 016): the deletion of a private item is reported to the requesters that the item was listed for.

use std::cell::Cell;
use std::io;
use std::sync::Arc;

use modoai_protocol::Request;
use modoai_repository::audience::{Audience, Digests, Listing};
use modoai_repository::catalogue::roles::Learner as _;
use modoai_repository::catalogue::sqlite::Sqlite;
use modoai_repository::catalogue::{Access, Catalogue};
use modoai_repository::host::{Host, Representation};
use modoai_repository::item::{Item, ListedFor, Publicity};
use modoai_repository::{Repository, Settings};

use crate::battery::{HandClock, apply, delete, everything, item, put};

/// A requester with one attribute. It can GET the items whose names begin with the attribute's value.
struct OneWord<'a> {
    word: &'static str,
    digests: &'a Digests,
    /// Number of calls of `audiences`.
    calls: Cell<usize>,
}

impl Host for OneWord<'_> {
    fn ready(&self) -> io::Result<()> {
        Ok(())
    }

    fn sees_all(&self) -> bool {
        false
    }

    fn patience(&self) -> u64 {
        100
    }

    fn view(&self) -> String {
        self.word.to_owned()
    }

    fn sees(&self, item: &Item) -> io::Result<bool> {
        // The rules that remain would show deleted items to this one.
        Ok(item.name.starts_with(self.word) || (item.deleted && self.word == "guesser"))
    }

    fn has_audiences(&self) -> bool {
        true
    }

    fn audiences(&self, _item: &Item, secret: &[u8; 32]) -> io::Result<Vec<Audience>> {
        self.calls.set(self.calls.get() + 1);
        Ok(vec![self.digests.audience(secret, &[("word", self.word.as_bytes())])])
    }

    fn belongs_to(&self, item: &Item, secret: &[u8; 32]) -> io::Result<bool> {
        let own = self.digests.audience(secret, &[("word", self.word.as_bytes())]);
        Ok(item.listed_for.audiences.iter().any(|audience| **audience == own))
    }

    fn get(&self, _item: &Item) -> io::Result<Option<Representation>> {
        Ok(None)
    }
}

/// The names that are listed for a requester, with their status; and the number of calls of `audiences`.
fn listed(repository: &Repository, word: &'static str, digests: &Digests) -> (Vec<(String, bool)>, usize) {
    let host = OneWord { word, digests, calls: Cell::new(0) };
    let arguments = [("verb", "ListIdentifiers"), ("metadataPrefix", "oai_dc")];
    let arguments = arguments.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let mut xml = Vec::new();
    repository.answer(Request::parse(&arguments), &host).expect("an answer").write_to(&mut xml).expect("memory");
    let response = modoai_protocol::xml::Response::read(&xml).expect("a response");
    let name = |identifier: String| identifier.strip_prefix("http://s/").unwrap_or_default().to_owned();
    let records = response.records.into_iter().map(|record| (name(record.identifier), record.deleted));
    (records.collect(), host.calls.get())
}

fn names(all: &[(&str, bool)]) -> Vec<(String, bool)> {
    all.iter().map(|(name, deleted)| ((*name).to_owned(), *deleted)).collect()
}

#[test]
fn deletion_is_reported_to_recorded_audiences_only() {
    let directory = tempfile::tempdir().expect("a folder");
    let clock = HandClock::at(10_000);
    let catalogue: Arc<dyn Catalogue> =
        Arc::new(Sqlite::open(directory.path(), Access::Write, clock.clock()).expect("it opens"));
    let mut writer = catalogue.writer().expect("nobody else writes");
    writer.apply(&[put("alice-1", 1, &["x"]), put("alice-2", 2, &["x"]), put("bob-1", 3, &["x"])]).expect("applied");
    writer.complete().expect("complete");
    drop(writer);
    let repository = Repository::new(Arc::clone(&catalogue), Settings::default(), "http://s/modoai", "http://s/");
    let digests = Digests::default();
    let list = |word| listed(&repository, word, &digests);

    assert_eq!(list("alice"), (names(&[("alice-1", false), ("alice-2", false)]), 2));
    // Another list records nothing, in this process and in others.
    assert_eq!(list("alice"), (names(&[("alice-1", false), ("alice-2", false)]), 0));
    let other = Repository::new(
        Arc::new(Sqlite::open(directory.path(), Access::Write, clock.clock()).expect("it opens")),
        Settings::default(),
        "http://s/modoai",
        "http://s/",
    );
    assert_eq!(listed(&other, "alice", &Digests::default()).1, 0);
    clock.set(20_000);
    apply(&*catalogue, &[delete("alice-1"), delete("bob-1")]);
    let expected = names(&[("alice-2", false), ("alice-1", true)]);
    assert_eq!(list("alice").0, expected);
    assert_eq!(listed(&other, "alice", &Digests::default()).0, expected);
    // This item was never listed, so its deletion is not reported, whatever the remaining rules are.
    assert_eq!(list("bob").0, []);
    assert_eq!(list("guesser").0, []);
    // An item that is created again keeps its audiences.
    clock.set(30_000);
    apply(&*catalogue, &[put("alice-1", 4, &["x"])]);
    clock.set(40_000);
    apply(&*catalogue, &[delete("alice-1")]);
    assert_eq!(list("alice").0, expected);
}

#[test]
fn public_item_created_again_as_private_is_withdrawn() {
    let directory = tempfile::tempdir().expect("a folder");
    let clock = HandClock::at(10_000);
    let catalogue = Sqlite::open(directory.path(), Access::Write, clock.clock()).expect("it opens");
    let with = |publicity| match put("a", 1, &["x"]) {
        modoai_repository::catalogue::Change::Put { name, fingerprint, media_type, sets, .. } => {
            modoai_repository::catalogue::Change::Put { name, fingerprint, media_type, sets, publicity }
        }
        other => other,
    };
    apply(&catalogue, &[with(Publicity::Public)]);
    apply(&catalogue, &[delete("a")]);
    apply(&catalogue, &[with(Publicity::Untold)]);
    assert_eq!(item(&catalogue, "a").publicity, Publicity::Withdrawn);
    apply(&catalogue, &[with(Publicity::Public)]);
    assert_eq!(item(&catalogue, "a").publicity, Publicity::Public);
}

#[test]
fn audiences_above_the_limit_are_recorded_as_others() {
    let directory = tempfile::tempdir().expect("a folder");
    let catalogue = Sqlite::open(directory.path(), Access::Write, HandClock::at(10_000).clock()).expect("it opens");
    catalogue.writer().expect("nobody else writes").complete().expect("complete");
    apply(&catalogue, &[put("a", 1, &["x"]), put("b", 2, &["x"])]);
    let number = item(&catalogue, "a").number;
    for digest in 0..200 {
        let audiences = vec![Audience { needs: "word".to_owned(), digest }];
        // The second call changes nothing.
        for _ in 0..2 {
            catalogue.record_audiences(&[Listing { number, audiences: audiences.clone() }]).expect("remembered");
        }
    }
    let ListedFor { audiences, and_others } = item(&catalogue, "a").listed_for;
    assert!(and_others && audiences.len() == 64, "{}", audiences.len());
    assert!(audiences.iter().enumerate().all(|(at, audience)| audience.digest == at as i64));
    assert_eq!(item(&catalogue, "b").listed_for, ListedFor::default());
    // An unknown item is ignored.
    catalogue.record_audiences(&[Listing { number: 1_000, audiences: Vec::new() }]).expect("nothing to remember");
    assert_eq!(everything(&catalogue).len(), 2);
}
