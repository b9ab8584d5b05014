//! robots.txt by RFC 9309: who may go where.
//!
//! Pure but for the [`Gate`]. What the RFC leaves open is decided as follows.
//!
//! - 429 is no "there is none": a server that is asked too much is left alone, as if it had answered 5xx.
//! - A copy older than a day is not used, also not while a new one cannot be had: then the origin is stayed out of.
//! - `Crawl-delay` is no part of the RFC, yet it is what a site asks of us. The longest of the group counts, up to an hour.
//! - `Disallow: *.pdf`, without the slash that the grammar demands, is obeyed: what is meant is clear. A rule that begins
//!   with anything else can match no path, and is passed over.
//!
//! | module | what it owns |
//! |---|---|
//! | `pattern` | one rule's path: how it is compared, and its wildcards |
//! | `rules` | lines, groups, and the longest match |
//! | [`gate`](Gate) | one copy per origin, asked for once |

mod gate;
mod pattern;
mod rules;

use std::time::Duration;

use url::{Position, Url};

pub use self::gate::{Gate, Remembered};
pub(crate) use self::rules::product;
use self::rules::{LIMIT, Rules};
use crate::kind::Kind;

/// What one origin's robots.txt says to us.
#[derive(Clone, Debug)]
pub struct Robots {
    access: Access,
}

#[derive(Clone, Debug)]
enum Access {
    /// As the rules say; there may be none.
    Ruled(Rules),
    /// It could not be had.
    Unknown(Unknown),
}

/// Why nobody knows what robots.txt says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The server answered this: 5xx, or 429.
    Status(u16),
    /// There was no answer. A host that does not exist has no robots.txt either, so this may be all that is to be known.
    Failed(Kind),
}

/// Whether something may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission<'a> {
    /// It may.
    Allowed,
    /// It may not.
    Forbidden {
        /// The line that says so, counted from one.
        line: u32,
        /// What it says.
        rule: &'a str,
    },
    /// Nobody knows what robots.txt says, so it may not.
    Unknown(Unknown),
}

impl Robots {
    /// Reads what a robots.txt says to this agent: `modoai`, or `modoai/1.0`, which is the same.
    ///
    /// ```
    /// # use modoai_fetch::{Permission, Robots};
    /// let robots = Robots::parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/*.html$\n", "modoai");
    /// assert_eq!(robots.allows("/private/page.html"), Permission::Allowed);
    /// let forbidden = Permission::Forbidden { line: 2, rule: "Disallow: /private/" };
    /// assert_eq!(robots.allows("/private/page.pdf"), forbidden);
    /// ```
    pub fn parse(bytes: &[u8], agent: &str) -> Self {
        Self { access: Access::Ruled(Rules::parse(bytes, product(agent))) }
    }

    /// Reads an answer, after redirects: five of them, since then a redirect is as good as no robots.txt.
    pub fn from_answer(status: u16, body: &[u8], agent: &str) -> Self {
        match status {
            200..=299 => Self::parse(body, agent),
            300..=428 | 430..=499 => Self::parse(&[], agent),
            _ => Self { access: Access::Unknown(Unknown::Status(status)) },
        }
    }

    /// For an origin that gave no answer.
    pub fn unreachable(why: Kind) -> Self {
        Self { access: Access::Unknown(Unknown::Failed(why)) }
    }

    /// Whether a path may be asked for, with its query if it has one, as a URL has it.
    pub fn allows(&self, path_and_query: &str) -> Permission<'_> {
        match &self.access {
            // Whoever asks for the rules cannot know them.
            _ if path_and_query == "/robots.txt" => Permission::Allowed,
            Access::Unknown(why) => Permission::Unknown(*why),
            Access::Ruled(rules) => match rules.forbidding(path_and_query) {
                Some((line, rule)) => Permission::Forbidden { line, rule },
                None => Permission::Allowed,
            },
        }
    }

    /// Whether a URL of this origin may be asked for.
    pub fn allows_url(&self, url: &Url) -> Permission<'_> {
        self.allows(&url[Position::BeforePath..Position::AfterQuery])
    }

    /// The rules for this agent in the order of the file: the line, counted from one, and the rule as `Disallow: /path`.
    pub fn rules(&self) -> Vec<(u32, &str)> {
        match &self.access {
            Access::Ruled(rules) => rules.by_line(),
            Access::Unknown(_) => Vec::new(),
        }
    }

    /// How far apart requests are to be, if that is said; no more than an hour.
    pub fn crawl_delay(&self) -> Option<Duration> {
        match &self.access {
            Access::Ruled(rules) => rules.delay,
            Access::Unknown(_) => None,
        }
    }

    /// The site maps that are named, as they are named.
    pub fn sitemaps(&self) -> &[String] {
        match &self.access {
            Access::Ruled(rules) => &rules.sitemaps,
            Access::Unknown(_) => &[],
        }
    }

    /// Why nobody knows what it says, if that is so.
    pub fn unknown(&self) -> Option<Unknown> {
        match &self.access {
            Access::Unknown(why) => Some(*why),
            Access::Ruled(_) => None,
        }
    }

    /// What it takes in memory, roughly.
    fn weight(&self) -> usize {
        match &self.access {
            Access::Ruled(rules) => rules.weight(),
            Access::Unknown(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSED: &[u8] = b"User-agent: *\nDisallow: /";

    #[test]
    fn answers_are_read_by_their_status() {
        let allows = |status| Robots::from_answer(status, CLOSED, "modoai").allows("/x") == Permission::Allowed;
        assert!(!allows(200) && !allows(206));
        for status in [301, 302, 304, 307, 400, 401, 403, 404, 410, 451, 499] {
            assert!(allows(status), "{status}");
        }
        for status in [429, 500, 502, 503, 599, 999] {
            let robots = Robots::from_answer(status, b"", "modoai");
            assert_eq!(robots.allows("/x"), Permission::Unknown(Unknown::Status(status)));
            assert_eq!(robots.allows("/robots.txt"), Permission::Allowed);
        }
        let gone = Robots::unreachable(Kind::NoSuchHost);
        assert_eq!(gone.allows("/"), Permission::Unknown(Unknown::Failed(Kind::NoSuchHost)));
        assert_eq!((gone.crawl_delay(), gone.sitemaps().len()), (None, 0));
    }

    #[test]
    fn the_rules_themselves_are_always_allowed() {
        let robots = Robots::parse(CLOSED, "modoai");
        assert_eq!(robots.allows("/robots.txt"), Permission::Allowed);
        assert_ne!(robots.allows("/robots.txt2"), Permission::Allowed);
        assert_ne!(robots.allows("/a/robots.txt"), Permission::Allowed);
    }

    #[test]
    fn a_url_is_its_path_and_query() {
        let robots = Robots::parse(b"User-agent: *\nDisallow: /a?b$", "modoai");
        let allows = |url: &str| robots.allows_url(&Url::parse(url).expect("a URL")) == Permission::Allowed;
        assert!(!allows("http://me@h:1/a?b#c") && allows("http://h/a?bc") && allows("http://h"));
    }
}
