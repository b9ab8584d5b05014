//! Base64 in pieces cut anywhere.

use base64_simd::{Out, STANDARD};

use super::DidlError;

/// So much is decoded at a time: small enough for the cache, large enough to be worth a call. A multiple of four.
const STEP: usize = 32 * 1024;

/// Decodes base64, white space allowed anywhere in it.
#[derive(Default)]
pub(super) struct Base64 {
    /// Characters that wait for the rest of their group of four.
    waiting: Vec<u8>,
    decoded: Vec<u8>,
    /// Whether padding was seen: nothing follows it.
    ended: bool,
}

impl Base64 {
    /// Decodes a little more and hands it on.
    pub(super) fn push<E: From<DidlError>>(
        &mut self,
        text: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for piece in text.chunks(STEP) {
            // Ours has no white space; whoever breaks lines pays for it. White space is all below the characters of base64.
            // No early end: so it is one instruction for many bytes.
            if piece.iter().fold(u8::MAX, |least, byte| least.min(*byte)) <= b' ' {
                let dense: Vec<u8> = piece.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                self.take(&dense, sink)?;
            } else {
                self.take(piece, sink)?;
            }
        }
        Ok(())
    }

    /// Takes characters without white space among them.
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

    /// It ends here.
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
