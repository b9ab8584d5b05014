//! The counting problem, as a report: how many resources a site has depends on whom one asks.
//!
//! The files say one number, a crawl from the home page reaches another, the site map claims a third, and the log remembers a
//! fourth. The paper that mod_oai came with found 709 and 5,739 for the same site. Here all of them are put side by side, URL
//! by URL, and the differences have names: orphans, ghosts, what is forbidden, what is there twice.
//!
//! | file | what it knows |
//! |---|---|
//! | `confirm` | requests for what only a sitemap claims |
//! | `key` | when two URLs are the same resource |
//! | `ledger` | every URL, and who knows of it |
//! | [`log`] | access logs, line by line |
//! | [`sitemap`] | site maps, and indexes of site maps |
//! | `tally` | the numbers and the lists |
//! | [`text`], [`page`] | the same for people: on a terminal, and as a page with a picture |

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

/// Who may know of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The folder that is served.
    Files,
    /// A repository's list of identifiers.
    Repository,
    /// A crawl from the home page.
    Crawl,
    /// The site map.
    Sitemap,
    /// Those who asked, and got it.
    Log,
}

/// Every source, in the order of tables.
pub const SOURCES: [Source; 5] = [Source::Files, Source::Repository, Source::Crawl, Source::Sitemap, Source::Log];

impl Source {
    /// What tables call it.
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

    /// Whether it says what the site holds, and not only what somebody believes.
    fn is_truth(self) -> bool {
        matches!(self, Self::Files | Self::Repository)
    }
}
