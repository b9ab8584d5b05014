//! The repository over HTTP: reads a request for [`modoai_endpoint`], and sends what that decides and writes.
//!
//! A response is computed on a blocking thread and streams through a [`Writer`]; it begins with its first chunk, so whatever
//! fails before that still becomes a proper error.

use std::ffi::CStr;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, HeaderMap, VARY};
use hyper::{Request, Response};
use modoai_endpoint::{ErrorResponse, Inquiry, Received, message};
use modoai_flow::Refusal;
use modoai_protocol::query;
use modoai_repository::host::{CatalogueHost, Host};
use modoai_repository::{Failure, Form};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tracing::Level;

use crate::area::Requester;
use crate::body::{Body, Turn, Writer};
use crate::encoding::{Encoder, Encoding};
use crate::folder_host::FolderHost;
use crate::handler::Handler;
use crate::reply;

/// The maximum time that a request other than a list waits for its turn before it is refused with Retry-After.
const PATIENCE: Duration = Duration::from_secs(10);

/// The refusal of such a request.
const BUSY: Refusal = Refusal { seconds: 15, is_own: false, is_early: false };

/// Responds to a request to the repository, in the form that the path names, or else by the kind of client.
pub(crate) async fn respond(
    handler: &Arc<Handler>,
    address: IpAddr,
    request: Request<Incoming>,
    requester: Requester,
    form: Option<Form>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let query = head.uri.query().unwrap_or_default().as_bytes();
    let header = |name: &CStr| header(&head.headers, name);
    let received = Received::new(head.method.as_str(), query, form, (address, requester.user()), header);
    let encoding = Encoding::asked_by(&header(c"Accept-Encoding").unwrap_or_default());
    let response = match form_data(&received, body, handler.form_timeout).await {
        Ok(form) => {
            let inquiry = received.read(form.as_deref(), &handler.served.flow);
            answer(handler, inquiry, requester, encoding).await
        }
        Err(error) => reply::error(&error),
    };
    let vary = response.headers().get(VARY).and_then(|value| value.to_str().ok());
    let vary = vary.into_iter().chain(["Accept-Encoding"]).collect::<Vec<_>>().join(", ");
    reply::with(response, VARY, &vary)
}

/// The value of a header.
fn header(headers: &HeaderMap, name: &CStr) -> Option<String> {
    let values = headers.get_all(name.to_str().ok()?).iter();
    let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// The body of a POST.
async fn form_data(received: &Received, body: Incoming, patience: Duration) -> Result<Option<Bytes>, ErrorResponse> {
    if !received.takes_form()? {
        return Ok(None);
    }
    if body.size_hint().lower() > query::MAX_BYTES as u64 {
        return Err(ErrorResponse::TOO_LARGE);
    }
    match timeout(patience, Limited::new(body, query::MAX_BYTES).collect()).await {
        Ok(Ok(form)) => Ok(Some(form.to_bytes())),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ErrorResponse::TOO_LARGE),
        Ok(Err(_)) => Err(ErrorResponse::INCOMPLETE),
        Err(_) => Err(ErrorResponse::TIMED_OUT),
    }
}

async fn answer(handler: &Arc<Handler>, inquiry: Inquiry, requester: Requester, encoding: Encoding) -> Response<Body> {
    let (room, permit) = match handler.lists.enter(&inquiry).await {
        Ok(entered) => entered,
        Err(refusal) => return reply::error(&inquiry.refused(&refusal)),
    };
    let is_list = inquiry.is_list();
    let (admission, turn) = if is_list {
        (None, Turn::later(handler.lists.turns.clone()))
    } else {
        let admission = timeout(PATIENCE, async {
            let admission = handler.answers.clone().acquire_owned().await;
            (admission.ok(), Turn::take(handler.turns.clone()).await)
        });
        match admission.await {
            Ok(admitted) => admitted,
            Err(_) => return reply::error(&inquiry.refused(&BUSY)),
        }
    };
    let headers = inquiry.headers();
    let (mut writer, started) = Writer::new(turn);
    let work = {
        let handler = handler.clone();
        move || {
            let _admission = admission;
            let begun = if is_list { writer.begin() } else { Ok(()) };
            // The response to HEAD is empty, and not an encoding of zero bytes.
            let encoding = if inquiry.is_head() { Encoding::Identity } else { encoding };
            let out = begun.and_then(|()| Encoder::new(encoding, writer));
            let finish = |out: Encoder<Writer>| {
                drop(room);
                out.finish()?.finish()
            };
            with_host(&handler, &requester, |host| {
                inquiry.answer(permit, &handler.served.repository.get(), host, || out, finish)
            })
            .map_err(|failure| {
                log(&failure);
                ErrorResponse::of(&failure)
            })
        }
    };
    let task = if is_list { handler.lists.spawn(work) } else { spawn_blocking(work) };
    let Ok(body) = started.await else {
        return match task.await {
            Ok(Err(error)) => reply::error(&error),
            Ok(Ok(())) | Err(_) => reply::fault(),
        };
    };
    let response = reply::of(&headers, body);
    match encoding.name() {
        Some(encoding) => reply::with(response, CONTENT_ENCODING, encoding),
        None => response,
    }
}

/// Calls a function with the site as this requester sees it, or the host of a catalogue without a site.
fn with_host<T>(handler: &Handler, requester: &Requester, call: impl FnOnce(&dyn Host) -> T) -> T {
    let served = &handler.served;
    match (&served.site, &served.shelf) {
        (Some(site), _) => call(&FolderHost::new(site, &served.areas.get(), requester, (served.health)())),
        (None, Some(shelf)) => call(&**shelf),
        (None, None) => call(&CatalogueHost),
    }
}

fn log(failure: &Failure) {
    match message(failure) {
        Some((Level::ERROR, message)) => tracing::error!("{message}"),
        Some((Level::WARN, message)) => tracing::warn!("{message}"),
        Some((Level::INFO, message)) => tracing::info!("{message}"),
        Some((_, message)) => tracing::debug!("{message}"),
        None => {}
    }
}
