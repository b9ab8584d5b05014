//! Formats whose records are stored and sent unmodified.

use std::io;
use std::sync::Arc;

use modoai_protocol::xml::XmlWriter;

use super::{Desk, Format, Formats, Has, Subject, oai_dc};
use crate::catalogue::Detail;
use crate::catalogue::stored::{Place, StoredFormat, Unpacker};
use crate::item::Item;
use crate::repository::Repository;

/// Returns the formats of a catalogue of records, including `oai_dc`, which every repository must have, even if no
/// record has it yet.
pub(crate) fn of_records(known: Vec<Arc<StoredFormat>>) -> Formats {
    let (mut formats, others): (Vec<_>, Vec<_>) = known.into_iter().partition(|format| format.prefix == oai_dc::PREFIX);
    if formats.is_empty() {
        let [prefix, schema, namespace] = [oai_dc::PREFIX, oai_dc::SCHEMA, oai_dc::NAMESPACE].map(str::to_owned);
        formats.push(Arc::new(StoredFormat { prefix, schema, namespace }));
    }
    formats.into_iter().chain(others).map(stored).collect()
}

/// Returns a stored record, decompressed and complete.
pub(super) fn whole<'a>(repository: &Repository, item: &'a Item, desk: &'a mut Desk) -> io::Result<&'a [u8]> {
    let Some(body) = &item.body else { return Err(missing(item)) };
    let unpacker = match &mut desk.unpacker {
        Some(unpacker) => unpacker,
        none => none.insert(Unpacker::new()?),
    };
    if let Place::Here(bytes) = &body.packed {
        return unpacker.unpack(bytes);
    }
    desk.whole.clear();
    unpacker.each(body, &*repository.catalogue, |bytes| {
        desk.whole.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(&desk.whole)
}

fn missing(item: &Item) -> io::Error {
    io::Error::other(format!("the record of {} is missing", item.name))
}

/// Returns a format whose records are sent unmodified.
pub fn stored(format: Arc<StoredFormat>) -> Arc<dyn Format> {
    Arc::new(Stored(format))
}

/// Returns the availability of a format that not every item has.
pub fn holds(item: &Item, prefix: &str) -> Has {
    match item.formats.iter().find(|holding| holding.format.prefix == prefix) {
        Some(holding) if holding.gone => Has::Gone,
        Some(_) => Has::Yes,
        None => Has::No,
    }
}

struct Stored(Arc<StoredFormat>);

impl Format for Stored {
    fn prefix(&self) -> &str {
        &self.0.prefix
    }

    fn namespace(&self) -> &str {
        &self.0.namespace
    }

    fn schema(&self, _base_url: &str) -> String {
        self.0.schema.clone()
    }

    fn detail(&self) -> Detail {
        Detail::Stored
    }

    fn needs_get(&self, _item: &Item) -> bool {
        false
    }

    fn is_bulky(&self) -> bool {
        true
    }

    fn list(&self) -> Option<&str> {
        Some(&self.0.prefix)
    }

    fn has(&self, item: &Item) -> Has {
        holds(item, &self.0.prefix)
    }

    fn write(&self, subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        let Some(body) = &subject.item.body else { return Err(missing(subject.item)) };
        if subject.mention_if_large(xml) {
            return Ok(());
        }
        let unpacker = match &mut subject.desk.unpacker {
            Some(unpacker) => unpacker,
            none => none.insert(Unpacker::new()?),
        };
        unpacker.each(body, &*subject.repository.catalogue, |bytes| xml.verbatim(bytes).relieve())
    }
}
