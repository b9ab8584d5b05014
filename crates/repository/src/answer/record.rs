//! Records: GetRecord, and the part of ListRecords for one item.

use modoai_protocol::xml::XmlWriter;
use modoai_protocol::{ErrorCode, MetadataPrefix, ProtocolError, SetSpec};

use super::{Body, write_set_spec};
use crate::error::Failure;
use crate::formats::{Desk, Format, Has, Subject};
use crate::host::Representation;
use crate::item::{Item, Publicity};
use crate::repository::{Decision, Visit};

/// An item that this requester sees, with all that its description needs.
pub(crate) struct Prepared {
    pub(crate) item: Item,
    representation: Option<Representation>,
}

/// Returns an item as this requester sees it; `None` if the requester must not see it. The earlier existence of a
/// public item is not secret: a requester who has lost access receives it as deleted.
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

/// Requests an item from the host; `None` if the requester must not see it. Without a format, only the header is
/// needed.
pub(crate) fn prepare(visit: &Visit<'_>, item: Item, format: Option<&dyn Format>) -> Result<Option<Prepared>, Failure> {
    let Some(item) = seen(visit, item)? else { return Ok(None) };
    let wants_get =
        !item.deleted && format.is_some_and(|format| format.needs_get(&item) || visit.host.has_changed(&item));
    if !wants_get {
        return Ok(Some(Prepared { item, representation: None }));
    }
    // An item that is in the catalogue but not available was just removed; the catalogue will have it as deleted in a
    // moment.
    let representation = match visit.host.get(&item) {
        Ok(representation) => representation,
        Err(error) => {
            // If the whole site cannot be read, the response must end; a single file that a GET could not return must
            // not prevent all others.
            visit.host.ready()?;
            tracing::warn!(item = %item.name, %error, "failed to read an item; omitting it");
            None
        }
    };
    Ok(representation.map(|representation| Prepared { item, representation: Some(representation) }))
}

/// Returns the item of an identifier, if this requester sees it, with all that its description in this format needs.
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

/// Decides GetRecord. An unknown item and an unknown format are independent errors and are reported together.
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
    // An item in a set is also in the sets above it: the header contains the lowest only (section 2.6).
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
