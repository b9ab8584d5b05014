//! Authors: their names as they were submitted, in TeX, and as they are read.

use crate::dice::Dice;

/// An author.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// The family name in TeX, and in letters.
    pub(super) family: (String, String),
    /// Initials.
    pub(super) given: String,
}

/// Names with accents: in TeX, and in letters.
const ACCENTED: [(&str, &str); 20] = [
    (r"Bal\'azs", "Balázs"),
    (r#"Schr\"odinger"#, "Schrödinger"),
    (r"M{\o}ller", "Møller"),
    (r"\'Elie", "Élie"),
    (r"G\'omez", "Gómez"),
    (r"Mu\~noz", "Muñoz"),
    (r"\v{C}ern\'y", "Černý"),
    (r"Dvo\v{r}\'ak", "Dvořák"),
    (r"Fran\c{c}ois", "François"),
    (r#"{\AA}str\"om"#, "Åström"),
    (r"Erd\H{o}s", "Erdős"),
    (r"{\L}ukasz", "Łukasz"),
    (r"Wei{\ss}", "Weiß"),
    (r#"Gr\"unwald"#, "Grünwald"),
    (r"Le\'on", "León"),
    (r"Poincar\'e", "Poincaré"),
    (r"S\o{}rensen", "Sørensen"),
    (r"\.{I}nan", "İnan"),
    (r"Cauch\`ere", "Cauchère"),
    (r"Ho\^ang", "Hoâng"),
];
const STARTS: [&str; 40] = [
    "Ab", "Al", "An", "Bar", "Ber", "Bra", "Cha", "Che", "Da", "Del", "Fer", "Fi", "Gar", "Gol", "Gu", "Har", "Hoff",
    "Iv", "Jo", "Ka", "Kim", "Ko", "Kra", "La", "Li", "Lo", "Mar", "Mi", "Na", "Nov", "Pa", "Pet", "Ra", "Ro", "Sa",
    "Sch", "Sta", "Ta", "Wa", "Zha",
];
const MIDDLES: [&str; 24] = [
    "a", "ber", "co", "der", "e", "gen", "in", "ka", "la", "li", "ma", "mi", "na", "ne", "o", "ri", "ro", "sa", "si",
    "ta", "ti", "va", "vi", "zo",
];
const ENDS: [&str; 24] = [
    "berg", "chi", "den", "dt", "feld", "ini", "k", "kov", "ll", "man", "mer", "mura", "n", "nen", "ng", "nski", "r",
    "res", "rt", "s", "son", "tti", "v", "z",
];

/// The authors of an e-print: three or four mostly, now and then a collaboration.
pub(super) fn some(dice: &mut Dice) -> Vec<Person> {
    let mut count = 1 + dice.below(3) + dice.below(4);
    if dice.below(50) == 0 {
        count += dice.below(30);
    }
    (0..count).map(|_| one(dice)).collect()
}

fn one(dice: &mut Dice) -> Person {
    let family = if dice.below(16) == 0 {
        let (tex, letters) = *dice.pick(&ACCENTED);
        (tex.to_owned(), letters.to_owned())
    } else {
        let middle = if dice.below(2) == 0 { *dice.pick(&MIDDLES) } else { "" };
        let name = format!("{}{}{middle}{}", dice.pick(&STARTS), dice.pick(&MIDDLES), dice.pick(&ENDS));
        (name.clone(), name)
    };
    let mut initial = || char::from(b'A' + dice.below(25) as u8);
    let first = initial();
    let second = initial();
    let given = if dice.below(3) == 0 { format!("{first}. {second}.") } else { format!("{first}.") };
    Person { family, given }
}
