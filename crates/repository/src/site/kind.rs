//! Media types: by name, and by content for files whose name has no known extension.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use modoai_protocol::SetSpec;

/// The media type of a file of unknown type.
const UNKNOWN: &str = "application/octet-stream";

/// Enough for every signature, and for deciding if a file is text.
const HEAD_BYTES: usize = 512;

/// The media types of this site.
#[derive(Debug)]
pub struct Kinds {
    types: BTreeMap<String, String>,
    charset: String,
}

impl Kinds {
    /// Returns the usual types, with these added or replaced, and this charset for text.
    pub fn new(types: &BTreeMap<String, String>, charset: &str) -> Self {
        Self { types: types.clone(), charset: charset.to_owned() }
    }

    /// Returns the media type for the extension of a name, if it is known.
    pub fn by_name(&self, item_name: &str) -> Option<Cow<'static, str>> {
        let extension = extension(item_name)?;
        if !self.types.is_empty()
            && let Some(media_type) = self.types.get(&extension.to_ascii_lowercase())
        {
            return Some(Cow::Owned(media_type.clone()));
        }
        usual(extension).map(Cow::Borrowed)
    }

    /// Returns the value of the Content-Type header. HTML and XML declare their charset in the document, and the header
    /// would override that.
    pub fn content_type(&self, media_type: &str) -> String {
        let is_plain = media_type.starts_with("text/") && !matches!(media_type, "text/html" | "text/xml");
        if is_plain && !self.charset.is_empty() {
            format!("{media_type}; charset={}", self.charset)
        } else {
            media_type.to_owned()
        }
    }
}

/// Returns the usual media type for the extension of a name, if it has one.
pub fn by_usual_name(name: &str) -> Option<&'static str> {
    usual(extension(name)?)
}

/// Registered media types for extensions that the table of `mime_guess` maps to an unregistered type, or to that of
/// another format.
const REGISTERED: [(&str, &str); 16] = [
    ("dxf", "image/vnd.dxf"),
    ("ico", "image/vnd.microsoft.icon"),
    ("m3u8", "application/vnd.apple.mpegurl"),
    ("m4a", "audio/mp4"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("mka", "audio/matroska"),
    ("mkv", "video/matroska"),
    ("obj", "model/obj"),
    ("otf", "font/otf"),
    ("rar", "application/vnd.rar"),
    ("vcf", "text/vcard"),
    ("woff", "font/woff"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];

fn usual(extension: &str) -> Option<&'static str> {
    let registered = REGISTERED.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension));
    registered.map(|(_, media_type)| *media_type).or_else(|| mime_guess::from_ext(extension).first_raw())
}

fn extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit('/').next()?.rsplit_once('.')?;
    Some(extension).filter(|_| !stem.is_empty())
}

/// Returns the media type according to the first bytes of a file. Does not move the file's position.
pub fn by_content(file: &File) -> io::Result<Cow<'static, str>> {
    let mut head = [0; HEAD_BYTES];
    let mut filled = 0;
    while filled < head.len() {
        match file.read_at(&mut head[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let head = &head[..filled];
    let media_type = match infer::get(head) {
        Some(kind) => kind.mime_type(),
        None if is_text(head) => "text/plain",
        None => UNKNOWN,
    };
    Ok(Cow::Borrowed(media_type))
}

/// Returns true for UTF-8 (perhaps cut in the middle of a character) without control characters other than whitespace.
fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).expect("valid up to here")
        }
        Err(_) => return false,
    };
    !text.is_empty() && !text.chars().any(|c| c.is_control() && !c.is_whitespace() && c != '\u{1b}')
}

/// Returns true if a text has the form `type/subtype`.
pub fn is_media_type(text: &str) -> bool {
    let token =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b));
    text.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}

/// The first level of sets by media type.
pub(crate) const MEDIA_TYPES: &str = "mime";

/// Returns the set of all resources of a media type: `mime:text:html`.
pub fn set_of(media_type: &str) -> SetSpec {
    SetSpec::from_levels([MEDIA_TYPES].into_iter().chain(media_type.splitn(2, '/')))
}

/// Returns the name of a set of resources by media type: `text/html` for `mime:text:html`, `text/*` for `mime:text`.
/// `None` for other sets.
pub fn set_name(set: &SetSpec) -> Option<String> {
    match set.levels().as_slice() {
        [first, rest @ ..] if first == MEDIA_TYPES => Some(match rest {
            [] => "All resources by media type".to_owned(),
            [kind] => format!("{kind}/*"),
            several => several.join("/"),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn names_tell_types_and_settings_overrule_them() {
        let kinds = Kinds::new(&BTreeMap::from([("md".to_owned(), "text/x-special".to_owned())]), "utf-8");
        let by_name = |name: &str| kinds.by_name(name).map(Cow::into_owned);
        assert_eq!(by_name("a/b.html").as_deref(), Some("text/html"));
        assert_eq!(by_name("A.PNG").as_deref(), Some("image/png"));
        assert_eq!(by_name("x.svg").as_deref(), Some("image/svg+xml"));
        assert_eq!(by_name("README.md").as_deref(), Some("text/x-special"));
        assert_eq!(by_name("a.WOFF").as_deref(), Some("font/woff"));
        assert_eq!(by_name("a.woff2").as_deref(), Some("font/woff2"));
        assert_eq!(by_name("a.b/README"), None);
        assert_eq!(by_name(".html"), None);
        assert_eq!(kinds.content_type("text/plain"), "text/plain; charset=utf-8");
        assert_eq!(kinds.content_type("text/html"), "text/html");
        assert_eq!(kinds.content_type("image/png"), "image/png");
    }

    #[test]
    fn content_tells_types_where_names_do_not() {
        let by_content = |bytes: &[u8]| {
            let mut file = tempfile::tempfile().expect("a temporary file");
            file.write_all(bytes).expect("room for it");
            by_content(&file).expect("readable").into_owned()
        };
        assert_eq!(by_content(b"%PDF-1.4\n"), "application/pdf");
        assert_eq!(by_content(b"<!DOCTYPE html><p>"), "text/html");
        assert_eq!(by_content("Schrödinger\n".as_bytes()), "text/plain");
        assert_eq!(by_content(&[b"x".repeat(511), "é".as_bytes().to_vec()].concat()), "text/plain");
        assert_eq!(by_content(b"\x01\x02\x03\xff\xfe"), UNKNOWN);
        assert_eq!(by_content(b""), UNKNOWN);
    }

    #[test]
    fn sets_follow_media_types() {
        let svg = set_of("image/svg+xml");
        assert_eq!(svg.as_str(), "mime:image:svg!2Bxml");
        assert_eq!(set_name(&svg).as_deref(), Some("image/svg+xml"));
        assert_eq!(set_name(&SetSpec::from_levels(["mime", "image"])).as_deref(), Some("image/*"));
        assert_eq!(set_name(&SetSpec::from_levels(["physics"])), None);
    }
}
