//! Repairs one element without the response around it.

use super::super::body::Body;
use super::super::encoding::Transcoder;
use super::super::{PIECE, Remedies};

/// Replaces everything that XML does not allow: bytes that are not UTF-8, control characters, ampersands, entities of
/// HTML. A valid element passes unchanged. Tags are not repaired, because their intended form is unknown;
/// [`PartCheck`](super::PartCheck) validates them.
pub struct PartMender {
    transcoder: Transcoder,
    body: Body,
}

impl Default for PartMender {
    fn default() -> Self {
        let remedies = Remedies::CHARACTERS.union(Remedies::REFERENCES);
        Self { transcoder: Transcoder::of_utf8(), body: Body::new(remedies) }
    }
}

impl PartMender {
    /// Reads a piece of the element and passes the repaired text to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
        let Self { transcoder, body } = self;
        for piece in bytes.chunks(PIECE) {
            transcoder.push(piece, &mut |text| body.push(text, out));
        }
    }

    /// Ends the element, and passes the remaining text to `out`. Returns true if anything was changed.
    pub fn finish(mut self, out: &mut dyn FnMut(&[u8])) -> bool {
        let Self { transcoder, body } = &mut self;
        transcoder.finish(&mut |text| body.push(text, out));
        body.finish(out);
        !self.transcoder.repairs.0.is_empty() || !self.body.repairs.0.is_empty()
    }

    /// Repairs a complete element.
    pub fn whole(element: &[u8]) -> (Vec<u8>, bool) {
        let mut mended = Vec::with_capacity(element.len());
        let mut mender = Self::default();
        mender.push(element, &mut |bytes| mended.extend_from_slice(bytes));
        let altered = mender.finish(&mut |bytes| mended.extend_from_slice(bytes));
        (mended, altered)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PartCheck;
    use super::*;

    #[test]
    fn what_cannot_be_carried_is_mended_and_the_rest_is_left() {
        let bad = b"<a b='\x01&x'>\x02 caf\xe9 &nbsp;&eacute; R&D &amp; &#0;<![CDATA[\x04 & ]]></a>";
        let (good, altered) = PartMender::whole(bad);
        assert!(altered);
        PartCheck::whole(&good, &[]).expect("well-formed now");
        let text = String::from_utf8(good).expect("UTF-8");
        assert!(text.contains("café \u{a0}é R&amp;D &amp; \u{fffd}<![CDATA[\u{fffd} & ]]>"), "{text}");
        let fine = "<a b = 'c'>\r\n<b/>é&amp;&#233;</a >".as_bytes();
        assert_eq!(PartMender::whole(fine), (fine.to_vec(), false));
    }
}
