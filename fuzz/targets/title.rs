//! Any file has a title or none, without panic; a title is one tidy line of bounded length.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::file;
use modoai_repository::site::title;

fuzz_target!(|bytes: &[u8]| {
    let title = title::of(&file::of(bytes)).expect("the file can be read");
    assert!(title.chars().count() <= 501, "{title}");
    assert!(!title.contains(['\n', '\t', '\r']) && title.trim() == title, "{title:?}");
});
