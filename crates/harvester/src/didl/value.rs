//! Decodes base64 in pieces cut anywhere.

use base64_simd::{Out, STANDARD};

use super::DidlError;

/// The number of bytes decoded in one call: small enough for the cache, large enough to amortise the call. A multiple
/// of four.
const STEP: usize = 32 * 1024;

/// Decodes base64 with whitespace anywhere in it.
#[derive(Default)]
pub(super) struct Base64 {
    /// Characters of an incomplete group of four.
    waiting: Vec<u8>,
    decoded: Vec<u8>,
    /// True after padding, which must be at the end.
    ended: bool,
}

impl Base64 {
    /// Decodes a piece and passes the bytes on.
    pub(super) fn push<E: From<DidlError>>(
        &mut self,
        text: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for piece in text.chunks(STEP) {
            // modoai's records have no whitespace; records with line breaks need more time. Whitespace is below all
            // characters of base64. The loop has no early exit, so that one instruction processes many bytes.
            if piece.iter().fold(u8::MAX, |least, byte| least.min(*byte)) <= b' ' {
                let dense: Vec<u8> = piece.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                self.take(&dense, sink)?;
            } else {
                self.take(piece, sink)?;
            }
        }
        Ok(())
    }

    /// Decodes characters without whitespace.
    fn take<E: From<DidlError>>(
        &mut self,
        mut text: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.waiting.is_empty() {
            let (rest, more) = text.split_at(text.len().min(4 - self.waiting.len()));
            self.waiting.extend_from_slice(rest);
            text = more;
            if self.waiting.len() == 4 {
                let group = std::mem::take(&mut self.waiting);
                self.decode(&group, sink)?;
            }
        }
        let (whole, rest) = text.split_at(text.len() / 4 * 4);
        self.decode(whole, sink)?;
        self.waiting.extend_from_slice(rest);
        if self.ended && !rest.is_empty() {
            return Err(DidlError::Base64("data after the end").into());
        }
        Ok(())
    }

    /// Decodes whole groups.
    fn decode<E: From<DidlError>>(
        &mut self,
        groups: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(last) = groups.last() else { return Ok(()) };
        if self.ended {
            return Err(DidlError::Base64("data after the end").into());
        }
        self.decoded.resize(STANDARD.estimated_decoded_length(groups.len()), 0);
        let decoded = STANDARD.decode(groups, Out::from_slice(&mut self.decoded));
        sink(decoded.map_err(|_| DidlError::Base64("invalid character or padding"))?)?;
        self.ended = *last == b'=';
        Ok(())
    }

    /// Ends the value, and checks that it is complete.
    pub(super) fn finish(&mut self) -> Result<(), DidlError> {
        self.ended = false;
        if std::mem::take(&mut self.waiting).is_empty() { Ok(()) } else { Err(DidlError::Base64("truncated")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(pieces: &[&[u8]]) -> Result<Vec<u8>, DidlError> {
        let (mut base64, mut bytes) = (Base64::default(), Vec::new());
        for piece in pieces {
            base64.push(piece, &mut |more: &[u8]| {
                bytes.extend_from_slice(more);
                Ok::<_, DidlError>(())
            })?;
        }
        base64.finish().map(|()| bytes)
    }

    #[test]
    fn it_may_be_cut_anywhere() {
        for text in [&b"bW9kb2FpLCBoYXJ2ZXN0ZWQ="[..], b" bW9k\r\nb2Fp LCBo\n\tYXJ2ZXN0ZW\nQ=\n"] {
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let pieces = [&text[..first], &text[first..second], &text[second..]];
                    assert_eq!(
                        decoded(&pieces).as_deref(),
                        Ok(&b"modoai, harvested"[..]),
                        "cut at {first} and {second}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told_wherever_it_is_cut() {
        for text in [&b"bW9"[..], b"bW9kb", b"bW9k*AAA", b"bQ==bQ==", b"bQ==b", b"b=Q="] {
            for cut in 0..=text.len() {
                assert!(decoded(&[&text[..cut], &text[cut..]]).is_err(), "{text:?} cut at {cut}");
            }
        }
    }
}
