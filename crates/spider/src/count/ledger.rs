//! Every URL of the site, and who knows of it. About a hundred bytes for each: millions fit into memory.

use std::collections::HashMap;

use super::key::Place;
use super::{SOURCES, Source};
use crate::verdict::{Fault, Outcome, Reason};

/// What a crawl found out about a URL that somebody links to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// Nobody has asked.
    #[default]
    Untold,
    /// It is there.
    There,
    /// It is not there.
    Missing,
    /// robots.txt keeps programs away.
    Robots,
    /// One must log in, or may not at all.
    Refused,
    /// It is somewhere else.
    Moved,
    /// It could not be tested.
    Untested,
}

impl From<&Outcome> for Fate {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Good => Self::There,
            Outcome::Moved { .. } => Self::Moved,
            Outcome::NotTested(Reason::Robots(_)) => Self::Robots,
            Outcome::NotTested(Reason::Login(_) | Reason::Refused(_)) => Self::Refused,
            Outcome::Broken(Fault::Status(401 | 403 | 407)) => Self::Refused,
            Outcome::Broken(Fault::Status(..500)) => Self::Missing,
            Outcome::Broken(_) | Outcome::NotTested(_) => Self::Untested,
        }
    }
}

/// What is known of a URL.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Who knows of it, as bits.
    pub(super) by: u8,
    pub(super) fate: Fate,
    /// The response to a request for what only a sitemap claims.
    pub(super) confirmed: Fate,
    /// Whether it was named by its folder, and by its index file.
    pub(super) as_folder: bool,
    pub(super) as_index: bool,
    /// A number in the ledger's list of kinds; 0 for none.
    pub(super) kind: u16,
    /// The hash of its bytes; 0 if nobody has looked.
    pub(super) digest: u64,
}

impl Entry {
    pub(super) fn has(&self, source: Source) -> bool {
        self.by & source.bit() != 0
    }

    /// Whether the site holds it, by those who know.
    pub(super) fn is_held(&self) -> bool {
        SOURCES.iter().any(|source| source.is_truth() && self.has(*source))
    }
}

/// Every URL of the site.
#[derive(Debug)]
pub struct Ledger {
    pub(super) place: Place,
    pub(super) entries: HashMap<Box<str>, Entry>,
    /// The sources that were asked, as bits: one that was and knows nothing counts, too.
    pub(super) asked: u8,
    pub(super) kinds: Vec<Box<str>>,
    /// What was told by sources, and is no URL of the site.
    pub(super) elsewhere: [u64; SOURCES.len()],
}

impl Ledger {
    /// With nothing in it.
    pub fn new(place: Place) -> Self {
        Self { place, entries: HashMap::new(), asked: 0, kinds: vec!["".into()], elsewhere: [0; SOURCES.len()] }
    }

    /// The site.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// A source is asked: it has a column from now on, whatever it says.
    pub fn ask(&mut self, source: Source) {
        self.asked |= source.bit();
    }

    /// A source knows of a URL, and perhaps its media type and the hash of its bytes.
    pub fn add(&mut self, source: Source, url: &str, media_type: Option<&str>, digest: Option<u64>) {
        let kind = media_type.map_or(0, |media_type| self.kind(media_type));
        let Some((entry, is_index)) = self.entry(source, url) else { return };
        entry.by |= source.bit();
        // The name that a file has on disc is not one that anybody uses.
        if !source.is_truth() {
            entry.as_index |= is_index;
            entry.as_folder |= !is_index;
        }
        if kind != 0 {
            entry.kind = kind;
        }
        if let Some(digest) = digest {
            entry.digest = digest;
        }
    }

    /// A crawl has come upon a URL, and this became of it.
    pub fn crawled(&mut self, url: &str, fate: Fate, media_type: Option<&str>, digest: Option<u64>) {
        self.ask(Source::Crawl);
        if fate == Fate::There {
            self.add(Source::Crawl, url, media_type, digest);
        }
        if let Some((entry, _)) = self.entry(Source::Crawl, url)
            && entry.fate != Fate::There
        {
            entry.fate = fate;
        }
    }

    /// The URLs that a sitemap claims, and that neither files, repository nor crawl know of.
    pub(super) fn unconfirmed(&self) -> Vec<String> {
        let is_claim = |entry: &Entry| entry.has(Source::Sitemap) && !entry.is_held() && entry.fate == Fate::Untold;
        let claims = self.entries.iter().filter(|(_, entry)| is_claim(entry));
        claims.map(|(name, _)| self.place.url(name)).collect()
    }

    /// Keeps the response to a request for a claim.
    pub(super) fn confirmed(&mut self, url: &str, fate: Fate) {
        if let Some(key) = self.place.key(url)
            && let Some(entry) = self.entries.get_mut(&*key.name)
        {
            entry.confirmed = fate;
        }
    }

    fn entry(&mut self, source: Source, url: &str) -> Option<(&mut Entry, bool)> {
        self.ask(source);
        let Some(key) = self.place.key(url) else {
            // A crawl tests what lies outside as well.
            self.elsewhere[source as usize] += u64::from(source != Source::Crawl);
            return None;
        };
        Some((self.entries.entry(key.name.into()).or_default(), key.is_index))
    }

    fn kind(&mut self, media_type: &str) -> u16 {
        let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if media_type.is_empty() {
            return 0;
        }
        let known = self.kinds.iter().position(|known| **known == *media_type);
        let number = known.unwrap_or_else(|| {
            self.kinds.push(media_type.into());
            self.kinds.len() - 1
        });
        // Nobody has so many; if somebody does, the rest is of no kind.
        u16::try_from(number).unwrap_or(0)
    }
}
