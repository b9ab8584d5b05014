//! Days, and how they are written. Small and our own, so that expectations never come out of what is tested.

use std::fmt;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(i64);

impl Day {
    /// A day of the Gregorian calendar.
    pub(super) fn new(year: i64, month: i64, day: i64) -> Self {
        // Years from March on, so that the day that is sometimes missing is the last.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        Self(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468)
    }

    /// The day of a moment.
    pub(super) fn of_seconds(seconds: i64) -> Self {
        Self(seconds.div_euclid(86_400))
    }

    /// Its first second.
    pub(super) fn seconds(self) -> i64 {
        self.0 * 86_400
    }

    /// Some days later.
    pub(super) fn plus(self, days: i64) -> Self {
        Self(self.0 + days)
    }

    /// How many days it is after another.
    pub(super) fn since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }

    pub(super) fn year(self) -> i64 {
        self.parts().0
    }

    fn parts(self) -> (i64, i64, i64) {
        let days = self.0 + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let (year, month) = (era * 400 + year_of_era, month + 3);
        if month > 12 { (year + 1, month - 12, day) } else { (year, month, day) }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A moment as mail writes it: `Mon, 2 Apr 2007 19:18:42 GMT`.
pub(super) fn mail_date(seconds: i64) -> String {
    let day = Day::of_seconds(seconds);
    let (year, month, number) = day.parts();
    let (weekday, month) = (WEEKDAYS[day.0.rem_euclid(7) as usize], MONTHS[month as usize - 1]);
    let second = seconds.rem_euclid(86_400);
    format!("{weekday}, {number} {month} {year} {:02}:{:02}:{:02} GMT", second / 3_600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_they_are() {
        assert_eq!(Day::new(1970, 1, 1).seconds(), 0);
        assert_eq!(Day::new(2000, 2, 29).to_string(), "2000-02-29");
        assert_eq!(Day::new(2000, 2, 29).plus(1).to_string(), "2000-03-01");
        assert_eq!(mail_date(1_175_541_522), "Mon, 2 Apr 2007 19:18:42 GMT");
    }
}
