//! The dates of a document: the date of its last change, by its record, which becomes the datestamp when an archive is
//! first filled; and dates that cannot be parsed.

use std::borrow::Cow;

use jiff::Timestamp;
use modoai_protocol::Datestamp;
use modoai_protocol::datestamp::Bound;
use modoai_protocol::text::shortened;

use crate::crosswalk::dates::Date;
use crate::record::Record;
use crate::source::Fault;

/// Returns the date of the last change; `None` if the record has none. An explicit datestamp must be valid. Of the
/// other dates, invalid ones are ignored, and the latest counts.
pub(super) fn of(record: &Record) -> Result<Option<Datestamp>, Fault> {
    if let Some(datestamp) = &record.datestamp {
        let what = || Fault(format!("invalid datestamp {datestamp:?}; expected YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ"));
        return exact(datestamp).map(Some).ok_or_else(what);
    }
    let dates = ["updated", "created", "issued", "available"].iter().filter_map(|event| record.dates.get(*event));
    Ok(dates.filter_map(|date| exact(date).or_else(|| day(date))).max())
}

/// Reports the dates of a record that cannot be parsed; `None` if all can. They are kept as text.
pub(super) fn unreadable(record: &Record) -> Option<Fault> {
    let is_bad = |date: &str| !date.trim().is_empty() && Date::parse(date).is_none();
    let named = record.dates.iter().filter(|(_, date)| is_bad(date));
    let named = named.map(|(event, date)| (format!("dates.{}", shortened(event, MAX_QUOTED).escape_debug()), date));
    let versions = record.versions.iter().filter(|version| is_bad(&version.date));
    let versions = versions.map(|version| ("versions".to_owned(), &version.date));
    let dates = named.chain(versions).map(|(field, date)| (field, Cow::from(date)));
    let further = record.further_date().filter(|date| is_bad(date)).map(|date| ("date".to_owned(), date));
    let mut bad = dates.chain(further);
    let (field, date) = bad.next()?;
    let what = format!(
        "field `{field}`: invalid date {:?}; expected a date such as 2024, 2024-05 or 2024-05-17",
        shortened(&date, MAX_QUOTED)
    );
    Some(Fault(match bad.count() {
        0 => what,
        more => format!("{what} (and {more} more)"),
    }))
}

/// The number of characters of a text in a message, with which it can be found.
const MAX_QUOTED: usize = 60;

/// Parses a day, or a time with a known zone.
fn exact(text: &str) -> Option<Datestamp> {
    let text = text.trim();
    Bound::parse(text).map(Bound::first).or_else(|| {
        let seconds = text.parse::<Timestamp>().ok()?.as_second();
        let datestamp = Datestamp::from_unix(seconds);
        // Years outside the range of datestamps.
        (datestamp.unix() == seconds).then_some(datestamp)
    })
}

/// Parses the day of a date in any other form; of a month or a year, its first day.
fn day(text: &str) -> Option<Datestamp> {
    Bound::parse(&Date::parse(text)?.first_day().to_string()).map(Bound::first)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stamp(json: serde_json::Value) -> Result<Option<String>, String> {
        let record: Record = serde_json::from_value(json).expect("a record");
        of(&record).map(|stamp| stamp.map(|stamp| stamp.to_string())).map_err(|fault| fault.0)
    }

    #[test]
    fn a_datestamp_is_the_moment_that_is_written() {
        for (text, expected) in [
            ("2020-01-01", "2020-01-01T00:00:00Z"),
            (" 2020-01-01T10:00:00Z ", "2020-01-01T10:00:00Z"),
            ("2020-01-01T00:00:00+05:00", "2019-12-31T19:00:00Z"),
            ("2020-01-01T10:00:00.999Z", "2020-01-01T10:00:00Z"),
        ] {
            assert_eq!(stamp(json!({ "datestamp": text })), Ok(Some(expected.to_owned())), "{text}");
        }
        for text in [
            "",
            "2020",
            "2020-01",
            "2020-01-01x",
            "2020-01-01T10:00:00",
            "2020-01-01T10",
            "2020-02-30",
            "20200101",
            "2020-01-01 noon",
            "0000-01-01T00:00:00Z",
            "-002020-01-01T00:00:00Z",
            "last Tuesday",
        ] {
            let said = stamp(json!({ "datestamp": text })).expect_err(text);
            assert!(said.contains("expected YYYY-MM-DD or"), "{said}");
        }
    }

    #[test]
    fn dates_that_cannot_be_read_are_told() {
        let told = |json: serde_json::Value| {
            let record: Record = serde_json::from_value(json).expect("a record");
            unreadable(&record).map(|fault| fault.0)
        };
        for date in ["2020-5-5", "12.03.2019", "2020/01/02", "May 2020", "2020-02-31"] {
            let said = told(json!({ "dates": { "created": "2020", "issued": date } })).expect(date);
            assert_eq!(
                said,
                format!(
                    "field `dates.issued`: invalid date {date:?}; expected a date such as 2024, 2024-05 or 2024-05-17"
                )
            );
        }
        let versions = json!([{ "version": "v1", "date": "soon" }, { "version": "v2", "date": "later" }]);
        let said = told(json!({ "versions": versions })).expect("two of them");
        assert!(said.starts_with("field `versions`: invalid date \"soon\""), "{said}");
        assert!(said.ends_with(" (and 1 more)"), "{said}");
        assert_eq!(told(json!({ "dates": { "issued": " " }, "versions": ["v1"] })), None, "what is blank is not there");
    }

    #[test]
    fn otherwise_it_is_the_latest_date_or_its_first_day() {
        for (dates, expected) in [
            (json!({ "created": "2019-12-31", "issued": "2021", "updated": "soon" }), Some("2021-01-01T00:00:00Z")),
            (json!({ "issued": "1994" }), Some("1994-01-01T00:00:00Z")),
            (json!({ "issued": "1994-03" }), Some("1994-03-01T00:00:00Z")),
            (json!({ "issued": "1994-03", "created": "1994-02-20" }), Some("1994-03-01T00:00:00Z")),
            (
                json!({ "created": "2019-12-31", "issued": "Mon, 6 Jan 2020 10:00:00 GMT" }),
                Some("2020-01-06T00:00:00Z"),
            ),
            (json!({ "issued": "2020-01-01T00:00:00+05:00" }), Some("2019-12-31T19:00:00Z")),
            (json!({ "issued": "2020-01-01T10:00:00" }), Some("2020-01-01T00:00:00Z")),
            (json!({ "issued": "2020-01-01x" }), None),
        ] {
            assert_eq!(stamp(json!({ "dates": dates })), Ok(expected.map(str::to_owned)), "{dates}");
        }
    }
}
