//! Headers of the repository's responses.
//!
//! A record carries metadata verbatim, and XHTML inside it is markup to a browser that opens or embeds the response. So
//! every response of the repository, in every host, forbids scripts, plug-ins and loading, and puts the document into a
//! separate origin. Files of the site do not get these headers: the site decides what a GET of them returns.

use std::ffi::CStr;

use modoai_repository::Form;

const CONTENT_SECURITY_POLICY: &CStr = c"Content-Security-Policy";
const NO_SNIFFING: (&CStr, &str) = (c"X-Content-Type-Options", "nosniff");

/// The headers of every response of the repository: lists, records, errors, schemas and refusals. An HTML page has
/// [`PAGE_HEADERS`] instead. The names are C strings because httpd takes no others.
pub const ANSWER_HEADERS: [(&CStr, &str); 2] = [(CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"), NO_SNIFFING];

/// The headers of HTML pages.
pub const PAGE_HEADERS: [(&CStr, &str); 2] = [(CONTENT_SECURITY_POLICY, PAGE_POLICY), NO_SNIFFING];

/// The Content-Security-Policy of HTML pages. They show text that untrusted parties wrote into files. If any of it is
/// parsed as markup, nothing on the page can run, load or send data.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; \
                           base-uri 'none'; frame-ancestors 'none'";

/// The request headers that a response depends on besides its URL.
pub(crate) const VARY: &str = "Accept, Sec-Fetch-Mode, Sec-Fetch-Dest, Authorization, Cookie";

/// The Cache-Control of responses: a cache asks again each time. A response that credentials or cookies selected is kept
/// by the client only.
pub(crate) const UNPERSONAL: &str = "no-cache";
const PERSONAL: &str = "private, no-cache";

/// The headers of a response, besides [`ANSWER_HEADERS`].
pub(crate) fn of(form: Form, is_personal: bool) -> Vec<(&'static CStr, &'static str)> {
    let cache = if is_personal { PERSONAL } else { UNPERSONAL };
    let mut headers = vec![(c"Content-Type", form.media_type()), (c"Vary", VARY), (c"Cache-Control", cache)];
    if form == Form::Page {
        headers.push((CONTENT_SECURITY_POLICY, PAGE_POLICY));
    }
    headers.extend(form.disposition().map(|disposition| (c"Content-Disposition", disposition)));
    headers
}
