//! Decides whether a client is a browser, and so gets an HTML page instead of XML.
//!
//! XML is the default: a harvester that receives HTML fails in its XML parser, while a person who receives XML can
//! still read it. Java's `HttpURLConnection` sends `Accept: text/html, image/gif, image/jpeg, */*; q=0.2` with every
//! request, so a preference for `text/html` does not identify a browser. Both hosts call only this function.

use crate::quality::{self, Quality};

/// The parts of a request that identify a browser.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signs<'a> {
    /// The method.
    pub method: &'a str,
    /// The values of all Accept headers.
    pub accept: &'a [&'a str],
    /// The value of Sec-Fetch-Mode, which a script in a browser cannot set. Browsers send it over HTTPS and to localhost.
    pub fetch_mode: Option<&'a str>,
    /// The value of Sec-Fetch-Dest.
    pub fetch_dest: Option<&'a str>,
}

impl Signs<'_> {
    /// Returns true if a browser opens this URL as a separate page.
    ///
    /// With Sec-Fetch-Mode, the browser states that itself; requests of scripts and frames get XML. (The page forbids
    /// framing.) Without it, Accept must contain both `text/html` and `application/xhtml+xml`, as in every browser
    /// since
    /// 2004. In both cases, the client must not prefer another media type. The page sends no forms by POST.
    pub fn is_browser(&self) -> bool {
        let navigates = self.fetch_mode.map(|mode| mode.trim().eq_ignore_ascii_case("navigate"));
        let is_document = self.fetch_dest.is_none_or(|dest| dest.trim().eq_ignore_ascii_case("document"));
        if !matches!(self.method, "GET" | "HEAD") || navigates == Some(false) || !is_document {
            return false;
        }
        let accepted = quality::list(self.accept.iter().copied());
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_fetch_metadata_both_kinds_of_html_must_be_accepted() {
        let none = Signs { method: "GET", ..Signs::default() };
        assert!(!none.is_browser());
        for (accept, is_browser) in [
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
            assert_eq!(Signs { accept: &[accept], ..none }.is_browser(), is_browser, "{accept}");
            let split: Vec<_> = accept.split(',').collect();
            assert_eq!(Signs { accept: &split, ..none }.is_browser(), is_browser, "{accept}, in several headers");
        }
    }

    #[test]
    fn fetch_metadata_decides_where_it_is_sent() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for (mode, dest, accept, is_browser) in [
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
            let signs = Signs { method: "GET", accept: &[accept], fetch_mode: Some(mode), fetch_dest: dest };
            assert_eq!(signs.is_browser(), is_browser, "{mode} {dest:?} {accept}");
            assert_eq!(Signs { method: "HEAD", ..signs }.is_browser(), is_browser, "{mode} {dest:?} {accept}");
            assert!(!Signs { method: "POST", ..signs }.is_browser(), "{mode} {dest:?} {accept}");
        }
    }
}
