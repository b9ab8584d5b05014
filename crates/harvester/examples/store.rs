//! What storing costs: synthetic Dublin Core records go through a sink in pages of a thousand, as a harvest would send
//! them, and the processor time is told. Nothing is fetched and nothing is parsed.
//!
//! `cargo run --release -p modoai-harvester --example store -- 100000 /var/tmp/store`

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::records::{Found, Reader, RecordSink};
use modoai_harvester::sink::{Origin, Part, Sink};
use modoai_protocol::Datestamp;

const PAGE: u64 = 1000;
const WORDS: [&str; 16] = [
    "archive",
    "catalogue",
    "complete",
    "datestamp",
    "element",
    "harvest",
    "identifier",
    "library",
    "metadata",
    "object",
    "protocol",
    "repository",
    "resource",
    "sélective",
    "service",
    "würde",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().as_deref().unwrap_or("100000").parse()?;
    let dir = arguments.next().ok_or("a folder to write to, please")?;
    let dir = Path::new(&dir);
    let mut sink = RecordSink::open(dir, None)?;
    let origin = Origin {
        base_url: "https://repository.example.org/oai".to_owned(),
        prefix: "oai_dc".to_owned(),
        schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd".to_owned(),
        namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/".to_owned(),
        harvested: Datestamp::from_unix(1_750_000_000),
    };
    let namespaces =
        [("", "http://www.openarchives.org/OAI/2.0/"), ("xsi", "http://www.w3.org/2001/XMLSchema-instance")];
    let (mut made, mut stored, mut bytes) = (0.0, 0.0, 0);
    let begun = Instant::now();
    let mut dice = 42;
    for page in 0..count.div_ceil(PAGE) {
        let before = processor_seconds();
        let numbers = page * PAGE..count.min((page + 1) * PAGE);
        let records: Vec<_> = numbers.map(|number| record(number, &mut dice)).collect();
        let between = processor_seconds();
        sink.page(&origin)?;
        for (header, metadata) in &records {
            bytes += metadata.len();
            sink.record(header)?;
            sink.part(Part::Metadata, &namespaces)?;
            sink.bytes(metadata.as_bytes())?;
            sink.part_end()?;
            sink.end(Novelty::New)?;
        }
        sink.commit()?;
        made += between - before;
        stored += processor_seconds() - between;
    }
    let before = processor_seconds();
    sink.finish()?;
    drop(sink);
    stored += processor_seconds() - before;
    println!("{count} records, {:.1} MB, made in {made:.2} CPU s", bytes as f64 / 1e6);
    println!("stored in {stored:.2} CPU s ({:.2} s in all)", begun.elapsed().as_secs_f64());
    let before = processor_seconds();
    let mut reader = Reader::open(dir)?;
    let mut records = reader.latest()?;
    let mut read = 0;
    while let Some(found) = records.next()? {
        let Found::Record(record, _) = found else { return Err("damage in what was just written".into()) };
        record.read(0, |piece| {
            read += piece.len();
            Ok(())
        })?;
    }
    println!("{:.1} MB read back in {:.2} CPU s", read as f64 / 1e6, processor_seconds() - before);
    Ok(())
}

/// A record of about 1.6 KB of metadata, made of words in an order that no compressor foresees.
fn record(number: u64, dice: &mut u64) -> (Header, String) {
    let mut word = || {
        *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(*dice >> 60) as usize]
    };
    let mut metadata = String::with_capacity(2048);
    metadata.push_str(
        "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
         http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">",
    );
    for (element, words) in [("title", 8), ("creator", 2), ("creator", 2), ("subject", 3), ("description", 90)] {
        let _ = write!(metadata, "<dc:{element}>");
        for _ in 0..words {
            metadata.push_str(word());
            metadata.push(' ');
        }
        let _ = write!(metadata, "{number}</dc:{element}>");
    }
    let _ = write!(
        metadata,
        "<dc:date>{}</dc:date><dc:type>text</dc:type><dc:identifier>https://repository.example.org/{number}\
         </dc:identifier><dc:language>en</dc:language></oai_dc:dc>",
        1900 + number % 125
    );
    let header = Header {
        identifier: format!("oai:repository.example.org:{number}"),
        datestamp: Datestamp::from_unix(1_700_000_000 + number as i64).to_string(),
        sets: vec!["physics:hep".to_owned(), "open_access".to_owned()],
        deleted: false,
    };
    (header, metadata)
}

/// What this thread has used of the processor; the sinks have no other.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
