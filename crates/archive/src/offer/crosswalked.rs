//! A format that a crosswalk generates.

use std::io;
use std::sync::Arc;

use modoai_protocol::xml::XmlWriter;
use modoai_repository::catalogue::Detail;
use modoai_repository::formats::{self, Format, Has, Subject};
use modoai_repository::item::Item;

use crate::crosswalk::{Crosswalk, Crosswalks};
use crate::dossier::Dossier;
use crate::record::Record;

/// A format that a crosswalk generates.
pub(super) struct Crosswalked {
    pub(super) crosswalks: Arc<Crosswalks>,
    pub(super) index: usize,
}

impl Crosswalked {
    fn crosswalk(&self) -> &Crosswalk {
        &self.crosswalks.all()[self.index]
    }

    fn is_for_all(&self) -> bool {
        self.crosswalk().definition().is_for_all()
    }
}

impl Format for Crosswalked {
    fn prefix(&self) -> &str {
        &self.crosswalk().definition().prefix
    }

    fn namespace(&self) -> &str {
        &self.crosswalk().definition().namespace
    }

    fn schema(&self, _base_url: &str) -> String {
        self.crosswalk().definition().schema.clone()
    }

    fn detail(&self) -> Detail {
        Detail::Record
    }

    fn needs_get(&self, _item: &Item) -> bool {
        false
    }

    fn is_bulky(&self) -> bool {
        true
    }

    fn list(&self) -> Option<&str> {
        if self.is_for_all() { None } else { Some(self.prefix()) }
    }

    fn has(&self, item: &Item) -> Has {
        if self.is_for_all() { Has::Yes } else { formats::holds(item, self.prefix()) }
    }

    fn write(&self, mut subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        if subject.mention_if_large(xml) {
            return Ok(());
        }
        let identifier = &subject.item.name;
        let dossier = Dossier::new(subject.record()?);
        xml.raw("<metadata>");
        match dossier.given(self.prefix()).or_else(|| dossier.ready(self.prefix())) {
            Some(ready) => xml.verbatim(ready),
            None => xml.verbatim(&rendered(&self.crosswalks, self.crosswalk(), dossier, identifier)?),
        };
        xml.raw("</metadata>").verbatim(dossier.about());
        Ok(())
    }
}

/// Renders a format that is not stored.
pub(super) fn rendered(
    crosswalks: &Crosswalks,
    crosswalk: &Crosswalk,
    dossier: Dossier<'_>,
    identifier: &str,
) -> io::Result<Vec<u8>> {
    let record: Record = serde_json::from_slice(dossier.record()?)?;
    let described = crosswalks.describe(Arc::new(record), identifier);
    let mut rendered = Vec::new();
    crosswalk.write(&described, &mut rendered).map_err(io::Error::other)?;
    Ok(rendered)
}
