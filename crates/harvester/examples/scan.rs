//! The floor that the benchmark measures harvesters against: fetches a list page by page on one connection and runs a
//! bare XML scan over it. Nothing is decoded, checked or kept; only what is needed to go on and to count.
//!
//! `scan http://HOST:PORT/PATH PREFIX` prints the number of records.

use std::error::Error;

use modoai_testkit::http::{Client, Response};
use quick_xml::Reader;
use quick_xml::events::Event;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, prefix] = arguments.as_slice() else { return Err("usage: scan URL PREFIX".into()) };
    let path = url.split('/').skip(3).fold(String::new(), |path, part| path + "/" + part);
    let mut client = Client::new(url);
    let mut response = Response::default();
    let mut target = format!("{path}?verb=ListRecords&metadataPrefix={prefix}");
    let mut records = 0_u64;
    loop {
        client.send_into("GET", &target, &[], b"", &mut response)?;
        if response.status != 200 {
            return Err(format!("{target}: status {}", response.status).into());
        }
        let (found, token) = scan(&response.body)?;
        records += found;
        if token.is_empty() {
            break;
        }
        target = format!("{path}?verb=ListRecords&resumptionToken={token}");
    }
    println!("{records}");
    Ok(())
}

/// How many records a page has, and where the list goes on.
fn scan(page: &[u8]) -> Result<(u64, String), Box<dyn Error>> {
    let mut reader = Reader::from_reader(page);
    let (mut records, mut token, mut in_token) = (0, String::new(), false);
    loop {
        match reader.read_event()? {
            Event::Start(tag) if tag.name().as_ref() == "record" => records += 1,
            Event::Start(tag) if tag.name().as_ref() == "resumptionToken" => in_token = true,
            Event::Text(text) if in_token => text.as_ref().clone_into(&mut token),
            Event::End(_) if in_token => in_token = false,
            Event::Eof => return Ok((records, token)),
            _ => {}
        }
    }
}
