//! Digests: those stated in records, and those computed from bytes.

use std::fmt;

use base64_simd::STANDARD;
use md5::Md5;
use modoai_protocol::text::shortened;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use super::{Component, DidlError};

/// The digest algorithms, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// 16 bytes.
    Md5,
    /// 20 bytes.
    Sha1,
    /// 64 bytes. Below SHA-256, because that is computed in any case.
    Sha512,
    /// 32 bytes.
    Sha256,
}

/// Their names, without dashes and in lower case.
const NAMES: [(&str, Algorithm); 5] = [
    ("md5", Algorithm::Md5),
    ("sha1", Algorithm::Sha1),
    ("sha", Algorithm::Sha1),
    ("sha256", Algorithm::Sha256),
    ("sha512", Algorithm::Sha512),
];

impl Algorithm {
    /// Returns the algorithm with this name in any usual spelling: `SHA-256`, `sha256`.
    pub fn named(name: &str) -> Option<Self> {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, algorithm)| *algorithm)
    }

    /// Returns the length of a digest in bytes.
    pub fn length(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Md5 => "MD5",
            Self::Sha1 => "SHA-1",
            Self::Sha256 => "SHA-256",
            Self::Sha512 => "SHA-512",
        })
    }
}

/// A digest of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Its bytes, as many as the algorithm produces.
    pub bytes: Vec<u8>,
}

impl Digest {
    /// Parses a digest in hexadecimal.
    pub(super) fn from_hex(algorithm: Algorithm, text: &str) -> Result<Self, DidlError> {
        let digits: Option<Vec<u32>> = text.trim().chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() == 2 * algorithm.length());
        let wrong = || DidlError::Digest { algorithm, value: shortened(text.trim(), 200).into_owned() };
        let digits = digits.ok_or_else(wrong)?;
        let bytes = digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap_or_default()).collect();
        Ok(Self { algorithm, bytes })
    }

    fn from_base64(algorithm: Algorithm, text: &str) -> Option<Self> {
        let bytes = STANDARD.decode_to_vec(text.trim()).ok()?;
        (bytes.len() == algorithm.length()).then_some(Self { algorithm, bytes })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.algorithm)?;
        self.bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns the digests in headers: `Content-MD5` (RFC 1864), which servers of mod_oai's time could send, and
/// `Repr-Digest` (RFC 9530). Both are of the bytes as coded for transfer, so they are ignored if the response has such
/// a coding.
pub(super) fn in_headers(component: &Component) -> Vec<Digest> {
    if component.header("Content-Encoding").is_some() {
        return Vec::new();
    }
    let md5 = component.header("Content-MD5").and_then(|value| Digest::from_base64(Algorithm::Md5, value));
    let members = component.header("Repr-Digest").unwrap_or_default().split(',');
    let others = members.filter_map(|member| {
        let (name, value) = member.split_once('=')?;
        Digest::from_base64(Algorithm::named(name)?, value.trim().strip_prefix(':')?.strip_suffix(':')?)
    });
    md5.into_iter().chain(others).collect()
}

/// Computes a digest.
#[derive(Clone)]
pub struct Hasher(State);

#[derive(Clone)]
enum State {
    Md5(Md5),
    Sha1(Sha1),
    Sha256(Sha256),
    Sha512(Box<Sha512>),
}

impl Hasher {
    /// Starts a digest.
    pub fn new(algorithm: Algorithm) -> Self {
        Self(match algorithm {
            Algorithm::Md5 => State::Md5(Md5::new()),
            Algorithm::Sha1 => State::Sha1(Sha1::new()),
            Algorithm::Sha256 => State::Sha256(Sha256::new()),
            Algorithm::Sha512 => State::Sha512(Box::new(Sha512::new())),
        })
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Md5(state) => state.update(bytes),
            State::Sha1(state) => state.update(bytes),
            State::Sha256(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
        }
    }

    /// Returns the digest of all bytes.
    pub fn finish(self) -> Digest {
        let (algorithm, bytes) = match self.0 {
            State::Md5(state) => (Algorithm::Md5, state.finalize().to_vec()),
            State::Sha1(state) => (Algorithm::Sha1, state.finalize().to_vec()),
            State::Sha256(state) => (Algorithm::Sha256, state.finalize().to_vec()),
            State::Sha512(state) => (Algorithm::Sha512, state.finalize().to_vec()),
        };
        Digest { algorithm, bytes }
    }
}
