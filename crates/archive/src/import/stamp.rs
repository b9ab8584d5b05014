//! When a document last changed, by what its record says: its datestamp while an archive is filled for the first time.

use modoai_protocol::Datestamp;
use modoai_protocol::datestamp::Bound;

use crate::record::Record;
use crate::source::Fault;

/// What the record says; `None` if it says nothing. What it says expressly must make sense; among its other dates only
/// those that do are looked at, and the latest counts.
pub(super) fn of(record: &Record) -> Result<Option<Datestamp>, Fault> {
    if let Some(datestamp) = &record.datestamp {
        let parsed = parse(datestamp);
        return match parsed {
            Some(_) => Ok(parsed),
            None => Err(Fault(format!("the datestamp '{datestamp}' is neither YYYY-MM-DD nor YYYY-MM-DDThh:mm:ssZ"))),
        };
    }
    Ok(["updated", "created", "issued", "available"].iter().filter_map(|event| parse(record.dates.get(*event)?)).max())
}

fn parse(text: &str) -> Option<Datestamp> {
    let text = text.trim();
    Bound::parse(text).or_else(|| Bound::parse(text.get(..10)?)).map(Bound::first)
}
