//! A synthetic archive in arXiv's shape: as many e-prints as wanted, with its identifiers in the order of the public
//! snapshot, its categories, and its skewed dates with one crowded day.
//!
//! Every e-print follows from the seed and its number alone. So an archive of millions is made in constant memory, two
//! runs are equal, and one with changes differs from the one without in nothing else.
//!
//! | module | what it gives |
//! |---|---|
//! | `plan` | how many e-prints each month and each old archive has, and their identifiers |
//! | `taxonomy` | the categories, and how common each is |
//! | `words` | prose with the frequencies of a language |
//! | `people` | authors, some with accents in TeX |
//! | `calendar` | days and how they are written |
//! | `shapes` | an e-print as it is written: the snapshot's JSON, an abs file, our own record model |

mod calendar;
mod people;
mod plan;
mod shapes;
mod taxonomy;
mod words;

use self::calendar::Day;
use self::people::Person;
use self::plan::{Plan, Slot};
use self::words::Words;
use crate::dice::Dice;

pub use self::shapes::Shape;
pub use self::taxonomy::sets_of;

/// The day on which a thirtieth of the archive was last updated: 100,000 of 3 million.
pub const CROWDED_DAY: &str = "2015-05-13";

/// What archive to make.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How many e-prints, before any are removed.
    pub records: u64,
    /// Another seed, another archive.
    pub seed: u64,
    /// Which share of the e-prints has got a new version since.
    pub change: f64,
    /// Which share of the e-prints is gone.
    pub remove: f64,
    /// Which e-prints those are: another round, others.
    pub round: u64,
}

impl Wanted {
    /// An archive of so many e-prints, with nothing changed and nothing removed.
    pub fn of(records: u64) -> Self {
        Self { records, seed: 1, change: 0.0, remove: 0.0, round: 0 }
    }
}

/// An archive, made e-print by e-print.
#[derive(Debug)]
pub struct Archive {
    wanted: Wanted,
    plan: Plan,
    words: Words,
}

/// One e-print.
#[derive(Clone, Debug)]
pub struct Eprint {
    /// Its number among all, from 0 in the order of the snapshot.
    pub number: u64,
    /// `0704.0001` or `hep-th/9901001`.
    pub id: String,
    /// Its categories, the primary one first.
    pub categories: Vec<&'static str>,
    /// The day it was last updated, `YYYY-MM-DD`.
    pub updated: String,
    title: String,
    abstract_lines: String,
    people: Vec<Person>,
    comments: Option<String>,
    journal_ref: Option<String>,
    doi: Option<String>,
    report_no: Option<String>,
    licence: Option<&'static str>,
    /// Seconds since 1970 at which each version came.
    versions: Vec<i64>,
    /// Kilobytes of the source of each version.
    sizes: Vec<u64>,
}

const LICENCES: [&str; 3] = [
    "http://arxiv.org/licenses/nonexclusive-distrib/1.0/",
    "http://creativecommons.org/licenses/by/4.0/",
    "http://creativecommons.org/licenses/by-nc-nd/4.0/",
];

const JOURNALS: [(&str, &str); 5] = [
    ("Phys.Rev.D", "10.1103/PhysRevD."),
    ("Phys.Rev.Lett.", "10.1103/PhysRevLett."),
    ("Astrophys.J.", "10.1086/"),
    ("JHEP ", "10.1007/JHEP"),
    ("Nucl.Phys.B", "10.1016/j.nuclphysb."),
];

impl Archive {
    /// Prepares an archive: its plan and its language.
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, plan: Plan::new(wanted.records), words: Words::new(wanted.seed) }
    }

    /// All e-prints that are there, in the order of the snapshot.
    pub fn eprints(&self) -> impl Iterator<Item = Eprint> {
        self.plan.slots().flat_map(move |slot| {
            (0..slot.count)
                .filter(move |within| !self.is_gone(slot.first + within))
                .map(move |within| self.eprint(slot, within))
        })
    }

    /// Whether an e-print is among those that were removed.
    pub fn is_gone(&self, number: u64) -> bool {
        self.chosen(number, 0x9012e) < self.wanted.remove
    }

    /// Whether an e-print has got a new version.
    pub fn is_changed(&self, number: u64) -> bool {
        self.chosen(number, 0xc4a9e) < self.wanted.change
    }

    fn chosen(&self, number: u64, purpose: u64) -> f64 {
        let round = Dice::new(self.wanted.seed ^ purpose ^ (self.wanted.round << 32)).roll();
        Dice::new(round ^ number).share()
    }

    fn eprint(&self, slot: &Slot, within: u64) -> Eprint {
        let number = slot.first + within;
        // Two rolls, so that neighbouring numbers have nothing in common.
        let seed = Dice::new(self.wanted.seed).roll();
        let mut dice = Dice::new(Dice::new(seed ^ number).roll());
        let dice = &mut dice;
        let categories = taxonomy::categories(slot.archive, dice);
        let (title, abstract_lines) = (self.words.title(dice), self.words.abstract_lines(dice));
        let people = people::some(dice);
        let comments = (dice.share() < 0.7).then(|| {
            let (pages, figures) = (4 + dice.below(40), dice.below(12));
            let remark = if dice.share() < 0.4 { format!("; {}", self.words.remark(dice)) } else { String::new() };
            format!("{pages} pages, {figures} figures{remark}")
        });
        let report_no =
            (dice.share() < 0.08).then(|| format!("CERN-TH-{:03}-{}", dice.below(400), slot.month.year() % 100));
        let licence = (dice.share() < 0.85).then(|| LICENCES[[0, 0, 0, 0, 1, 2][dice.below(6) as usize]]);
        let (mut versions, mut sizes) = self.versions(slot, dice);
        let (journal_ref, doi) = published(slot, dice);
        let last = Day::of_seconds(versions[versions.len() - 1]);
        let mut updated = self.plan.updated(slot, number, last, dice);
        let mut comments = comments;
        if self.is_changed(number) {
            // After everything else there is, and so after every earlier version.
            let day = self.plan.after_the_end().plus(dice.below(20) as i64);
            versions.push(day.seconds() + dice.below(86_400) as i64);
            sizes.push(20 + dice.below(2_000));
            updated = day.plus(1);
            comments = Some(format!("{}; revised", comments.as_deref().unwrap_or("1 page")));
        }
        let id = slot.id(within);
        let updated = updated.to_string();
        Eprint {
            number,
            id,
            categories,
            updated,
            title,
            abstract_lines,
            people,
            comments,
            journal_ref,
            doi,
            report_no,
            licence,
            versions,
            sizes,
        }
    }

    /// When the versions came, and how large they are: most e-prints have one, few have many.
    fn versions(&self, slot: &Slot, dice: &mut Dice) -> (Vec<i64>, Vec<u64>) {
        let mut moment = slot.month.plus(dice.below(28) as i64).seconds() + dice.below(86_400) as i64;
        let (mut versions, mut sizes) = (vec![moment], vec![20 + dice.below(2_000)]);
        while dice.share() < 0.38 && versions.len() < 12 {
            moment += 86_400 * (3 + dice.below(90) as i64) + dice.below(80_000) as i64;
            if !self.plan.has_room_after(slot, moment) {
                break;
            }
            versions.push(moment);
            sizes.push(20 + dice.below(2_000));
        }
        (versions, sizes)
    }
}

/// Where it was published, if it was: the reference, and the DOI.
fn published(slot: &Slot, dice: &mut Dice) -> (Option<String>, Option<String>) {
    if dice.share() < 0.55 {
        return (None, None);
    }
    let (journal, prefix) = *dice.pick(&JOURNALS);
    let (volume, page, year) = (10 + dice.below(200), 1 + dice.below(9_999), slot.month.year() + 1);
    let reference = (dice.share() < 0.7).then(|| format!("{journal}{volume}:{page:06},{year}"));
    let doi = (dice.share() < 0.9).then(|| format!("{prefix}{volume}.{page:06}"));
    (reference, doi)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn snapshot(wanted: Wanted) -> Vec<String> {
        let archive = Archive::new(wanted);
        let mut lines = Vec::new();
        for eprint in archive.eprints() {
            let mut line = Vec::new();
            Shape::Snapshot.write(&eprint, &mut line);
            lines.push(String::from_utf8(line).expect("JSON is UTF-8"));
        }
        lines
    }

    #[test]
    fn there_are_as_many_as_wanted_and_all_are_different() {
        let mut ids: Vec<String> = Archive::new(Wanted::of(30_000)).eprints().map(|eprint| eprint.id).collect();
        assert_eq!(ids.len(), 30_000);
        assert_eq!(ids[0], "0704.0001");
        let old = ids.iter().position(|id| id.contains('/')).expect("old identifiers");
        assert!(ids[old - 1].starts_with("2608."), "{}", ids[old - 1]);
        assert!(ids[old..].iter().all(|id| id.contains('/')));
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 30_000);
    }

    #[test]
    fn one_day_is_crowded_by_exactly_a_thirtieth() {
        let mut days: HashMap<String, u64> = HashMap::new();
        for eprint in Archive::new(Wanted::of(30_000)).eprints() {
            *days.entry(eprint.updated).or_default() += 1;
        }
        assert_eq!(days[CROWDED_DAY], 1_000);
        let others = days.iter().filter(|(day, _)| *day != CROWDED_DAY);
        assert!(others.map(|(_, count)| *count).max() < Some(500));
    }

    #[test]
    fn a_record_has_so_many_bytes_and_categories_as_arxivs() {
        let archive = Archive::new(Wanted::of(5_000));
        let (mut bytes, mut categories) = (Vec::new(), 0);
        for eprint in archive.eprints() {
            Shape::Snapshot.write(&eprint, &mut bytes);
            categories += eprint.categories.len();
        }
        assert!((7_500..=8_500).contains(&categories), "{categories}");
        assert!((1_500..=1_700).contains(&(bytes.len() / 5_000)), "{}", bytes.len() / 5_000);
    }

    #[test]
    fn changes_leave_everything_else_alone() {
        let (before, wanted) = (Wanted::of(10_000), Wanted { change: 0.01, remove: 0.001, ..Wanted::of(10_000) });
        let (before, after) = (snapshot(before), snapshot(wanted));
        let archive = Archive::new(wanted);
        let gone = (0..10_000).filter(|number| archive.is_gone(*number)).count();
        let changed = (0..10_000).filter(|number| archive.is_changed(*number) && !archive.is_gone(*number)).count();
        assert!((3..=30).contains(&gone) && (60..=140).contains(&changed), "{gone} {changed}");
        assert_eq!(after.len(), 10_000 - gone);
        let old: std::collections::HashSet<&String> = before.iter().collect();
        assert_eq!(after.iter().filter(|line| !old.contains(line)).count(), changed);
    }

    #[test]
    fn all_shapes_are_well_formed() {
        for eprint in Archive::new(Wanted::of(500)).eprints() {
            for shape in [Shape::Snapshot, Shape::Model] {
                let mut line = Vec::new();
                shape.write(&eprint, &mut line);
                assert_eq!(line.pop(), Some(b'\n'));
                let value: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
                let identifier = value.get("id").or(value.get("identifier")).and_then(|id| id.as_str());
                assert_eq!(identifier, Some(eprint.id.as_str()));
            }
            let mut file = Vec::new();
            Shape::Abs.write(&eprint, &mut file);
            let text = String::from_utf8(file).expect("text");
            assert_eq!(text.lines().filter(|line| *line == "\\\\").count(), 3, "{text}");
        }
    }
}
