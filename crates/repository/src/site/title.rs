//! The title an HTML file carries, read as browsers read it: by markup, not by pattern; in any charset it declares.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use lol_html::{AsciiCompatibleEncoding, HtmlRewriter, Settings, text};

/// A title stands in the head; a page that has none in its first part is not read to the end.
const MOST_BYTES: u64 = 256 * 1024;

/// Titles longer than this are cut: they are for people, and go into every record.
const MOST_CHARS: usize = 500;

/// The media types of files that carry a title.
pub const MEDIA_TYPES: &[&str] = &["text/html", "application/xhtml+xml"];

/// Whether files of this type carry a title.
pub fn is_in(media_type: &str) -> bool {
    MEDIA_TYPES.contains(&media_type)
}

/// The text of the first title element, white space tidied; empty if there is none. Does not move the file's position.
pub fn of(file: &File) -> io::Result<String> {
    let found = RefCell::new(Search::default());
    let on_text = text!("title", |chunk| {
        let mut search = found.borrow_mut();
        if !search.done {
            search.text.push_str(chunk.as_str());
            search.done = chunk.last_in_text_node();
        }
        Ok(())
    });
    let settings = Settings::new().append_element_content_handler(on_text);
    let is_whole = read_head(file, settings, || found.borrow().done)?;
    // Markup that the parser gives up on has no title worth having.
    Ok(if is_whole { tidy(&found.into_inner().text) } else { String::new() })
}

/// Reads the first part of an HTML file with these handlers, until one of them is done. Returns false if the parser gave
/// up. Does not move the file's position.
pub(super) fn read_head(file: &File, settings: Settings<'_, '_>, is_done: impl Fn() -> bool) -> io::Result<bool> {
    let settings = settings
        .with_encoding(AsciiCompatibleEncoding::utf_8())
        .with_adjust_charset_on_meta_tag(true)
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    let mut buffer = [0; 8 * 1024];
    let mut offset = 0;
    while offset < MOST_BYTES && !is_done() {
        match file.read_at(&mut buffer, offset) {
            Ok(0) => break,
            Ok(count) => {
                offset += count as u64;
                if rewriter.write(&buffer[..count]).is_err() {
                    return Ok(false);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[derive(Default)]
struct Search {
    text: String,
    done: bool,
}

fn tidy(raw: &str) -> String {
    let decoded: Cow<'_, str> = html_escape::decode_html_entities(raw);
    let joined = decoded.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().take(MOST_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn title(html: &[u8]) -> String {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(html).expect("room for it");
        of(&file).expect("readable")
    }

    #[test]
    fn titles_are_read_as_browsers_read_them() {
        assert_eq!(title(b"<title>A &amp; B\n  C</title>"), "A & B C");
        assert_eq!(title("<html><head><TITLE lang=de>Schr&ouml;dingers Käse</TITLE>".as_bytes()), "Schrödingers Käse");
        assert_eq!(title(b"<!-- <title>no</title> --><script>'<title>no</title>'</script><title>yes</title>"), "yes");
        assert_eq!(title(b"<meta charset=iso-8859-1><title>caf\xe9</title>"), "café");
        assert_eq!(title(b"<title></title><title>second</title>"), "second");
        assert_eq!(title(b"<p>none"), "");
        assert_eq!(title(b""), "");
        assert_eq!(title(b"<title>unclosed \xff"), "unclosed \u{fffd}");
    }

    #[test]
    fn a_huge_page_is_not_read_to_the_end() {
        assert_eq!(title(&[b"<p>".repeat(200_000), b"<title>late</title>".to_vec()].concat()), "");
        assert_eq!(title(&[b"<title>".to_vec(), b"x".repeat(5_000), b"</title>".to_vec()].concat()).len(), MOST_CHARS);
    }
}
