//! How fast a source is read: `cargo run --release -p modoai-archive --example read -- INPUT…`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use modoai_archive::source::{Kind, Options, open};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let inputs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let kind = Kind::guess(&inputs)?;
    let (mut source, reading) = open(kind, &inputs, &Options::default())?;
    let (mut cutting, mut identifying, mut reading_all) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let (mut entries, mut bytes, mut bad) = (0_u32, 0, 0);
    loop {
        let start = Instant::now();
        let Some(entry) = source.next()? else { break };
        cutting += start.elapsed();
        entries += 1;
        let Ok(raw) = entry.bytes else {
            bad += 1;
            continue;
        };
        bytes += raw.len();
        let start = Instant::now();
        let identifier = std::hint::black_box(reading.identifier(&raw, &entry.place));
        identifying += start.elapsed();
        let start = Instant::now();
        let content = std::hint::black_box(reading.read(&raw, &entry.place));
        reading_all += start.elapsed();
        bad += u32::from(identifier.is_err() || content.is_err());
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(entries.max(1));
    println!("{kind}: {entries} entries, {bad} bad, {} bytes each", bytes / entries.max(1) as usize);
    println!("cut {:.2} µs, identifier {:.2} µs, read {:.2} µs", each(cutting), each(identifying), each(reading_all));
    Ok(())
}
