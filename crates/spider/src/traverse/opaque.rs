//! Names that promise no document: asked for by HEAD, unless the answer says that it is one after all.

/// Endings of names, in order. What is not here is asked for as a document, and merely costs more if it is none.
const ENDINGS: &[&str] = &[
    "7z", "aac", "apk", "avi", "avif", "bin", "bmp", "bz2", "csv", "deb", "dmg", "doc", "docx", "eot", "eps", "epub",
    "exe", "flac", "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "mjs", "mkv", "mobi", "mov",
    "mp3", "mp4", "mpeg", "mpg", "msi", "odp", "ods", "odt", "ogg", "ogv", "opus", "otf", "pdf", "png", "ppt", "pptx",
    "ps", "rar", "rpm", "svgz", "tar", "tgz", "tif", "tiff", "ttf", "txt", "wasm", "wav", "webm", "webp", "whl", "wmv",
    "woff", "woff2", "xls", "xlsx", "xz", "zip", "zst",
];

/// Whether the name of a URL promises no document.
pub(crate) fn is_opaque(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or(path);
    // A path of its own, or the host is all there is.
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    if stem.is_empty() || ending.len() > 5 || path.matches('/').count() < 3 {
        return false;
    }
    ENDINGS.binary_search(&ending.to_ascii_lowercase().as_str()).is_ok()
}

/// Returns true if the name of a URL is that of an SVG file, whose elements fragments can name.
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
