//! UTC datestamps, the two granularities, and inclusive ranges.
//!
//! In memory, a datestamp is whole seconds since 1970, which are simple to sort, store and compare. As text, it has
//! exactly two lexical forms, `YYYY-MM-DD` and `YYYY-MM-DDThh:mm:ssZ`; fractions, offsets and impossible dates do not
//! parse. modoai's repositories always advertise seconds and accept both.

use std::fmt;

use jiff::civil::{DateTime, datetime};
use jiff::fmt::rfc2822::DateTimeParser;

/// The granularity that modoai's repositories advertise in Identify.
pub const GRANULARITY: &str = "YYYY-MM-DDThh:mm:ssZ";

const SECONDS_PER_DAY: i64 = 86_400;
const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

/// Years 0001 to 9999: the range of four digits. XML Schema 1.0, the language of the protocol's schema, has no year
/// 0000.
const MIN_SECONDS: i64 = -62_135_596_800;
const MAX_SECONDS: i64 = 253_402_300_799;

/// A time in whole seconds, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Datestamp(i64);

impl Datestamp {
    /// The earliest time that can be written.
    pub const MIN: Self = Self(MIN_SECONDS);
    /// The latest time that can be written.
    pub const MAX: Self = Self(MAX_SECONDS);

    /// Creates a datestamp from seconds since 1970. Times outside the years of four digits become the nearest time
    /// inside.
    pub fn from_unix(seconds: i64) -> Self {
        Self(seconds.clamp(MIN_SECONDS, MAX_SECONDS))
    }

    /// Returns the seconds since 1970.
    pub fn unix(self) -> i64 {
        self.0
    }

    /// Parses the form `YYYY-MM-DDThh:mm:ssZ`.
    pub fn parse(text: &str) -> Option<Self> {
        match Bound::parse(text)? {
            Bound { form: Form::Seconds, start } => Some(start),
            Bound { form: Form::Day, .. } => None,
        }
    }

    /// Parses a date in the form of HTTP, `Sun, 06 Nov 1994 08:49:37 GMT`, of any year; not in the two older forms of
    /// RFC 9110.
    pub fn from_http_date(text: &str) -> Option<Self> {
        let read = DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text.trim()).ok()?;
        Some(Self::from_unix(read.as_second()))
    }

    /// Returns the date in the form of HTTP.
    pub fn to_http_date(self) -> String {
        // The first day of 1970 was a Thursday.
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let days = self.0.div_euclid(SECONDS_PER_DAY);
        let second = self.0.rem_euclid(SECONDS_PER_DAY);
        let (year, month, day) = civil_from_days(days);
        let (name, month) = (DAYS[days.rem_euclid(7) as usize], MONTHS[month as usize - 1]);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{name}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }

    /// Returns the form `YYYY-MM-DDThh:mm:ssZ`, without allocating, because every record of every list contains it.
    pub fn to_bytes(self) -> [u8; 20] {
        let days = self.0.div_euclid(SECONDS_PER_DAY);
        let second = self.0.rem_euclid(SECONDS_PER_DAY);
        let (year, month, day) = civil_from_days(days);
        let mut text = *b"0000-00-00T00:00:00Z";
        let mut put = |at: usize, digits: usize, mut value: i64| {
            for place in (at..at + digits).rev() {
                text[place] = b'0' + (value % 10) as u8;
                value /= 10;
            }
        };
        put(0, 4, year);
        put(5, 2, month);
        put(8, 2, day);
        put(11, 2, second / 3600);
        put(14, 2, second / 60 % 60);
        put(17, 2, second % 60);
        text
    }
}

impl fmt::Display for Datestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_bytes();
        f.write_str(std::str::from_utf8(&text).expect("only ASCII digits and punctuation"))
    }
}

/// Converts days since 1970 to year, month, day in the proleptic Gregorian calendar. It counts in 400-year eras from 1
/// March, so that the leap day is the last of its year. A test compares it with jiff over the whole range.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Day,
    Seconds,
}

/// The value of `from` or `until`: the time, and which of the two forms it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    start: Datestamp,
    form: Form,
}

impl Bound {
    /// Parses either form. Only real calendar dates are valid.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |at: usize, digits: usize| -> Option<i16> {
            let field = bytes.get(at..at + digits)?;
            field.iter().try_fold(0_i16, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i16::from(byte - b'0')))
        };
        let mark = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
        let dashes = mark(4, b'-') && mark(7, b'-');
        let form = match bytes.len() {
            10 if dashes => Form::Day,
            20 if dashes && mark(10, b'T') && mark(13, b':') && mark(16, b':') && mark(19, b'Z') => Form::Seconds,
            _ => return None,
        };
        let time = |at: usize| -> Option<i8> {
            if form == Form::Day { Some(0) } else { number(at, 2).and_then(|n| i8::try_from(n).ok()) }
        };
        let month = i8::try_from(number(5, 2)?).ok()?;
        let day = i8::try_from(number(8, 2)?).ok()?;
        let year = number(0, 4).filter(|year| *year > 0)?;
        let civil = DateTime::new(year, month, day, time(11)?, time(14)?, time(17)?, 0).ok()?;
        let start = civil.duration_since(EPOCH).as_secs();
        Some(Self { start: Datestamp::from_unix(start), form })
    }

    /// Returns true if both are written in the same form, as `from` and `until` must be.
    pub fn same_form(self, other: Self) -> bool {
        self.form == other.form
    }

    /// Returns the first second that the bound covers: midnight for a day.
    pub fn first(self) -> Datestamp {
        self.start
    }

    /// Returns the last second that the bound covers: 23:59:59 for a day.
    pub fn last(self) -> Datestamp {
        match self.form {
            Form::Day => Datestamp::from_unix(self.start.0 + SECONDS_PER_DAY - 1),
            Form::Seconds => self.start,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.start.to_string();
        f.write_str(match self.form {
            Form::Day => &text[..10],
            Form::Seconds => &text,
        })
    }
}

/// An inclusive range of datestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first second of the range.
    pub first: Datestamp,
    /// The last second of the range.
    pub last: Datestamp,
}

impl Range {
    /// The range of all datestamps.
    pub const ALL: Self = Self { first: Datestamp::MIN, last: Datestamp::MAX };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_are_of_any_year() {
        for (text, unix) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Fri, 01 Jan 1960 00:00:00 GMT", -315_619_200),
        ] {
            assert_eq!(Datestamp::from_http_date(text), Some(Datestamp::from_unix(unix)));
            assert_eq!(Datestamp::from_unix(unix).to_http_date(), text);
        }
        for moment in [Datestamp::MIN.unix(), -1, 0, 951_782_400, Datestamp::MAX.unix() - 100_000] {
            let moment = Datestamp::from_unix(moment);
            assert_eq!(Datestamp::from_http_date(&moment.to_http_date()), Some(moment), "{moment}");
        }
        assert_eq!(Datestamp::MAX.to_http_date(), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(Datestamp::from_http_date("yesterday"), None);
    }

    #[test]
    fn only_the_two_forms_and_real_dates_parse() {
        for legal in ["2024-02-29", "0001-01-01", "9999-12-31", "1969-12-31T23:59:59Z", "2002-02-05T00:00:00Z"] {
            assert_eq!(Bound::parse(legal).expect(legal).to_string(), legal);
        }
        for illegal in [
            "",
            "junk",
            "0000-01-01",
            "2024",
            "2024-02",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-32",
            "24-01-01",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.5Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T00:00:00+01:00",
            "2024-01-01 00:00:00Z",
            "2024-01-01t00:00:00z",
            "+024-01-01",
            "-024-01-01",
            "２０２４-01-01",
            "2024-1-01",
            " 2024-01-01",
        ] {
            assert_eq!(Bound::parse(illegal), None, "{illegal}");
        }
    }

    #[test]
    fn a_day_covers_all_its_seconds() {
        let day = Bound::parse("2024-02-29").expect("a leap day");
        assert_eq!(day.first().to_string(), "2024-02-29T00:00:00Z");
        assert_eq!(day.last().to_string(), "2024-02-29T23:59:59Z");
        assert_eq!(Bound::parse("9999-12-31").expect("the last day").last(), Datestamp::MAX);
        assert_eq!(Bound::parse("0001-01-01").expect("the first day").first(), Datestamp::MIN);
    }

    #[test]
    fn the_fast_calendar_agrees_with_the_library() {
        // A step of a prime number of seconds covers all times of day and every kind of year.
        for seconds in (MIN_SECONDS..=MAX_SECONDS).step_by(86_400 * 37 + 4_987) {
            let civil = EPOCH + jiff::SignedDuration::from_secs(seconds);
            let expected = civil.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            assert_eq!(Datestamp::from_unix(seconds).to_string(), expected);
        }
    }
}
