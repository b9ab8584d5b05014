//! Headers that keep a browser from running what others wrote into records.
//!
//! A record carries metadata verbatim, and XHTML inside it is markup to a browser that opens or embeds the answer. So every
//! answer of the repository, in every host, forbids scripts, plug-ins and loading, and puts the document into an origin of its
//! own. Files of the site do not get these headers: what a GET of them returns is the site's decision.

use std::ffi::CStr;

/// The headers of every answer of the repository: lists, records, errors, schemas and refusals. A page for a browser has
/// [`PAGE_POLICY`] instead of the first. The names are C strings because httpd takes no others.
pub const ANSWER_HEADERS: [(&CStr, &str); 2] =
    [(c"Content-Security-Policy", "default-src 'none'; sandbox"), (c"X-Content-Type-Options", "nosniff")];

/// The Content-Security-Policy of HTML pages. They show text that others wrote into files. Should any of it ever be
/// parsed as markup, nothing on the page may run, load or be sent elsewhere.
pub const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; \
                           base-uri 'none'; frame-ancestors 'none'";
