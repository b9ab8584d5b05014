//! The responses of the server itself, as opposed to files of the site: the short ones, each one sentence that a person can
//! read, and the headers that all of them carry.

use hyper::header::{
    ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Response, StatusCode};
use modoai_repository::ANSWER_HEADERS;

use crate::body::Body;

/// A response of this media type, with the headers that keep a browser from running it.
pub(crate) fn of(media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    for (name, value) in ANSWER_HEADERS {
        // Both are constants; a test reads them back from every kind of response.
        if let Ok(name) = HeaderName::from_bytes(name.to_bytes()) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// One sentence as plain text.
pub(crate) fn text(status: StatusCode, sentence: &str) -> Response<Body> {
    let body = format!("{sentence}\n");
    let mut response = of("text/plain; charset=utf-8", Body::Whole(body.into()));
    *response.status_mut() = status;
    response
}

/// Adds a header. A value that no header can carry is a fault of ours, and the response becomes one.
pub(crate) fn with(mut response: Response<Body>, name: HeaderName, value: &str) -> Response<Body> {
    match HeaderValue::from_bytes(value.as_bytes()) {
        Ok(value) => {
            response.headers_mut().insert(name, value);
            response
        }
        Err(_) => {
            tracing::error!(header = %name, "invalid header value");
            fault()
        }
    }
}

/// What HEAD gets: the same, without the bytes.
pub(crate) fn without_body(mut response: Response<Body>) -> Response<Body> {
    if let Body::Whole(bytes) = std::mem::replace(response.body_mut(), Body::Empty) {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    }
    response
}

/// 400, and the end of the connection: what follows on it may not be what the client, or a proxy, takes it for.
pub(crate) fn bad_request(sentence: &str) -> Response<Body> {
    with(text(StatusCode::BAD_REQUEST, sentence), CONNECTION, "close")
}

pub(crate) fn not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "Not found.")
}

pub(crate) fn fault() -> Response<Body> {
    text(StatusCode::INTERNAL_SERVER_ERROR, "Internal server error. See the server log for details.")
}

pub(crate) fn not_allowed(allowed: &str) -> Response<Body> {
    let response = text(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed.");
    with(response, ALLOW, allowed)
}

pub(crate) fn unauthorized(challenge: &str) -> Response<Body> {
    let response = text(StatusCode::UNAUTHORIZED, "A user name and password are required.");
    with(response, WWW_AUTHENTICATE, challenge)
}

/// 503 with a whole number of seconds, the only form all harvesters understand.
pub(crate) fn come_back(sentence: &str, seconds: u64) -> Response<Body> {
    with(text(StatusCode::SERVICE_UNAVAILABLE, sentence), RETRY_AFTER, &seconds.max(1).to_string())
}
