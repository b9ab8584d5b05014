//! Splits a list of authors, as humans write it.
//!
//! In `A. Smith, B. Jones Jr. (1) and C. de la Cruz (2) ((1) Here, (2) There)`, commas and `and` separate names,
//! brackets contain affiliations, and numbers refer to a list of them at the end. An affiliation applies to all
//! preceding names without one, as arXiv defines it; a collaboration at the head of the list has no affiliation.
//! Parsing cannot fail: text that is not recognised remains part of a name.

use std::collections::HashMap;

use super::plain::squeezed;
use crate::record::Agent;

/// Words that belong to the family name that follows.
const PARTICLES: [&str; 15] =
    ["van", "der", "den", "de", "la", "le", "von", "zu", "del", "della", "da", "ter", "dem", "di", "dos"];

const SUFFIXES: [&str; 8] = ["Jr", "Jr.", "Sr", "Sr.", "II", "III", "IV", "V"];

/// Words that end the name of a group.
const GROUPS: [&str; 5] = ["collaboration", "collaborations", "group", "team", "consortium"];

/// Words between a person and the group that the person represents.
const SPEAKING: [&str; 4] = [" for the ", " on behalf of the ", " on behalf of ", " representing the "];

/// Returns the authors of a list.
pub(super) fn split(list: &str) -> Vec<Agent> {
    let list = squeezed(list);
    let pieces = pieces(&list);
    let numbered = pieces.iter().find_map(Piece::numbered).unwrap_or_default();
    let mut agents: Vec<Agent> = Vec::new();
    // The number of groups at the head.
    let mut heads = 0;
    for piece in &pieces {
        match piece {
            Piece::Names(names) => {
                for name in names_in(names) {
                    if is_suffix(name)
                        && let Some(last) = agents.last_mut()
                        && last.suffix.is_none()
                    {
                        last.suffix = Some(name.to_owned());
                        continue;
                    }
                    let (name, group) = speaking_for(name);
                    agents.extend(name.map(|name| agent(&spaced(name))));
                    agents.extend(group.map(|group| Agent { family: group.to_owned(), ..Agent::default() }));
                    heads += usize::from(heads + 1 == agents.len() && is_group(&agents[heads].family));
                }
            }
            Piece::Bracket(text) if piece.numbered().is_none() => {
                let Some(last) = agents.last_mut() else { continue };
                let references: Option<Vec<&str>> = references(text, &numbered);
                match references {
                    Some(found) => last.affiliations.extend(found.into_iter().map(str::to_owned)),
                    None => last.affiliations.push((*text).to_owned()),
                }
            }
            Piece::Bracket(_) => {}
        }
    }
    share(&mut agents[heads..]);
    agents
}

/// Gives each agent without an affiliation that of the next agent with one.
fn share(agents: &mut [Agent]) {
    let mut next: Vec<String> = Vec::new();
    for agent in agents.iter_mut().rev() {
        if is_group(&agent.family) && agent.given.is_none() {
            continue;
        }
        if agent.affiliations.is_empty() {
            agent.affiliations.clone_from(&next);
        } else {
            next.clone_from(&agent.affiliations);
        }
    }
}

/// The text inside brackets, without them, or outside.
#[derive(Debug)]
enum Piece<'a> {
    Names(&'a str),
    Bracket(&'a str),
}

impl<'a> Piece<'a> {
    /// Returns a list of affiliations by number: `(1) Here, (2) There`.
    fn numbered(&self) -> Option<HashMap<&'a str, &'a str>> {
        let Piece::Bracket(text) = self else { return None };
        let mut found = HashMap::new();
        for part in text.trim().strip_prefix('(')?.split('(') {
            if let Some((number, place)) = part.split_once(')')
                && is_number(number.trim())
            {
                found.insert(number.trim(), place.trim_matches([' ', ',', ';', '.']));
            }
        }
        (!found.is_empty()).then_some(found)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits a list at its outermost brackets. An unclosed bracket extends to the last character.
fn pieces(list: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut depth = 0_usize;
    let mut from = 0;
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'(' => {
                if depth == 0 {
                    pieces.push(Piece::Names(&list[from..at]));
                    from = at + 1;
                }
                depth += 1;
            }
            b')' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    pieces.push(Piece::Bracket(&list[from..at]));
                    from = at + 1;
                }
            }
            _ => {}
        }
    }
    pieces.push(if depth == 0 { Piece::Names(&list[from..]) } else { Piece::Bracket(&list[from..]) });
    pieces
}

/// Returns the names between brackets.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let at_words = text.split([',', ';', ':']).flat_map(|part| part.split(" and ")).flat_map(|part| part.split(" & "));
    at_words.filter_map(|name| {
        // A list may continue with `and` after a bracket.
        let name = name.trim();
        let name = name.strip_prefix("and ").or(name.strip_prefix("& ")).unwrap_or(name).trim();
        let is_name = !matches!(name, "" | "and" | "&") && !name.to_ascii_lowercase().starts_with("et al");
        is_name.then_some(name)
    })
}

/// Returns the affiliations of the numbers in a bracket, if it contains only numbers and the list has such
/// affiliations.
fn references<'a>(text: &str, numbered: &HashMap<&str, &'a str>) -> Option<Vec<&'a str>> {
    let words = text.split([',', '&', ';', ' ']).filter(|word| !matches!(*word, "" | "and"));
    let numbers: Option<Vec<&str>> = words.map(|word| is_number(word).then_some(word)).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty() && !numbered.is_empty())?;
    Some(numbers.into_iter().filter_map(|number| numbered.get(number).copied()).collect())
}

/// Returns a person, and the group that the person represents.
fn speaking_for(name: &str) -> (Option<&str>, Option<&str>) {
    for words in SPEAKING {
        if let Some((who, group)) = name.split_once(words)
            && is_group(group)
        {
            return (Some(who.trim()).filter(|who| !who.is_empty()), Some(group.trim()));
        }
        if let Some(group) = name.strip_prefix(words.trim_start())
            && is_group(group)
        {
            return (None, Some(group.trim()));
        }
    }
    if is_group(name) { (None, Some(name.strip_prefix("the ").unwrap_or(name))) } else { (Some(name), None) }
}

fn is_group(name: &str) -> bool {
    let last = name.split_ascii_whitespace().next_back().unwrap_or_default();
    GROUPS.iter().any(|group| last.eq_ignore_ascii_case(group))
}

fn is_suffix(word: &str) -> bool {
    SUFFIXES.contains(&word)
}

/// Separates initials: `A.B.Smith` is `A. B. Smith`. A point after a backslash is an accent.
fn spaced(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut characters = name.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        out.push(character);
        if character == '.' && before != '\\' && characters.peek().is_some_and(|next| !next.is_whitespace()) {
            out.push(' ');
        }
        before = character;
    }
    out
}

/// Parses one name, in the order in which it is spoken.
fn agent(name: &str) -> Agent {
    let words: Vec<&str> = name.split_ascii_whitespace().collect();
    let mut rest = words.as_slice();
    let mut suffix = None;
    if let [before @ .., last] = rest
        && before.len() >= 2
        && is_suffix(last)
    {
        (rest, suffix) = (before, Some((*last).to_owned()));
    }
    let mut first = rest.len().saturating_sub(1);
    let is_particle = |word: &str| PARTICLES.iter().any(|known| word.eq_ignore_ascii_case(known));
    // A name does not begin with its family name, unless it has only that.
    while first > 1 && is_particle(rest[first - 1]) {
        first -= 1;
    }
    let given = rest[..first].join(" ");
    Agent {
        family: rest[first..].join(" "),
        given: Some(given).filter(|given| !given.is_empty()),
        suffix,
        ..Agent::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns family, given, suffix and affiliations, for comparisons.
    fn told(list: &str) -> Vec<String> {
        let tell = |agent: Agent| {
            let mut told = agent.family;
            for part in [agent.given, agent.suffix] {
                told.push('|');
                told.push_str(&part.unwrap_or_default());
            }
            for affiliation in agent.affiliations {
                told.push('@');
                told.push_str(&affiliation);
            }
            told
        };
        split(list).into_iter().map(tell).collect()
    }

    #[test]
    fn names_are_separated_by_whatever_people_use() {
        assert_eq!(told("A. Smith, B.C.Jones and D. Brown"), ["Smith|A.|", "Jones|B. C.|", "Brown|D.|"]);
        assert_eq!(told("A. Smith, B. Jones, and D. Brown, et al."), ["Smith|A.|", "Jones|B.|", "Brown|D.|"]);
        assert_eq!(told("A. Smith & B. Jones"), ["Smith|A.|", "Jones|B.|"]);
        assert_eq!(told("Plato"), ["Plato||"]);
        assert!(told("").is_empty() && told(" , and ").is_empty());
    }

    #[test]
    fn family_names_keep_what_belongs_to_them() {
        assert_eq!(
            told("Vincent van Gogh, J. de la Cruz, L. von der Leyen"),
            ["van Gogh|Vincent|", "de la Cruz|J.|", "von der Leyen|L.|"]
        );
        assert_eq!(told("W. Smith III, A. Jones, Jr., De Gennes"), ["Smith|W.|III", "Jones|A.|Jr.", "Gennes|De|"]);
    }

    #[test]
    fn brackets_hold_affiliations() {
        assert_eq!(
            told("A. Smith, B. Jones (CERN), C. Brown (MIT (Cambridge))"),
            ["Smith|A.|@CERN", "Jones|B.|@CERN", "Brown|C.|@MIT (Cambridge)"]
        );
        assert_eq!(
            told("A. Smith (1), B. Jones (1 and 2), C. Brown (2) ((1) CERN, Geneva, (2) MIT.)"),
            ["Smith|A.|@CERN, Geneva", "Jones|B.|@CERN, Geneva@MIT", "Brown|C.|@MIT"]
        );
        assert_eq!(told("A. Smith (CERN"), ["Smith|A.|@CERN"]);
        assert_eq!(told("A. Smith (2)"), ["Smith|A.|@2"]);
    }

    #[test]
    fn groups_are_named_whole() {
        assert_eq!(
            told("The ATLAS Collaboration: G. Aad (Marseille), B. Abbott (OK)"),
            ["The ATLAS Collaboration||", "Aad|G.|@Marseille", "Abbott|B.|@OK"]
        );
        assert_eq!(
            told("A. Smith, B. Jones for the CDF Collaboration"),
            ["Smith|A.|", "Jones|B.|", "CDF Collaboration||"]
        );
        assert_eq!(told("A. Smith (for the CDF Collaboration)"), ["Smith|A.|@for the CDF Collaboration"]);
        assert_eq!(told("A. Smith (X), on behalf of the H1 and ZEUS Collaborations").len(), 3);
    }

    proptest! {
        #[test]
        fn any_list_is_taken(list in r"([A-Z]\.|and|&|,|\(|\)|[0-9]|Smith|for the|collaboration|Jr\.|de|é| ){0,40}") {
            for agent in split(&list) {
                prop_assert!(!agent.family.is_empty(), "{list:?}");
            }
        }
    }
}
