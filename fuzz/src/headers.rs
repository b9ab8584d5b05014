//! What reads single values of requests and responses: paths, preferences, ranges, waits, and headers that a crawl has kept.

// Only some of each is needed by what is fuzzed.
#[path = "../../crates/endpoint/src/browser.rs"]
pub mod browser;
#[allow(dead_code)]
#[path = "../../crates/repository/src/crawled/head.rs"]
mod head;
#[path = "../../crates/repository/src/site/name.rs"]
pub mod name;
#[path = "../../crates/endpoint/src/quality.rs"]
pub mod quality;
#[allow(dead_code)]
#[path = "../../crates/server/src/range.rs"]
mod range;
#[allow(dead_code)]
#[path = "../../crates/fetch/src/retry.rs"]
mod retry;

pub use head::fit_headers;
pub use retry::retry_after;

/// The bytes of a file of this size that a Range header asks for, if it asks for some of them.
pub fn range(value: &str, size: u64) -> Option<std::ops::Range<u64>> {
    match range::parse(value, size) {
        range::Asked::Part(part) => Some(part),
        range::Asked::Whole | range::Asked::Unsatisfiable => None,
    }
}

/// The kept head of an answer, written as it was read; none if it cannot be read.
pub fn kept(text: &str) -> Option<String> {
    head::Head::from_text(text).ok().map(|head| head.to_text())
}
