//! The counting problem, as a report: the number of resources of a site depends on the source.
//!
//! The files have one number, a crawl from the home page reaches another, the sitemap lists a third, and the log
//! contains a fourth. The paper about mod_oai found 709 and 5,739 for the same site. Here all sources are compared, URL
//! by URL, and the differences have names: orphans, ghosts, forbidden URLs, duplicates.
//!
//! | file | what it does |
//! |---|---|
//! | `confirm` | requests the URLs that only a sitemap lists |
//! | `key` | decides whether two URLs are the same resource |
//! | `ledger` | contains every URL, with its sources |
//! | [`log`] | reads access logs, line by line |
//! | [`sitemap`] | reads sitemaps, and indexes of sitemaps |
//! | `tally` | computes the numbers and the lists |
//! | [`text`], [`page`] | show them: on a terminal, and as an HTML page with a diagram |

mod confirm;
mod key;
mod ledger;
pub mod log;
pub mod page;
pub mod sitemap;
mod tally;
pub mod text;

#[cfg(test)]
mod tests;

pub use confirm::confirm;
pub use key::Place;
pub use ledger::{Fate, Ledger};
pub use tally::{Combination, Count, KindCount, LISTS, Listed};

/// A source of URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The directory that is served.
    Files,
    /// A repository's list of identifiers.
    Repository,
    /// A crawl from the home page.
    Crawl,
    /// The sitemap.
    Sitemap,
    /// Successful requests in the access log.
    Log,
}

/// All sources, in the order of tables.
pub const SOURCES: [Source; 5] = [Source::Files, Source::Repository, Source::Crawl, Source::Sitemap, Source::Log];

impl Source {
    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Repository => "repository",
            Self::Crawl => "crawl",
            Self::Sitemap => "sitemap",
            Self::Log => "log",
        }
    }

    pub(crate) fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Returns true if it lists what the site really contains.
    fn is_truth(self) -> bool {
        matches!(self, Self::Files | Self::Repository)
    }
}
