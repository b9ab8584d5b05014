//! Recognises URLs whose extension indicates that they are not documents. They are requested with HEAD first, and read
//! only if the response says that they are documents.

/// Extensions of such names, sorted. A URL with another extension is requested as a document, which only costs more.
const ENDINGS: &[&str] = &[
    "7z", "aac", "apk", "avi", "avif", "bin", "bmp", "bz2", "csv", "deb", "dmg", "doc", "docx", "eot", "eps", "epub",
    "exe", "flac", "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "mjs", "mkv", "mobi", "mov",
    "mp3", "mp4", "mpeg", "mpg", "msi", "odp", "ods", "odt", "ogg", "ogv", "opus", "otf", "pdf", "png", "ppt", "pptx",
    "ps", "rar", "rpm", "svgz", "tar", "tgz", "tif", "tiff", "ttf", "txt", "wasm", "wav", "webm", "webp", "whl", "wmv",
    "woff", "woff2", "xls", "xlsx", "xz", "zip", "zst",
];

/// Returns true if the name of a URL indicates that it is not a document.
pub(crate) fn is_opaque(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or(path);
    // The URL needs a path; otherwise the ending is that of the host.
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    if stem.is_empty() || ending.len() > 5 || path.matches('/').count() < 3 {
        return false;
    }
    ENDINGS.binary_search(&ending.to_ascii_lowercase().as_str()).is_ok()
}

/// Returns true if a URL has the extension of an SVG file, whose elements can be targets of fragments.
pub(crate) fn is_svg(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.len() > 4 && path.as_bytes()[path.len() - 4..].eq_ignore_ascii_case(b".svg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_in_order() {
        assert!(ENDINGS.is_sorted());
    }

    #[test]
    fn names_promise_what_they_promise() {
        for opaque in ["http://a/x.png", "http://a/b/x.rst.txt?download=1", "http://a/B.PDF"] {
            assert!(is_opaque(opaque), "{opaque}");
        }
        for document in
            ["http://a/", "http://a.zip", "http://a/x", "http://a/x.html", "http://a/.txt", "http://a/x.png/"]
        {
            assert!(!is_opaque(document), "{document}");
        }
    }
}
