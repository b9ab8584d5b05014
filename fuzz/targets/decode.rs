//! Any body is decoded without panic, and to the same content in whatever pieces it arrives.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::decoded;

const LABELS: [&str; 8] = ["", "gzip", "deflate", "br", "zstd", "compress", "utf-8", "gzip, br"];
/// Where a bomb is left alone.
const LIMIT: usize = 4 * 1024 * 1024;

fuzz_target!(|bytes: &[u8]| {
    let [label, piece, body @ ..] = bytes else { return };
    let label = LABELS[usize::from(*label) % LABELS.len()];
    let whole = decoded(label, body, body.len().max(1), LIMIT);
    let in_pieces = decoded(label, body, usize::from(*piece).max(1), LIMIT);
    // What looked like an encoding and was text is taken back only before anything was passed on.
    if let (Some((whole, true)), Some((in_pieces, true))) = (&whole, &in_pieces) {
        assert_eq!(whole, in_pieces, "{label}");
    }
});
