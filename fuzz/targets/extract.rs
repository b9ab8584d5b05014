//! Any document is read without panic in any form; every URL that is found is one, is the same when it is read again, and has
//! no fragment; texts are folded and short, and lines are lines of the document.
//!
//! The first byte of the input says which form it is read in, the second its charset and its name.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::extract::{Source, extract};
use modoai_fuzz::reference::Target;
use url::Url;

const TYPES: [Option<&str>; 14] = [
    None,
    Some("text/html"),
    Some("application/xhtml+xml"),
    Some("image/svg+xml"),
    Some("text/markdown"),
    Some("text/css"),
    Some("application/manifest+json"),
    Some("application/feed+json"),
    Some("application/rss+xml"),
    Some("application/xml"),
    Some("application/json"),
    Some("text/plain"),
    Some("application/octet-stream"),
    Some("image/png"),
];

const CHARSETS: [Option<&str>; 6] =
    [None, Some("utf-8"), Some("iso-8859-1"), Some("iso-2022-jp"), Some("utf-16le"), Some("?")];

const NAMES: [&str; 4] = ["http://h.test/a/b?c", "http://h.test/sitemap.txt", "https://h.test/a.md", "http://h.test/a.xml"];

fuzz_target!(|bytes: &[u8]| {
    let [form, choices, body @ ..] = bytes else { return };
    let url = Url::parse(NAMES[usize::from(choices / 6 % 4)]).expect("it is a URL");
    let header = String::from_utf8_lossy(&body[..body.len().min(64)]);
    let source = Source {
        url: &url,
        media_type: TYPES[usize::from(*form) % TYPES.len()],
        charset: CHARSETS[usize::from(choices % 6)],
        links: &[&header],
        body,
    };
    let page = extract(&source);
    assert_eq!(page.left_out, 0);
    for reference in &page.references {
        let text = &reference.text;
        assert!(text.chars().count() <= 81 && !text.contains("  ") && text.trim() == &**text, "{text:?}");
        assert!(reference.line as usize <= body.len() + 1, "{}", reference.line);
        if let Target::Web { url, fragment } = &reference.target {
            let again = Url::parse(url).expect("what was found is a URL");
            assert_eq!(again.as_str(), &**url);
            assert!(!url.contains('#') && matches!(again.scheme(), "http" | "https"), "{url}");
            assert!(fragment.as_ref().is_none_or(|fragment| !fragment.is_empty() && !fragment.contains(":~:")));
        }
    }
    assert_eq!(extract(&source), page, "the same is not the same");
});
