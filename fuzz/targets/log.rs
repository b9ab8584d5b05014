//! Any access log is read without panic, packed or not, and every line is counted once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::log::read;

fuzz_target!(|bytes: &[u8]| {
    // A small packed log can be a large one.
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let _ = read(std::io::Read::take(bytes, 256), |_| {});
        return;
    }
    let mut targets = 0;
    let lines = read(bytes, |target| {
        assert!(!target.is_empty() && !target.contains([' ', '\n']), "{target:?}");
        targets += 1;
    });
    let lines = lines.expect("memory does not fail");
    assert_eq!(lines.delivered, targets);
    assert!(lines.delivered + lines.odd <= lines.all && lines.all <= bytes.len() as u64);
});
