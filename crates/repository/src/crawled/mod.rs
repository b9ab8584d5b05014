//! A site on another server, as a crawl received it.
//!
//! For servers into which no module can be installed, a crawl replaces the module. The response to a GET, bytes and
//! headers, is stored in a [`Shelf`], which then acts as the host of the site; the [`Intake`] updates the catalogue.
//! All formats are those of files: they request from the host what a GET returns, so they need no special case
//! (decision 012).
//!
//! | file | contents |
//! |---|---|
//! | `shelf` | bytes and headers by URL, and the host that serves them |
//! | `head` | the headers of a response as stored |
//! | `intake` | updates of the catalogue |

mod head;
mod intake;
mod shelf;

#[cfg(test)]
mod tests;

pub use head::fit_headers;
pub use intake::{Intake, IntakeError, Taken};
pub use shelf::Shelf;

/// A response to a GET.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// Its headers, as returned by [`fit_headers`].
    pub headers: &'a [(String, String)],
    /// Its bytes.
    pub body: &'a [u8],
    /// True if those are all of its bytes.
    pub is_whole: bool,
}

impl Sent<'_> {
    /// Returns the value of a header.
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}
