//! The possible targets of fragments in a page, and the HTML rules for finding the target of a fragment.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use xxhash_rust::xxh3::xxh3_64;

/// The anchors of one page, as sorted hashes: a page may have ten thousand, and the names themselves are not needed
/// later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors(Vec<u64>);

impl Anchors {
    /// Creates the anchors from their names (`id`, and `name` of `a`).
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::from_hashes(names.into_iter().map(hash).collect())
    }

    /// Creates the anchors from names that [`hash`] has hashed.
    pub fn from_hashes(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }

    /// Returns true if a fragment has a target.
    pub fn have(&self, fragment: Fragment) -> bool {
        fragment.is_top
            || self.0.binary_search(&fragment.raw).is_ok()
            || self.0.binary_search(&fragment.decoded).is_ok()
    }

    /// Returns the bytes that are stored with the page.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|hash| hash.to_le_bytes()).collect()
    }

    /// Reads anchors from stored bytes; an incomplete hash in a damaged store is ignored.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let (whole, _) = bytes.as_chunks::<8>();
        Self(whole.iter().map(|hash| u64::from_le_bytes(*hash)).collect())
    }

    /// Returns the number of anchors.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the page has no anchors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the hash of an anchor's name.
pub fn hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// A fragment, prepared for a lookup: first as written, then decoded. `top` always has a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fragment {
    raw: u64,
    decoded: u64,
    is_top: bool,
}

impl Fragment {
    /// Creates a fragment from its text without `#`.
    pub fn new(text: &str) -> Self {
        let decoded = percent_decode_str(text).decode_utf8_lossy();
        // A fragment that begins like this is a route of a script in the page, and not a name.
        let is_route = text.starts_with('/') || text.starts_with('!');
        // A part of an image that is described by coordinates.
        let is_route = is_route || text.starts_with("svgView(") || text.starts_with("xywh=");
        let is_top = text.is_empty() || decoded.eq_ignore_ascii_case("top") || is_route;
        let raw = hash(text);
        let decoded = match decoded {
            Cow::Borrowed(_) => raw,
            Cow::Owned(decoded) => hash(&decoded),
        };
        Self { raw, decoded, is_top }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_found_by_the_rules_of_html() {
        let anchors = Anchors::of(["good", "späť", "a%20b", "50%25"]);
        for there in
            ["good", "", "top", "TOP", "sp%C3%A4%C5%A5", "a%20b", "50%25", "/route", "!x", "svgView(viewBox(0,0,1,1))"]
        {
            assert!(anchors.have(Fragment::new(there)), "{there}");
        }
        for missing in ["GOOD", "bad", "sp%E4t", "a b"] {
            assert!(!anchors.have(Fragment::new(missing)), "{missing}");
        }
    }

    #[test]
    fn anchors_survive_the_store() {
        let anchors = Anchors::of(["b", "a", "b"]);
        assert_eq!(anchors.len(), 2);
        assert_eq!(Anchors::from_bytes(&anchors.to_bytes()), anchors);
    }
}
