//! Date ranges, and their division.
//!
//! A list that a server cannot return as a whole is requested in parts: years, months, days, hours, minutes, seconds.
//! The first part has no lower and the last no upper end, because the earliest datestamp and the clock of servers are
//! often wrong; so the parts together are always the whole.

use jiff::civil::DateTime;
use modoai_protocol::{Bound, Datestamp};

/// The form of a server's datestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// `2024-01-31`.
    Day,
    /// `2024-01-31T23:59:59Z`.
    Seconds,
}

impl Granularity {
    /// Reads the granularity of Identify, in any case; a value longer than a day means seconds.
    pub fn parse(text: &str) -> Self {
        if text.trim().len() > "YYYY-MM-DD".len() { Self::Seconds } else { Self::Day }
    }

    /// Returns a datestamp in this form.
    pub fn write(self, date: Datestamp) -> String {
        let mut text = date.to_string();
        if self == Self::Day {
            text.truncate("YYYY-MM-DD".len());
        }
        text
    }

    /// Returns true if a text is a datestamp in this form.
    pub fn fits(self, text: &str) -> bool {
        Bound::parse(text).is_some() && (text.len() == "YYYY-MM-DD".len()) == (self == Self::Day)
    }

    /// The seconds between a datestamp in this form and the next.
    pub fn unit(self) -> i64 {
        match self {
            Self::Day => 86_400,
            Self::Seconds => 1,
        }
    }

    /// Returns the date `units` datestamps later.
    pub fn later(self, date: Datestamp, units: i64) -> Datestamp {
        Datestamp::from_unix(date.unix() + units * self.unit())
    }
}

/// An inclusive range of dates; open if an end is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first second inside.
    pub from: Option<Datestamp>,
    /// The last second inside.
    pub until: Option<Datestamp>,
}

/// The units of division, from the largest to the smallest.
const UNITS: [Unit; 6] = [Unit::Year, Unit::Month, Unit::Day, Unit::Hour, Unit::Minute, Unit::Second];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// The maximum number of parts created at a time: a window of a thousand years is divided again later.
const MOST_PARTS: usize = 400;

impl Window {
    /// The window without limits.
    pub const ALL: Self = Self { from: None, until: None };

    /// Returns the parts of this window in the largest unit of which it holds more than one, in order; none if it
    /// cannot be divided. `within` is where records are expected: ends that are open are open in the first and last
    /// part.
    pub fn split(self, within: (Datestamp, Datestamp), granularity: Granularity) -> Vec<Self> {
        let first = self.from.unwrap_or(within.0).min(self.until.unwrap_or(Datestamp::MAX));
        let last = self.until.unwrap_or(within.1).max(first);
        let divisible = |unit: &&Unit| granularity == Granularity::Seconds || **unit as u8 <= Unit::Day as u8;
        for unit in UNITS.iter().filter(divisible) {
            let cuts = unit.cuts(first, last);
            if cuts.is_empty() {
                continue;
            }
            let mut parts = Vec::with_capacity(cuts.len() + 1);
            let mut from = self.from;
            for cut in cuts {
                parts.push(Self { from, until: Some(Datestamp::from_unix(cut.unix() - 1)) });
                from = Some(cut);
            }
            parts.push(Self { from, until: self.until });
            return parts;
        }
        Vec::new()
    }

    /// Returns the parts of this window before, around and after its records, if all of them have the same datestamp: no smaller
    /// part would contain fewer of them. The middle part is a datestamp longer on both sides, because some servers exclude
    /// the ends; if it is not smaller than the window, there are no parts.
    pub fn split_around(self, (oldest, newest): (i64, i64), granularity: Granularity) -> Option<Vec<Self>> {
        let unit = granularity.unit();
        let moment = oldest.div_euclid(unit);
        if moment != newest.div_euclid(unit) || !self.holds((oldest, newest)) {
            return None;
        }
        let (first, last) = ((moment - 1) * unit, (moment + 2) * unit - 1);
        let date = |unix| Some(Datestamp::from_unix(unix));
        let mut parts = Vec::new();
        if self.from.is_none_or(|from| from.unix() < first) {
            parts.push(Self { from: self.from, until: date(first - 1) });
        }
        if self.until.is_none_or(|until| until.unix() > last) {
            parts.push(Self { from: date(last + 1), until: self.until });
        }
        if !parts.is_empty() {
            let middle = Self { from: self.from.max(date(first)), until: self.until.or(date(last)).min(date(last)) };
            parts.insert(usize::from(parts[0].from == self.from), middle);
        }
        Some(parts)
    }

    /// Returns true if this window is shorter than a day, so that dividing it further means many requests for few
    /// records.
    pub fn is_short(self) -> bool {
        match (self.from, self.until) {
            (Some(from), Some(until)) => until.unix() - from.unix() < 86_400,
            _ => false,
        }
    }

    /// Returns true if the window contains both moments, the oldest and the newest.
    pub fn holds(self, (oldest, newest): (i64, i64)) -> bool {
        self.from.is_none_or(|from| from.unix() <= oldest) && self.until.is_none_or(|until| newest <= until.unix())
    }

    /// Returns this window and the one that follows it as one; none if they are not adjacent.
    pub fn joined(self, next: Self) -> Option<Self> {
        let adjacent = matches!((self.until, next.from), (Some(until), Some(from)) if until.unix() + 1 == from.unix());
        adjacent.then_some(Self { from: self.from, until: next.until })
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.from, self.until) {
            (None, None) => f.write_str("everything"),
            (Some(from), None) => write!(f, "from {from}"),
            (None, Some(until)) => write!(f, "until {until}"),
            (Some(from), Some(until)) => write!(f, "{from} to {until}"),
        }
    }
}

impl Unit {
    /// Returns the moments after `first` and up to `last` at which a unit begins.
    fn cuts(self, first: Datestamp, last: Datestamp) -> Vec<Datestamp> {
        let mut cuts = Vec::new();
        let mut at = first;
        while let Some(next) = self.next(at).filter(|next| *next <= last && cuts.len() < MOST_PARTS) {
            cuts.push(next);
            at = next;
        }
        cuts
    }

    /// Returns the first beginning of a unit after a moment.
    fn next(self, moment: Datestamp) -> Option<Datestamp> {
        let text = moment.to_string();
        let civil: DateTime = text.trim_end_matches('Z').parse().ok()?;
        let (month, day, hour, minute, second) = match self {
            Self::Year => (1, 1, 0, 0, 0),
            Self::Month => (civil.month(), 1, 0, 0, 0),
            Self::Day => (civil.month(), civil.day(), 0, 0, 0),
            Self::Hour => (civil.month(), civil.day(), civil.hour(), 0, 0),
            Self::Minute => (civil.month(), civil.day(), civil.hour(), civil.minute(), 0),
            Self::Second => (civil.month(), civil.day(), civil.hour(), civil.minute(), civil.second()),
        };
        let begun = DateTime::new(civil.year(), month, day, hour, minute, second, 0).ok()?;
        let span = jiff::Span::new();
        let next = begun.checked_add(match self {
            Self::Year => span.years(1),
            Self::Month => span.months(1),
            Self::Day => span.days(1),
            Self::Hour => span.hours(1),
            Self::Minute => span.minutes(1),
            Self::Second => span.seconds(1),
        });
        Datestamp::parse(&next.ok()?.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
    }
}

/// Reads a datestamp as servers write it: in either form, or with fractions of a second, which are dropped.
pub fn read_date(text: &str) -> Option<Datestamp> {
    let text = text.trim();
    if let Some(bound) = Bound::parse(text) {
        return Some(bound.first());
    }
    let (whole, fraction) = text.strip_suffix('Z')?.split_once('.')?;
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| Datestamp::parse(&format!("{whole}Z"))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Datestamp {
        read_date(text).expect("a date")
    }

    fn window(from: &str, until: &str) -> Window {
        let end = |text: &str| (!text.is_empty()).then(|| date(text));
        Window { from: end(from), until: end(until) }
    }

    #[test]
    fn parts_are_the_whole_in_order_and_without_gaps() {
        let within = (date("2001-05-04"), date("2024-02-29T12:30:00Z"));
        let mut windows = vec![
            Window::ALL,
            window("2020-01-01", ""),
            window("", "2003-01-01T00:00:00Z"),
            window("2024-02-28T00:00:00Z", "2024-03-01T23:59:59Z"),
        ];
        for _ in 0..2_000 {
            let Some(whole) = windows.pop() else { return };
            let parts = whole.split(within, Granularity::Seconds);
            let Some((first, last)) = parts.first().zip(parts.last()) else {
                let open = whole.from.is_none() || whole.until.is_none();
                assert!(open || whole.from == whole.until, "only a second, or what lies outside, cannot be divided");
                continue;
            };
            assert!(parts.len() > 1);
            assert_eq!((first.from, last.until), (whole.from, whole.until));
            assert!(parts.windows(2).all(|two| two[0].joined(two[1]).is_some()));
            windows.extend(parts.first().into_iter().chain(parts.last()).copied());
        }
    }

    #[test]
    fn the_largest_unit_that_divides_is_taken() {
        let within = (date("2001-01-01"), date("2003-01-01T00:00:00Z"));
        let years = Window::ALL.split(within, Granularity::Day);
        assert_eq!(
            years,
            [
                window("", "2001-12-31T23:59:59Z"),
                window("2002-01-01", "2002-12-31T23:59:59Z"),
                window("2003-01-01", "")
            ]
        );
        let days = window("2003-01-01", "2003-01-02T23:59:59Z").split(within, Granularity::Day);
        assert_eq!(days.len(), 2);
        assert!(days[0].is_short());
        assert!(days[0].split(within, Granularity::Day).is_empty(), "a day is the least that can be asked for");
        assert_eq!(days[0].split(within, Granularity::Seconds).len(), 24);
    }

    #[test]
    fn records_of_one_moment_are_separated_from_the_rest() {
        let span = |text: &str| (date(text).unix(), date(text).unix());
        let moment = span("2020-03-01T10:00:00Z");
        let parts = Window::ALL.split_around(moment, Granularity::Seconds).expect("parts");
        let expected = [
            window("", "2020-03-01T09:59:58Z"),
            window("2020-03-01T09:59:59Z", "2020-03-01T10:00:01Z"),
            window("2020-03-01T10:00:02Z", ""),
        ];
        assert_eq!(parts, expected);
        assert_eq!(parts[1].split_around(moment, Granularity::Seconds), Some(Vec::new()), "no smaller part would help");
        let since = window("2020-03-01T00:00:00Z", "");
        let days = since.split_around(moment, Granularity::Day).expect("parts");
        assert_eq!(days, [window("2020-03-01", "2020-03-02T23:59:59Z"), window("2020-03-03", "")]);
        let wide = (moment.0, moment.0 + 1);
        assert_eq!(Window::ALL.split_around(wide, Granularity::Seconds), None);
        assert_eq!(window("2021-01-01", "").split_around(moment, Granularity::Day), None, "dates that are ignored");
    }

    #[test]
    fn a_window_holds_what_lies_between_its_ends() {
        let span = |from, until| (date(from).unix(), date(until).unix());
        let year = window("2020-01-01", "2020-12-31T23:59:59Z");
        assert!(year.holds(span("2020-01-01", "2020-12-31T23:59:59Z")));
        assert!(!year.holds(span("2019-12-31T23:59:59Z", "2020-02-01")));
        assert!(!year.holds(span("2020-02-01", "2021-01-01")));
        assert!(Window::ALL.holds(span("1970-01-01", "2100-01-01")));
    }

    #[test]
    fn dates_are_read_as_servers_write_them() {
        assert_eq!(date(" 2024-01-31 "), date("2024-01-31T00:00:00Z"));
        assert_eq!(date("2024-01-31T10:00:00.123Z"), date("2024-01-31T10:00:00Z"));
        assert_eq!(read_date("yesterday"), None);
        assert_eq!(Granularity::parse("yyyy-mm-ddThh:mm:ssz"), Granularity::Seconds);
        assert_eq!(Granularity::parse("YYYY-MM-DD").write(date("2024-01-31T10:00:00Z")), "2024-01-31");
    }

    #[test]
    fn datestamps_count_in_their_own_unit() {
        let first = date("2024-02-28T23:59:59Z");
        assert_eq!(Granularity::Day.later(first, 2), date("2024-03-01T23:59:59Z"));
        assert_eq!(Granularity::Seconds.later(first, 1), date("2024-02-29"));
        assert_eq!(Granularity::Seconds.later(first, -1).unix(), first.unix() - 1);
        assert!(Granularity::Day.fits("2024-02-29") && Granularity::Seconds.fits("2024-02-29T00:00:00Z"));
        assert!(!Granularity::Seconds.fits("2024-02-29") && !Granularity::Day.fits("2024-02-30"));
    }
}
