//! Who tells what a GET would call a file.
//!
//! A site on its own knows by its settings and by looking into files. A web server with a configuration of its own has to be
//! asked, and asking it is dear: so it is asked about files that are new or have changed, and about all of them only when
//! something may have changed its mind.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use super::walk::Met;
use super::{Site, kind};

/// Tells what a GET would call a file.
pub trait Describer: Send + Sync {
    /// The media type, if the name alone tells it. Asked of every file at every look.
    fn at_a_glance(&self, item_name: &str) -> Option<Cow<'static, str>>;

    /// After looking, where the name does not tell. `None` if the file is gone again.
    fn look(&self, met: &Met) -> io::Result<Option<Description>>;
}

/// What a GET would call a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its media type, without parameters and in lower case.
    pub media_type: String,
    /// The file that a GET of this name returns, if it is another one than was met.
    pub elsewhere: Option<PathBuf>,
    /// Whether everybody could GET it, if that was found out.
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
