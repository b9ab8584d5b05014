//! Identify, ListMetadataFormats and ListSets: the responses about the repository itself.

use std::sync::Arc;

use modoai_protocol::datestamp::GRANULARITY;
use modoai_protocol::xml::XmlWriter;
use modoai_protocol::{ErrorCode, ProtocolError, SetSpec, Token};

use super::record::{find, no_such_item};
use super::{Body, Resumption, Sent, SetNames, descriptions, write_resumption, write_set_spec};
use crate::error::Failure;
use crate::formats::{Format, Has};
use crate::repository::{Decision, Visit, refuse};

/// The maximum number of sets in a page of ListSets. Few repositories have more.
const SETS_PER_PAGE: usize = 1000;

/// One page of sets.
pub(crate) struct Sets {
    page: Vec<Arc<SetSpec>>,
    names: SetNames,
    resumption: Resumption,
}

/// Decides ListMetadataFormats.
pub(crate) fn formats(visit: &Visit<'_>, identifier: Option<&str>) -> Decision<Body> {
    let Some(identifier) = identifier else { return Ok(Ok(Body::Formats(visit.formats.to_vec()))) };
    match find(visit, identifier, None)? {
        None => Ok(Err(vec![no_such_item(identifier)])),
        Some(item) if item.deleted => refuse(ErrorCode::NoMetadataFormats, format!("'{identifier}' is deleted")),
        Some(item) => Ok(Ok(Body::Formats(
            visit.formats.iter().filter(|format| format.has(&item) == Has::Yes).cloned().collect(),
        ))),
    }
}

/// Decides ListSets.
pub(crate) fn sets(visit: &Visit<'_>, token: Option<&str>) -> Decision<Body> {
    let (after, cursor) = match token.map(|token| Token::open(token, &visit.token_key())) {
        None => (None, 0),
        Some(Some(Token::Sets { after, cursor })) => (Some(after), cursor),
        Some(_) => return refuse(ErrorCode::BadResumptionToken, "this resumption token was not issued for ListSets"),
    };
    let sets = visible_sets(visit)?;
    let size = sets.len() as u64;
    let mut rest = sets.into_iter().filter(|set| after.as_ref().is_none_or(|after| **set > *after));
    let page: Vec<_> = rest.by_ref().take(SETS_PER_PAGE).collect();
    let Some(last) = page.last() else {
        return if after.is_some() {
            refuse(ErrorCode::BadResumptionToken, "no sets follow this resumption token")
        } else {
            Ok(Err(vec![no_sets(visit)]))
        };
    };
    let token = rest.next().map(|_| {
        let after = (**last).clone();
        Token::Sets { after, cursor: cursor + page.len() as u64 }.seal(&visit.token_key())
    });
    let resumption = Resumption { token, cursor, size: Some(size) };
    Ok(Ok(Body::Sets(Sets { page, names: SetNames::read(visit)?, resumption })))
}

/// Returns the error for a repository without visible sets.
pub(crate) fn no_sets(visit: &Visit<'_>) -> ProtocolError {
    let reason = match visit.standing.newest {
        None => "the repository has no items yet, and therefore no sets",
        Some(_) => "this repository has no sets",
    };
    ProtocolError::new(ErrorCode::NoSetHierarchy, reason)
}

/// Returns the sets in which this requester sees at least one item: the existence of a set is as private as its items.
pub(crate) fn visible_sets(visit: &Visit<'_>) -> Result<Vec<Arc<SetSpec>>, Failure> {
    if visit.host.sees_all() {
        return Ok(visit.repository.catalogue.sets()?);
    }
    visit.repository.sets_seen.of(visit)
}

pub(crate) fn write_sets(sets: &Sets, xml: &mut XmlWriter<'_>, sent: &mut Sent) -> Result<(), Failure> {
    xml.raw("<ListSets>\n");
    for set in &sets.page {
        sent.records += 1;
        xml.raw("<set>");
        write_set_spec(set, xml);
        xml.element("setName", &sets.names.of(set));
        if let Some(description) = sets.names.description(set) {
            descriptions::write_of_set(description, xml);
        }
        xml.raw("</set>\n").relieve()?;
    }
    write_resumption(&sets.resumption, xml);
    sent.is_last = sets.resumption.token.is_none();
    xml.raw("</ListSets>\n");
    Ok(())
}

pub(crate) fn write_formats(base_url: &str, formats: &[Arc<dyn Format>], xml: &mut XmlWriter<'_>) {
    xml.raw("<ListMetadataFormats>\n");
    for format in formats {
        xml.raw("<metadataFormat>").element("metadataPrefix", format.prefix());
        xml.element("schema", &format.schema(base_url)).element("metadataNamespace", format.namespace());
        xml.raw("</metadataFormat>\n");
    }
    xml.raw("</ListMetadataFormats>\n");
}

pub(crate) fn write_identify(visit: &Visit<'_>, xml: &mut XmlWriter<'_>) {
    let repository = visit.repository;
    let settings = &repository.settings;
    xml.raw("<Identify>\n").element("repositoryName", &settings.repository_name);
    xml.element("baseURL", &repository.base_url).raw("<protocolVersion>2.0</protocolVersion>");
    for address in &settings.admin_email {
        xml.element("adminEmail", address);
    }
    // No item is stamped before `as_of` from here on, so it is a true lower bound for an empty catalogue.
    xml.raw("<earliestDatestamp>").datestamp(visit.standing.earliest.unwrap_or(visit.standing.as_of));
    xml.raw("</earliestDatestamp><deletedRecord>persistent</deletedRecord>").element("granularity", GRANULARITY);
    for compression in repository.compressions {
        xml.element("compression", compression);
    }
    descriptions::write(repository, xml);
    xml.raw("</Identify>\n");
}
