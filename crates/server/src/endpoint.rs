//! The repository over HTTP: six verbs by GET and by POST of a form, as XML for harvesters, as a page for people, and
//! lists as files.
//!
//! An answer is computed on a blocking thread and streams through a [`Writer`]; the response begins with its first
//! chunk, so whatever fails before that still becomes a proper 500 or 503.

use std::io::{self, Write as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, FROM,
    HeaderMap, HeaderName, USER_AGENT, VARY,
};
use hyper::{Method, Request, Response, StatusCode};
use modoai_flow::{Client, RequestClass};
use modoai_protocol as protocol;
use modoai_protocol::query::{self, Arguments, QueryError};
use modoai_repository::browser::Signs;
use modoai_repository::host::{CatalogueHost, Host};
use modoai_repository::{Failure, Form, PAGE_POLICY, Sent, filled_in, of_protocol, with_causes};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::area::Requester;
use crate::body::{Body, Turn, Writer};
use crate::encoding::{Encoder, Encoding};
use crate::folder_host::FolderHost;
use crate::handler::Handler;
use crate::lists::Place;
use crate::reply;

/// How long a request for something else than a list waits for its turn before the harvester is asked to come back.
const PATIENCE: Duration = Duration::from_secs(10);

/// When it is asked to come back.
const BUSY_SECONDS: u64 = 15;

/// Answers a request to the repository, in the form that the path names, or else by what the client is.
pub(crate) async fn respond(
    handler: &Arc<Handler>,
    address: IpAddr,
    request: Request<Incoming>,
    requester: Requester,
    form: Option<Form>,
) -> Response<Body> {
    let header = |name: HeaderName| {
        let value = request.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        value.unwrap_or_default()
    };
    let sender = Sender { address, agent: header(USER_AGENT), from: header(FROM) };
    let wish =
        Wish {
            form: form.unwrap_or_else(|| {
                if is_browser(request.method(), request.headers()) { Form::Page } else { Form::Xml }
            }),
            encoding: Encoding::asked_by(request.headers()),
            only_head: request.method() == Method::HEAD,
        };
    let response = match arguments(request, handler.form_timeout).await {
        Ok(arguments) => answer(handler, arguments, sender, requester, wish).await,
        Err(refusal) => refusal,
    };
    let response =
        reply::with(response, VARY, "Accept, Sec-Fetch-Mode, Sec-Fetch-Dest, Accept-Encoding, Authorization");
    reply::with(response, CACHE_CONTROL, "no-cache")
}

fn is_browser(method: &Method, headers: &HeaderMap) -> bool {
    let accept: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let value = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let signs = Signs {
        method: method.as_str(),
        accept: &accept,
        fetch_mode: value("Sec-Fetch-Mode"),
        fetch_dest: value("Sec-Fetch-Dest"),
    };
    signs.is_browser()
}

/// One of our schemas, published below the repository.
pub(crate) fn schema(text: &'static str) -> Response<Body> {
    reply::of("application/xml; charset=UTF-8", Body::Whole(Bytes::from_static(text.as_bytes())))
}

/// In which form an answer is wanted.
#[derive(Clone, Copy)]
struct Wish {
    form: Form,
    encoding: Encoding,
    only_head: bool,
}

/// The arguments: of the query for GET, of the body for POST.
async fn arguments(
    request: Request<Incoming>,
    patience: Duration,
) -> Result<Result<Arguments, QueryError>, Response<Body>> {
    if request.method() != Method::POST {
        return Ok(query::parse(request.uri().query().unwrap_or_default().as_bytes()));
    }
    let media_type = request.headers().get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let is_form = |value: &str| {
        let media_type = value.split(';').next().unwrap_or_default().trim();
        media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded")
    };
    if !media_type.is_none_or(is_form) {
        let sentence = "Send the arguments as application/x-www-form-urlencoded.";
        return Err(reply::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, sentence));
    }
    let too_large = || reply::text(StatusCode::PAYLOAD_TOO_LARGE, "The form data is too large.");
    let query = request.uri().query().unwrap_or_default().as_bytes().to_vec();
    let body = request.into_body();
    if body.size_hint().lower() > query::MAX_BYTES as u64 {
        return Err(too_large());
    }
    match timeout(patience, Limited::new(body, query::MAX_BYTES).collect()).await {
        Ok(Ok(form)) => Ok(query::parse_post(&query, &form.to_bytes())),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(reply::text(StatusCode::BAD_REQUEST, "The form data is incomplete.")),
        Err(_) => Err(reply::text(StatusCode::REQUEST_TIMEOUT, "Timed out waiting for the form data.")),
    }
}

/// Who sent a request, as far as headers tell.
struct Sender {
    address: IpAddr,
    agent: String,
    from: String,
}

async fn answer(
    handler: &Arc<Handler>,
    arguments: Result<Arguments, QueryError>,
    sender: Sender,
    requester: Requester,
    wish: Wish,
) -> Response<Body> {
    let flow = &handler.served.flow;
    let is_page = wish.form == Form::Page;
    let arguments = if is_page { arguments.map(filled_in) } else { arguments };
    let request = match &arguments {
        Ok(arguments) if is_page => protocol::Request::parse(&of_protocol(arguments)).ok(),
        Ok(arguments) => protocol::Request::parse(arguments).ok(),
        Err(_) => None,
    };
    let class = RequestClass::of(request.as_ref(), is_page);
    // Only lists can be downloaded; whatever else is requested there is XML.
    let is_downloadable = matches!(request, Some(protocol::Request::List { .. }));
    let wish = if wish.form.is_download() && !is_downloadable { Wish { form: Form::Xml, ..wish } } else { wish };
    let Sender { address, agent, from } = &sender;
    let client = Client { user: requester.user(), address: *address, agent, from };
    // What people look at is not logged; a client that follows a list is a harvester.
    let entry = (class == RequestClass::List || !is_page).then(|| flow.log_entry(&client, request.as_ref())).flatten();
    let place = match handler.lists.enter(&client, class).await {
        Ok(place) => place,
        Err(refusal) => {
            if let Some(entry) = entry {
                entry.refused();
            }
            return reply::come_back(refusal.sentence(), refusal.seconds);
        }
    };
    let is_list = class.is_list();
    let (admission, turn) = if is_list {
        (None, Turn::later(handler.lists.turns.clone()))
    } else {
        let admission = timeout(PATIENCE, async {
            let admission = handler.answers.clone().acquire_owned().await;
            (admission.ok(), Turn::take(handler.turns.clone()).await)
        });
        match admission.await {
            Ok(admitted) => admitted,
            Err(_) => {
                if let Some(entry) = entry {
                    entry.refused();
                }
                return reply::come_back("The repository is busy.", BUSY_SECONDS);
            }
        }
    };
    let (mut writer, started) = Writer::new(turn);
    let work = {
        let handler = handler.clone();
        move || {
            let _admission = admission;
            let begun = if is_list { writer.begin() } else { Ok(()) };
            let mut tally = Tally { place, sent: Sent::default() };
            tally.place.begin();
            let written = |()| write(&handler, arguments, &requester, wish, writer, &mut tally);
            let result = begun.map_err(Failure::Io).and_then(written);
            if let Some(entry) = entry {
                entry.served(&tally.sent, result.is_ok());
            }
            result.inspect_err(log)
        }
    };
    let task = if is_list { handler.lists.spawn(work) } else { spawn_blocking(work) };
    let Ok(body) = started.await else {
        return match task.await {
            Ok(Err(Failure::Unavailable { reason, retry_after, .. })) => {
                reply::come_back(&sentence(&reason), retry_after.as_secs())
            }
            Ok(_) | Err(_) => reply::fault(),
        };
    };
    let mut response = reply::of(wish.form.media_type(), body);
    if wish.form == Form::Page {
        response = reply::with(response, CONTENT_SECURITY_POLICY, PAGE_POLICY);
    }
    if let Some(disposition) = wish.form.disposition() {
        response = reply::with(response, CONTENT_DISPOSITION, disposition);
    }
    match wish.encoding.name() {
        Some(encoding) => reply::with(response, CONTENT_ENCODING, encoding),
        None => response,
    }
}

/// Computes an answer and writes it. Blocks.
fn write(
    handler: &Handler,
    arguments: Result<Arguments, QueryError>,
    requester: &Requester,
    wish: Wish,
    writer: Writer,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let Handler { served, .. } = handler;
    let (areas, repository) = (served.areas.get(), served.repository.get());
    let folder = served.site.as_ref().map(|site| FolderHost::new(site, &areas, requester, (served.health)()));
    let host: &dyn Host = match (&folder, &served.shelf) {
        (Some(folder), _) => folder,
        (None, Some(shelf)) => &**shelf,
        (None, None) => &CatalogueHost,
    };
    let Tally { place, sent } = tally;
    match wish.form {
        Form::Page => {
            let page = repository.page_and_tell(arguments, host, sent)?;
            place.settle(sent.records, sent.bytes);
            send(wish, writer, |out| Ok(Paced { out, place }.write_all(page.as_bytes())?))
        }
        Form::Xml => {
            let answer = repository.answer(arguments, host)?;
            send(wish, writer, |out| {
                let written = answer.write_and_tell(&mut Paced { out, place }, sent);
                place.settle(sent.records, sent.bytes);
                written
            })
        }
        Form::Csv | Form::JsonLines => {
            let download = repository.download(wish.form, arguments, host, place.allowance())?;
            send(wish, writer, |out| {
                let written = download.write_and_tell(&mut Paced { out, place }, sent);
                place.settle(sent.records, sent.bytes);
                written
            })
        }
    }
}

/// What an answer holds, and what came of it.
struct Tally {
    place: Place,
    sent: Sent,
}

/// Reports what is written to flow control, which may pause here.
struct Paced<'a> {
    out: &'a mut dyn io::Write,
    place: &'a mut Place,
}

impl io::Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.place.wrote(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn send(
    wish: Wish,
    writer: Writer,
    write: impl FnOnce(&mut dyn io::Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if wish.only_head {
        return Ok(writer.finish()?);
    }
    let mut encoder = Encoder::new(wish.encoding, writer)?;
    write(&mut encoder)?;
    Ok(encoder.finish()?.finish()?)
}

fn log(failure: &Failure) {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if let Failure::Io(error) = failure
        && is_gone(error)
    {
        tracing::debug!("a client closed the connection before the response was complete");
        return;
    }
    tracing::error!("failed to respond to a request: {}", with_causes(failure));
}

/// A reason as a sentence.
fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
