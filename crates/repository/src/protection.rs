//! Headers that keep a browser from running what others wrote into records.
//!
//! A record carries metadata verbatim, and XHTML inside it is markup to a browser that opens or embeds the answer. So every
//! answer of the repository, in every host, forbids scripts, plug-ins and loading, and puts the document into an origin of its
//! own. Files of the site do not get these headers: what a GET of them returns is the site's decision.

use std::ffi::CStr;

const CONTENT_SECURITY_POLICY: &CStr = c"Content-Security-Policy";
const NO_SNIFFING: (&CStr, &str) = (c"X-Content-Type-Options", "nosniff");

/// The headers of every answer of the repository: lists, records, errors, schemas and refusals. A page for a browser has
/// [`PAGE_HEADERS`] instead. The names are C strings because httpd takes no others.
pub const ANSWER_HEADERS: [(&CStr, &str); 2] = [(CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"), NO_SNIFFING];

/// The headers of HTML pages.
pub const PAGE_HEADERS: [(&CStr, &str); 2] = [(CONTENT_SECURITY_POLICY, PAGE_POLICY), NO_SNIFFING];

/// The Content-Security-Policy of HTML pages. They show text that others wrote into files. Should any of it ever be
/// parsed as markup, nothing on the page may run, load or be sent elsewhere.
pub const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; \
                           base-uri 'none'; frame-ancestors 'none'";
