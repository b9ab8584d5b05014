//! Audiences: the kinds of requester that items which are not public were listed for (decision 016).
//!
//! An audience is the least that a requester needs to GET an item: the names of attributes, such as `authorization` or
//! `@address`, and a digest of their values. The deletion of the item is reported to the requesters that have the same
//! values, and to no others.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// Rounds of SHA-256 for one digest: some milliseconds. A value can be a password, and a stolen catalogue must not allow
/// fast guessing.
const ROUNDS: usize = 20_000;

/// Number of digests that a process caches. Each requester of items that are not public has one or two.
const MAX_CACHED: usize = 4_096;

/// A kind of requester.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Audience {
    /// The names of the attributes, sorted, separated by spaces; empty if every requester belongs to the audience.
    pub needs: String,
    /// A digest of their values.
    pub digest: i64,
}

/// An item that a response lists, and its requester.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The item's number.
    pub number: i64,
    /// The audiences that the requester belongs to.
    pub audiences: Vec<Audience>,
}

/// Computes digests, and caches them.
#[derive(Debug, Default)]
pub struct Digests {
    cache: Mutex<HashMap<u64, i64>>,
    hasher: RandomState,
}

impl Digests {
    /// The audience of the requesters with these values, which are sorted by name. The secret is the catalogue's.
    pub fn audience(&self, secret: &[u8; 32], values: &[(&str, &[u8])]) -> Audience {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        let key = self.hasher.hash_one((secret, values));
        let known = self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        let digest = known.unwrap_or_else(|| {
            let digest = digest(secret, values);
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            if cache.len() >= MAX_CACHED {
                cache.clear();
            }
            cache.insert(key, digest);
            digest
        });
        Audience { needs: names.join(" "), digest }
    }
}

fn digest(secret: &[u8; 32], values: &[(&str, &[u8])]) -> i64 {
    let mut hash = Sha256::new().chain_update(b"audience").chain_update(secret);
    for (name, value) in values {
        for part in [name.as_bytes(), value] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    let mut state: [u8; 32] = hash.finalize().into();
    for _ in 0..ROUNDS {
        state = Sha256::new().chain_update(state).finalize().into();
    }
    i64::from_be_bytes(state[..8].try_into().expect("eight of thirty-two bytes"))
}

/// Returns the attributes that a requester needs to GET an item, sorted. Attributes are removed in the order given, as long
/// as `can_get` succeeds with the rest. With all of them, the requester can get the item.
pub fn needed<E>(all: &[&str], mut can_get: impl FnMut(&[&str]) -> Result<bool, E>) -> Result<Vec<String>, E> {
    let mut kept = all.to_vec();
    remove(&mut kept, all, &mut can_get)?;
    kept.sort_unstable();
    Ok(kept.into_iter().map(str::to_owned).collect())
}

/// Removes all of `part`, or as much of it as is not needed. Halves are tried before single names, because most names are
/// not needed.
fn remove<'a, E>(
    kept: &mut Vec<&'a str>,
    part: &[&'a str],
    can_get: &mut impl FnMut(&[&str]) -> Result<bool, E>,
) -> Result<(), E> {
    if part.is_empty() {
        return Ok(());
    }
    let rest: Vec<&str> = kept.iter().copied().filter(|name| !part.contains(name)).collect();
    if can_get(&rest)? {
        *kept = rest;
        return Ok(());
    }
    if part.len() > 1 {
        let (first, second) = part.split_at(part.len() / 2);
        remove(kept, first, can_get)?;
        remove(kept, second, can_get)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 6] = ["user-agent", "x-key", "@address", "cookie", "authorization", "@tls"];

    /// The needed attributes where each of these combinations is sufficient, and the number of calls of `can_get`.
    fn found(sufficient: &[&[&str]]) -> (Vec<String>, usize) {
        let mut calls = 0;
        let needs = needed(&ALL, |kept| {
            calls += 1;
            Ok::<_, ()>(sufficient.iter().any(|needs| needs.iter().all(|need| kept.contains(need))))
        });
        (needs.expect("no call fails"), calls)
    }

    #[test]
    fn only_needed_attributes_remain() {
        for (sufficient, expected) in [
            (&[&[][..]][..], &[][..]),
            (&[&["authorization"]], &["authorization"]),
            (&[&["@address"]], &["@address"]),
            (&[&["@tls"]], &["@tls"]),
            (&[&["user-agent"]], &["user-agent"]),
            (&[&["@address", "authorization"]], &["@address", "authorization"]),
            (&[&["@tls", "x-key"]], &["@tls", "x-key"]),
            // Either is sufficient: credentials are preferred, because an address changes more often.
            (&[&["@address"], &["authorization"]], &["authorization"]),
            (&[&ALL], &["@address", "@tls", "authorization", "cookie", "user-agent", "x-key"]),
        ] {
            let (needs, calls) = found(sufficient);
            assert_eq!(needs, expected, "{sufficient:?}");
            assert!(calls <= 2 * ALL.len(), "{sufficient:?}: {calls} calls");
        }
    }

    #[test]
    fn digest_depends_on_secret_names_and_values() {
        let (digests, secret) = (Digests::default(), [7; 32]);
        let alice = digests.audience(&secret, &[("@tls", b""), ("authorization", b"alice")]);
        assert_eq!(alice.needs, "@tls authorization");
        assert_eq!(alice, Digests::default().audience(&secret, &[("@tls", b""), ("authorization", b"alice")]));
        for other in [
            digests.audience(&secret, &[("@tls", b""), ("authorization", b"bob")]),
            digests.audience(&secret, &[("@tls", b"authorization"), ("authorization", b"alice")]),
            digests.audience(&[8; 32], &[("@tls", b""), ("authorization", b"alice")]),
            digests.audience(&secret, &[]),
        ] {
            assert_ne!(alice.digest, other.digest, "{other:?}");
        }
    }
}
