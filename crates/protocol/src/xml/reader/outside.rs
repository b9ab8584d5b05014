//! Content before and after the root element: whitespace, a byte order mark, the XML declaration, or anything that
//! proves that this is not a response.

use super::fault::{Fault, ReadError, quoted};
use super::tags::{Attributes, is_space, name};

/// Everything outside the root element.
#[derive(Default)]
pub(super) struct Outside {
    /// True if the root element has started.
    pub(super) root_seen: bool,
    /// True if anything but whitespace and comments was found.
    pub(super) begun: bool,
    /// The number of bytes of a byte order mark that were found.
    mark: usize,
}

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

impl Outside {
    /// Processes text outside the root element.
    pub(super) fn text(&mut self, text: &[u8], offset: u64) -> Result<(), ReadError> {
        for (offset, &byte) in (offset..).zip(text) {
            if offset == self.mark as u64 && BYTE_ORDER_MARK.get(self.mark) == Some(&byte) {
                self.mark += 1;
            } else if !is_space(byte) {
                let fault = match byte {
                    _ if self.root_seen => Fault::Trailing,
                    b'{' | b'[' => Fault::NotXml { found: "JSON" },
                    0x1f => Fault::NotXml { found: "compressed" },
                    0xfe | 0xff if offset == 0 => Fault::Encoding { name: "UTF-16".to_owned() },
                    _ => Fault::NotXml { found: "plain text" },
                };
                return Err(fault.at(offset));
            }
        }
        Ok(())
    }

    /// Processes a processing instruction anywhere in the protocol's own part. Only the XML declaration has a meaning;
    /// the result is true if it is misplaced. Whitespace before it is a common error of scripts, and harmless.
    pub(super) fn instruction(&mut self, instruction: &[u8], offset: u64) -> Result<bool, Fault> {
        let is_first = !std::mem::replace(&mut self.begun, true) && offset == self.mark as u64;
        if name(instruction) != b"?xml" {
            return Ok(false);
        }
        for attribute in Attributes::of(instruction) {
            let attribute = attribute?;
            if attribute.is("encoding") {
                let value = attribute.value()?;
                if !["UTF-8", "UTF8", "US-ASCII", "ASCII"].iter().any(|known| value.eq_ignore_ascii_case(known)) {
                    return Err(Fault::Encoding { name: quoted(value.as_bytes()) });
                }
            }
        }
        Ok(!is_first)
    }
}
