//! Base64 in pieces cut anywhere.

use base64_simd::{Out, STANDARD};

use super::DidlError;

/// So much is decoded at a time: small enough for the cache, large enough to be worth a call. A multiple of four.
const STEP: usize = 32 * 1024;

/// Decodes base64, white space allowed anywhere in it.
#[derive(Default)]
pub(super) struct Base64 {
    /// Characters that wait for the rest of their group of four, and those of the step at hand.
    characters: Vec<u8>,
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
            let waiting = self.characters.len();
            self.characters.extend_from_slice(piece);
            // Ours has no white space; whoever breaks lines pays for it.
            if piece.iter().any(u8::is_ascii_whitespace) {
                let mut index = 0;
                self.characters.retain(|byte| {
                    index += 1;
                    index <= waiting || !byte.is_ascii_whitespace()
                });
            }
            let whole = self.characters.len() / 4 * 4;
            if self.ended && !self.characters.is_empty() {
                return Err(DidlError::Base64("it goes on after its end").into());
            }
            if whole == 0 {
                continue;
            }
            self.decoded.resize(STANDARD.estimated_decoded_length(whole), 0);
            let decoded = STANDARD.decode(&self.characters[..whole], Out::from_slice(&mut self.decoded));
            sink(decoded.map_err(|_| DidlError::Base64("a character or its padding is wrong"))?)?;
            self.ended = self.characters[whole - 1] == b'=';
            self.characters.drain(..whole);
            if self.ended && !self.characters.is_empty() {
                return Err(DidlError::Base64("it goes on after its end").into());
            }
        }
        Ok(())
    }

    /// It ends here.
    pub(super) fn finish(&mut self) -> Result<(), DidlError> {
        self.ended = false;
        if std::mem::take(&mut self.characters).is_empty() { Ok(()) } else { Err(DidlError::Base64("it is cut short")) }
    }
}
