//! Any robots.txt is read without panic and in bounded memory, and says the same however its lines end and however a path
//! is spelt.
//!
//! The first line of the input is the path that is asked for; the rest is the file.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::robots::{comparable, said};

const AGENT: &str = "modoai/1.0";

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (path, file) = bytes.split_at(end);
    let path = format!("/{}", String::from_utf8_lossy(path));
    // The line end that divides them is the first of the file.
    let found = said(file, AGENT, &path);

    let lines: Vec<&[u8]> = file.split(|&byte| byte == b'\n').collect();
    if let Some((line, rule)) = &found.forbidden {
        assert!(*line >= 1 && *line as usize <= file.len() + 1, "line {line}");
        assert!(rule.starts_with("Disallow: "), "{rule}");
    }
    assert!(found.delay.is_none_or(|delay| delay <= Duration::from_secs(3600)));
    assert!(found.sitemaps <= file.len() / 9);
    assert!(found.weight <= 40 * file.len() + 1024, "{} for {}", found.weight, file.len());

    assert_eq!(said(file, AGENT, &comparable(&path)).forbidden, found.forbidden, "as it is compared");
    assert_eq!(said(file, "MODOAI", &path).forbidden, found.forbidden, "another version of us");
    if !file.contains(&b'\r') {
        for other in [&b"\r"[..], b"\r\n"] {
            assert_eq!(said(&lines.join(other), AGENT, &path).forbidden, found.forbidden, "lines ending {other:?}");
        }
    }
});
