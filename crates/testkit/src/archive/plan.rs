//! How an archive is laid out: how many e-prints each month and each old archive has, in the order of the snapshot, and
//! on which day each was last updated.

use super::CROWDED_DAY;
use super::calendar::Day;
use crate::dice::Dice;

/// One in so many e-prints was last updated on the crowded day.
const CROWD: u64 = 30;

/// Archives of before April 2007, in the order of their names: year and month of the first e-print, and how many thousand
/// there are in the real one.
const OLD: [(&str, i64, i64, f64); 22] = [
    ("adap-org", 1993, 3, 0.6),
    ("alg-geom", 1992, 2, 1.2),
    ("astro-ph", 1992, 4, 95.0),
    ("chao-dyn", 1993, 1, 2.4),
    ("cmp-lg", 1994, 4, 0.9),
    ("comp-gas", 1993, 1, 0.2),
    ("cond-mat", 1992, 4, 85.0),
    ("cs", 1998, 1, 6.0),
    ("dg-ga", 1994, 6, 0.6),
    ("funct-an", 1992, 5, 0.4),
    ("gr-qc", 1992, 7, 24.0),
    ("hep-ex", 1994, 4, 9.0),
    ("hep-lat", 1992, 2, 11.0),
    ("hep-ph", 1992, 3, 68.0),
    ("hep-th", 1991, 8, 59.0),
    ("math", 1997, 12, 38.0),
    ("math-ph", 1996, 9, 6.0),
    ("nlin", 1999, 12, 5.0),
    ("nucl-ex", 1994, 12, 3.0),
    ("nucl-th", 1992, 10, 15.0),
    ("physics", 1996, 10, 16.0),
    ("quant-ph", 1994, 12, 30.0),
];
/// How many of the real archive's e-prints have the identifiers of today, in thousands.
const NEW: f64 = 2_523.0;
/// The first month of today's identifiers, and the last one there is.
const FIRST_NEW: (i64, i64) = (2007, 4);
const LAST: (i64, i64) = (2026, 8);

/// Where every e-print stands.
#[derive(Debug)]
pub(super) struct Plan {
    slots: Vec<Slot>,
    crowded: Day,
    end: Day,
    /// Days on which much was touched at once, by whoever looked after the archive.
    sweeps: Vec<Day>,
    /// How many there will be on the crowded day, out of how many that could be there.
    crowd: u64,
    could: u64,
}

/// The e-prints of one month, or of one month of one old archive.
#[derive(Debug)]
pub(super) struct Slot {
    /// The old archive that the identifiers tell.
    pub(super) archive: Option<&'static str>,
    /// The first day of the month.
    pub(super) month: Day,
    /// What identifiers begin with, up to the number.
    stem: String,
    /// How many digits the number has.
    digits: usize,
    /// The number of its first e-print among all.
    pub(super) first: u64,
    /// How many it has.
    pub(super) count: u64,
    /// How many e-prints of earlier slots could be on the crowded day; `None` if its own could not.
    could_before: Option<u64>,
}

impl Plan {
    pub(super) fn new(records: u64) -> Self {
        let mut weighted = new_months();
        weighted.extend(old_months());
        let whole: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let crowded = parse(CROWDED_DAY);
        let (mut slots, mut sum, mut first, mut could) = (Vec::new(), 0.0, 0, 0);
        let last = weighted.len() - 1;
        for (number, (mut slot, weight)) in weighted.into_iter().enumerate() {
            sum += weight;
            let end = if number == last { records } else { (records as f64 * sum / whole) as u64 };
            slot.first = first;
            slot.count = end - first;
            // A month before at least, so that a version never comes after the update.
            if crowded.since(slot.month) > 31 {
                slot.could_before = Some(could);
                could += slot.count;
            }
            first = end;
            slots.push(slot);
        }
        let end = Day::new(LAST.0, LAST.1, 28);
        let mut dice = Dice::new(0x5e3e9);
        let sweeps = (0..60).map(|_| Day::new(2007, 5, 23).plus(dice.below(7_000) as i64)).collect();
        Self { slots, crowded, end, sweeps, crowd: (records / CROWD).min(could), could }
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    /// A day on which nothing was there yet that is there.
    pub(super) fn after_the_end(&self) -> Day {
        self.end.plus(40)
    }

    /// Whether a version that comes at a moment still leaves time for an update.
    pub(super) fn has_room_after(&self, slot: &Slot, moment: i64) -> bool {
        let end = if slot.could_before.is_some() { self.crowded.plus(-1) } else { self.end };
        Day::of_seconds(moment) < end
    }

    /// The day an e-print was last updated, which is after the last version came.
    pub(super) fn updated(&self, slot: &Slot, number: u64, last: Day, dice: &mut Dice) -> Day {
        if self.is_crowded(slot, number) {
            return self.crowded;
        }
        let soon = last.plus(1 + dice.below(6) as i64);
        let sweep = *dice.pick(&self.sweeps);
        let day = match dice.share() {
            share if share < 0.7 => soon,
            share if share < 0.85 && sweep > last => sweep,
            _ => last.plus(1 + dice.below(self.end.since(last).max(1) as u64 + 5) as i64),
        };
        if day == self.crowded { day.plus(1) } else { day }
    }

    /// The crowd comes evenly from all that could have been there.
    fn is_crowded(&self, slot: &Slot, number: u64) -> bool {
        let Some(before) = slot.could_before else {
            return false;
        };
        let place = before + (number - slot.first);
        (place + 1) * self.crowd / self.could > place * self.crowd / self.could
    }
}

impl Slot {
    fn new(archive: Option<&'static str>, (year, month): (i64, i64), stem: String, digits: usize) -> Self {
        Self { archive, month: Day::new(year, month, 1), stem, digits, first: 0, count: 0, could_before: None }
    }

    /// The identifier of its e-print with that number, counted from 0.
    pub(super) fn id(&self, within: u64) -> String {
        format!("{}{:0digits$}", self.stem, within + 1, digits = self.digits)
    }
}

/// The months of today's identifiers; more and more is submitted.
fn new_months() -> Vec<(Slot, f64)> {
    let months: Vec<(i64, i64)> = months(FIRST_NEW, LAST).collect();
    let growth = |number: usize| 1.0 + 5.0 * number as f64 / months.len() as f64;
    let whole: f64 = (0..months.len()).map(growth).sum();
    let slot = |(number, &(year, month)): (usize, &(i64, i64))| {
        // The fifth digit came in 2015.
        let digits = if year < 2015 { 4 } else { 5 };
        let stem = format!("{:02}{month:02}.", year % 100);
        (Slot::new(None, (year, month), stem, digits), NEW * growth(number) / whole)
    };
    months.iter().enumerate().map(slot).collect()
}

/// The months of the old archives: by archive, then as their identifiers sort, so that 2000 comes before 1991.
fn old_months() -> Vec<(Slot, f64)> {
    let mut slots = Vec::new();
    for (archive, year, month, thousands) in OLD {
        let mut months: Vec<(i64, i64)> = months((year, month), (2007, 3)).collect();
        let each = thousands / months.len() as f64;
        months.sort_by_key(|(year, month)| (year % 100, *month));
        for (year, month) in months {
            let stem = format!("{archive}/{:02}{month:02}", year % 100);
            slots.push((Slot::new(Some(archive), (year, month), stem, 3), each));
        }
    }
    slots
}

fn months(first: (i64, i64), last: (i64, i64)) -> impl Iterator<Item = (i64, i64)> {
    let number = |(year, month): (i64, i64)| year * 12 + month - 1;
    (number(first)..=number(last)).map(|number| (number / 12, number % 12 + 1))
}

fn parse(day: &str) -> Day {
    let mut parts = day.split('-').map(|part| part.parse().expect("a day is made of numbers"));
    let mut next = || parts.next().expect("a day has three parts");
    Day::new(next(), next(), next())
}
