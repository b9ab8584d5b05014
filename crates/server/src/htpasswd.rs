//! Reads password files as Apache's `htpasswd` writes them.
//!
//! Supported are bcrypt, `$apr1$` and `{SHA}`. Anything else (plain text, DES crypt, SHA-2 crypt) is refused when the
//! file is read, with its line; otherwise a user could never log in, and the reason would be hard to find.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use sha1::Sha1;

/// The costliest bcrypt hash `htpasswd` makes; one with more would keep a processor busy for minutes per login.
const MAX_BCRYPT_COST: u32 = 17;

/// The maximum size of a password file. A larger file is a different kind of file, named by mistake.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Users and the hashes of their passwords.
#[derive(Debug, Default)]
pub(crate) struct Users {
    hashes: HashMap<String, Hash>,
    /// The work of each check, which is the same for all users.
    price: Price,
}

/// The work that a check of a password takes, as far as it counts: an `{SHA}` hash costs nothing compared with these
/// two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Price {
    apr1: bool,
    /// The cost of bcrypt: one more is twice the work.
    bcrypt: Option<u32>,
}

/// The reason that a password file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HtpasswdError {
    /// It cannot be read.
    #[error("failed to read the password file {path}")]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line is not what `htpasswd` writes.
    #[error("{path}, line {line}: {problem}")]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The problem in the line.
        problem: &'static str,
    },
}

impl Users {
    pub(crate) fn read(path: &Path) -> Result<Self, HtpasswdError> {
        let problem = |source| HtpasswdError::Read { path: path.to_owned(), source };
        if std::fs::metadata(path).map_err(problem)?.len() > MAX_FILE_BYTES {
            return Err(problem(io::Error::other("the file is too large")));
        }
        let text = std::fs::read_to_string(path).map_err(problem)?;
        Self::parse(&text).map_err(|(line, problem)| HtpasswdError::Line { path: path.to_owned(), line, problem })
    }

    fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut users = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fault = |problem| (index + 1, problem);
            let (user, hash) = line.split_once(':').ok_or_else(|| fault("missing colon after the user name"))?;
            // htpasswd uses the first line of a user, so later ones are ignored here, too.
            let hash = Hash::parse(hash).map_err(fault)?;
            let price = hash.price();
            users.price.apr1 |= price.apr1;
            users.price.bcrypt = users.price.bcrypt.max(price.bcrypt);
            users.hashes.entry(user.to_owned()).or_insert(hash);
        }
        Ok(users)
    }

    /// Returns true if this is the user's password. May take as long as bcrypt needs: not for async threads.
    ///
    /// Every check takes the time of the most expensive user of the file, so that the time does not reveal whether a
    /// user exists.
    pub(crate) fn verify(&self, user: &str, password: &[u8]) -> bool {
        let hash = self.hashes.get(user);
        let is_right = hash.is_some_and(|hash| hash.verify(password));
        let (decoy_apr1, decoy_costs) = self.rest(hash.map(Hash::price).unwrap_or_default());
        if decoy_apr1 {
            std::hint::black_box(apr1(password, b"decoy"));
        }
        for cost in decoy_costs {
            std::hint::black_box(bcrypt::bcrypt(cost, [0; 16], b"decoy\0"));
        }
        is_right
    }

    /// Returns the work that a check at this price lacks compared with that of the file: whether an `$apr1$` hash is
    /// missing, and the costs of the missing bcrypt hashes. Costs n, n, n + 1, … m - 1 together are as much work as one
    /// of cost m.
    fn rest(&self, paid: Price) -> (bool, std::ops::Range<u32>) {
        let costs = match (paid.bcrypt, self.price.bcrypt) {
            (_, None) => 0..0,
            (None, Some(full)) => full..full + 1,
            (Some(paid), Some(full)) => paid..full,
        };
        (self.price.apr1 && !paid.apr1, costs)
    }
}

#[derive(Debug)]
enum Hash {
    Bcrypt { hash: String, cost: u32 },
    Apr1 { salt: String, digest: String },
    Sha1([u8; 20]),
}

impl Hash {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if let Some(encoded) = text.strip_prefix("{SHA}") {
            let digest = STANDARD.decode(encoded).ok().and_then(|bytes| bytes.try_into().ok());
            return digest.map(Self::Sha1).ok_or("invalid {SHA} hash");
        }
        if let Some(rest) = text.strip_prefix("$apr1$") {
            return match rest.split_once('$') {
                Some((salt, digest)) if salt.len() <= 8 && digest.len() == 22 => {
                    Ok(Self::Apr1 { salt: salt.to_owned(), digest: digest.to_owned() })
                }
                _ => Err("invalid $apr1$ hash"),
            };
        }
        if ["$2y$", "$2a$", "$2b$"].iter().any(|prefix| text.starts_with(prefix)) {
            let parts: bcrypt::HashParts = text.parse().map_err(|_| "invalid bcrypt hash")?;
            return match parts.get_cost() {
                cost @ ..=MAX_BCRYPT_COST => Ok(Self::Bcrypt { hash: text.to_owned(), cost }),
                _ => Err("the cost of the bcrypt hash is too high; the maximum is 17"),
            };
        }
        Err("this kind of password hash is not supported; use `htpasswd -B` (bcrypt)")
    }

    fn price(&self) -> Price {
        match self {
            Self::Bcrypt { cost, .. } => Price { apr1: false, bcrypt: Some(*cost) },
            Self::Apr1 { .. } => Price { apr1: true, bcrypt: None },
            Self::Sha1(_) => Price::default(),
        }
    }

    fn verify(&self, password: &[u8]) -> bool {
        match self {
            Self::Bcrypt { hash, .. } => bcrypt::verify(password, hash).unwrap_or(false),
            Self::Apr1 { salt, digest } => same(apr1(password, salt.as_bytes()).as_bytes(), digest.as_bytes()),
            Self::Sha1(digest) => same(&Sha1::digest(password), digest),
        }
    }
}

/// Compares in a time that depends on the lengths only.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

/// The 22 characters that follow salt and `$` in an `$apr1$` hash: the MD5 crypt of FreeBSD with Apache's own magic.
fn apr1(password: &[u8], salt: &[u8]) -> String {
    let inner = Md5::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut start = Md5::new().chain_update(password).chain_update(b"$apr1$").chain_update(salt);
    for chunk in password.chunks(inner.len()) {
        start.update(&inner[..chunk.len()]);
    }
    // One byte per bit of the length; the original had this form by accident, and all implementations kept it.
    let mut bits = password.len();
    while bits > 0 {
        start.update(if bits & 1 == 1 { &[0][..] } else { &password[..1] });
        bits >>= 1;
    }
    let mut digest = start.finalize();
    for round in 0..1000 {
        let (odd, first, last) = (round % 2 == 1, &digest[..], password);
        let mut next = Md5::new();
        next.update(if odd { last } else { first });
        if round % 3 != 0 {
            next.update(salt);
        }
        if round % 7 != 0 {
            next.update(password);
        }
        next.update(if odd { first } else { last });
        digest = next.finalize();
    }
    let mut text = String::with_capacity(22);
    for [a, b, c] in [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]] {
        put(&mut text, u32::from(digest[a]) << 16 | u32::from(digest[b]) << 8 | u32::from(digest[c]), 4);
    }
    put(&mut text, u32::from(digest[11]), 2);
    text
}

/// Six bits per character, the lowest first.
fn put(text: &mut String, mut bits: u32, characters: usize) {
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for _ in 0..characters {
        text.push(char::from(ALPHABET[(bits & 63) as usize]));
        bits >>= 6;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_htpasswd_and_openssl_wrote_is_understood() {
        for (line, password) in [
            ("alice:$2y$05$7SmHSBxzbspGAWju2sLEVOtDGmuhJjnMfpZSzxcb.BfBzs6PElvZ.", "secret"),
            ("alice:$apr1$xbRcZiep$maIY6rgrgtBaDy.wgYiiA/", "secret"),
            ("alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", "secret"),
            ("zoë:$2y$05$mIXDzSEHGrcLIMzOan970u7T9QGDgUY07NFBdgtrromK28Jb8RR9q", "pässword"),
            ("zoë:$apr1$vh7rjGTT$IpYJ5vpvL/P3i8.9WDpfv/", "pässword"),
            ("zoë:{SHA}I7dElEdfX4dJgLdnbVEeI9iG2mQ=", "pässword"),
            ("long:$apr1$ba94qJ5t$1vFfhAAx0xq8YRutu9ZYj1", "a much longer password than sixteen bytes, 1234567890"),
            ("empty:$apr1$eR/HVMW/$XajhxwbOFhrmicQ56DleS0", ""),
            ("openssl:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/", "secret"),
            ("openssl:$apr1$ab$eIePjsejfBGR8ITtu2z0U1", "x"),
        ] {
            let users = Users::parse(&format!("# a comment\n\n{line}\n")).expect(line);
            let user = line.split_once(':').expect("a user").0;
            assert!(users.verify(user, password.as_bytes()), "{line}");
            assert!(!users.verify(user, b"wrong"), "{line}");
            assert!(!users.verify("nobody", password.as_bytes()), "{line}");
        }
    }

    #[test]
    fn every_check_takes_the_same_work_whoever_the_user_is() {
        const SHA: &str = "sha:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n";
        const APR1: &str = "apr1:$apr1$xbRcZiep$maIY6rgrgtBaDy.wgYiiA/\n";
        const CHEAP: &str = "cheap:$2y$04$I6aGn6YQNKm2UnmsrF0EDeey16CzBpbOJSfW/kAszlx4tMCdY9kgm\n";
        const DEAR: &str = "dear:$2y$05$7SmHSBxzbspGAWju2sLEVOtDGmuhJjnMfpZSzxcb.BfBzs6PElvZ.\n";
        const DEARER: &str = "dearer:$2y$07$7SmHSBxzbspGAWju2sLEVOtDGmuhJjnMfpZSzxcb.BfBzs6PElvZ.\n";
        for (file, apr1s, rounds) in [
            (SHA.to_owned(), 0, 0),
            (format!("{SHA}{APR1}"), 1, 0),
            (format!("{SHA}{CHEAP}"), 0, 16),
            (format!("{CHEAP}{DEAR}"), 0, 32),
            (format!("{SHA}{APR1}{CHEAP}{DEAR}{DEARER}"), 1, 128),
        ] {
            let users = Users::parse(&file).expect("a good file");
            for user in ["nobody", "sha", "apr1", "cheap", "dear", "dearer"] {
                let price = users.hashes.get(user).map(Hash::price).unwrap_or_default();
                let (decoy, costs) = users.rest(price);
                let work = |cost: u32| 1 << cost;
                let bcrypt: u32 = price.bcrypt.map_or(0, work) + costs.map(work).sum::<u32>();
                assert_eq!((u32::from(price.apr1) + u32::from(decoy), bcrypt), (apr1s, rounds), "{user} of {file}");
            }
        }
        let users = Users::parse(&format!("{SHA}{APR1}{CHEAP}{DEAR}")).expect("a good file");
        for (user, is_known) in [("sha", true), ("apr1", true), ("cheap", true), ("dear", true), ("nobody", false)] {
            assert_eq!(users.verify(user, b"secret"), is_known, "{user}");
            assert!(!users.verify(user, b"wrong"), "{user}");
        }
    }

    #[test]
    fn what_could_never_match_is_refused_with_its_line() {
        for bad in [
            "alice",
            "alice:secret",
            "alice:SAovjxi48tFHg",
            "alice:$5$UIg6lQJtusUWYwvG$IVL0kAmWbv5vDy7997Hgogyj0tagaeXTNorQe1WaTs2",
            "alice:{SHA}AAAA",
            "alice:$apr1$short",
            "alice:$2y$05$short",
            "alice:$2y$31$7SmHSBxzbspGAWju2sLEVOtDGmuhJjnMfpZSzxcb.BfBzs6PElvZ.",
        ] {
            let text = format!("bob:{{SHA}}5en6G6MezRroT3XKqkdPOmY/BfQ=\n{bad}\n");
            assert_eq!(Users::parse(&text).expect_err(bad).0, 2, "{bad}");
        }
        let error = Users::read(Path::new("/nonexistent/htpasswd")).expect_err("no such file");
        assert!(error.to_string().contains("/nonexistent/htpasswd"), "{error}");
    }
}
