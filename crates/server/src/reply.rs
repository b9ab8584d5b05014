//! The responses of the server itself, as opposed to files of the site: short ones with one sentence for a human
//! reader, and the headers that all of them carry.

use std::borrow::Cow;
use std::ffi::CStr;

use hyper::header::{ALLOW, CONNECTION, CONTENT_LENGTH, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use modoai_endpoint::{ANSWER_HEADERS, ErrorResponse};

use crate::body::Body;

/// A response with these headers, and those that keep a browser from running it.
pub(crate) fn of<V: AsRef<str>>(headers: &[(&'static CStr, V)], body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let mut insert = |name: &CStr, value: &str| {
        let value = HeaderValue::from_str(value);
        // Both are modoai's headers; a test reads them back from every kind of response.
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.to_bytes()), value) {
            response.headers_mut().insert(name, value);
        }
    };
    ANSWER_HEADERS.iter().for_each(|(name, value)| insert(name, value));
    headers.iter().for_each(|(name, value)| insert(name, value.as_ref()));
    response
}

/// One sentence as plain text.
pub(crate) fn text(status: StatusCode, sentence: &str) -> Response<Body> {
    with_sentence(status, sentence, Vec::new())
}

fn with_sentence(
    status: StatusCode,
    sentence: &str,
    mut headers: Vec<(&'static CStr, Cow<'static, str>)>,
) -> Response<Body> {
    headers.push((c"Content-Type", "text/plain; charset=utf-8".into()));
    let mut response = of(&headers, Body::Whole(format!("{sentence}\n").into()));
    *response.status_mut() = status;
    response
}

/// Returns the response for an error of the repository.
pub(crate) fn error(error: &ErrorResponse) -> Response<Body> {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    with_sentence(status, &error.sentence, error.headers())
}

/// Returns one of modoai's schemas, published below the repository.
pub(crate) fn schema(text: &'static str) -> Response<Body> {
    of(&[(c"Content-Type", "application/xml; charset=UTF-8")], Body::Whole(text.into()))
}

/// Adds a header. A value that no header can carry is a bug in modoai, and the response becomes an internal server
/// error.
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

/// Returns the response to HEAD: the same, without the bytes.
pub(crate) fn without_body(mut response: Response<Body>) -> Response<Body> {
    if let Body::Whole(bytes) = std::mem::replace(response.body_mut(), Body::Empty) {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    }
    response
}

/// Returns status 400, and closes the connection: the client, or a proxy, may divide the following bytes into requests
/// differently.
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
    error(&ErrorResponse::unavailable(sentence.to_owned(), seconds))
}
