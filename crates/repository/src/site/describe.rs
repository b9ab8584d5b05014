//! Determines the media type that a GET of a file would return.
//!
//! A site without a web server uses its settings and the content of files. A web server with its own configuration has
//! to be queried, which is expensive. It is therefore queried about files that are new or have changed, and about all
//! files only when its configuration may have changed.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use super::walk::Met;
use super::{Site, kind};

/// Determines the media types of files.
pub trait Describer: Send + Sync {
    /// Returns the media type, if the name alone determines it. Called for every file at every scan.
    fn at_a_glance(&self, item_name: &str) -> Option<Cow<'static, str>>;

    /// Returns the description after reading the file, if its name is not sufficient. `None` if the file was deleted
    /// meanwhile.
    fn look(&self, met: &Met) -> io::Result<Option<Description>>;
}

/// The properties of a file in the response to a GET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its media type, without parameters and in lower case.
    pub media_type: String,
    /// The file that a GET of this name returns, if it is another one.
    pub elsewhere: Option<PathBuf>,
    /// True if a client without credentials may GET it; `None` if that was not determined.
    pub is_public: Option<bool>,
}

impl Describer for Site {
    fn at_a_glance(&self, item_name: &str) -> Option<Cow<'static, str>> {
        self.kinds().by_name(item_name)
    }

    fn look(&self, met: &Met) -> io::Result<Option<Description>> {
        let Some(representation) = self.get(&met.name)? else { return Ok(None) };
        let media_type = kind::by_content(&representation.file)?.into_owned();
        Ok(Some(Description { media_type, elsewhere: None, is_public: None }))
    }
}
