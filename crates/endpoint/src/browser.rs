//! Decides whether a client is a browser, and so gets an HTML page instead of XML.
//!
//! XML is the default: a harvester that receives HTML fails in its XML parser, while a person who receives XML can still
//! read it. Java's `HttpURLConnection` sends `Accept: text/html, image/gif, image/jpeg, */*; q=0.2` with every request, so
//! a preference for `text/html` does not identify a browser.

use std::ffi::CStr;

use crate::quality::{self, Quality};

/// Returns true if a browser opens this URL as a separate page. `header` returns the values of a header, joined by
/// commas.
///
/// With Sec-Fetch-Mode, which a script cannot set, the browser states that itself, over HTTPS and to localhost;
/// requests of scripts and frames get XML. (The page forbids framing.) Without it, Accept must contain both `text/html`
/// and `application/xhtml+xml`, as in every browser since 2004. In both cases, the client must not prefer another media
/// type. The page sends no forms by POST.
pub fn is_browser(method: &str, header: impl Fn(&CStr) -> Option<String>) -> bool {
    let navigates = header(c"Sec-Fetch-Mode").map(|mode| mode.trim().eq_ignore_ascii_case("navigate"));
    let is_document = header(c"Sec-Fetch-Dest").is_none_or(|dest| dest.trim().eq_ignore_ascii_case("document"));
    if !matches!(method, "GET" | "HEAD") || navigates == Some(false) || !is_document {
        return false;
    }
    let accepted = quality::list(&header(c"Accept").unwrap_or_default());
    let quality_of = |name: &str| {
        let found = accepted.iter().find(|(given, _)| given == name);
        found.map_or(Quality::ZERO, |(_, quality)| *quality)
    };
    let (html, xhtml) = (quality_of("text/html"), quality_of("application/xhtml+xml"));
    let page = if navigates == Some(true) {
        html.max(xhtml).max(quality_of("text/*")).max(quality_of("*/*"))
    } else if html.min(xhtml) == Quality::ZERO {
        return false;
    } else {
        html.max(xhtml)
    };
    accepted.is_empty() || (page > Quality::ZERO && accepted.iter().all(|(_, quality)| *quality <= page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_fetch_metadata_both_kinds_of_html_must_be_accepted() {
        assert!(!is_browser("GET", |_| None));
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", true),
            ("application/xml,application/xhtml+xml,text/html;q=0.9,text/plain;q=0.8,*/*;q=0.5", true),
            ("TEXT/HTML; charset=utf-8, Application/XHTML+XML", true),
            ("text/html", false),
            ("application/xhtml+xml", false),
            ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", false),
            ("text/html, text/plain, text/sgml, */*;q=0.01", false),
            ("application/rdf+xml, application/xhtml+xml;q=0.5, text/html;q=0.4, */*;q=0.1", false),
            ("text/html, application/xhtml+xml;q=0", false),
            ("text/html;q=0, application/xhtml+xml", false),
            ("text/html;q=2, application/xhtml+xml;q=2", false),
            ("application/xml, text/html", false),
            ("*/*", false),
            ("text/*", false),
            ("text/xml", false),
            ("", false),
        ] {
            let found = is_browser("GET", |name| (name == c"Accept").then(|| accept.to_owned()));
            assert_eq!(found, expected, "{accept}");
        }
    }

    #[test]
    fn fetch_metadata_decides_where_it_is_sent() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for (mode, dest, accept, expected) in [
            ("navigate", Some("document"), browser, true),
            ("Navigate", None, browser, true),
            ("navigate", None, "text/html", true),
            ("navigate", None, "*/*", true),
            ("navigate", None, "", true),
            ("navigate", None, "text/xml", false),
            ("navigate", None, "text/xml, text/html;q=0.9", false),
            ("navigate", Some("iframe"), browser, false),
            ("navigate", Some("object"), browser, false),
            ("cors", Some("empty"), browser, false),
            ("no-cors", Some("image"), browser, false),
            ("same-origin", None, browser, false),
            ("", None, browser, false),
        ] {
            let found = |method| {
                is_browser(method, |name| match name.to_bytes() {
                    b"Sec-Fetch-Mode" => Some(mode.to_owned()),
                    b"Sec-Fetch-Dest" => dest.map(str::to_owned),
                    _ => Some(accept.to_owned()),
                })
            };
            assert_eq!(["GET", "HEAD", "POST"].map(found), [expected, expected, false], "{mode} {dest:?} {accept}");
        }
    }
}
