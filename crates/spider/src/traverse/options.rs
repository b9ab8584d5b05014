//! Options of a traversal that apply to all tasks.

use super::LocalSite;

/// The options of a traversal.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum number of concurrent requests, over all hosts. 64: a polite spider gains nothing from more.
    pub connections: usize,
    /// The maximum number of concurrent requests to one host. 4: the number that older browsers used, which servers
    /// accept.
    pub per_host: usize,
    /// True if URLs outside all tasks are tested too.
    pub external: bool,
    /// True if external documents are read to check fragments that refer to them.
    pub external_fragments: bool,
    /// The maximum number of links between a top and a document. 20, as in MOMspider (1994): this ends endless
    /// calendars.
    pub max_depth: u16,
    /// The maximum number of documents for a task that sets no limit itself; 0 means no limit. Default 100,000: more
    /// than almost every site has, and few enough that an endless web does not fill the disk.
    pub max_pages: Option<u64>,
    /// The maximum number of documents with similar URLs; 0 means no limit. Default 10,000, and 200 where paths contain
    /// a segment three times.
    pub max_similar: Option<u64>,
    /// The maximum number of bytes read of a document. 32 MB: larger documents are not maintained by hand.
    pub page_limit: usize,
    /// The maximum number of attempts for a URL whose request fails.
    pub attempts: u32,
    /// True if robots.txt is fetched and obeyed. Only the owner of all hosts may disable it.
    pub robots: bool,
    /// True if sitemaps listed in robots.txt are read. False if only documents that are reachable by links count.
    pub sitemaps: bool,
    /// The maximum number of bytes read of each resource for an [`Observer`](super::Observer). If set, leaves of the
    /// tasks are requested with GET.
    pub bodies: Option<usize>,
    /// The site that is read from a directory instead of from its server.
    pub local: Option<LocalSite>,
    /// True if connections to private addresses are allowed. Otherwise only the hosts of the tops may have one.
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
