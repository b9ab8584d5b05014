//! The headers `Owner` and `Expires` of documents, for spiders that maintain them and for caches.
//!
//! The administrator chooses their sources, in order of precedence: META elements of HTML documents, a file `.metainfo`
//! in the directory of the document, and rows of the configuration. Without a choice nothing is read: each source makes
//! every GET slower.
//!
//! ```text
//! # .metainfo: first what holds for the whole directory, then for files by their names
//! Owner: Web team
//!
//! [report-*.html]
//! Owner: Dr Example
//! Expires: Thu, 31 Dec 2026 23:59:59 GMT
//! ```

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use globset::Glob;
use modoai_settings::{Problem, Value};

use super::html_head::{self, Part};
use super::pattern::Patterns;
use super::title;

/// The name of the file in each directory.
pub(super) const METAINFO: &str = ".metainfo";

/// The maximum number of bytes read from a `.metainfo` file.
const MOST_BYTES: u64 = 64 * 1024;

/// Longer values are left out.
const MOST_CHARS: usize = 200;

/// A source of the headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderSource {
    /// META elements of HTML documents.
    Meta,
    /// The file `.metainfo` in the directory.
    Metainfo,
    /// Values for paths that match a pattern.
    Row {
        /// The patterns.
        path: Patterns,
        /// The values.
        headers: DocumentHeaders,
    },
}

/// The headers of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentHeaders {
    /// `Owner`.
    pub owner: Option<String>,
    /// `Expires`.
    pub expires: Option<String>,
}

impl DocumentHeaders {
    /// Sets a header by its name, in any case, unless it is set already. Values that no header can have are left out.
    fn add(&mut self, name: &str, text: &str) {
        let slot = match name {
            _ if name.eq_ignore_ascii_case("owner") => &mut self.owner,
            _ if name.eq_ignore_ascii_case("expires") => &mut self.expires,
            _ => return,
        };
        let text = text.trim();
        let is_legal = !text.is_empty() && !text.contains(char::is_control) && text.chars().count() <= MOST_CHARS;
        if slot.is_none() && is_legal {
            *slot = Some(text.to_owned());
        }
    }

    /// Sets the missing headers from another source.
    pub(super) fn or(self, other: Self) -> Self {
        Self { owner: self.owner.or(other.owner), expires: self.expires.or(other.expires) }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.owner.is_some() && self.expires.is_some()
    }
}

/// Parses the setting: "meta", "metainfo", and tables with the keys path, owner and expires; one or several.
pub(super) fn sources(setting: &Value) -> Result<Vec<HeaderSource>, Problem> {
    setting.items().map(source).collect()
}

fn source(item: &Value) -> Result<HeaderSource, Problem> {
    let problem =
        || item.problem("needs \"meta\", \"metainfo\" or { path = \"/docs/**\", owner = \"…\", expires = \"…\" }");
    match item.text() {
        Ok("meta") => return Ok(HeaderSource::Meta),
        Ok("metainfo") => return Ok(HeaderSource::Metainfo),
        _ => {}
    }
    let (mut path, mut headers) = (None, DocumentHeaders::default());
    for (key, _, value) in item.entries().map_err(|_| problem())? {
        match key {
            "path" => path = Some(Patterns::new(&value.texts()?).map_err(|error| error.to_string())?),
            "owner" | "expires" => headers.add(key, value.text()?),
            _ => return Err(problem()),
        }
    }
    let path = path.filter(|path| !path.is_empty() && headers != DocumentHeaders::default()).ok_or_else(problem)?;
    Ok(HeaderSource::Row { path, headers })
}

/// Reads a `.metainfo` file, for a document of this name next to it.
pub(super) fn of_metainfo(file: &File, name: &Path) -> io::Result<DocumentHeaders> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, MOST_BYTES), &mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let (mut general, mut own) = (DocumentHeaders::default(), DocumentHeaders::default());
    // None before the first section, which applies to all files.
    let mut matches = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(glob) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            matches = Some(Glob::new(glob).is_ok_and(|glob| glob.compile_matcher().is_match(name)));
            continue;
        }
        let (header, value) = line.split_once(':').unwrap_or((line, ""));
        match matches {
            None => general.add(header.trim_end(), value),
            Some(true) => own.add(header.trim_end(), value),
            Some(false) => {}
        }
    }
    Ok(own.or(general))
}

/// Reads META elements: `<meta name="owner" content="…">`, `<meta http-equiv="expires" content="…">`, and the element of
/// 1994, `<meta header name="Owner" value="…">`. Does not move the file's position.
pub(super) fn of_html(file: &File, media_type: &str) -> io::Result<DocumentHeaders> {
    if !title::is_in(media_type) {
        return Ok(DocumentHeaders::default());
    }
    let mut found = DocumentHeaders::default();
    html_head::read(file, |part| {
        let attributes = match part {
            Part::Meta(attributes) => attributes,
            Part::Title(_) => return ControlFlow::Continue(()),
            Part::Body => return ControlFlow::Break(()),
        };
        let value = html_head::attribute(attributes, "content").or_else(|| html_head::attribute(attributes, "value"));
        for name in ["http-equiv", "name"].iter().filter_map(|name| html_head::attribute(attributes, name)) {
            found.add(name, value.unwrap_or_default());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file(text: &str) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        io::Seek::rewind(&mut file).expect("rewound");
        file
    }

    fn headers(owner: &str, expires: &str) -> DocumentHeaders {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        DocumentHeaders { owner: given(owner), expires: given(expires) }
    }

    #[test]
    fn meta_elements_of_any_age_are_read() {
        for (html, expected) in [
            ("<meta name=owner content='A &amp; B'><meta http-equiv=Expires content=0>", headers("A & B", "0")),
            ("<META header name=\"Owner\" value=\"MOM\">", headers("MOM", "")),
            ("<meta name=owner content=''><meta name=owner content=second>", headers("second", "")),
            ("<meta name=owner content='a&#10;Set-Cookie: x'>", headers("", "")),
            ("<body><meta name=owner content=late>", headers("", "")),
            ("no markup", headers("", "")),
        ] {
            assert_eq!(of_html(&file(html), "text/html").expect("read"), expected, "{html}");
        }
        let long = format!("<meta name=owner content='{}'>", "x".repeat(MOST_CHARS + 1));
        assert_eq!(of_html(&file(&long), "text/html").expect("read"), headers("", ""));
        let other = file("<meta name=owner content=a>");
        assert_eq!(of_html(&other, "text/plain").expect("read"), headers("", ""));
    }

    #[test]
    fn sections_of_metainfo_are_for_names() {
        let text =
            "# all\nOwner: Web team\n\n[r*.html]\nowner : Dr Example: MD\nExpires:  Thu, 31 Dec 2026 23:59:59 GMT\n[";
        let of = |name: &str| of_metainfo(&file(text), Path::new(name)).expect("read");
        assert_eq!(of("report.html"), headers("Dr Example: MD", "Thu, 31 Dec 2026 23:59:59 GMT"));
        assert_eq!(of("index.html"), headers("Web team", ""));
    }

    #[test]
    fn the_setting_takes_names_and_rows() {
        let parse = |text: &str| {
            let mut settings = super::super::SiteSettings::default();
            let target = &mut (super::super::SITE_SETTINGS, &mut settings);
            modoai_settings::assign(&format!("document_headers={text}"), target).map(|()| settings.document_headers)
        };
        let path = Patterns::new(&["/docs/**".to_owned()]).expect("a pattern");
        let segments = |path: &str| path.split('/').map(|segment| segment.as_bytes().to_vec()).collect::<Vec<_>>();
        assert!(path.cover(&segments("docs/a/b")) && !path.cover(&segments("docs")));
        let row = HeaderSource::Row { path, headers: headers("A", "") };
        assert_eq!(parse("['metainfo', { path = '/docs/**', owner = 'A' }]"), Ok(vec![HeaderSource::Metainfo, row]));
        assert_eq!(parse("'meta'"), Ok(vec![HeaderSource::Meta]));
        for wrong in [
            "'meat'",
            "1",
            "[{ owner = 'A' }]",
            "[{ path = '/a' }]",
            "[{ path = 'a|b', owner = 'b' }]",
            "[{ path = [], owner = 'b' }]",
            "[{ path = '/a', oner = 'b' }]",
        ] {
            parse(wrong).expect_err(wrong);
        }
    }
}
