//! A site that somebody else serves, as a crawl saw it.
//!
//! Where no module can be put into a server, a crawl takes its place. What a GET returned, bytes and headers, is kept on a
//! [`Shelf`], which then answers as the host of the site; the [`Intake`] tells the catalogue what is new, changed or gone. All
//! formats are those of files: they ask the host for what a GET returns, and cannot tell the difference (decision 012).
//!
//! | file | what it knows |
//! |---|---|
//! | `shelf` | bytes and headers by URL, and the host that answers from them |
//! | `head` | the headers of an answer as they are kept |
//! | `intake` | what a crawl's observations mean for the catalogue |

mod head;
mod intake;
mod shelf;

#[cfg(test)]
mod tests;

pub use head::fit_headers;
pub use intake::{Intake, IntakeError, Taken};
pub use shelf::Shelf;

/// What was sent for a URL.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The headers of the answer; [`fit_headers`] made them.
    pub headers: &'a [(String, String)],
    /// The bytes.
    pub body: &'a [u8],
    /// Whether that is all of them.
    pub is_whole: bool,
}

impl Sent<'_> {
    /// The value of a header.
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}
