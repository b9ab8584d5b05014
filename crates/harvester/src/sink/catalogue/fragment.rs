//! Checks and repairs a fragment of received XML before it is stored and served in responses.
//!
//! Stored fragments are served unchanged, so none may be stored that would make a response ill-formed. Nearly all
//! fragments are well-formed and keep every byte. Of the others, characters that XML does not allow are repaired;
//! errors of tags cannot be repaired, and the record is refused with a reason.

use modoai_protocol::xml::XSI_NAMESPACE;

use super::scope::{Namespaces, well_known};
use crate::mend::{Offence, PartCheck, PartMender, Wrong};

/// A complete fragment that is well-formed in modoai's responses.
pub(super) struct Fit {
    pub(super) bytes: Vec<u8>,
    /// True if they differ from the received bytes.
    pub(super) altered: bool,
    /// The namespaces to declare around the fragment.
    pub(super) namespaces: Namespaces,
}

/// Makes a whole fragment fit that inherits these namespaces.
pub(super) fn fit(bytes: Vec<u8>, mut namespaces: Namespaces) -> Result<Fit, Offence> {
    if check(&bytes, &mut namespaces).is_ok() {
        return Ok(Fit { bytes, altered: false, namespaces });
    }
    let (bytes, altered) = PartMender::whole(&bytes);
    check(&bytes, &mut namespaces)?;
    Ok(Fit { bytes, altered, namespaces })
}

/// Checks a fragment. Prefixes that it does not declare, and that have a well-known meaning, are added.
fn check(bytes: &[u8], namespaces: &mut Namespaces) -> Result<(), Offence> {
    loop {
        match PartCheck::whole(bytes, &borrowed(namespaces)) {
            Err(Offence { wrong: Wrong::Prefix(prefix), offset }) => {
                let is_new = namespaces.iter().all(|(known, _)| *known != prefix);
                match well_known(&prefix).filter(|_| is_new) {
                    Some(uri) => namespaces.push((prefix, uri.to_owned())),
                    None => return Err(Offence { wrong: Wrong::Prefix(prefix), offset }),
                }
            }
            judged => return judged,
        }
    }
}

/// A fragment too large to be held, made fit while it passes.
pub(super) struct Passing {
    mender: PartMender,
    check: PartCheck,
}

impl Passing {
    /// For a fragment that inherits these namespaces.
    pub(super) fn new(namespaces: &Namespaces) -> Self {
        let mut inherited = borrowed(namespaces);
        // Declared in every response of modoai.
        if namespaces.iter().all(|(prefix, _)| prefix != "xsi") {
            inherited.push(("xsi", XSI_NAMESPACE));
        }
        Self { mender: PartMender::default(), check: PartCheck::new(&inherited) }
    }

    /// Takes more of it and appends what it becomes.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Offence> {
        let from = out.len();
        self.mender.push(bytes, &mut |mended| out.extend_from_slice(mended));
        self.check.push(&out[from..])
    }

    /// Ends the fragment. Returns true if anything was altered.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) -> Result<bool, Offence> {
        let from = out.len();
        let altered = self.mender.finish(&mut |mended| out.extend_from_slice(mended));
        self.check.push(&out[from..])?;
        self.check.finish()?;
        Ok(altered)
    }
}

fn borrowed(namespaces: &Namespaces) -> Vec<(&str, &str)> {
    namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(text: &[u8]) -> Result<(String, bool, usize), Offence> {
        let fit = fit(text.to_vec(), Vec::new())?;
        Ok((String::from_utf8(fit.bytes).expect("UTF-8"), fit.altered, fit.namespaces.len()))
    }

    #[test]
    fn what_everybody_knows_is_declared_around_it() {
        let text = "<oai_dc:dc xsi:nil='true'><dc:title>A</dc:title></oai_dc:dc>";
        assert_eq!(fitted(text.as_bytes()), Ok((text.to_owned(), false, 3)));
        assert_eq!(fitted(b"<a xsi:nil='1'>&nbsp;</a>"), Ok(("<a xsi:nil='1'>\u{a0}</a>".to_owned(), true, 1)));
    }

    #[test]
    fn what_nobody_can_mend_is_refused() {
        for bad in ["", "<a>", "<a><b></a>", "<a/><b/>", "<a b='1' b='2'/>", "<p:a/>", "<a b=1/>", "<!DOCTYPE a><a/>"] {
            assert!(fitted(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
