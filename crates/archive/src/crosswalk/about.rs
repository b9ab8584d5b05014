//! The `about` containers of a record in every format: its rights and its provenance.

use super::dates::Date;
use super::escape::escaped;
use super::web;
use crate::record::{Provenance, Record};
use modoai_protocol::datestamp::Datestamp;

const RIGHTS: &str = "http://www.openarchives.org/OAI/2.0/rights/";
const PROVENANCE: &str = "http://www.openarchives.org/OAI/2.0/provenance";

/// Appends the containers for which the record has content. Rights are given by reference, so a licence that is not a
/// URL is left to the formats.
pub(super) fn write(record: &Record, out: &mut Vec<u8>) {
    if let Some(licence) = record.licence.as_deref().and_then(web::url) {
        let container = format!(
            "<about><rights xmlns=\"{RIGHTS}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
             xsi:schemaLocation=\"{RIGHTS} http://www.openarchives.org/OAI/2.0/rights.xsd\">\
             <rightsReference ref=\"{}\"/></rights></about>",
            escaped(&licence)
        );
        out.extend_from_slice(container.as_bytes());
    }
    if let Some(container) = record.provenance.as_ref().and_then(provenance) {
        out.extend_from_slice(container.as_bytes());
    }
}

/// Returns the container, if the dates that the schema requires are valid dates, and the URLs valid URLs.
fn provenance(provenance: &Provenance) -> Option<String> {
    let moment = |text: &str| {
        let text = text.trim();
        let whole = Datestamp::parse(text).map(|stamp| stamp.to_string());
        whole.or_else(|| Date::parse(text).map(|date| date.to_string()).filter(|date| date.len() == 10))
    };
    let datestamp = moment(&provenance.datestamp)?;
    let harvested = moment(&provenance.harvest_date)?;
    let base_url = web::reference(&provenance.base_url)?;
    let identifier = web::reference(&provenance.identifier)?;
    let namespace = web::reference(&provenance.metadata_namespace)?;
    Some(format!(
        "<about><provenance xmlns=\"{PROVENANCE}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"{PROVENANCE} http://www.openarchives.org/OAI/2.0/provenance.xsd\">\
         <originDescription harvestDate=\"{harvested}\" altered=\"{}\"><baseURL>{}</baseURL>\
         <identifier>{}</identifier><datestamp>{datestamp}</datestamp><metadataNamespace>{}</metadataNamespace>\
         </originDescription></provenance></about>",
        provenance.altered,
        escaped(&base_url),
        escaped(&identifier),
        escaped(&namespace),
    ))
}
