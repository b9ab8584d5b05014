//! A repository that costs next to nothing, so that what is measured is the harvester.
//!
//! `bench_responder records COUNT PER_PAGE` renders a list of `oai_dc` records once and serves its pages from memory, by
//! the number that is their token: plain at `/oai`, gzipped at `/gzip`. With `scattered` behind, identifiers come in no
//! order; without, each is the next after the one before. `bench_responder didl BYTES RECORD` serves one page
//! of `oai_didl` records that is made while it is sent: as many records of about RECORD bytes as make about BYTES.

use std::io::{self, BufRead as _, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use modoai_testkit::dice::Dice;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<u64>().ok().filter(|number| *number > 0);
    let listed = match words.as_slice() {
        ["records", count, per_page, order @ ..] => number(count).zip(number(per_page)).map(|(count, per_page)| {
            let plain = pages(count, per_page, order == ["scattered"]);
            let gzipped = plain.iter().map(|page| gzip(page)).collect();
            Listed::Rendered { plain, gzipped }
        }),
        ["didl", bytes, record] => {
            number(bytes).zip(number(record)).map(|(bytes, record)| Listed::Made(Made::new(bytes, record)))
        }
        _ => None,
    };
    let Some(listed) = listed else {
        eprintln!("usage: bench_responder records COUNT PER_PAGE [scattered] | didl BYTES RECORD");
        return ExitCode::FAILURE;
    };
    match serve(listed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench_responder: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a list consists of.
enum Listed {
    Rendered { plain: Vec<Vec<u8>>, gzipped: Vec<Vec<u8>> },
    Made(Made),
}

fn serve(listed: Listed) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    println!("listening on http://{address}");
    let listed = Arc::new(listed);
    for connection in listener.incoming() {
        let (connection, listed) = (connection?, listed.clone());
        // A client that goes away in the middle of an answer has had enough.
        std::thread::spawn(move || {
            converse(&connection, &listed, &format!("http://{address}/oai")).unwrap_or_default();
        });
    }
    Ok(())
}

/// Answers request after request of one connection.
fn converse(connection: &TcpStream, listed: &Listed, base_url: &str) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut requests = BufReader::new(connection);
    loop {
        let mut request = String::new();
        if requests.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let mut line = String::new();
        while requests.read_line(&mut line)? > 2 {
            line.clear();
        }
        let target = request.split(' ').nth(1).unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let argument = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let verb = argument("verb").unwrap_or_default();
        let mut out = connection;
        match (verb, listed) {
            ("ListRecords", Listed::Rendered { plain, gzipped }) => {
                let number = argument("resumptionToken").and_then(|token| token.parse().ok()).unwrap_or(0);
                let (pages, coding) = if path == "/gzip" { (gzipped, Some("gzip")) } else { (plain, None) };
                let Some(page) = pages.get(number) else { return Ok(()) };
                head(&mut out, page.len() as u64, coding)?;
                out.write_all(page)?;
            }
            ("ListRecords", Listed::Made(made)) => {
                head(&mut out, made.length, None)?;
                made.write_to(&mut out)?;
            }
            _ => {
                let answer = described(verb, base_url);
                head(&mut out, answer.len() as u64, None)?;
                out.write_all(answer.as_bytes())?;
            }
        }
    }
}

fn head(out: &mut impl Write, length: u64, coding: Option<&str>) -> io::Result<()> {
    let coding = coding.map(|coding| format!("Content-Encoding: {coding}\r\n")).unwrap_or_default();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n{coding}Content-Length: {length}\r\n\r\n");
    out.write_all(head.as_bytes())
}

const OPENING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\">\n\
    <responseDate>2026-01-01T00:00:00Z</responseDate>\n<request>http://localhost/oai</request>\n";

/// What a repository says about itself. It promises to be prompt, so that its lists are not asked for in other ways: it has
/// but one.
fn described(verb: &str, base_url: &str) -> String {
    let content = match verb {
        "Identify" => format!(
            "<Identify><repositoryName>A benchmark</repositoryName><baseURL>{base_url}</baseURL>\
             <protocolVersion>2.0</protocolVersion><adminEmail>nobody@example.org</adminEmail>\
             <earliestDatestamp>2020-01-01T00:00:00Z</earliestDatestamp><deletedRecord>persistent</deletedRecord>\
             <granularity>YYYY-MM-DDThh:mm:ssZ</granularity><description>\
             <datestamps xmlns=\"urn:modoai:datestamps:1\">visibility</datestamps></description></Identify>"
        ),
        "ListMetadataFormats" => "<ListMetadataFormats>\
             <metadataFormat><metadataPrefix>oai_dc</metadataPrefix>\
             <schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema>\
             <metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></metadataFormat>\
             <metadataFormat><metadataPrefix>oai_didl</metadataPrefix>\
             <schema>http://standards.iso.org/ittf/PubliclyAvailableStandards/MPEG-21_schema_files/did/didl.xsd</schema>\
             <metadataNamespace>urn:mpeg:mpeg21:2002:02-DIDL-NS</metadataNamespace></metadataFormat>\
             </ListMetadataFormats>"
            .to_owned(),
        _ => "<error code=\"badVerb\">not here</error>".to_owned(),
    };
    format!("{OPENING}{content}</OAI-PMH>\n")
}

/// One record in so many is deleted.
const DELETED: u64 = 50;

/// Bytes of a record that is not, so that with the deleted ones all of them have 1,634 on average.
const RECORD: usize = 1663;

/// A prime that no count of records has as a factor: its multiples are all numbers, each once, far from each other.
const STRIDE: u64 = 1_000_003;

/// Every page of the list.
fn pages(count: u64, per_page: u64, scattered: bool) -> Vec<Vec<u8>> {
    let mut dice = Dice::new(100_000);
    let mut pages = Vec::new();
    for first in (0..count).step_by(per_page as usize) {
        let after = count.min(first + per_page);
        let mut page = format!("{OPENING}<ListRecords>\n");
        for number in first..after {
            let name = if scattered { number * STRIDE % count } else { number };
            record(&mut page, number, name, &mut dice);
        }
        let next = if after < count { (first / per_page + 1).to_string() } else { String::new() };
        let token =
            format!("<resumptionToken cursor=\"{first}\" completeListSize=\"{count}\">{next}</resumptionToken>");
        page.push_str(&format!("{token}\n</ListRecords>\n</OAI-PMH>\n"));
        pages.push(page.into_bytes());
    }
    pages
}

/// A record as repositories of articles have them.
fn record(page: &mut String, number: u64, name: u64, dice: &mut Dice) {
    let start = page.len();
    let (month, day, minute) = (1 + number % 12, 1 + number % 28, number % 60);
    let header = format!(
        "<identifier>oai:bench.example.org:article/{name:07}</identifier>\
         <datestamp>2024-{month:02}-{day:02}T12:{minute:02}:00Z</datestamp><setSpec>physics:{}</setSpec>",
        number % 40
    );
    if number % DELETED == DELETED / 2 {
        page.push_str(&format!("<record><header status=\"deleted\">{header}</header></record>\n"));
        return;
    }
    page.push_str(&format!(
        "<record><header>{header}<setSpec>journal</setSpec></header><metadata>\n\
         <oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">\n"
    ));
    page.push_str(&format!("<dc:title>{} &amp; {}</dc:title>\n", words(dice, 40), words(dice, 20)));
    for _ in 0..3 {
        page.push_str(&format!("<dc:creator>{}, {}</dc:creator>\n", words(dice, 8), words(dice, 8)));
    }
    for _ in 0..2 {
        page.push_str(&format!("<dc:subject>{}</dc:subject>\n", words(dice, 16)));
    }
    page.push_str(&format!(
        "<dc:date>2024-{month:02}-{day:02}</dc:date>\n<dc:type>text</dc:type>\n<dc:language>en</dc:language>\n\
         <dc:format>application/pdf</dc:format>\n<dc:identifier>http://bench.example.org/article/{name:07}</dc:identifier>\n\
         <dc:identifier>doi:10.9999/bench.{name:07}</dc:identifier>\n<dc:description>"
    ));
    let ending = "</dc:description>\n</oai_dc:dc>\n</metadata></record>\n";
    let left = RECORD.saturating_sub(page.len() - start + ending.len());
    page.push_str(&words(dice, left));
    page.push_str(ending);
}

/// Exactly so many bytes of something like words, which compresses as such.
fn words(dice: &mut Dice, length: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ta", "ri", "mo", "len", "sis", "gra", "vi", "ton", "el", "qua", "nt", "um", "fi", "eld", "or", "ph"];
    let mut text = String::with_capacity(length + 8);
    while text.len() < length {
        for _ in 0..1 + dice.below(4) {
            text.push_str(SYLLABLES[dice.below(16) as usize]);
        }
        text.push(' ');
    }
    text.truncate(length.saturating_sub(1));
    while text.len() < length {
        text.push('.');
    }
    text
}

fn gzip(page: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(page).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

/// A page of resources by value.
struct Made {
    records: u64,
    /// Pieces of base64 in each.
    pieces: u64,
    piece: String,
    length: u64,
}

/// Bytes of a piece before they are base64; a multiple of three, so that pieces can follow each other.
const PIECE: usize = 3 << 14;

impl Made {
    fn new(bytes: u64, record: u64) -> Self {
        let mut dice = Dice::new(21_000);
        let small = (record as usize * 3 / 4 / 3 * 3).clamp(3, PIECE);
        let noise: Vec<u8> = (0..small).map(|_| dice.below(256) as u8).collect();
        let piece = STANDARD.encode(noise);
        let (records, pieces) = (bytes.div_ceil(record), record.div_ceil(piece.len() as u64));
        let mut made = Self { records, pieces, piece, length: 0 };
        let mut counter = Counter(0);
        made.frame(&mut counter).expect("counting does not fail");
        made.length = counter.0 + records * pieces * made.piece.len() as u64;
        made
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(256 * 1024, out);
        self.write(&mut out, &self.piece)?;
        out.flush()
    }

    /// Everything but the bytes by value.
    fn frame(&self, out: &mut impl Write) -> io::Result<()> {
        self.write(out, "")
    }

    fn write(&self, out: &mut impl Write, piece: &str) -> io::Result<()> {
        writeln!(out, "{OPENING}<ListRecords>")?;
        for number in 0..self.records {
            let url = format!("http://bench.example.org/{:03}/{number:07}.bin", number / 1000);
            write!(
                out,
                "<record><header><identifier>{url}</identifier><datestamp>2024-01-01T00:00:00Z</datestamp></header><metadata>\n\
                 <didl:DIDL xmlns:didl=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><didl:Item><didl:Descriptor>\
                 <didl:Statement mimeType=\"application/xml; charset=utf-8\">\
                 <dii:Identifier xmlns:dii=\"urn:mpeg:mpeg21:2002:01-DII-NS\">{url}</dii:Identifier>\
                 </didl:Statement></didl:Descriptor><didl:Component>\
                 <didl:Resource mimeType=\"application/octet-stream\" encoding=\"base64\">"
            )?;
            for _ in 0..if piece.is_empty() { 0 } else { self.pieces } {
                out.write_all(piece.as_bytes())?;
            }
            out.write_all(b"</didl:Resource></didl:Component></didl:Item></didl:DIDL></metadata></record>\n")?;
        }
        let size = self.records;
        writeln!(out, "<resumptionToken cursor=\"0\" completeListSize=\"{size}\"/>\n</ListRecords>\n</OAI-PMH>")
    }
}

/// Counts what is written.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
