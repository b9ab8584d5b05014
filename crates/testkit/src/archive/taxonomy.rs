//! arXiv's categories, how common each is, and the sets that follow from them.

use std::sync::LazyLock;

use crate::dice::Dice;

/// Each category with the group it is in, and its share of what is submitted.
const CATEGORIES: [(&str, &str, u32); 153] = [
    ("physics", "astro-ph.CO", 160),
    ("physics", "astro-ph.EP", 80),
    ("physics", "astro-ph.GA", 190),
    ("physics", "astro-ph.HE", 150),
    ("physics", "astro-ph.IM", 60),
    ("physics", "astro-ph.SR", 120),
    ("physics", "cond-mat.dis-nn", 35),
    ("physics", "cond-mat.mes-hall", 160),
    ("physics", "cond-mat.mtrl-sci", 190),
    ("physics", "cond-mat.other", 20),
    ("physics", "cond-mat.quant-gas", 50),
    ("physics", "cond-mat.soft", 80),
    ("physics", "cond-mat.stat-mech", 120),
    ("physics", "cond-mat.str-el", 130),
    ("physics", "cond-mat.supr-con", 80),
    ("physics", "gr-qc", 150),
    ("physics", "hep-ex", 90),
    ("physics", "hep-lat", 45),
    ("physics", "hep-ph", 240),
    ("physics", "hep-th", 240),
    ("physics", "math-ph", 90),
    ("physics", "nlin.AO", 15),
    ("physics", "nlin.CD", 25),
    ("physics", "nlin.CG", 4),
    ("physics", "nlin.PS", 15),
    ("physics", "nlin.SI", 18),
    ("physics", "nucl-ex", 35),
    ("physics", "nucl-th", 65),
    ("physics", "physics.acc-ph", 20),
    ("physics", "physics.ao-ph", 15),
    ("physics", "physics.app-ph", 50),
    ("physics", "physics.atm-clus", 4),
    ("physics", "physics.atom-ph", 45),
    ("physics", "physics.bio-ph", 30),
    ("physics", "physics.chem-ph", 60),
    ("physics", "physics.class-ph", 15),
    ("physics", "physics.comp-ph", 45),
    ("physics", "physics.data-an", 20),
    ("physics", "physics.ed-ph", 12),
    ("physics", "physics.flu-dyn", 90),
    ("physics", "physics.gen-ph", 25),
    ("physics", "physics.geo-ph", 20),
    ("physics", "physics.hist-ph", 12),
    ("physics", "physics.ins-det", 55),
    ("physics", "physics.med-ph", 20),
    ("physics", "physics.optics", 130),
    ("physics", "physics.plasm-ph", 40),
    ("physics", "physics.pop-ph", 4),
    ("physics", "physics.soc-ph", 45),
    ("physics", "physics.space-ph", 15),
    ("physics", "quant-ph", 260),
    ("math", "math.AC", 25),
    ("math", "math.AG", 105),
    ("math", "math.AP", 150),
    ("math", "math.AT", 40),
    ("math", "math.CA", 60),
    ("math", "math.CO", 140),
    ("math", "math.CT", 20),
    ("math", "math.CV", 35),
    ("math", "math.DG", 80),
    ("math", "math.DS", 85),
    ("math", "math.FA", 65),
    ("math", "math.GM", 10),
    ("math", "math.GN", 12),
    ("math", "math.GR", 50),
    ("math", "math.GT", 55),
    ("math", "math.HO", 10),
    ("math", "math.IT", 60),
    ("math", "math.KT", 8),
    ("math", "math.LO", 28),
    ("math", "math.MG", 28),
    ("math", "math.NA", 120),
    ("math", "math.NT", 95),
    ("math", "math.OA", 28),
    ("math", "math.OC", 130),
    ("math", "math.PR", 130),
    ("math", "math.QA", 30),
    ("math", "math.RA", 35),
    ("math", "math.RT", 50),
    ("math", "math.SG", 22),
    ("math", "math.SP", 18),
    ("math", "math.ST", 60),
    ("cs", "cs.AI", 300),
    ("cs", "cs.AR", 18),
    ("cs", "cs.CC", 20),
    ("cs", "cs.CE", 15),
    ("cs", "cs.CG", 18),
    ("cs", "cs.CL", 330),
    ("cs", "cs.CR", 120),
    ("cs", "cs.CV", 500),
    ("cs", "cs.CY", 55),
    ("cs", "cs.DB", 30),
    ("cs", "cs.DC", 65),
    ("cs", "cs.DL", 14),
    ("cs", "cs.DM", 20),
    ("cs", "cs.DS", 65),
    ("cs", "cs.ET", 14),
    ("cs", "cs.FL", 10),
    ("cs", "cs.GL", 1),
    ("cs", "cs.GR", 25),
    ("cs", "cs.GT", 28),
    ("cs", "cs.HC", 75),
    ("cs", "cs.IR", 65),
    ("cs", "cs.IT", 110),
    ("cs", "cs.LG", 600),
    ("cs", "cs.LO", 40),
    ("cs", "cs.MA", 18),
    ("cs", "cs.MM", 12),
    ("cs", "cs.MS", 5),
    ("cs", "cs.NA", 14),
    ("cs", "cs.NE", 35),
    ("cs", "cs.NI", 60),
    ("cs", "cs.OH", 4),
    ("cs", "cs.OS", 3),
    ("cs", "cs.PF", 6),
    ("cs", "cs.PL", 25),
    ("cs", "cs.RO", 150),
    ("cs", "cs.SC", 8),
    ("cs", "cs.SD", 40),
    ("cs", "cs.SE", 90),
    ("cs", "cs.SI", 50),
    ("cs", "cs.SY", 14),
    ("q-bio", "q-bio.BM", 14),
    ("q-bio", "q-bio.CB", 4),
    ("q-bio", "q-bio.GN", 10),
    ("q-bio", "q-bio.MN", 8),
    ("q-bio", "q-bio.NC", 28),
    ("q-bio", "q-bio.OT", 3),
    ("q-bio", "q-bio.PE", 30),
    ("q-bio", "q-bio.QM", 28),
    ("q-bio", "q-bio.SC", 3),
    ("q-bio", "q-bio.TO", 4),
    ("q-fin", "q-fin.CP", 6),
    ("q-fin", "q-fin.EC", 2),
    ("q-fin", "q-fin.GN", 6),
    ("q-fin", "q-fin.MF", 8),
    ("q-fin", "q-fin.PM", 6),
    ("q-fin", "q-fin.PR", 5),
    ("q-fin", "q-fin.RM", 6),
    ("q-fin", "q-fin.ST", 10),
    ("q-fin", "q-fin.TR", 6),
    ("stat", "stat.AP", 40),
    ("stat", "stat.CO", 18),
    ("stat", "stat.ME", 90),
    ("stat", "stat.ML", 110),
    ("stat", "stat.OT", 3),
    ("eess", "eess.AS", 28),
    ("eess", "eess.IV", 55),
    ("eess", "eess.SP", 75),
    ("eess", "eess.SY", 75),
    ("econ", "econ.EM", 14),
    ("econ", "econ.GN", 18),
    ("econ", "econ.TH", 14),
];

/// What became of the archives that were closed.
const HEIRS: [(&str, &str); 8] = [
    ("adap-org", "nlin.AO"),
    ("alg-geom", "math.AG"),
    ("chao-dyn", "nlin.CD"),
    ("cmp-lg", "cs.CL"),
    ("comp-gas", "nlin.CG"),
    ("dg-ga", "math.DG"),
    ("funct-an", "math.FA"),
    // Before 2009 it had no subject classes.
    ("astro-ph", "astro-ph"),
];

/// Categories by chance, each as often as it is common.
struct Common {
    choices: Vec<(&'static str, u32)>,
    whole: u32,
}

static ALL: LazyLock<Common> = LazyLock::new(|| Common::of(|_| true));

impl Common {
    fn of(wanted: impl Fn(&str) -> bool) -> Self {
        let mut whole = 0;
        let mut choices = Vec::new();
        for (_, category, share) in CATEGORIES {
            if wanted(category) {
                whole += share;
                choices.push((category, whole));
            }
        }
        Self { choices, whole }
    }

    fn pick(&self, dice: &mut Dice) -> &'static str {
        let drawn = dice.below(u64::from(self.whole)) as u32;
        self.choices[self.choices.partition_point(|(_, upto)| *upto <= drawn)].0
    }
}

/// The categories of an e-print, the primary one first: 1.6 of them on average.
pub(super) fn categories(old: Option<&'static str>, dice: &mut Dice) -> Vec<&'static str> {
    let primary = match old {
        None => ALL.pick(dice),
        Some(archive) => match HEIRS.iter().find(|(closed, _)| *closed == archive) {
            Some((_, heir)) => heir,
            None => within(archive, dice),
        },
    };
    let mut categories = vec![primary];
    let more = match dice.below(100) {
        0..60 => 0,
        60..85 => 1,
        85..95 => 2,
        _ => 3,
    };
    while categories.len() <= more {
        // Half of what it is also listed in is near.
        let other = if dice.below(2) == 0 { within(archive_of(primary), dice) } else { ALL.pick(dice) };
        let other = if categories.contains(&other) { ALL.pick(dice) } else { other };
        if !categories.contains(&other) {
            categories.push(other);
        }
    }
    categories
}

/// A category of an archive.
fn within(archive: &str, dice: &mut Dice) -> &'static str {
    static ARCHIVES: LazyLock<Vec<(&'static str, Common)>> = LazyLock::new(|| {
        let mut archives: Vec<&str> = CATEGORIES.iter().map(|(_, category, _)| archive_of(category)).collect();
        archives.dedup();
        archives.into_iter().map(|archive| (archive, Common::of(|category| archive_of(category) == archive))).collect()
    });
    let (_, common) = ARCHIVES.iter().find(|(name, _)| *name == archive).expect("every archive has a category");
    common.pick(dice)
}

fn archive_of(category: &str) -> &str {
    category.split('.').next().expect("splitting gives something")
}

/// Categories that arXiv keeps under two names: whatever is in the one is in the set of the other, too.
const ALIASES: [(&str, &str); 6] = [
    ("math-ph", "math.MP"),
    ("math.ST", "stat.TH"),
    ("math.IT", "cs.IT"),
    ("econ.GN", "q-fin.EC"),
    ("eess.SY", "cs.SY"),
    ("math.NA", "cs.NA"),
];

/// The narrowest sets that arXiv puts e-prints of these categories into, sorted: each of group, archive and subject class.
pub fn sets_of(categories: &[&str]) -> Vec<String> {
    let mut sets = Vec::new();
    for category in categories {
        sets.push(set_of(category));
        let other = |&(one, other): &(&str, &'static str)| (one == *category).then_some(other);
        let one = |&(one, other): &(&'static str, &str)| (other == *category).then_some(one);
        sets.extend(ALIASES.iter().filter_map(|pair| other(pair).or_else(|| one(pair))).map(set_of));
    }
    sets.sort();
    sets.dedup();
    // Who is in a set is in all above it, and only the narrowest are told.
    let all = sets.clone();
    sets.retain(|set| !all.iter().any(|other| other.starts_with(&format!("{set}:"))));
    sets
}

fn set_of(category: &str) -> String {
    let known = CATEGORIES.iter().find(|(_, known, _)| archive_of(known) == archive_of(category));
    let group = known.map_or("physics", |(group, _, _)| group);
    format!("{group}:{}", category.replace('.', ":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_group_archive_and_class() {
        assert_eq!(sets_of(&["hep-th", "cond-mat.str-el"]), ["physics:cond-mat:str-el", "physics:hep-th"]);
        assert_eq!(sets_of(&["astro-ph"]), ["physics:astro-ph"]);
        assert_eq!(sets_of(&["math.AG"]), ["math:math:AG"]);
        assert_eq!(sets_of(&["astro-ph", "astro-ph.CO"]), ["physics:astro-ph:CO"]);
        // Two names of the same.
        assert_eq!(sets_of(&["cs.IT", "math.IT"]), ["cs:cs:IT", "math:math:IT"]);
        assert_eq!(sets_of(&["math-ph"]), ["math:math:MP", "physics:math-ph"]);
    }

    #[test]
    fn an_old_archive_tells_the_primary_category() {
        let mut dice = Dice::new(1);
        for _ in 0..100 {
            assert_eq!(categories(Some("hep-th"), &mut dice)[0], "hep-th");
            assert_eq!(archive_of(categories(Some("math"), &mut dice)[0]), "math");
            assert_eq!(categories(Some("alg-geom"), &mut dice)[0], "math.AG");
        }
    }
}
