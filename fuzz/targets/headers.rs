//! Any value of a header or path is read without panic, and never means more than it may: no path leads up, no range leads
//! beyond the end, no wait is longer than a week, no kept header has a line end in it.

#![no_main]

use std::ffi::CStr;
use std::time::{Duration, SystemTime};

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::headers::{browser, fit_headers, kept, name, quality, range, retry_after};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Some(segments) = name::decode(&text) {
        for segment in &segments {
            assert!(!matches!(&segment[..], b"" | b"." | b"..") && !segment.contains(&b'/') && !segment.contains(&0));
        }
        let canonical = name::encode(&segments);
        assert_eq!(name::decode(&canonical).as_ref(), Some(&segments));
    }
    assert!(quality::list(&text).len() <= text.len() + 1);
    for fetch_mode in [None, Some("navigate"), Some(&*text)] {
        let header = |name: &CStr| match name.to_bytes() {
            b"Accept" => Some(text.clone().into_owned()),
            b"Sec-Fetch-Mode" => fetch_mode.map(str::to_owned),
            _ => None,
        };
        assert!(!browser::is_browser("POST", header), "the page sends no forms by POST");
        browser::is_browser("GET", header);
    }
    for size in [0, 1, 1000, u64::MAX] {
        if let Some(part) = range(&text, size) {
            assert!(part.start < part.end && part.end <= size, "{part:?} of {size}");
        }
    }
    let wait = retry_after(&text, SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 31));
    assert!(wait.is_none_or(|wait| wait <= Duration::from_secs(7 * 86_400)));
    for (name, value) in fit_headers([("X-Header", bytes), ("Set-Cookie", bytes)].into_iter(), None) {
        assert_eq!(name, "X-Header");
        assert!(!value.contains(['\r', '\n', '\0']));
    }
    // A file that others have damaged is read without panic; what it then says is not promised.
    let _ = kept(&text);
});
