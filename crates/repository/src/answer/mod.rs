//! Responses: decided first, then written.
//!
//! [`crate::Repository::answer`] decides everything that can become a protocol error or a failure. An [`Answer`] then
//! writes itself in constant memory. If something fails after the first byte, the host must abort the response: an
//! error from [`Answer::write_to`] requires that.

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
use modoai_protocol::{ProtocolError, Range, SetSpec};

use crate::error::Failure;
use crate::formats::Format;
use crate::repository::Visit;
use list::Listed;
use record::Prepared;
pub(crate) use set_names::SetNames;
pub(crate) use sets_seen::SetsSeen;

/// A response that is ready to be written.
pub struct Answer<'a> {
    pub(crate) visit: Visit<'a>,
    pub(crate) echo: Arguments,
    pub(crate) body: Body,
}

/// The content of a response after the echoed request.
pub(crate) enum Body {
    Errors(Vec<ProtocolError>),
    Identify,
    Formats(Vec<Arc<dyn Format>>),
    Sets(describe::Sets),
    Record(Prepared, Arc<dyn Format>),
    List(Listed),
}

/// The part of a response that was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// The number of records, headers or sets.
    pub records: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// True if the response is an error that the harvester caused.
    pub is_error: bool,
    /// True if this was the last page of its list.
    pub is_last: bool,
    /// The list, if the response is one of records or headers.
    pub list: Option<SentList>,
}

/// A list of which a page was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentList {
    /// Its format.
    pub prefix: String,
    /// Its set.
    pub set: Option<SetSpec>,
    /// Its range of datestamps, with the frozen upper end.
    pub range: Range,
    /// The number of records on earlier pages.
    pub after: u64,
}

impl Answer<'_> {
    /// Writes the XML document.
    pub fn write_to(self, out: &mut dyn io::Write) -> Result<(), Failure> {
        self.write_and_tell(out, &mut Sent::default())
    }

    /// Writes the XML document, and reports in `sent` what was sent, also if writing fails in the middle.
    pub fn write_and_tell(self, out: &mut dyn io::Write, sent: &mut Sent) -> Result<(), Failure> {
        let mut xml = XmlWriter::new(out);
        let written = self.write(&mut xml, sent);
        sent.bytes = xml.position();
        written?;
        Ok(xml.finish()?)
    }

    fn write(self, xml: &mut XmlWriter<'_>, sent: &mut Sent) -> Result<(), Failure> {
        let Self { visit, echo, body } = self;
        let (date, base_url) = (visit.standing.as_of, &*visit.repository.base_url);
        if let Body::Errors(errors) = &body {
            sent.is_error = true;
            envelope::errors(xml, date, base_url, &echo, errors);
        } else {
            envelope::open(xml, date, base_url, &echo);
            let written = write_body(&visit, body, xml, sent);
            // Before the response is complete, so that deletions are reported to every requester that has a complete one.
            // Also after an error: part of the response may have been sent.
            let recorded = visit.record_listings();
            written?;
            recorded?;
            envelope::close(xml);
        }
        Ok(())
    }
}

/// Writes the part of a response that depends on the verb.
fn write_body(visit: &Visit<'_>, body: Body, xml: &mut XmlWriter<'_>, sent: &mut Sent) -> Result<(), Failure> {
    match body {
        Body::Errors(_) => {}
        Body::Identify => describe::write_identify(visit, xml),
        Body::Formats(formats) => describe::write_formats(&visit.repository.base_url, &formats, xml),
        Body::Sets(sets) => describe::write_sets(&sets, xml, sent)?,
        Body::Record(prepared, format) => {
            sent.records = 1;
            record::write_answer(visit, prepared, &*format, xml)?;
        }
        Body::List(listed) => list::write(visit, listed, xml, sent)?,
    }
    Ok(())
}

/// Writes a `setSpec` element.
fn write_set_spec(set: &SetSpec, xml: &mut XmlWriter<'_>) {
    xml.raw("<setSpec>").raw(set.as_str()).raw("</setSpec>");
}

/// The continuation of a list, and its size.
struct Resumption {
    token: Option<String>,
    cursor: u64,
    size: Option<u64>,
}

/// Writes the resumptionToken element: none for a list in one piece, empty on the last page of several.
fn write_resumption(resumption: &Resumption, xml: &mut XmlWriter<'_>) {
    if resumption.token.is_none() && resumption.cursor == 0 {
        return;
    }
    xml.raw("<resumptionToken");
    // The schema requires a positive number; a list that has become empty meanwhile has no size to report.
    if let Some(size) = resumption.size.filter(|size| *size > 0) {
        xml.raw(" completeListSize=\"").number(size).raw("\"");
    }
    xml.raw(" cursor=\"").number(resumption.cursor).raw("\">");
    xml.raw(resumption.token.as_deref().unwrap_or_default()).raw("</resumptionToken>\n");
}
