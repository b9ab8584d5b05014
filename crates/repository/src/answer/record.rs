//! Records: GetRecord, and the part of ListRecords that is about one item.

use modoai_protocol::xml::XmlWriter;
use modoai_protocol::{ErrorCode, MetadataPrefix, ProtocolError, SetSpec};

use super::{Body, write_set_spec};
use crate::error::Failure;
use crate::formats::{Desk, Format, Has, Subject};
use crate::host::Representation;
use crate::item::{Item, Publicity};
use crate::repository::{Decision, Visit};

/// An item that this requester sees, with what its description takes.
pub(crate) struct Prepared {
    pub(crate) item: Item,
    representation: Option<Representation>,
}

/// An item as this requester sees it; `None` if it is not for this requester's eyes. That something public was there is
/// no secret: whoever may not see it any more is told that it is deleted.
fn seen(visit: &Visit<'_>, item: Item) -> Result<Option<Item>, Failure> {
    if item.deleted {
        let is_reported = item.publicity != Publicity::Untold || visit.was_listed(&item)?;
        return Ok(is_reported.then_some(item));
    }
    Ok(match visit.host.sees(&item)? {
        true => Some(item),
        false if item.publicity == Publicity::Withdrawn => Some(Item { deleted: true, ..item }),
        false => None,
    })
}

/// Asks the host about an item; `None` if it is not for this requester's eyes. Without a format only the header is
/// wanted.
pub(crate) fn prepare(visit: &Visit<'_>, item: Item, format: Option<&dyn Format>) -> Result<Option<Prepared>, Failure> {
    let Some(item) = seen(visit, item)? else { return Ok(None) };
    let wants_get =
        !item.deleted && format.is_some_and(|format| format.needs_get(&item) || visit.host.has_changed(&item));
    if !wants_get {
        return Ok(Some(Prepared { item, representation: None }));
    }
    // What is in the catalogue but not to be had has just vanished; the catalogue will say so in a moment.
    let representation = match visit.host.get(&item) {
        Ok(representation) => representation,
        Err(error) => {
            // If it is the whole site that cannot be read, the answer must end; a single file that a GET could not return
            // either must not keep all the others back.
            visit.host.ready()?;
            tracing::warn!(item = %item.name, %error, "failed to read an item; omitting it");
            None
        }
    };
    Ok(representation.map(|representation| Prepared { item, representation: Some(representation) }))
}

/// The item behind an identifier, if this requester sees it; with what describing it in this format takes.
pub(crate) fn find(visit: &Visit<'_>, identifier: &str, format: Option<&dyn Format>) -> Result<Option<Item>, Failure> {
    let Some(name) = identifier.strip_prefix(&*visit.repository.identifier_prefix) else { return Ok(None) };
    let catalogue = &visit.repository.catalogue;
    let item = match format {
        Some(format) => catalogue.item_with(name, format.list(), format.detail())?,
        None => catalogue.item(name)?,
    };
    match item {
        Some(item) => seen(visit, item),
        None => Ok(None),
    }
}

/// Decides GetRecord. An unknown item and an unknown format are independent faults and reported together.
pub(crate) fn get(visit: &Visit<'_>, identifier: &str, prefix: &MetadataPrefix) -> Decision<Body> {
    let format = visit.format(prefix.as_str());
    let prepared = match find(visit, identifier, format.as_deref())? {
        Some(item) if format.as_ref().is_some_and(|format| format.has(&item) == Has::No) => {
            let message = format!("'{identifier}' is not available in the format '{prefix}'");
            return Ok(Err(vec![ProtocolError::new(ErrorCode::CannotDisseminateFormat, message)]));
        }
        Some(item) => prepare(visit, item, format.as_deref())?,
        None => None,
    };
    let mut errors = Vec::new();
    if prepared.is_none() {
        errors.push(no_such_item(identifier));
    }
    if format.is_none() {
        errors.push(no_such_format(prefix));
    }
    Ok(match (prepared, format) {
        (Some(prepared), Some(format)) => Ok(Body::Record(prepared, format)),
        _ => Err(errors),
    })
}

pub(crate) fn no_such_item(identifier: &str) -> ProtocolError {
    ProtocolError::new(ErrorCode::IdDoesNotExist, format!("no item has the identifier '{identifier}'"))
}

pub(crate) fn no_such_format(prefix: &MetadataPrefix) -> ProtocolError {
    let message = format!("the repository does not offer the format '{prefix}'; ListMetadataFormats lists its formats");
    ProtocolError::new(ErrorCode::CannotDisseminateFormat, message)
}

/// Writes the GetRecord element.
pub(crate) fn write_answer(
    visit: &Visit<'_>,
    prepared: Prepared,
    format: &dyn Format,
    xml: &mut XmlWriter<'_>,
) -> Result<(), Failure> {
    let mut desk = Desk::default();
    xml.raw("<GetRecord>\n");
    write(visit, prepared, format, &mut desk, xml)?;
    xml.raw("</GetRecord>\n");
    visit.remember(&desk.learned);
    Ok(())
}

/// Writes a record.
pub(crate) fn write(
    visit: &Visit<'_>,
    prepared: Prepared,
    format: &dyn Format,
    desk: &mut Desk,
    xml: &mut XmlWriter<'_>,
) -> Result<(), Failure> {
    let Prepared { item, representation } = prepared;
    xml.raw("<record>");
    write_header(visit, &item, xml)?;
    if !item.deleted {
        let subject = Subject { item: &item, repository: visit.repository, representation, host: visit.host, desk };
        format.write(subject, xml)?;
    }
    xml.raw("</record>\n");
    xml.relieve()?;
    Ok(())
}

/// Writes a header, and notes that the item is listed for this requester.
pub(crate) fn write_header(visit: &Visit<'_>, item: &Item, xml: &mut XmlWriter<'_>) -> Result<(), Failure> {
    visit.note_listing(item)?;
    xml.raw(if item.deleted { "<header status=\"deleted\"><identifier>" } else { "<header><identifier>" });
    xml.text(&visit.repository.identifier_prefix).text(&item.name).raw("</identifier><datestamp>");
    xml.datestamp(item.datestamp).raw("</datestamp>");
    // Whoever is in a set is in those above it: the header names the lowest only (section 2.6).
    let is_above = |set: &SetSpec, other: &SetSpec| {
        other.as_str().strip_prefix(set.as_str()).is_some_and(|rest| rest.starts_with(':'))
    };
    for set in &*item.sets {
        if !item.sets.iter().any(|other| is_above(set, other)) {
            write_set_spec(set, xml);
        }
    }
    xml.raw("</header>");
    Ok(())
}
