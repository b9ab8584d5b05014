//! A request to the repository: reads it for [`modoai_endpoint`], and has httpd send what that decides and writes.

use std::ffi::CStr;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use modoai_endpoint::{ANSWER_HEADERS, ErrorResponse, Inquiry, PAGE_HEADERS, Received, Target, message};
use modoai_flow::{Flow, Permit};
use modoai_httpd::asker::Asker;
use modoai_httpd::reply::Reply;
use modoai_httpd::request::{Outcome, Request};
use modoai_httpd::server;
use modoai_protocol::query;
use modoai_repository::host::CatalogueHost;
use modoai_repository::{Failure, Form, Repository};

use crate::address::Address;
use crate::directives::HANDLERS;
use crate::host::ProbeHost;
use crate::house::{self, House};
use crate::{Oai, archive, logging};

/// In builds for tests, a query that shows the response to a panic.
const PANIC: &[u8] = b"verb=Panic";

/// The number of bytes held back from a requester whose credentials may turn out to be wrong: it then gets status 401.
const KEPT_BACK: usize = 1 << 20;

/// Responds to a request, if it is for modoai.
pub(crate) fn handle(request: &mut Request<'_>) -> Outcome {
    if !request.handler().is_some_and(|handler| HANDLERS.contains(&handler)) {
        return Outcome::Declined;
    }
    if cfg!(debug_assertions) && request.query() == PANIC {
        panic!("asked for by a test");
    }
    if !request.server().config::<Oai>().is_enabled() {
        return Outcome::Status(404);
    }
    request.protect(&ANSWER_HEADERS);
    let path = String::from_utf8_lossy(request.path()).into_owned();
    let base = base_path(request, &path);
    // Where a folder of this name exists, mod_dir redirects all clients to the slash.
    let name = path.strip_prefix(base.as_str()).unwrap_or_default().trim_start_matches('/');
    let Some(target) = Target::named(name.as_bytes()) else { return Outcome::Status(404) };
    if !target.methods().contains(&request.method()) {
        request.allow(target.methods());
        return Outcome::Status(405);
    }
    match target {
        Target::Repository(form) => respond(request, &base, form).unwrap_or_else(|error| refuse(request, &error)),
        Target::Schema(text) => schema(request, text),
    }
}

/// Returns the path of the repository: the Location that set the handler.
fn base_path(request: &Request<'_>, path: &str) -> String {
    let server = request.server();
    let endpoints = server.config::<Oai>().endpoints.iter().map(|path| path.trim_end_matches('/'));
    let is_at = |endpoint: &&str| {
        path.strip_prefix(*endpoint).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && !endpoint.is_empty()
    };
    match endpoints.filter(is_at).max_by_key(|endpoint| endpoint.len()) {
        Some(endpoint) => endpoint.to_owned(),
        // Set by a pattern or for a folder: the repository is at the path that was requested.
        None => path.strip_suffix(&*String::from_utf8_lossy(request.path_info())).unwrap_or(path).to_owned(),
    }
}

/// The repository that responds to a request, with its site and its limits.
struct Desk {
    repository: Repository,
    flow: Arc<Flow>,
    /// The site that contains the items as files; without one they are documents, and public.
    site: Option<(Arc<House>, Address)>,
}

impl Desk {
    /// Opens the catalogue, if necessary. If that fails, the error log contains the reason.
    fn open(request: &Request<'_>, base: &str) -> Result<Self, Failure> {
        let server = request.server();
        let address = Address::of(request);
        let base_url = format!("{}{base}", address.url().trim_end_matches('/'));
        let catalogue = &request.directory::<Oai>().catalogue;
        if let Some(catalogue) = catalogue.as_ref().filter(|catalogue| catalogue.location.is_some()) {
            let (archive, repository) = archive::of(&server, catalogue, &base_url)?;
            return Ok(Self { repository, flow: Arc::clone(&archive.flow), site: None });
        }
        let house = house::of(&server)?;
        let repository = house.repository(&base_url, address.url());
        Ok(Self { repository, flow: Arc::clone(&house.flow), site: Some((house, address)) })
    }
}

/// Responds to a request to the repository.
fn respond(request: &mut Request<'_>, base: &str, form: Option<Form>) -> Result<Outcome, ErrorResponse> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let user = request.user().map(text);
    // httpd returns the address that mod_remoteip determined, if requests arrive through a proxy.
    let address = request.address().parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let header = |name: &CStr| match name.to_bytes() {
        // Modules may have removed these.
        b"Authorization" | b"Cookie" => request.arrived_headers().get(name).map(text),
        _ => request.headers().get(name).map(text),
    };
    let received = Received::new(request.method(), request.query(), form, (address, user.as_deref()), header);
    let body = if received.takes_form()? { Some(form_data(request)?) } else { None };
    let desk = Desk::open(request, base).map_err(|failure| ErrorResponse::of(&failure))?;
    let inquiry = received.read(body.as_deref(), &desk.flow);
    // A request that waited for room would hold a worker.
    let answered = match inquiry.admit() {
        Ok(permit) => answer(request, &desk, inquiry, permit),
        Err(refusal) => Err(inquiry.refused(&refusal)),
    };
    if answered.is_err() {
        delay(desk.flow.refused(Duration::ZERO));
    }
    answered
}

/// Pauses before a refusal, in at most a quarter of the threads of this child: lists occupy up to half of them, and the rest is
/// for visitors. A child of the prefork MPM has one thread and does not pause.
fn delay(pause: Duration) {
    static PAUSING: AtomicUsize = AtomicUsize::new(0);
    if PAUSING.fetch_add(1, Ordering::Relaxed) < server::threads() / 4 {
        sleep(pause);
    }
    PAUSING.fetch_sub(1, Ordering::Relaxed);
}

/// Reads the body of a POST.
fn form_data(request: &mut Request<'_>) -> Result<Vec<u8>, ErrorResponse> {
    let body = request.body(query::MAX_BYTES).map_err(|_| ErrorResponse::INCOMPLETE)?;
    body.ok_or(ErrorResponse::TOO_LARGE)
}

fn answer(request: &mut Request<'_>, desk: &Desk, inquiry: Inquiry, permit: Permit) -> Result<Outcome, ErrorResponse> {
    for (name, value) in inquiry.headers() {
        match name.to_bytes() {
            b"Content-Type" => request.set_content_type(value),
            b"Content-Security-Policy" => request.protect(&PAGE_HEADERS),
            _ => request.reply_headers().set(name, value),
        }
    }
    let mut reply = Reply::new(request);
    let repository = &desk.repository;
    let answered = if let Some((house, address)) = &desk.site {
        let asker = Asker::behind(request, address.authority());
        let nameless = Asker::nameless(request, address.authority());
        if asker.headers().get(c"Authorization").is_some() && request.user().is_none() {
            reply.keep_back(KEPT_BACK);
        }
        let host = ProbeHost::new(request, &asker, &nameless, house, reply.begun());
        inquiry.answer(permit, repository, &host, || host.judge_again().map(|()| &mut reply), Reply::finish)
    } else {
        inquiry.answer(permit, repository, &CatalogueHost, || Ok(&mut reply), Reply::finish)
    };
    let Err(failure) = answered else { return Ok(Outcome::Answered) };
    if let Some((level, message)) = message(&failure) {
        request.log(logging::level(level), &message);
    }
    if reply.is_unsent() {
        return Err(ErrorResponse::of(&failure));
    }
    reply.break_off();
    Ok(Outcome::Answered)
}

/// Has httpd write the body of an error.
fn refuse(request: &Request<'_>, error: &ErrorResponse) -> Outcome {
    for (name, value) in error.headers() {
        request.any_reply_headers().set(name, &value);
    }
    Outcome::Status(error.status)
}

/// Sends one of modoai's schemas, published below the repository.
fn schema(request: &mut Request<'_>, text: &str) -> Outcome {
    request.set_content_type("application/xml; charset=UTF-8");
    let mut reply = Reply::new(request);
    match reply.write_all(text.as_bytes()).and_then(|()| reply.finish()) {
        Ok(()) => Outcome::Answered,
        Err(_) => Outcome::Status(500),
    }
}
