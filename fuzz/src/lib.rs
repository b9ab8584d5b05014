//! Private modules of several crates that read foreign bytes, compiled on their own. The crates of clients and servers as a
//! whole bring TLS and a runtime, which would take longer to instrument than everything here takes to run.

// The spider takes what it needs of fetch from here.
extern crate self as modoai_fetch;

#[path = "../../crates/spider/src/anchors.rs"]
pub mod anchors;
pub mod browse;
// Only some of it is needed by what is fuzzed.
#[allow(dead_code)]
#[path = "../../crates/fetch/src/decode.rs"]
mod decode;
#[path = "../../crates/harvester/src/didl/mod.rs"]
pub mod didl;
#[path = "../../crates/fetch/src/engine.rs"]
mod engine;
#[path = "../../crates/spider/src/extract/mod.rs"]
pub mod extract;
pub mod file;
#[path = "../../crates/archive/src/flaw.rs"]
mod flaw;
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

/// The content of a body that came in pieces of this size, and whether it is complete; none if it cannot be decoded.
pub fn decoded(label: &str, body: &[u8], piece: usize, limit: usize) -> Option<(Vec<u8>, bool)> {
    let mut decoder = decode::Decoder::new(std::iter::once(label), true);
    let (mut input, mut out, mut pieces) = (bytes::Bytes::new(), Vec::new(), body.chunks(piece));
    let mut is_last = false;
    loop {
        match decoder.step(&mut input, is_last).ok()? {
            decode::Step::Piece(piece) => {
                assert!(!piece.is_empty(), "an empty piece");
                out.extend_from_slice(&piece);
                if out.len() > limit {
                    return None;
                }
            }
            decode::Step::Ended { whole } => return Some((out, whole)),
            decode::Step::NeedsMore => match pieces.next() {
                Some(more) => input = [&input[..], more].concat().into(),
                None => {
                    assert!(!is_last, "more bytes wanted after the last");
                    is_last = true;
                }
            },
        }
    }
}
