//! robots.txt by RFC 9309: decides which URLs a crawler may request.
//!
//! Only the [`Gate`] does I/O. Cases that the RFC leaves open are decided as follows.
//!
//! - 429 does not mean "not found": the origin of an overloaded server is not visited, as after 5xx.
//! - A copy older than a day is not used, even if a new one cannot be fetched: then the origin is not visited.
//! - `Crawl-delay` is not part of the RFC, yet it expresses the site's wish. The longest of the group counts, up to an
//!   hour.
//! - `Disallow: *.pdf`, without the slash that the grammar demands, is obeyed, because its meaning is clear. A rule
//!   that begins with any other character can match no path, and is ignored.
//!
//! | module | content |
//! |---|---|
//! | `pattern` | the path of a rule: comparison and wildcards |
//! | `rules` | lines, groups, and the longest match |
//! | [`gate`](Gate) | a cached copy per origin |

mod gate;
mod pattern;
mod rules;

use std::time::Duration;

use url::{Position, Url};

pub use self::gate::{Gate, Remembered};
pub(crate) use self::rules::product;
use self::rules::{LIMIT, Rules};
use crate::kind::Kind;

/// The robots.txt of one origin, as it applies to this client.
#[derive(Clone, Debug)]
pub struct Robots {
    access: Access,
}

#[derive(Clone, Debug)]
enum Access {
    /// The rules; the list may be empty.
    Ruled(Rules),
    /// The file could not be fetched.
    Unknown(Unknown),
}

/// The reason why the rules of an origin are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The status of the response: 5xx, or 429.
    Status(u16),
    /// No response was received. A host that does not exist has no robots.txt either, so this may be the final result.
    Failed(Kind),
}

/// The decision about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission<'a> {
    /// The URL may be requested.
    Allowed,
    /// The URL must not be requested.
    Forbidden {
        /// The line of the rule, counted from one.
        line: u32,
        /// The rule.
        rule: &'a str,
    },
    /// The rules are unknown, so the URL must not be requested.
    Unknown(Unknown),
}

impl Robots {
    /// Reads the rules of a robots.txt for this agent: `modoai`, or `modoai/1.0`, which is equivalent.
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

    /// Reads a response after up to five redirects; a further redirect counts as a missing robots.txt.
    pub fn from_answer(status: u16, body: &[u8], agent: &str) -> Self {
        match status {
            200..=299 => Self::parse(body, agent),
            300..=428 | 430..=499 => Self::parse(&[], agent),
            _ => Self { access: Access::Unknown(Unknown::Status(status)) },
        }
    }

    /// Creates the result for an origin without a response.
    pub fn unreachable(why: Kind) -> Self {
        Self { access: Access::Unknown(Unknown::Failed(why)) }
    }

    /// Decides about a path, with its query if it has one, in the form that it has in a URL.
    pub fn allows(&self, path_and_query: &str) -> Permission<'_> {
        match &self.access {
            // A client that requests the rules cannot know them.
            _ if path_and_query == "/robots.txt" => Permission::Allowed,
            Access::Unknown(why) => Permission::Unknown(*why),
            Access::Ruled(rules) => match rules.forbidding(path_and_query) {
                Some((line, rule)) => Permission::Forbidden { line, rule },
                None => Permission::Allowed,
            },
        }
    }

    /// Decides about a URL of this origin.
    pub fn allows_url(&self, url: &Url) -> Permission<'_> {
        self.allows(&url[Position::BeforePath..Position::AfterQuery])
    }

    /// Returns the rules for this agent in the order of the file: the line, counted from one, and the rule as
    /// `Disallow: /path`.
    pub fn rules(&self) -> Vec<(u32, &str)> {
        match &self.access {
            Access::Ruled(rules) => rules.by_line(),
            Access::Unknown(_) => Vec::new(),
        }
    }

    /// Returns the pause between requests, if the file sets one; no more than an hour.
    pub fn crawl_delay(&self) -> Option<Duration> {
        match &self.access {
            Access::Ruled(rules) => rules.delay,
            Access::Unknown(_) => None,
        }
    }

    /// Returns the sitemaps that the file lists, unchanged.
    pub fn sitemaps(&self) -> &[String] {
        match &self.access {
            Access::Ruled(rules) => &rules.sitemaps,
            Access::Unknown(_) => &[],
        }
    }

    /// Returns the reason why the rules are unknown, if they are.
    pub fn unknown(&self) -> Option<Unknown> {
        match &self.access {
            Access::Unknown(why) => Some(*why),
            Access::Ruled(_) => None,
        }
    }

    /// Returns the approximate memory use.
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
