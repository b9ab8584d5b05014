//! The options of each source of an archive, stored in the catalogue.
//!
//! Read with other options, the same input yields other documents: with other identifiers, in other formats. So an
//! import without options for its source uses the previous ones.

use std::collections::BTreeMap;

use modoai_repository::catalogue::{Catalogue, Writer};

use super::{Import, ImportError};
use crate::source::Options;
use crate::terms::TermsError;

/// The memo with the options of every source, by name.
const SOURCES: &str = "archive-sources";

type Sources = BTreeMap<String, Options>;

/// Returns the previous options of a source; `None` if it has none.
pub(crate) fn remembered(catalogue: &dyn Catalogue, source: &str) -> Result<Option<Options>, TermsError> {
    Ok(all(catalogue)?.remove(source))
}

fn all(catalogue: &dyn Catalogue) -> Result<Sources, TermsError> {
    let Some(bytes) = catalogue.memo(SOURCES)? else { return Ok(Sources::new()) };
    serde_json::from_slice(&bytes).map_err(TermsError::Unreadable)
}

impl Import<'_> {
    /// Stores the options of this source.
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
