//! Answers: decided first, then written.
//!
//! Whatever can still become a protocol error or a failure is decided by [`crate::Repository::answer`]. An [`Answer`]
//! then writes itself in constant memory. If something fails after the first byte, only an abort is honest, and that is
//! what an error from [`Answer::write_to`] asks the host for.

pub(crate) mod describe;
mod descriptions;
pub(crate) mod list;
pub(crate) mod record;
mod set_names;
mod sets_seen;

use std::io;
use std::sync::Arc;

use modoai_protocol::query::Arguments;
use modoai_protocol::xml::{XmlWriter, envelope};
use modoai_protocol::{ProtocolError, SetSpec};

use crate::error::Failure;
use crate::formats::Format;
use crate::repository::Visit;
use list::Listed;
use record::Prepared;
pub(crate) use set_names::SetNames;
pub(crate) use sets_seen::SetsSeen;

/// An answer that is ready to be written.
pub struct Answer<'a> {
    pub(crate) visit: Visit<'a>,
    pub(crate) echo: Arguments,
    pub(crate) body: Body,
}

/// What stands in an answer after the request is echoed.
pub(crate) enum Body {
    Errors(Vec<ProtocolError>),
    Identify,
    Formats(Vec<Arc<dyn Format>>),
    Sets(describe::Sets),
    Record(Prepared, Arc<dyn Format>),
    List(Listed),
}

impl Answer<'_> {
    /// Writes the XML document.
    pub fn write_to(self, out: &mut dyn io::Write) -> Result<(), Failure> {
        let Self { visit, echo, body } = self;
        let mut xml = XmlWriter::new(out);
        let (date, base_url) = (visit.standing.as_of, &*visit.repository.base_url);
        if let Body::Errors(errors) = &body {
            envelope::errors(&mut xml, date, base_url, &echo, errors);
        } else {
            envelope::open(&mut xml, date, base_url, &echo);
            match body {
                Body::Errors(_) => {}
                Body::Identify => describe::write_identify(&visit, &mut xml),
                Body::Formats(formats) => describe::write_formats(base_url, &formats, &mut xml),
                Body::Sets(sets) => describe::write_sets(&sets, &mut xml)?,
                Body::Record(prepared, format) => record::write_answer(&visit, prepared, &*format, &mut xml)?,
                Body::List(listed) => list::write(&visit, listed, &mut xml)?,
            }
            envelope::close(&mut xml);
        }
        Ok(xml.finish()?)
    }
}

/// A `setSpec` element.
fn write_set_spec(set: &SetSpec, xml: &mut XmlWriter<'_>) {
    xml.raw("<setSpec>").raw(set.as_str()).raw("</setSpec>");
}

/// Where a list goes on, and how much of it there is.
struct Resumption {
    token: Option<String>,
    cursor: u64,
    size: Option<u64>,
}

/// The resumptionToken element: none for a list in one piece, empty on the last page of several.
fn write_resumption(resumption: &Resumption, xml: &mut XmlWriter<'_>) {
    if resumption.token.is_none() && resumption.cursor == 0 {
        return;
    }
    xml.raw("<resumptionToken");
    // The schema wants a positive number; a list that shrank to nothing under our hands has no size to tell.
    if let Some(size) = resumption.size.filter(|size| *size > 0) {
        xml.raw(" completeListSize=\"").number(size).raw("\"");
    }
    xml.raw(" cursor=\"").number(resumption.cursor).raw("\">");
    xml.raw(resumption.token.as_deref().unwrap_or_default()).raw("</resumptionToken>\n");
}
