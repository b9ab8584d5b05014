//! Records for a program of one's own: a stream that goes on where it was, and that does not just end when something is
//! missing.
//!
//! `cargo run -p modoai-harvester --example records -- https://example.org/oai FOLDER [AT-MOST]` prints a line for each
//! record. Run once more with the same folder, it prints what changed; stopped at any moment, or after AT-MOST records,
//! it begins the next time with the page it was at.

use std::error::Error;

use modoai_fetch::{Client, Manners, Url};
use modoai_harvester::harvest::{Harvest, Options};
use modoai_harvester::stream::{Records, StreamError};

/// Metadata longer than this is not for this program.
const LONGEST: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: records URL FOLDER [AT-MOST]".into());
    };
    let most = arguments.next().map_or(Ok(usize::MAX), |most| most.parse())?;
    let harvest = Harvest::new(Client::new(Manners::default())?, Options::new(Url::parse(&url)?));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // A stream begins in the runtime, and so inside of it.
    runtime.block_on(async { print(Records::of(harvest, Some(folder.as_ref()), "oai_dc"), most).await })
}

async fn print(mut records: Records, most: usize) -> Result<(), Box<dyn Error>> {
    for _ in 0..most {
        // To ask for the next says that the last was dealt with.
        let mut record = match records.next().await {
            Some(Ok(record)) => record,
            Some(Err(StreamError::Incomplete(summary))) => {
                summary.missing.iter().for_each(|gap| eprintln!("missing: {gap}"));
                return Err("the harvest is incomplete; the next run asks for what is missing".into());
            }
            Some(Err(error)) => return Err(error.into()),
            None => {
                let summary = records.summary().ok_or("a stream that ended has a summary")?;
                eprintln!("complete: {} records, {} deleted", summary.records, summary.deleted);
                return Ok(());
            }
        };
        let size = record.metadata(LONGEST)?.map_or(0, |metadata| metadata.len());
        println!("{:?} {} {size}", record.novelty, record.header().identifier);
    }
    // When this returns, the folder is free for the next harvest.
    records.close().await;
    Ok(())
}
