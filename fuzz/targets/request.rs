//! Any query string is judged without panic, and what is found legal means the same when it is sent again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_protocol::{Request, query};

fuzz_target!(|bytes: &[u8]| {
    let Ok(arguments) = query::parse(bytes) else { return };
    let rendered = query::render(arguments.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    // Escapes may make it longer than a query may be.
    if rendered.len() <= query::MAX_BYTES {
        assert_eq!(query::parse(rendered.as_bytes()).as_ref(), Ok(&arguments), "{rendered}");
    }
    match Request::parse(&arguments) {
        Ok(request) => assert_eq!(Request::parse(&request.arguments()), Ok(request)),
        Err(errors) => assert!(!errors.is_empty(), "refused without a reason"),
    }
});
