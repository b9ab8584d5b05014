//! Decides how much effort a record's compression is worth, by its media type.
//!
//! Pictures, sound, films and packages are compressed already: deflate saves next to nothing of them and is the slowest
//! part of writing an archive. They are stored in a gzip member, which every reader of WARC understands. For types
//! that can be either, a fast level saves most of what can be saved.

use super::gzip::Effort;

/// For text: the default of zlib. Archives of text at level 4 are up to a tenth larger.
const TEXT: Effort = Effort::Deflate(6);

/// For types that can be either.
const FAST: Effort = Effort::Deflate(1);

/// Types of which some are compressed inside and some are not.
const UNCERTAIN: &[&str] = &["application/octet-stream", "application/pdf", "application/x-tar"];

/// Types whose bytes are compressed already, in addition to those of the families below.
const COMPRESSED: &[&str] = &[
    "application/epub+zip",
    "application/gzip",
    "application/java-archive",
    "application/vnd.debian.binary-package",
    "application/vnd.rar",
    "application/x-7z-compressed",
    "application/x-bzip2",
    "application/x-debian-package",
    "application/x-gzip",
    "application/x-rar-compressed",
    "application/x-xz",
    "application/zip",
    "application/zstd",
    "font/woff",
    "font/woff2",
];

/// Families of such types.
const COMPRESSED_FAMILIES: &[&str] =
    &["application/vnd.oasis.opendocument.", "application/vnd.openxmlformats-", "audio/", "image/", "video/"];

/// Members of these families that are not compressed.
const PLAIN: &[&str] = &[
    "audio/aiff",
    "audio/basic",
    "audio/midi",
    "audio/vnd.wave",
    "audio/wav",
    "audio/x-aiff",
    "audio/x-wav",
    "image/bmp",
    "image/svg+xml",
    "image/tiff",
    "image/vnd.microsoft.icon",
    "image/x-icon",
    "image/x-ms-bmp",
    "image/x-portable-",
    "image/x-xbitmap",
    "image/x-xpixmap",
];

/// Returns the compression of a payload of this media type; `is_coded` if the payload has a content coding.
pub(super) fn effort(media_type: &str, is_coded: bool) -> Effort {
    let name = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    let is_compressed =
        is_coded || COMPRESSED.contains(&name.as_str()) || (begins(COMPRESSED_FAMILIES) && !begins(PLAIN));
    match name.as_str() {
        _ if is_compressed => Effort::Store,
        name if UNCERTAIN.contains(&name) => FAST,
        _ => TEXT,
    }
}

/// The compression of what modoai itself writes: fields and XML.
pub(super) fn of_text() -> Effort {
    TEXT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_that_are_not_compressed_yet_are_compressed() {
        for stored in ["image/png", "IMAGE/JPEG; q=1", "video/mp4", "application/zip", "font/woff2", "application/gzip"]
        {
            assert_eq!(effort(stored, false), Effort::Store, "{stored}");
        }
        for compressed in ["text/html; charset=utf-8", "image/svg+xml", "audio/x-wav", "", "a/b"] {
            assert_eq!(effort(compressed, false), TEXT, "{compressed}");
            assert_eq!(effort(compressed, true), Effort::Store, "{compressed}");
        }
        assert_eq!(effort("application/pdf", false), FAST);
    }
}
