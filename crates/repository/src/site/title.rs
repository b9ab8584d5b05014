//! The title of an HTML file.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;

use super::html_head::{self, Part};

/// The maximum length of a title, because it is part of every record. Longer ones are truncated.
const MAX_CHARS: usize = 500;

/// The media types of files that have a title.
pub const MEDIA_TYPES: &[&str] = &["text/html", "application/xhtml+xml"];

/// Returns true if files of this type have a title.
pub fn is_in(media_type: &str) -> bool {
    MEDIA_TYPES.contains(&media_type)
}

/// Returns the text of the first title element with single spaces; empty if there is none. Does not move the file's position.
pub fn of(file: &File) -> io::Result<String> {
    let mut found = String::new();
    html_head::read(file, |part| match part {
        Part::Title(title) => {
            found = tidy(title);
            ControlFlow::Break(())
        }
        Part::Meta(_) | Part::Body => ControlFlow::Continue(()),
    })?;
    Ok(found)
}

fn tidy(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_CHARS).collect()
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
        assert_eq!(
            title(b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'><title>\xc4\xc1</title>"),
            "да"
        );
        assert_eq!(title(b"\xff\xfe<\0t\0i\0t\0l\0e\0>\0a\0"), "a");
        assert_eq!(title(b"<p>none"), "");
        assert_eq!(title(b""), "");
        assert_eq!(title(b"<title>unclosed \xff"), "unclosed \u{fffd}");
    }

    #[test]
    fn a_huge_page_is_not_read_to_the_end() {
        assert_eq!(title(&[b"<p>".repeat(200_000), b"<title>late</title>".to_vec()].concat()), "");
        assert_eq!(title(&[b"<title>".to_vec(), b"x".repeat(5_000), b"</title>".to_vec()].concat()).len(), MAX_CHARS);
    }
}
