//! An OAI record as a `metadata` record contains it: one field of `application/warc-fields`, because indexers skip that
//! type.
//!
//! The field contains the record as a separate document. The content of a container is verbatim, so all inherited
//! namespaces are declared on the container, and only those are declared further out that it inherited: in particular
//! no default namespace. Lines are folded as the grammar of fields requires: each line end is followed by a blank.
//! Values in base64 are left out, because the records that `WARC-Concurrent-To` names have the bytes.

use modoai_protocol::xml::OAI_NAMESPACE;
use modoai_protocol::xml::writer::escape_into;

use crate::record::Header;
use crate::sink::SinkError;
use crate::sink::container::Surroundings;
use crate::sink::spool::Take;

/// The namespace declarations in force around the containers.
pub(super) const RECORD: Surroundings = Surroundings { declared: &[("oai", OAI_NAMESPACE)], stem: "oai" };

/// The end of a record.
pub(super) const CLOSING: &[u8] = b"</oai:record>";

/// Returns the beginning of a record: everything before its first container.
pub(super) fn opening(header: &Header) -> Vec<u8> {
    let mut xml = format!("<oai:record xmlns:oai=\"{OAI_NAMESPACE}\"><oai:header").into_bytes();
    xml.extend_from_slice(if header.deleted { b" status=\"deleted\">" } else { b">" });
    let fields = [("identifier", &header.identifier), ("datestamp", &header.datestamp)];
    for (name, text) in fields.into_iter().chain(header.sets.iter().map(|set| ("setSpec", set))) {
        xml.extend_from_slice(format!("<oai:{name}>").as_bytes());
        escape_into(&mut xml, text);
        xml.extend_from_slice(format!("</oai:{name}>").as_bytes());
    }
    xml.extend_from_slice(b"</oai:header>");
    xml
}

/// Folds lines. Line ends of all kinds become one kind, as in XML parsers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fold {
    /// True if the last byte was a carriage return, whose line feed may follow.
    after_return: bool,
}

impl Fold {
    /// Passes a piece of the value to `take`, folded.
    pub(super) fn push(&mut self, bytes: &[u8], take: Take<'_>) -> Result<(), SinkError> {
        let mut lines = bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r'));
        lines.try_for_each(|line| {
            let follows = std::mem::take(&mut self.after_return);
            match line.split_last() {
                Some((b'\n', [])) if follows => Ok(()),
                Some((end @ (b'\n' | b'\r'), text)) => {
                    self.after_return = *end == b'\r';
                    take(text)?;
                    take(b"\r\n ")
                }
                _ => take(line),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_but_the_first_begins_with_a_blank() {
        let text = b"a\nb\r\nc\rd\n\nWARC/1.1\r\n\r\n";
        for cut in 0..=text.len() {
            let (mut fold, mut folded) = (Fold::default(), Vec::new());
            for piece in [&text[..cut], &text[cut..]] {
                let pushed = fold.push(piece, &mut |bytes| {
                    folded.extend_from_slice(bytes);
                    Ok(())
                });
                pushed.expect("no disk is needed");
            }
            let expected = "a\r\n b\r\n c\r\n d\r\n \r\n WARC/1.1\r\n \r\n ";
            assert_eq!(String::from_utf8_lossy(&folded), expected, "cut at {cut}");
        }
    }
}
