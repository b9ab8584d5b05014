//! All URLs of the site, and the sources that list them. A URL takes about a hundred bytes: millions fit into memory.

use std::collections::HashMap;

use super::key::Place;
use super::{SOURCES, Source};
use crate::verdict::{Fault, Outcome, Reason};

/// The result of a crawl for a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// Not requested.
    #[default]
    Untold,
    /// It exists.
    There,
    /// It is missing.
    Missing,
    /// robots.txt forbids the request.
    Robots,
    /// It requires a login, or access is forbidden.
    Refused,
    /// It has moved.
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

/// The data about a URL.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// The sources that list it, as bits.
    pub(super) by: u8,
    pub(super) fate: Fate,
    /// The result of a request for a URL that only a sitemap lists.
    pub(super) confirmed: Fate,
    /// True if it was listed as a directory, and with its index file.
    pub(super) as_folder: bool,
    pub(super) as_index: bool,
    /// A number in the ledger's list of media types; 0 for none.
    pub(super) kind: u16,
    /// The hash of its bytes; 0 if unknown.
    pub(super) digest: u64,
}

impl Entry {
    pub(super) fn has(&self, source: Source) -> bool {
        self.by & source.bit() != 0
    }

    /// Returns true if an authoritative source lists it.
    pub(super) fn is_held(&self) -> bool {
        SOURCES.iter().any(|source| source.is_truth() && self.has(*source))
    }
}

/// All URLs of the site.
#[derive(Debug)]
pub struct Ledger {
    pub(super) place: Place,
    pub(super) entries: HashMap<Box<str>, Entry>,
    /// The sources that were queried, as bits: one without any URLs counts, too.
    pub(super) asked: u8,
    pub(super) kinds: Vec<Box<str>>,
    /// The number of URLs from each source that are not on the site.
    pub(super) elsewhere: [u64; SOURCES.len()],
}

impl Ledger {
    /// Creates an empty ledger.
    pub fn new(place: Place) -> Self {
        Self { place, entries: HashMap::new(), asked: 0, kinds: vec!["".into()], elsewhere: [0; SOURCES.len()] }
    }

    /// Returns the site.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Marks a source as queried: it gets a column even if it lists no URLs.
    pub fn ask(&mut self, source: Source) {
        self.asked |= source.bit();
    }

    /// Adds a URL from a source, with its media type and the hash of its bytes if known.
    pub fn add(&mut self, source: Source, url: &str, media_type: Option<&str>, digest: Option<u64>) {
        let kind = media_type.map_or(0, |media_type| self.kind(media_type));
        let Some((entry, is_index)) = self.entry(source, url) else { return };
        entry.by |= source.bit();
        // Users do not request the names that files have on the disk.
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

    /// Adds a URL that a crawl has found, and its result.
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

    /// Returns the URLs that a sitemap lists, and that files, repository and crawl do not.
    pub(super) fn unconfirmed(&self) -> Vec<String> {
        let is_claim = |entry: &Entry| entry.has(Source::Sitemap) && !entry.is_held() && entry.fate == Fate::Untold;
        let claims = self.entries.iter().filter(|(_, entry)| is_claim(entry));
        claims.map(|(name, _)| self.place.url(name)).collect()
    }

    /// Stores the result of a request for a URL that only a sitemap lists.
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
            // A crawl tests external URLs as well.
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
        // No site has that many media types; others would have none.
        u16::try_from(number).unwrap_or(0)
    }
}
