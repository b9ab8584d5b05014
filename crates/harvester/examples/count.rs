//! What parsing and counting a list costs, by parts, for the benchmark.
//!
//! `count harvest URL PREFIX [DIR]` is the whole harvest with a sink that only counts; its state, with an entry for every
//! item, is in memory, or in DIR. `count reader URL PREFIX` reads the same pages with the protocol's reader alone, over
//! a plain connection; `count client URL PREFIX` fetches them with the polite client and does nothing but look for the
//! token. Each prints the number of records.

use std::error::Error;
use std::path::Path;

use modoai_fetch::{Ask, Client, Manners, Url};
use modoai_harvester::harvest::{Harvest, Options};
use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::{Kept, Origin, Part, Sink, SinkError};
use modoai_protocol::xml::reader::{Event, Reader};
use modoai_testkit::http;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let records = match words.as_slice() {
        ["harvest", url, prefix] => runtime.block_on(harvest(url, prefix, None))?,
        ["harvest", url, prefix, dir] => runtime.block_on(harvest(url, prefix, Some(Path::new(dir))))?,
        ["client", url, prefix] => runtime.block_on(fetch(url, prefix))?,
        ["reader", url, prefix] => read(url, prefix)?,
        _ => return Err("usage: count harvest|reader|client URL PREFIX [DIR]".into()),
    };
    println!("{records}");
    Ok(())
}

async fn harvest(url: &str, prefix: &str, dir: Option<&Path>) -> Result<u64, Box<dyn Error>> {
    let harvest = Harvest::new(Client::new(Manners::default())?, Options::new(Url::parse(url)?));
    let summary = harvest.into_sink(dir, "count", prefix, Box::new(Uncaring)).await?;
    if !summary.complete {
        return Err(format!("incomplete: {:?}", summary.missing).into());
    }
    Ok(summary.records + summary.deleted)
}

/// The harvest counts by itself.
struct Uncaring;

impl Sink for Uncaring {
    fn page(&mut self, _: &Origin) -> Result<(), SinkError> {
        Ok(())
    }
    fn record(&mut self, _: &Header) -> Result<(), SinkError> {
        Ok(())
    }
    fn part(&mut self, _: Part, _: &[(&str, &str)]) -> Result<(), SinkError> {
        Ok(())
    }
    fn bytes(&mut self, _: &[u8]) -> Result<(), SinkError> {
        Ok(())
    }
    fn part_end(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
    fn end(&mut self, _: Novelty) -> Result<Kept, SinkError> {
        Ok(Kept::Yes)
    }
    fn abandon(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
    fn commit(&mut self) -> Result<String, SinkError> {
        Ok(String::new())
    }
    fn roll_back(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

fn read(url: &str, prefix: &str) -> Result<u64, Box<dyn Error>> {
    let path = Url::parse(url)?.path().to_owned();
    let mut client = http::Client::new(url);
    let mut response = http::Response::default();
    let mut target = format!("{path}?verb=ListRecords&metadataPrefix={prefix}");
    let mut records = 0;
    loop {
        client.send_into("GET", &target, &[], b"", &mut response)?;
        let mut reader = Reader::default();
        let mut token = String::new();
        reader.push(&response.body, &mut |event| match event {
            Event::RecordEnd => records += 1,
            Event::Token { value, .. } => value.clone_into(&mut token),
            _ => {}
        })?;
        reader.finish()?;
        if token.is_empty() {
            return Ok(records);
        }
        target = format!("{path}?verb=ListRecords&resumptionToken={}", http::encode(token));
    }
}

async fn fetch(url: &str, prefix: &str) -> Result<u64, Box<dyn Error>> {
    const TAIL: usize = 4096;
    let client = Client::new(Manners::default())?;
    let mut next = Url::parse(&format!("{url}?verb=ListRecords&metadataPrefix={prefix}"))?;
    let mut size = 0;
    loop {
        let mut body = client.get(Ask::new(next)).await?.body;
        let mut tail = Vec::new();
        while let Some(piece) = body.chunk().await? {
            tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL)..]);
            tail.drain(..tail.len().saturating_sub(TAIL));
        }
        let text = String::from_utf8_lossy(&tail).into_owned();
        let Some((tag, rest)) = text.split_once("<resumptionToken").and_then(|(_, rest)| rest.split_once('>')) else {
            return Ok(size);
        };
        let stated = tag.split_once("completeListSize=\"").and_then(|(_, rest)| rest.split('"').next());
        size = stated.and_then(|stated| stated.parse().ok()).unwrap_or(size);
        match rest.split('<').next().filter(|token| !token.is_empty()) {
            Some(token) => {
                next = Url::parse(&format!("{url}?verb=ListRecords&resumptionToken={}", http::encode(token)))?;
            }
            None => return Ok(size),
        }
    }
}
