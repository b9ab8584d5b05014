//! A request whose arguments have been read: its class, its admission, its response and its line in the harvest log.

use std::ffi::CStr;
use std::io::{self, Write};
use std::sync::Arc;

use modoai_flow::{Client, Flow, Permit, Refusal, RequestClass};
use modoai_harvest_log::LogEntry;
use modoai_protocol::query::{Arguments, QueryError};
use modoai_protocol::{Parsed, Request};
use modoai_repository::host::Host;
use modoai_repository::{Failure, Form, PageRequest, Repository, Sent};

use crate::error::ErrorResponse;
use crate::headers;
use crate::received::Received;

/// A request to the repository.
pub struct Inquiry {
    received: Received,
    wanted: Wanted,
    class: RequestClass,
    flow: Arc<Flow>,
    entry: Option<LogEntry>,
}

/// The kind of response that is requested.
enum Wanted {
    Page(PageRequest),
    Document(Parsed),
}

impl Inquiry {
    pub(crate) fn new(mut received: Received, arguments: Result<Arguments, QueryError>, flow: &Arc<Flow>) -> Self {
        let is_page = received.form == Form::Page;
        let wanted = if is_page {
            Wanted::Page(PageRequest::read(arguments))
        } else {
            Wanted::Document(Request::read(arguments))
        };
        let request = wanted.request();
        // Only lists can be downloaded; every other response there is XML.
        if received.form.is_download() && !matches!(request, Some(Request::List { .. })) {
            received.form = Form::Xml;
        }
        let class = RequestClass::of(request, is_page);
        // Pages for browsers are not logged, except lists: a client that follows a list is a harvester.
        let is_logged = class == RequestClass::List || !is_page;
        let entry = is_logged.then(|| flow.log_entry(&client(&received), request)).flatten();
        Self { received, wanted, class, flow: Arc::clone(flow), entry }
    }

    /// Returns true for a page of a list.
    pub fn is_list(&self) -> bool {
        self.class.is_list()
    }

    /// Returns true if only the headers of the response are sent.
    pub fn is_head(&self) -> bool {
        self.received.is_head
    }

    /// Checks with flow control if the response may begin now.
    pub fn admit(&self) -> Result<Permit, Refusal> {
        self.flow.admit(&client(&self.received), self.class)
    }

    /// The same for a host that can wait without holding a thread: `Err(None)` asks it to try again when a list has ended.
    pub fn admit_or_wait(&self) -> Result<Permit, Option<Refusal>> {
        self.flow.admit_or_wait(&client(&self.received), self.class)
    }

    /// Ends a request that is not admitted.
    pub fn refused(self, refusal: &Refusal) -> ErrorResponse {
        if let Some(entry) = self.entry {
            entry.refused();
        }
        ErrorResponse::unavailable(refusal.sentence(), refusal.seconds)
    }

    /// Returns the headers of a response that is not an error.
    pub fn headers(&self) -> Vec<(&'static CStr, &'static str)> {
        headers::of(self.received.form, self.received.is_personal)
    }

    /// Writes the response, charges it, and logs it. The host sends what `finish` leaves last: a client that has a
    /// whole page may request the next one immediately, and must find this one charged. `out` may do work of its own,
    /// which is charged, too.
    ///
    /// On failure the response must not look complete. If nothing of it has been sent, [`ErrorResponse::of`] replaces
    /// it.
    pub fn answer<W: Write>(
        self,
        mut permit: Permit,
        repository: &Repository,
        host: &dyn Host,
        out: impl FnOnce() -> io::Result<W>,
        finish: impl FnOnce(W) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Self { received: Received { is_head, form, .. }, wanted, entry, .. } = self;
        let mut sent = Sent::default();
        permit.begin();
        let result = out().map_err(Failure::Io).and_then(|mut out| {
            let mut paced = Paced { out: &mut out, permit: &mut permit };
            let written = wanted.write(form, is_head, repository, host, &mut paced, &mut sent);
            permit.settle(sent.records, sent.bytes);
            written?;
            Ok(finish(out)?)
        });
        if let Some(entry) = entry {
            entry.served(&sent, result.is_ok());
        }
        result
    }
}

/// Returns the client that sent a request.
fn client(received: &Received) -> Client<'_> {
    let Received { user, address, agent, from, .. } = received;
    Client { user: user.as_deref(), address: *address, agent, from }
}

impl Wanted {
    /// The request as OAI-PMH knows it, if it is legal.
    fn request(&self) -> Option<&Request> {
        let (Self::Document(request) | Self::Page(PageRequest { request, .. })) = self;
        request.as_ref().ok()
    }

    fn write(
        self,
        form: Form,
        is_head: bool,
        repository: &Repository,
        host: &dyn Host,
        out: &mut Paced<'_>,
        sent: &mut Sent,
    ) -> Result<(), Failure> {
        match self {
            Self::Page(request) => {
                let page = repository.page(request, host, sent)?;
                if is_head { Ok(()) } else { Ok(out.write_all(page.as_bytes())?) }
            }
            Self::Document(request) if form == Form::Xml => {
                let answer = repository.answer(request, host)?;
                if is_head { Ok(()) } else { answer.write_and_tell(out, sent) }
            }
            Self::Document(request) => {
                let download = repository.download(form, request, host, out.permit.allowance())?;
                if is_head { Ok(()) } else { download.write_and_tell(out, sent) }
            }
        }
    }
}

/// Reports what is written to flow control, which may pause here.
struct Paced<'a> {
    out: &'a mut dyn Write,
    permit: &'a mut Permit,
}

impl Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.permit.wrote(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use modoai_flow::FlowSettings;
    use modoai_repository::Settings;
    use modoai_repository::catalogue::{Access, Location, open};
    use modoai_repository::host::CatalogueHost;

    use super::*;

    fn inquiry(query: &str, form: Option<Form>, flow: &Arc<Flow>) -> Inquiry {
        let address = (Ipv4Addr::LOCALHOST.into(), None);
        Received::new("GET", query.as_bytes(), form, address, |_| None).read(None, flow)
    }

    fn with_repository(test: impl FnOnce(&Repository, &Arc<Flow>)) {
        let folder = tempfile::tempdir().expect("a folder");
        let catalogue = open(&Location::in_directory(folder.path()), Access::Write).expect("a catalogue");
        catalogue.writer().and_then(|mut writer| writer.complete()).expect("complete");
        let repository = Repository::of_records(catalogue, Settings::default(), "http://a/oai");
        let mut settings = FlowSettings::default();
        settings.budget.lists = 1;
        test(&repository, &Flow::alone(settings, 2));
    }

    #[test]
    fn response_is_booked_before_its_end_is_sent() {
        with_repository(|repository, flow| {
            let list = || inquiry("verb=ListSets", None, flow);
            let permit = list().admit().expect("the first list");
            assert!(list().admit().is_err(), "one at a time");
            let mut out = Vec::new();
            let finish = |_: &mut Vec<u8>| list().admit().map(drop).map_err(|_| io::Error::other("not booked"));
            list().answer(permit, repository, &CatalogueHost, || Ok(&mut out), finish).expect("answered");
            assert!(String::from_utf8_lossy(&out).contains("</OAI-PMH>"));
        });
    }

    #[test]
    fn response_whose_writer_fails_ends_its_list() {
        with_repository(|repository, flow| {
            let list = inquiry("verb=ListSets", None, flow);
            let permit = list.admit().expect("the first list");
            let out = || -> io::Result<Vec<u8>> { Err(io::ErrorKind::BrokenPipe.into()) };
            let failure = list.answer(permit, repository, &CatalogueHost, out, |_| Ok(())).expect_err("nobody reads");
            assert!(matches!(failure, Failure::Io(_)));
            assert!(inquiry("verb=ListSets", None, flow).admit().is_ok());
        });
    }

    #[test]
    fn form_of_anything_but_a_list_is_xml() {
        let flow = Flow::alone(FlowSettings::default(), 2);
        let media_type = |query| {
            let headers = inquiry(query, Some(Form::Csv), &flow).headers();
            headers.iter().find(|(name, _)| *name == c"Content-Type").map(|(_, value)| *value)
        };
        assert_eq!(media_type("verb=Identify"), Some("text/xml; charset=UTF-8"));
        assert_eq!(media_type("verb=ListRecords"), Some("text/xml; charset=UTF-8"));
        let csv = media_type("verb=ListRecords&metadataPrefix=oai_dc");
        assert!(csv.is_some_and(|csv| csv.starts_with("text/csv")), "{csv:?}");
    }
}
