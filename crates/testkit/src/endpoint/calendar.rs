//! Datestamps and HTTP dates from seconds and back, independent of the code under test.

use std::time::{SystemTime, UNIX_EPOCH};

/// The two forms in which OAI-PMH writes dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// `YYYY-MM-DD`.
    Day,
    /// `YYYY-MM-DDThh:mm:ssZ`.
    Second,
}

impl Granularity {
    /// As Identify says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "YYYY-MM-DD",
            Self::Second => "YYYY-MM-DDThh:mm:ssZ",
        }
    }

    /// Seconds since 1970 in this form.
    pub fn format(self, seconds: i64) -> String {
        let full = datestamp(seconds);
        match self {
            Self::Day => full[..10].to_owned(),
            Self::Second => full,
        }
    }
}

/// Now, in seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// Seconds since 1970 as `YYYY-MM-DDThh:mm:ssZ`.
pub fn datestamp(seconds: i64) -> String {
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let (hour, minute, second) = clock(seconds);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Seconds since 1970 as HTTP writes a date.
pub fn http_date(seconds: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let days = seconds.div_euclid(86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = clock(seconds);
    let (name, month) = (DAYS[days.rem_euclid(7) as usize], MONTHS[month as usize - 1]);
    format!("{name}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Reads a datestamp: the seconds it begins and ends with, and its form.
pub fn parse(text: &str) -> Option<(i64, i64, Granularity)> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let shape: String =
        text.chars().map(|character| if character.is_ascii_digit() { '0' } else { character }).collect();
    let granularity = match shape.as_str() {
        "0000-00-00" => Granularity::Day,
        "0000-00-00T00:00:00Z" => Granularity::Second,
        _ => return None,
    };
    let start = days(number(0..4)?, number(5..7)?, number(8..10)?)? * 86_400;
    match granularity {
        Granularity::Day => Some((start, start + 86_399, granularity)),
        Granularity::Second => {
            let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
            let at = start + hour * 3_600 + minute * 60 + second;
            (hour < 24 && minute < 60 && second < 60).then_some((at, at, granularity))
        }
    }
}

fn clock(seconds: i64) -> (i64, i64, i64) {
    let second = seconds.rem_euclid(86_400);
    (second / 3_600, second / 60 % 60, second % 60)
}

/// Days since 1970 of a date, if it exists.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    // Years begin in March here, so that the day that is sometimes missing comes last.
    let shifted = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = shifted * 365 + shifted.div_euclid(4) - shifted.div_euclid(100) + shifted.div_euclid(400) + day_of_year
        - 719_468;
    ((1..=12).contains(&month) && civil(days) == (year, month, day)).then_some(days)
}

/// The date that is so many days after 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_there_and_back() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_425_196_800, "2015-03-01T08:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(datestamp(seconds), text);
            assert_eq!(parse(text), Some((seconds, seconds, Granularity::Second)));
        }
        assert_eq!(parse("1970-01-02"), Some((86_400, 172_799, Granularity::Day)));
        for wrong in ["2015-02-29", "2015-13-01", "2015-00-10", "2015-1-1", "2015-03-01T08:00Z", "2015-03-01T24:00:00Z"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
