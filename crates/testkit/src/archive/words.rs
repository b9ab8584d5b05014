//! Prose with the frequencies of a language, so that it compresses as prose does: few words are common, most are rare.

use std::collections::HashSet;

use crate::dice::Dice;

/// How many different words there are.
const VOCABULARY: usize = 40_000;
/// The characters of a line of an abstract, as submitted.
const LINE: usize = 78;

/// The most common words, in order of frequency.
const COMMON: &str = "the of a and in to is for we that with are on by as this an from be which at have it can model \
    our results between using has these two not show also data field or method system quantum based energy theory time \
    its such both study state states large high was one new been non more than mass number paper properties phase order \
    different first dynamics magnetic how functions spin learning function analysis only when structure space observed \
    present obtained their problem group models observations found into systems network case density where temperature \
    but some distribution approach measurements information effects scale performance low then general local through \
    proposed equation solutions given algorithm type image training framework small neutrino under recent find critical \
    particles surface interaction gauge symmetry matter potential transition random galaxies stars optical spectrum \
    coupling limit boundary finite equations provide known linear consider galaxy black scattering classical hole \
    experimental presence standard dark electron line region parameters existence evidence emission several standard \
    numerical interactions possible important three work conditions prove effective single parameter bound decay";
/// What rarer words are made of.
const STARTS: [&str; 28] = [
    "iso", "poly", "hyper", "sub", "trans", "photo", "electro", "quasi", "bi", "co", "de", "re", "pre", "mono", "sym",
    "para", "meta", "micro", "multi", "inter", "con", "per", "dis", "ex", "pro", "super", "tele", "uni",
];
const MIDDLES: [&str; 36] = [
    "lat", "mer", "ton", "graph", "cat", "ver", "sol", "met", "form", "spec", "tor", "ger", "plex", "dim", "ran",
    "fus", "pol", "den", "mag", "ther", "vect", "loc", "var", "cohom", "dyn", "lum", "chrom", "gen", "nuc", "grav",
    "band", "cluster", "flux", "kern", "rel", "path",
];
const ENDS: [&str; 20] = [
    "ic", "al", "ion", "ity", "ing", "ed", "ization", "ous", "ism", "on", "or", "er", "able", "ally", "ment", "ive",
    "ations", "ates", "ness", "",
];
/// What stands between words now and then, in TeX.
const FORMULAE: [&str; 14] = [
    r"$\alpha$",
    r"$\sqrt{s}=7$ TeV",
    r"$\Lambda$CDM",
    r"$SU(3)_c$",
    r"$10^{-3}$",
    r"$\mathcal{O}(n \log n)$",
    r"$\beta$-decay",
    r"$\gamma\gamma \to \mu^+\mu^-$",
    r"$z \sim 2$",
    r#"Schr\"odinger"#,
    r#"K\"ahler"#,
    r"R\'enyi",
    r"M{\o}ller",
    r"It\^o",
];

/// A vocabulary, and how often each word is said.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<String>,
    /// Walker's alias method: for each word, how likely it stands for itself, and for which other it stands else.
    likely: Vec<(f64, u32)>,
}

impl Words {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x3012d5);
        let mut words: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
        let mut known: HashSet<String> = words.iter().cloned().collect();
        while words.len() < VOCABULARY {
            let start = if dice.below(3) == 0 { *dice.pick(&STARTS) } else { "" };
            let extra = if dice.below(3) == 0 { *dice.pick(&MIDDLES) } else { "" };
            let word = format!("{start}{}{extra}{}", dice.pick(&MIDDLES), dice.pick(&ENDS));
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        let weights: Vec<f64> = (0..VOCABULARY).map(|rank| 1.0 / (rank as f64 + 2.7)).collect();
        Self { words, likely: aliases(&weights) }
    }

    fn word(&self, dice: &mut Dice) -> &str {
        let place = dice.below(VOCABULARY as u64) as usize;
        let (likely, other) = self.likely[place];
        &self.words[if dice.share() < likely { place } else { other as usize }]
    }

    /// A word that is not one of those that only join others.
    fn telling_word(&self, dice: &mut Dice) -> &str {
        let mut word = self.word(dice);
        while word.len() < 4 {
            word = self.word(dice);
        }
        word
    }

    /// A title: a few words, the first with a capital; a long one goes on in a second line.
    pub(super) fn title(&self, dice: &mut Dice) -> String {
        let mut title = capital(self.telling_word(dice));
        for _ in 0..3 + dice.below(9) {
            title.push_str(if title.len() > 70 && !title.contains('\n') { "\n  " } else { " " });
            let formula: Option<&&str> = (dice.below(40) == 0).then(|| dice.pick(&FORMULAE));
            title.push_str(formula.copied().unwrap_or_else(|| self.word(dice)));
        }
        title.push(' ');
        title.push_str(self.telling_word(dice));
        title
    }

    /// An abstract as it was submitted: lines, the first one indented, a line end at the end.
    pub(super) fn abstract_lines(&self, dice: &mut Dice) -> String {
        let (mut text, mut line) = (String::with_capacity(2_048), 2);
        text.push_str("  ");
        // The sum of two, so that most are of middling length.
        let wanted = 180 + dice.below(660) + dice.below(680);
        let mut sentence = 0;
        while (text.len() as u64) < wanted || sentence != 0 {
            let ends = sentence > 6 && dice.below(14) == 0 || sentence > 40;
            let word = match (sentence, dice.below(60)) {
                (0, _) => &capital(self.word(dice)),
                (_, 0) => *dice.pick(&FORMULAE),
                _ => self.word(dice),
            };
            if line + word.len() + 1 > LINE {
                text.push('\n');
                line = 0;
            } else if line > 2 {
                text.push(' ');
                line += 1;
            }
            text.push_str(word);
            line += word.len();
            sentence += 1;
            if ends {
                text.push('.');
                (line, sentence) = (line + 1, 0);
            }
        }
        text.push('\n');
        text
    }

    /// A short remark.
    pub(super) fn remark(&self, dice: &mut Dice) -> String {
        format!("{} {} {}", self.telling_word(dice), self.word(dice), self.telling_word(dice))
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Makes of weights a table in which one look finds a choice.
fn aliases(weights: &[f64]) -> Vec<(f64, u32)> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let mut shares: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|place| shares[*place] < 1.0);
    let mut table: Vec<(f64, u32)> = (0..weights.len()).map(|place| (1.0, place as u32)).collect();
    while let (Some(little), Some(much)) = (small.pop(), large.last().copied()) {
        table[little] = (shares[little], much as u32);
        shares[much] -= 1.0 - shares[little];
        if shares[much] < 1.0 {
            large.pop();
            small.push(much);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn few_words_are_common_and_many_are_rare() {
        let (words, mut dice) = (Words::new(1), Dice::new(1));
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for _ in 0..200_000 {
            *counts.entry(words.word(&mut dice)).or_default() += 1;
        }
        assert!(counts["the"] > 2 * counts["is"], "{} {}", counts["the"], counts["is"]);
        assert!(counts["the"] < 12_000, "{}", counts["the"]);
        assert!(counts.len() > 20_000, "{}", counts.len());
    }

    #[test]
    fn lines_are_short() {
        let (words, mut dice) = (Words::new(1), Dice::new(2));
        for _ in 0..200 {
            let text = words.abstract_lines(&mut dice);
            assert!(text.starts_with("  ") && text.ends_with(".\n"), "{text}");
            assert!(text.lines().all(|line| line.len() <= LINE + 1), "{text}");
        }
    }
}
