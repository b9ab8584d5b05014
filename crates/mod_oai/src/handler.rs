//! A request to the repository: arguments, XML or a page, and what can go wrong.

use std::error::Error as _;
use std::ffi::CStr;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use modoai_flow::{Client, Flow, Permit, RequestClass};
use modoai_httpd::asker::Asker;
use modoai_httpd::log::Level;
use modoai_httpd::reply::Reply;
use modoai_httpd::request::{Outcome, Request};
use modoai_protocol as protocol;
use modoai_protocol::query::{self, Arguments, QueryError};
use modoai_repository::browser::Signs;
use modoai_repository::formats::SCHEMAS;
use modoai_repository::host::{CatalogueHost, Host};
use modoai_repository::{
    ANSWER_HEADERS, Failure, Form, PAGE_HEADERS, Repository, Sent, filled_in, of_protocol, with_causes,
};

use crate::address::Address;
use crate::directives::HANDLERS;
use crate::host::ProbeHost;
use crate::house::{self, House};
use crate::{Oai, archive};

/// In builds for tests, a query that shows what becomes of a panic.
const PANIC: &[u8] = b"verb=Panic";

/// When to come back to a repository that cannot be opened.
const CLOSED_SECONDS: u64 = 60;

/// So much of an answer is kept back from a requester whose credentials may turn out to be wrong: it gets status 401 then.
const KEPT_BACK: usize = 1 << 20;

/// Answers a request, if it is for us.
pub(crate) fn handle(request: &mut Request<'_>) -> Outcome {
    if !request.handler().is_some_and(|handler| HANDLERS.contains(&handler)) {
        return Outcome::Declined;
    }
    if cfg!(debug_assertions) && request.query() == PANIC {
        panic!("asked for by a test");
    }
    let server = request.server();
    if !server.config::<Oai>().is_enabled() {
        return Outcome::Status(404);
    }
    request.protect(&ANSWER_HEADERS);
    if !matches!(request.method(), "GET" | "HEAD" | "POST") {
        request.allow_get_and_post();
        return Outcome::Status(405);
    }
    let path = String::from_utf8_lossy(request.path()).into_owned();
    let base = base_path(request, &path);
    let form = match path.strip_prefix(base.as_str()).unwrap_or_default().trim_start_matches('/') {
        // Where a folder of this name exists, mod_dir sends everybody to the slash.
        "" if is_browser(request) => Form::Page,
        "" => Form::Xml,
        name => match Form::named(name.as_bytes()) {
            Some(form) => form,
            None => return schema(request, name),
        },
    };
    let address = Address::of(request);
    let base_url = format!("{}{base}", address.url().trim_end_matches('/'));
    let catalogue = request.directory::<Oai>().catalogue.clone();
    let desk = match catalogue.filter(|catalogue| catalogue.location.is_some()) {
        Some(catalogue) => archive::of(&server, &catalogue, &base_url).map(|(archive, repository)| Desk {
            repository,
            flow: Arc::clone(&archive.flow),
            site: None,
        }),
        None => house::of(&server).ok().map(|house| Desk {
            repository: house.repository(&base_url, address.url()),
            flow: Arc::clone(&house.flow),
            site: Some((house, address)),
        }),
    };
    // Why not is logged where it was found out.
    let Some(desk) = desk else { return come_back(request, CLOSED_SECONDS) };
    match arguments(request) {
        Ok(arguments) => answer(request, &desk, arguments, form),
        Err(outcome) => outcome,
    }
}

/// Who answers.
struct Desk {
    repository: Repository,
    flow: Arc<Flow>,
    /// The site that the items are files of; without one they are documents, and for everybody.
    site: Option<(Arc<House>, Address)>,
}

/// The path that the repository has: the Location that set the handler.
fn base_path(request: &Request<'_>, path: &str) -> String {
    let server = request.server();
    let endpoints = server.config::<Oai>().endpoints.iter().map(|path| path.trim_end_matches('/'));
    let is_at = |endpoint: &&str| {
        path.strip_prefix(*endpoint).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && !endpoint.is_empty()
    };
    match endpoints.filter(is_at).max_by_key(|endpoint| endpoint.len()) {
        Some(endpoint) => endpoint.to_owned(),
        // Set by a pattern or for a folder: then it is wherever it was found.
        None => path.strip_suffix(&*String::from_utf8_lossy(request.path_info())).unwrap_or(path).to_owned(),
    }
}

/// The arguments: of the query for GET, of the body for POST.
fn arguments(request: &mut Request<'_>) -> Result<Result<Arguments, QueryError>, Outcome> {
    if request.method() != "POST" {
        return Ok(query::parse(request.query()));
    }
    let is_form = request.headers().get(c"Content-Type").is_none_or(|value| {
        let media_type = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        media_type.eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
    });
    if !is_form {
        return Err(Outcome::Status(415));
    }
    match request.body(query::MAX_BYTES) {
        Ok(Some(form)) => Ok(query::parse_post(request.query(), &form)),
        Ok(None) => Err(Outcome::Status(413)),
        Err(_) => Err(Outcome::Status(400)),
    }
}

fn is_browser(request: &Request<'_>) -> bool {
    let value = |name| request.headers().get(name).map(|value| String::from_utf8_lossy(value).into_owned());
    let [accept, fetch_mode, fetch_dest] = [c"Accept", c"Sec-Fetch-Mode", c"Sec-Fetch-Dest"].map(value);
    let signs = Signs {
        method: request.method(),
        accept: &[accept.as_deref().unwrap_or_default()],
        fetch_mode: fetch_mode.as_deref(),
        fetch_dest: fetch_dest.as_deref(),
    };
    signs.is_browser()
}

fn answer(request: &mut Request<'_>, desk: &Desk, arguments: Result<Arguments, QueryError>, form: Form) -> Outcome {
    let is_page = form == Form::Page;
    let arguments = if is_page { arguments.map(filled_in) } else { arguments };
    let flow = &desk.flow;
    let asked = match &arguments {
        Ok(arguments) if is_page => protocol::Request::parse(&of_protocol(arguments)).ok(),
        Ok(arguments) => protocol::Request::parse(arguments).ok(),
        Err(_) => None,
    };
    // Only lists can be downloaded; whatever else is requested there is XML.
    let is_downloadable = matches!(asked, Some(protocol::Request::List { .. }));
    let form = if form.is_download() && !is_downloadable { Form::Xml } else { form };
    let (user, agent, from) = (user(request), header(request, c"User-Agent"), header(request, c"From"));
    // What httpd says is what mod_remoteip says, if a proxy stands in front.
    let address = request.address().parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let client = Client { user: user.as_deref(), address, agent: &agent, from: &from };
    let class = RequestClass::of(asked.as_ref(), is_page);
    // What people look at is not logged; a client that follows a list is a harvester.
    let entry = (class == RequestClass::List || !is_page).then(|| flow.log_entry(&client, asked.as_ref())).flatten();
    // A request that waited for room would hold a worker.
    let permit = match flow.admit(&client, class) {
        Ok(permit) => permit,
        Err(refusal) => {
            if let Some(entry) = entry {
                entry.refused();
            }
            return come_back(request, refusal.seconds);
        }
    };
    let mut tally = Tally { permit, sent: Sent::default() };
    tally.permit.begin();
    let outcome = write(request, desk, arguments, form, &mut tally);
    if let Some(entry) = entry {
        entry.served(&tally.sent, outcome.is_ok());
    }
    outcome.unwrap_or_else(|outcome| outcome)
}

/// Writes the answer. An error is what httpd is told when it is not whole.
fn write(
    request: &mut Request<'_>,
    desk: &Desk,
    arguments: Result<Arguments, QueryError>,
    form: Form,
    tally: &mut Tally,
) -> Result<Outcome, Outcome> {
    request.set_content_type(match form {
        Form::Page => c"text/html; charset=UTF-8",
        Form::Xml => c"text/xml; charset=UTF-8",
        Form::Csv => c"text/csv; charset=UTF-8; header=present",
        Form::JsonLines => c"application/jsonl; charset=UTF-8",
    });
    if form == Form::Page {
        request.protect(&PAGE_HEADERS);
    }
    let headers = request.reply_headers();
    // Credentials and cookies select what is listed, as they select what a GET returns.
    let is_personal = request.user().is_some()
        || [c"Authorization", c"Cookie"].iter().any(|name| request.arrived_headers().get(name).is_some());
    headers.set(c"Cache-Control", if is_personal { "private, no-cache" } else { "no-cache" });
    headers.set(c"Vary", "Accept, Sec-Fetch-Mode, Sec-Fetch-Dest, Authorization, Cookie");
    if let Some(disposition) = form.disposition() {
        headers.set(c"Content-Disposition", disposition);
    }
    let mut reply = Reply::new(request);
    let (asker, nameless);
    let probes;
    let host: &dyn Host = match &desk.site {
        Some((house, address)) => {
            asker = Asker::behind(request, address.authority());
            nameless = Asker::nameless(request, address.authority());
            if asker.headers().get(c"Authorization").is_some() && request.user().is_none() {
                reply.keep_back(KEPT_BACK);
            }
            probes = ProbeHost::new(request, &asker, &nameless, house, reply.begun());
            probes.judge_again().map_err(|error| refuse(request, &Failure::Io(error)))?;
            &probes
        }
        None => &CatalogueHost,
    };
    let Tally { permit, sent } = tally;
    let mut out = Paced { reply: &mut reply, permit };
    let repository = &desk.repository;
    let written = match form {
        Form::Page => {
            let page = repository.page_and_tell(arguments, host, sent);
            page.and_then(|page| if request.is_head() { Ok(()) } else { Ok(out.write_all(page.as_bytes())?) })
        }
        Form::Xml => {
            let answer = repository.answer(arguments, host);
            answer.and_then(|answer| if request.is_head() { Ok(()) } else { answer.write_and_tell(&mut out, sent) })
        }
        Form::Csv | Form::JsonLines => {
            let download = repository.download(form, arguments, host, out.permit.allowance());
            let is_head = request.is_head();
            download.and_then(|download| if is_head { Ok(()) } else { download.write_and_tell(&mut out, sent) })
        }
    };
    // Who has a page may ask for the next at once.
    tally.permit.settle(tally.sent.records, tally.sent.bytes);
    let failure = match written {
        Ok(()) => match reply.finish() {
            Ok(()) => return Ok(Outcome::Answered),
            Err(error) => Failure::Io(error),
        },
        Err(failure) if reply.is_unsent() => return Err(refuse(request, &failure)),
        Err(failure) => {
            reply.break_off();
            failure
        }
    };
    log(request, &failure);
    Err(Outcome::Answered)
}

/// A right to answer, and what came of it.
struct Tally {
    permit: Permit,
    sent: Sent,
}

/// Reports what is written to flow control, which may pause here.
struct Paced<'a, 'r> {
    reply: &'a mut Reply<'r>,
    permit: &'a mut Permit,
}

impl io::Write for Paced<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.reply.write(bytes)?;
        self.permit.wrote(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.reply.flush()
    }
}

/// A header of the request; empty if it has none.
fn header(request: &Request<'_>, name: &CStr) -> String {
    String::from_utf8_lossy(request.headers().get(name).unwrap_or_default()).into_owned()
}

/// The user that the requester proved to be.
fn user(request: &Request<'_>) -> Option<String> {
    request.user().map(|user| String::from_utf8_lossy(user).into_owned())
}

/// Nothing has been sent yet: an honest status.
fn refuse(request: &Request<'_>, failure: &Failure) -> Outcome {
    log(request, failure);
    match failure {
        Failure::Unavailable { retry_after, .. } => come_back(request, retry_after.as_secs()),
        Failure::Catalogue(_) => come_back(request, CLOSED_SECONDS),
        Failure::Io(error) if error.kind() == io::ErrorKind::TimedOut => come_back(request, CLOSED_SECONDS),
        Failure::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => Outcome::Status(401),
        Failure::Io(_) => Outcome::Status(500),
    }
}

fn log(request: &Request<'_>, failure: &Failure) {
    match failure {
        Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            request.log(Level::Debug, "a client closed the connection before the response was complete");
        }
        // The log says so already, in httpd's own words.
        Failure::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        Failure::Io(error) if error.kind() == io::ErrorKind::TimedOut => {
            request.log(Level::Warning, &error.to_string());
        }
        Failure::Unavailable { .. } if failure.source().is_none() => request.log(Level::Info, &failure.to_string()),
        failure => {
            let message = format!("failed to respond to a request: {}", with_causes(failure));
            request.log(Level::Error, &message);
        }
    }
}

fn come_back(request: &Request<'_>, seconds: u64) -> Outcome {
    request.any_reply_headers().set(c"Retry-After", &seconds.to_string());
    Outcome::Status(503)
}

/// One of our schemas, published below the repository.
fn schema(request: &mut Request<'_>, file: &str) -> Outcome {
    let Some((_, text)) = SCHEMAS.iter().find(|(name, _)| *name == file) else { return Outcome::Status(404) };
    request.set_content_type(c"application/xml; charset=UTF-8");
    let mut reply = Reply::new(request);
    match reply.write_all(text.as_bytes()).and_then(|()| reply.finish()) {
        Ok(()) => Outcome::Answered,
        Err(_) => Outcome::Status(500),
    }
}
