//! What generated files are made of, so that those who look inside believe the name.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::dice::Dice;

/// What files of some extension are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// With its dot; empty for a name without one.
    pub(crate) extension: &'static str,
    start: &'static [u8],
    /// Whether words follow, or noise.
    text: bool,
}

/// Every kind there is, all equally common in a random tree.
pub(crate) const KINDS: [Kind; 16] = [
    Kind::text(".html", "<!DOCTYPE html>\n"),
    Kind::text(".txt", ""),
    Kind::text(".css", "body { margin: 0 }\n"),
    Kind::text(".xml", "<?xml version=\"1.0\"?>\n"),
    Kind::text(".json", "[]\n"),
    Kind::text(".csv", "a,b\n"),
    Kind::text(".svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"),
    Kind::text("", ""),
    Kind::binary(".png", PNG),
    Kind::binary(".gif", b"GIF89a"),
    Kind::binary(".jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"),
    Kind::binary(".pdf", b"%PDF-1.4\n"),
    Kind::binary(".ps", b"%!PS-Adobe-3.0\n"),
    Kind::binary(".ppt", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    Kind::binary(".tar.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00"),
    Kind::binary(".mp4", b"\x00\x00\x00\x18ftypmp42"),
];

/// How every PNG begins.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl Kind {
    const fn text(extension: &'static str, start: &'static str) -> Self {
        Self { extension, start: start.as_bytes(), text: true }
    }

    const fn binary(extension: &'static str, start: &'static [u8]) -> Self {
        Self { extension, start, text: false }
    }

    /// The kind that an extension tells; any other is plain words.
    pub(crate) fn of(extension: &str) -> Self {
        KINDS.into_iter().find(|kind| kind.extension == extension).unwrap_or(Self::text("", ""))
    }

    /// The kind that a whole name tells.
    pub(crate) fn of_name(name: &[u8]) -> Self {
        if name.ends_with(b"nameless-png") {
            return Self::binary("", PNG);
        }
        let extension = Path::new(OsStr::from_bytes(name)).extension().unwrap_or_default();
        Self::of(&format!(".{}", extension.to_string_lossy().to_ascii_lowercase()))
    }

    /// Bytes of this kind: exactly `size` of them, unless that is too few to be of the kind at all.
    pub(crate) fn content(self, dice: &mut Dice, size: usize, name: &OsStr) -> Vec<u8> {
        const WORDS: &[u8] = b"every file is counted once and only once. ";
        let mut content = self.start.to_vec();
        if self.extension == ".html" {
            let title = name.to_string_lossy().replace('&', "&amp;").replace('<', "&lt;");
            content.extend_from_slice(format!("<title>{title}</title>\n").as_bytes());
        }
        let start = content.len();
        if self.text {
            let words = WORDS.iter().cycle().skip(dice.below(WORDS.len() as u64) as usize);
            content.extend(words.take(size.saturating_sub(start)));
        } else {
            content.resize(start.max(size), 0);
            dice.fill(&mut content[start..]);
        }
        content
    }
}
