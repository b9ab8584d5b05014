//! The repository of a catalogue without a site, for every host that serves one.

use std::sync::Arc;

use modoai_repository::catalogue::Catalogue;
use modoai_repository::{Repository, Settings};

use crate::offer::Offer;
use crate::terms::TermsError;

/// Creates the repository at `base_url` of the documents or records in a catalogue. The description of its identifiers
/// in Identify is fixed at this time; everything else changes with the catalogue.
pub fn repository(
    catalogue: &Arc<dyn Catalogue>,
    settings: Settings,
    base_url: &str,
) -> Result<Repository, TermsError> {
    let Some((offer, terms)) = Offer::of(&**catalogue)? else {
        return Ok(Repository::of_records(Arc::clone(catalogue), settings, base_url));
    };
    let repository = Repository::of_archive(Arc::clone(catalogue), settings, base_url, Arc::new(offer));
    let Some(namespace) = terms.repository_identifier else { return Ok(repository) };
    let sample = catalogue.described(false, i64::MIN, 1)?.pop().map(|item| item.name);
    Ok(repository.with_identifiers_in(&namespace, sample.as_deref()))
}
