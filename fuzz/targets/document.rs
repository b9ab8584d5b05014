//! Any file is judged without panic, and the root of what passes can stand in an answer: it passes on its own, too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_fuzz::mend::PartCheck;
use modoai_fuzz::source::root;

fuzz_target!(|bytes: &[u8]| {
    match root(bytes) {
        Err(fault) => assert!(!fault.0.is_empty(), "refused without a reason"),
        Ok((root, nodes)) => {
            assert!(nodes >= 2, "an element begins and ends");
            let mut check = PartCheck::new(&[]);
            let verdict = check.push(root.as_bytes()).and_then(|()| check.finish());
            assert!(verdict.is_ok(), "{verdict:?}: {root}");
        }
    }
});
