//! Any text becomes characters without panic, never grows, and a second time nothing is left to do.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::tex::to_unicode;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let once = to_unicode(text);
    assert!(once.len() <= text.len(), "{text:?} became {once:?}");
    assert_eq!(to_unicode(&once), once, "{text:?}");
});
