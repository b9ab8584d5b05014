//! Any JSON is taken for a record or refused, without panic; what was taken can be written and read again. It need not be the
//! same to the last digit: numbers beyond 64 bits are floating-point numbers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_archive::record::Record;

fuzz_target!(|bytes: &[u8]| {
    let Ok(record) = serde_json::from_slice::<Record>(bytes) else { return };
    let text = serde_json::to_string(&record).expect("a record can be written");
    let again: Record = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let keys = |record: &Record| serde_json::to_value(record).ok().and_then(|value| value.as_object().map(|it| it.len()));
    assert_eq!(keys(&again), keys(&record));
});
