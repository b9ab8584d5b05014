//! How each source of an archive is read, as the catalogue remembers it.
//!
//! Read in another way, the same input is other documents: under other identifiers, in other formats. So an import that says
//! nothing about its source goes by what was said the last time.

use std::collections::BTreeMap;

use modoai_repository::catalogue::{Catalogue, Writer};

use super::{Import, ImportError};
use crate::source::Options;
use crate::terms::TermsError;

/// The memo with the options of every source, by name.
const SOURCES: &str = "archive-sources";

type Sources = BTreeMap<String, Options>;

/// What was last said about a source; `None` if nothing ever was.
pub(crate) fn remembered(catalogue: &dyn Catalogue, source: &str) -> Result<Option<Options>, TermsError> {
    Ok(all(catalogue)?.remove(source))
}

fn all(catalogue: &dyn Catalogue) -> Result<Sources, TermsError> {
    let Some(bytes) = catalogue.memo(SOURCES)? else { return Ok(Sources::new()) };
    serde_json::from_slice(&bytes).map_err(TermsError::Unreadable)
}

impl Import<'_> {
    /// Remembers how this source is read.
    pub(super) fn remember_source(&self, writer: &mut dyn Writer) -> Result<(), ImportError> {
        let mut sources = all(&*self.catalogue)?;
        let options = &self.options.reading;
        if sources.get(&self.options.source) != Some(options) {
            sources.insert(self.options.source.clone(), options.clone());
            let bytes = serde_json::to_vec(&sources).expect("options are texts and numbers");
            writer.set_memo(SOURCES, Some(&bytes))?;
        }
        Ok(())
    }
}
