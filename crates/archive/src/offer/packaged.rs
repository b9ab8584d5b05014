//! `oai_didl`: packages of documents that have files.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use modoai_protocol::xml::XmlWriter;
use modoai_repository::catalogue::Detail;
use modoai_repository::catalogue::stored::StoredFormat;
use modoai_repository::formats::{self, Format, Has, Subject, didl};
use modoai_repository::item::Item;

use super::crosswalked::rendered;
use crate::crosswalk::Crosswalks;
use crate::didl::Packages;
use crate::dossier::Dossier;
use crate::record::Record;

/// The metadataPrefix.
pub(crate) const PREFIX: &str = "oai_didl";

/// The description inside a package.
const OAI_DC: &str = "oai_dc";

/// The format as the catalogue knows it: not every document has files.
pub(crate) fn format() -> StoredFormat {
    let [prefix, schema, namespace] = [PREFIX, didl::SCHEMA, didl::NAMESPACE].map(str::to_owned);
    StoredFormat { prefix, schema, namespace }
}

pub(super) struct Packaged {
    pub(super) crosswalks: Arc<Crosswalks>,
    /// The directory of files.
    pub(super) root: PathBuf,
}

impl Format for Packaged {
    fn prefix(&self) -> &str {
        PREFIX
    }

    fn namespace(&self) -> &str {
        didl::NAMESPACE
    }

    fn schema(&self, _base_url: &str) -> String {
        didl::SCHEMA.to_owned()
    }

    fn detail(&self) -> Detail {
        Detail::Record
    }

    fn needs_get(&self, _item: &Item) -> bool {
        false
    }

    fn contains_files(&self) -> bool {
        true
    }

    fn is_bulky(&self) -> bool {
        true
    }

    fn list(&self) -> Option<&str> {
        Some(PREFIX)
    }

    fn has(&self, item: &Item) -> Has {
        formats::holds(item, PREFIX)
    }

    fn write(&self, mut subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        if subject.mention_if_large(xml) {
            return Ok(());
        }
        let (identifier, limit) = (&subject.item.name, subject.by_value_limit());
        let packages = Packages::new(&self.root).of_repository(subject.repository.base_url());
        let packages = packages.copying_into(subject.temporary_directory());
        let repository = subject.repository;
        let known = |path: &str| repository.file_digests(path);
        let dossier = Dossier::new(subject.record()?);
        let record: Record = serde_json::from_slice(dossier.record()?)?;
        let made;
        let oai_dc = match dossier.given(OAI_DC).or_else(|| dossier.ready(OAI_DC)) {
            Some(ready) => ready,
            None => {
                let crosswalk = self.crosswalks.get(OAI_DC);
                let crosswalk = crosswalk.ok_or_else(|| io::Error::other("no crosswalk to oai_dc"))?;
                made = rendered(&self.crosswalks, crosswalk, dossier, identifier)?;
                &made
            }
        };
        xml.raw("<metadata>");
        packages.write(&record, identifier, oai_dc, limit, &known, xml)?;
        xml.raw("</metadata>").verbatim(dossier.about());
        Ok(())
    }
}
