//! Any XML, or what is none, becomes a page that is not too long, with links to the web only.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::browse::shown;

fuzz_target!(|bytes: &[u8]| {
    let (length, links) = shown(bytes);
    // Indentation and cuts add a little to each piece.
    assert!(length <= 100 * bytes.len() + 1024, "{length} of {}", bytes.len());
    for link in links {
        let link = link.to_ascii_lowercase();
        assert!(link.starts_with("http://") || link.starts_with("https://"), "{link}");
    }
});
