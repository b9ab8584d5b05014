//! Resumption tokens that need no server state and cannot be forged.
//!
//! A token contains everything that the next page needs: the verb, the selection with its upper bound frozen at the
//! first page, the key of the last item sent, the number of items sent, and the size of the list. It refers to a *key*
//! (keyset pagination), not to an offset, so the cost of a page does not grow with depth, and items that move do not
//! shift the rest. A MAC over the bytes prevents tampering. Any process that shares the key can respond to the token,
//! after any restart, at any time.
//!
//! The text form is base64url without padding of `version, fields, MAC`; about 100 characters for a typical list.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::datestamp::{Datestamp, Range};
use crate::names::{MetadataPrefix, SetSpec};
use crate::verb::ListVerb;

/// The version of the layout, so that old tokens are rejected and not misread.
const VERSION: u8 = 1;

/// 128 bits of HMAC-SHA-256: infeasible to guess, and tokens remain short.
const MAC_BYTES: usize = 16;

/// The longest token that this repository issues. Longer ones are not decoded.
const MAX_CHARS: usize = 4096;

/// The secret for the MAC of tokens. Replicas that respond to each other's tokens share it.
#[derive(Clone)]
pub struct TokenKey([u8; 32]);

impl TokenKey {
    /// Creates a key from 32 secret bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(bytes);
        mac
    }
}

impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenKey(secret)")
    }
}

/// The position at which a list continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A position in a list of headers or records.
    List(ListToken),
    /// A position in the list of sets.
    Sets {
        /// The last set sent.
        after: SetSpec,
        /// The number of sets sent before the next page.
        cursor: u64,
    },
}

/// The position at which a list of headers or records continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListToken {
    /// Headers or records.
    pub verb: ListVerb,
    /// The format.
    pub prefix: MetadataPrefix,
    /// The set.
    pub set: Option<SetSpec>,
    /// The selected datestamps. The upper end was frozen when the list began, so that a site with many changes cannot
    /// make it endless.
    pub range: Range,
    /// The key of the last item sent: its datestamp, and its number in the catalogue.
    pub after: (Datestamp, i64),
    /// The number of items sent before the next page.
    pub cursor: u64,
    /// The size of the whole list, if it was known at the first page.
    pub size: Option<u64>,
    /// The catalogue that the key belongs to: a catalogue that is rebuilt numbers its items differently.
    pub epoch: u64,
}

impl Token {
    /// Returns the token as text.
    pub fn seal(&self, key: &TokenKey) -> String {
        let mut bytes = vec![VERSION];
        match self {
            Self::List(list) => {
                bytes.push(match list.verb {
                    ListVerb::Identifiers => b'i',
                    ListVerb::Records => b'r',
                });
                put_text(&mut bytes, list.prefix.as_str());
                put_text(&mut bytes, list.set.as_ref().map_or("", SetSpec::as_str));
                for moment in [list.range.first, list.range.last, list.after.0] {
                    put_signed(&mut bytes, moment.unix());
                }
                put_signed(&mut bytes, list.after.1);
                put(&mut bytes, list.cursor);
                put(&mut bytes, list.size.map_or(0, |size| size.saturating_add(1)));
                put(&mut bytes, list.epoch);
            }
            Self::Sets { after, cursor } => {
                bytes.push(b's');
                put_text(&mut bytes, after.as_str());
                put(&mut bytes, *cursor);
            }
        }
        let mac = key.mac(&bytes).finalize().into_bytes();
        bytes.extend_from_slice(&mac[..MAC_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Parses a token that this repository has issued. Any other token, and one that was truncated or altered, is
    /// `None`.
    pub fn open(text: &str, key: &TokenKey) -> Option<Self> {
        if text.len() > MAX_CHARS {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (body, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        key.mac(body).verify_truncated_left(mac).ok()?;
        let mut fields = Fields(body);
        if fields.byte()? != VERSION {
            return None;
        }
        let token = match fields.byte()? {
            kind @ (b'i' | b'r') => Self::List(ListToken {
                verb: if kind == b'i' { ListVerb::Identifiers } else { ListVerb::Records },
                prefix: MetadataPrefix::parse(fields.text()?)?,
                set: match fields.text()? {
                    "" => None,
                    spec => Some(SetSpec::parse(spec)?),
                },
                range: Range { first: fields.moment()?, last: fields.moment()? },
                after: (fields.moment()?, fields.signed()?),
                cursor: fields.number()?,
                size: fields.number()?.checked_sub(1),
                epoch: fields.number()?,
            }),
            b's' => Self::Sets { after: SetSpec::parse(fields.text()?)?, cursor: fields.number()? },
            _ => return None,
        };
        fields.0.is_empty().then_some(token)
    }
}

/// Appends a number as LEB128: small numbers need few bytes.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a signed number in zigzag encoding, so that small negative numbers need few bytes.
fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// The unread rest of a token's body.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn moment(&mut self) -> Option<Datestamp> {
        self.signed().map(Datestamp::from_unix)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token::List(ListToken {
            verb: ListVerb::Records,
            prefix: MetadataPrefix::parse("oai_dc").expect("legal"),
            set: SetSpec::parse("mime:text:html"),
            range: Range { first: Datestamp::MIN, last: Datestamp::from_unix(1_700_000_000) },
            after: (Datestamp::from_unix(-5), 123_456),
            cursor: 500,
            size: Some(1_000_000),
            epoch: u64::MAX,
        })
    }

    #[test]
    fn a_token_comes_back_whole_and_is_short() {
        let key = TokenKey::new([7; 32]);
        for token in [token(), Token::Sets { after: SetSpec::from_levels(["a"]), cursor: 3 }] {
            let sealed = token.seal(&key);
            assert!(sealed.len() < 120, "{} characters", sealed.len());
            assert_eq!(Token::open(&sealed, &key), Some(token));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let key = TokenKey::new([7; 32]);
        let sealed = token().seal(&key);
        assert_eq!(Token::open(&sealed, &TokenKey::new([8; 32])), None, "another key");
        for at in 0..sealed.len() {
            let mut altered = sealed.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).expect("ASCII");
            assert_eq!(Token::open(&altered, &key), None, "altered at {at}");
            assert_eq!(Token::open(&sealed[..at], &key), None, "cut at {at}");
        }
        for junk in ["", "junk", "é", &"A".repeat(100_000)] {
            assert_eq!(Token::open(junk, &key), None);
        }
    }
}
