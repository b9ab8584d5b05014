//! Converts dates in the forms that catalogues use to the one form that formats require.
//!
//! They are parsed by hand and not by a calendar library: this runs several times for every record of an import, and a
//! date of lower precision (`2024`, `2024-05`) is as valid as any other.

use std::fmt;

/// A day, a month or a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date {
    year: u16,
    /// 0 if unknown.
    month: u8,
    /// 0 if unknown.
    day: u8,
}

impl Date {
    /// Parses `YYYY`, `YYYY-MM`, `YYYY-MM-DD` with or without a time, `YYYYMMDD`, and RFC 2822's `Mon, 2 Apr 2007
    /// 19:18:42 GMT`. The day is the one written, regardless of the time zone.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        Self::parse_iso(text.as_bytes()).or_else(|| Self::parse_mail(text))
    }

    fn parse_iso(text: &[u8]) -> Option<Self> {
        let year = number(text.get(..4)?)?;
        let (month, day) = match text.get(4..)? {
            [] => (0, 0),
            [b'-', month @ ..] if month.len() == 2 => (number(month)?, 0),
            [b'-', m1, m2, b'-', d1, d2, rest @ ..] if matches!(rest.first(), None | Some(b'T' | b't' | b' ')) => {
                (number(&[*m1, *m2])?, number(&[*d1, *d2])?)
            }
            compact if compact.len() == 4 => (number(&compact[..2])?, number(&compact[2..])?),
            _ => return None,
        };
        let whole = text.len() <= 7 || day > 0;
        let ranged = (text.len() < 7 || (1..=12).contains(&month)) && whole;
        Self { year, month: month as u8, day: day as u8 }.checked().filter(|_| ranged)
    }

    fn parse_mail(text: &str) -> Option<Self> {
        let text = text.split_once(',').map_or(text, |(_, rest)| rest);
        let mut words = text.split_ascii_whitespace();
        let (day, month, year) = (words.next()?, words.next()?, words.next()?);
        let month = MONTHS.iter().position(|name| month.get(..3).is_some_and(|it| it.eq_ignore_ascii_case(name)))? + 1;
        if day.len() > 2 {
            return None;
        }
        let written = year.len();
        let year = match (number(year.as_bytes())?, written) {
            (year, 4) => year,
            // RFC 2822, 4.3: years of two digits.
            (year @ 0..50, 2) => 2000 + year,
            (year, 2) => 1900 + year,
            _ => return None,
        };
        let day = number(day.as_bytes()).filter(|&day| day > 0)?;
        Self { year, month: month as u8, day: day as u8 }.checked()
    }

    /// Returns the date if it exists in the calendar.
    fn checked(self) -> Option<Self> {
        let leap = self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let days = match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (self.year > 0 && self.month <= 12 && self.day <= days).then_some(self)
    }

    /// Returns the first day of a month or a year, or the day itself.
    pub(crate) fn first_day(self) -> Self {
        Self { month: self.month.max(1), day: self.day.max(1), ..self }
    }

    /// Returns the year.
    pub(super) fn year(self) -> u16 {
        self.year
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = *b"0000-00-00";
        let mut put = |at: usize, digits: usize, mut value: u16| {
            for place in (at..at + digits).rev() {
                text[place] = b'0' + (value % 10) as u8;
                value /= 10;
            }
        };
        put(0, 4, self.year);
        put(5, 2, u16::from(self.month));
        put(8, 2, u16::from(self.day));
        let length = match (self.month, self.day) {
            (0, _) => 4,
            (_, 0) => 7,
            _ => 10,
        };
        f.write_str(std::str::from_utf8(&text[..length]).expect("only digits and dashes"))
    }
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Parses one to four digits.
fn number(digits: &[u8]) -> Option<u16> {
    if digits.is_empty() || digits.len() > 4 {
        return None;
    }
    digits.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u16::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_precision_are_read() {
        for (text, expected) in [
            ("2024", "2024"),
            ("2024-05", "2024-05"),
            ("2024-05-01", "2024-05-01"),
            ("2024-05-01T10:00:00Z", "2024-05-01"),
            ("2024-05-01 10:00:00.5", "2024-05-01"),
            (" 2024-05-01 ", "2024-05-01"),
            ("20240501", "2024-05-01"),
            ("Mon, 2 Apr 2007 19:18:42 GMT", "2007-04-02"),
            ("Thu, 02 April 2007 19:18:42 +0200", "2007-04-02"),
            ("2 Apr 2007", "2007-04-02"),
            ("Fri, 31 Jul 92 09:15:00 GMT", "1992-07-31"),
            ("29 Feb 2000", "2000-02-29"),
            ("0987", "0987"),
        ] {
            assert_eq!(Date::parse(text).map(|date| date.to_string()).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "0000",
            "24",
            "2024-13",
            "2024-00",
            "2024-05-00",
            "2024-05-32",
            "2023-02-29",
            "1900-02-29",
            "2024-5-1",
            "2024-05-01x",
            "2024-0501",
            "202405011",
            "Spring 2024",
            "2024/05/01",
            "32 Jan 2024",
            "0 Jan 2024",
            "1 Foo 2024",
            "1 Jan 20240",
            "été 2024",
            "20245",
            "2024-",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
