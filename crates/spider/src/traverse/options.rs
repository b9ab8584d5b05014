//! How a web is traversed, beyond what its tasks say.

use super::LocalSite;

/// How a web is traversed.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many requests are under way at once, over all hosts. 64: more gains nothing that a polite spider should have.
    pub connections: usize,
    /// How many of them at one host. 4: what a browser of old would do, and no server minds.
    pub per_host: usize,
    /// Whether what lies outside of all tasks is tested too.
    pub external: bool,
    /// Whether documents outside are read for the sake of fragments that refer to them.
    pub external_fragments: bool,
    /// How many links from a top are followed. 20, as in 1994: endless calendars end.
    pub max_depth: u16,
    /// Most documents to read for a task that sets no limit of its own; 0 is no limit. 100,000 if none is given: more than almost
    /// every site has, and a web without an end does not fill the disk.
    pub max_pages: Option<u64>,
    /// Most documents to read of URLs that look alike; 0 is no limit. 10,000 if none is given, and 200 where paths have a
    /// segment three times.
    pub max_similar: Option<u64>,
    /// How much of a document is read. 32 MB: beyond that, no human maintains it.
    pub page_limit: usize,
    /// How often something that failed is asked for, in all.
    pub attempts: u32,
    /// Whether robots.txt is asked for and obeyed. Only whoever owns all the hosts may say no.
    pub robots: bool,
    /// Whether the site maps that robots.txt names lead on. Not if it matters what links lead to.
    pub sitemaps: bool,
    /// Whether an [`Observer`](super::Observer) gets the resources of all tasks: leaves are then asked for by GET, and so many
    /// bytes of each are read at most.
    pub bodies: Option<usize>,
    /// A site that is read from a folder instead of from its server.
    pub local: Option<LocalSite>,
    /// Connect to private addresses, too. Otherwise only the hosts of the tops may have one.
    pub allow_private: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connections: 64,
            per_host: 4,
            external: true,
            external_fragments: false,
            max_depth: 20,
            max_pages: None,
            max_similar: None,
            page_limit: 32 * 1024 * 1024,
            attempts: 3,
            robots: true,
            sitemaps: true,
            bodies: None,
            local: None,
            allow_private: false,
        }
    }
}
