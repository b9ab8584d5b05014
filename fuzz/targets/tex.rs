//! Any text becomes characters without panic and never grows; letters and digits stay as they are.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_archive::tex::to_unicode;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let once = to_unicode(text);
    assert!(once.len() <= text.len(), "{text:?} became {once:?}");
    if text.chars().all(char::is_alphanumeric) {
        assert_eq!(once, text);
    }
});
