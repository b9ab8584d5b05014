//! Any file is read as every kind of source without panic: the identifier that is read alone is that of the record, and what is
//! wrong has a reason. The first byte selects the kind.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modoai_archive::source::{Kind, Options, open};
use modoai_fuzz::file;

fuzz_target!(|bytes: &[u8]| {
    let [choice, bytes @ ..] = bytes else { return };
    let kinds: Vec<Kind> = Kind::all().collect();
    let kind = kinds[usize::from(*choice) % kinds.len()];
    let input = file::of(bytes);
    let Ok((mut source, reading)) = open(kind, &[file::path(&input)], &Options::default()) else { return };
    while let Ok(Some(entry)) = source.next() {
        let Ok(bytes) = entry.bytes else { continue };
        let identifier = reading.identifier(&bytes, &entry.place);
        match reading.read(&bytes, &entry.place) {
            Ok(content) => assert_eq!(identifier.as_deref(), Ok(content.record.identifier.as_str()), "{kind}"),
            Err(fault) => assert!(!fault.0.is_empty(), "{kind}: refused without a reason"),
        }
    }
});
