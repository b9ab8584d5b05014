//! Modules of the archive, fetch, the harvester, the repository, the server and the spider that read foreign bytes, compiled on their own. The crates as a whole bring a
//! database, TLS and a runtime, which would take longer to instrument than everything here takes to run.

// The spider takes what it needs of fetch from here.
extern crate self as modoai_fetch;

#[path = "../../crates/spider/src/anchors.rs"]
pub mod anchors;
// By its folder: a module that is named by its file does not find the modules in it.
#[path = "../../crates/archive/src"]
mod archive {
    pub mod record;
}
pub mod browse;
#[path = "../../crates/harvester/src/didl/mod.rs"]
pub mod didl;
#[path = "../../crates/spider/src/extract/mod.rs"]
pub mod extract;
// Only some of it is needed by what is fuzzed.
#[allow(dead_code)]
#[path = "../../crates/spider/src/foreign.rs"]
mod foreign;
pub mod headers;
#[path = "../../crates/fetch/src/foreign.rs"]
mod invisible;
#[path = "../../crates/spider/src/count/log.rs"]
pub mod log;
#[path = "../../crates/harvester/src/mend/mod.rs"]
pub mod mend;
#[path = "../../crates/fetch/src/robots/pattern.rs"]
mod pattern;
#[path = "../../crates/harvester/src/quirks.rs"]
pub mod quirks;
#[path = "../../crates/spider/src/reference.rs"]
pub mod reference;
#[allow(dead_code)]
#[path = "../../crates/fetch/src/robots/rules/mod.rs"]
mod rules;
pub mod source;
#[path = "../../crates/spider/src/task/mod.rs"]
pub mod task;
#[path = "../../crates/archive/src/tex/mod.rs"]
pub mod tex;

pub use archive::record;
pub use headers::quality;
pub use invisible::{is_invisible, is_joiner, is_senseless};

/// The rules of robots.txt, which are private to their crate.
pub mod robots {
    use crate::{pattern, rules};

    /// What rules say of a path.
    pub struct Said {
        /// The line and the text of the rule that forbids it, if it is forbidden.
        pub forbidden: Option<(u32, String)>,
        /// How far apart requests are to be.
        pub delay: Option<std::time::Duration>,
        /// How many site maps there are.
        pub sitemaps: usize,
        /// What all that takes in memory.
        pub weight: usize,
    }

    /// What a robots.txt says to an agent of a path.
    pub fn said(robots: &[u8], agent: &str, path: &str) -> Said {
        let rules = rules::Rules::parse(robots, rules::product(agent));
        Said {
            forbidden: rules.forbidding(path).map(|(line, rule)| (line, rule.to_owned())),
            delay: rules.delay,
            sitemaps: rules.sitemaps.len(),
            weight: rules.weight(),
        }
    }

    /// The path as it is compared.
    pub fn comparable(path: &str) -> String {
        String::from_utf8(pattern::comparable(path.as_bytes(), false)).expect("it is ASCII")
    }

    /// What is read at most.
    pub const LIMIT: usize = rules::LIMIT;
}
