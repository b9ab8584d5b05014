//! Converts arXiv's dates of versions to days.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use modoai_protocol::text::shortened;

use crate::source::Fault;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the day, in UTC, of `2007-04-02`, of a text that begins like this, or of `Mon, 2 Apr 2007 19:18:42 GMT`.
pub fn day(text: &str) -> Result<String, Fault> {
    let text = text.trim();
    let found = iso(text).or_else(|| gmt(text)).or_else(|| with_zone(text));
    found.ok_or_else(|| Fault(format!("invalid date {:?}", shortened(text, 60))))
}

fn iso(text: &str) -> Option<String> {
    let day: jiff::civil::Date = text.get(..10)?.parse().ok()?;
    let rest = &text[10..];
    // With a time in another zone the day may differ.
    if rest.is_empty() || rest.ends_with('Z') {
        return Some(day.to_string());
    }
    text.parse::<Timestamp>().ok().map(of)
}

/// Parses dates in GMT, as nearly all are, without a library.
fn gmt(text: &str) -> Option<String> {
    let mut words = text.split_ascii_whitespace().peekable();
    words.next_if(|word| word.ends_with(','));
    let day: i8 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|known| month.eq_ignore_ascii_case(known))?;
    let year = words.next()?;
    let digits = year.len();
    let year: i16 = year.parse().ok()?;
    // The first years of arXiv were written with two digits.
    let year = if digits == 2 { year + if year < 50 { 2000 } else { 1900 } } else { year };
    words.next_if(|word| word.contains(':'));
    matches!(words.next(), None | Some("GMT" | "UTC" | "UT" | "+0000")).then_some(())?;
    let date = jiff::civil::Date::new(year, i8::try_from(month).ok()? + 1, day).ok()?;
    Some(format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day()))
}

fn with_zone(text: &str) -> Option<String> {
    let timestamp = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(of(timestamp))
}

fn of(timestamp: Timestamp) -> String {
    timestamp.to_zoned(TimeZone::UTC).date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_greenwich() {
        for (text, expected) in [
            ("Mon, 2 Apr 2007 19:18:42 GMT", "2007-04-02"),
            ("Fri, 01 Jan 1999 01:34:10 GMT", "1999-01-01"),
            ("Thu, 6 Aug 92 10:00 GMT", "1992-08-06"),
            ("2 Apr 2007", "2007-04-02"),
            ("Sun, 31 Dec 2006 23:30:00 -0500", "2007-01-01"),
            ("Sun, 31 Dec 2006 20:30:00 EST", "2007-01-01"),
            (" 2008-11-26\n", "2008-11-26"),
            ("2008-11-26T23:59:59Z", "2008-11-26"),
            ("2008-11-26T23:59:59-01:00", "2008-11-27"),
        ] {
            assert_eq!(day(text).as_deref(), Ok(expected), "{text}");
        }
        for text in
            ["", "soon", "Mon, 32 Apr 2007 00:00:00 GMT", "2007-13-01", "2 Foo 2007", "9999999999", "2008-11-2é"]
        {
            assert!(day(text).is_err(), "{text}");
        }
    }
}
