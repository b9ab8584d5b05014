//! Configurations that are shipped: the `archive.toml` for well-known kinds of archives.
//!
//! To add one, add a file here and a row of [`PRESETS`].

/// All presets: the name, and the text of the `archive.toml`.
pub const PRESETS: &[(&str, &str)] = &[("arxiv", include_str!("arxiv.toml"))];

/// Returns the text of the preset with this name.
pub fn named(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::record::Record;
    use crate::sets::{Rule, SetRules};

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Archive {
        repository_identifier: String,
        formats: Vec<String>,
        #[expect(dead_code, reason = "that it is there is enough")]
        always: Vec<String>,
        constants: toml::Table,
        sets: Vec<Rule>,
    }

    fn arxiv() -> Archive {
        toml::from_str(named("arxiv").expect("shipped")).expect("an archive.toml")
    }

    fn of(rules: &SetRules, categories: &str) -> Vec<String> {
        let record: Record = serde_json::from_value(json!({"categories": categories})).expect("a record");
        rules.of(&record).expect("legal").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arxivs_sets_are_those_that_arxiv_has() {
        let rules = SetRules::compile(arxiv().sets).expect("good rules");
        for (categories, sets) in [
            ("hep-th", &["physics:hep-th"] as &[&str]),
            ("cond-mat.str-el", &["physics:cond-mat:str-el"]),
            ("cs.AI math.AG", &["cs:cs:AI", "math:math:AG"]),
            ("physics.flu-dyn nlin.CD", &["physics:nlin:CD", "physics:physics:flu-dyn"]),
            ("alg-geom", &["math:math:AG"]),
            ("mtrl-th", &["physics:cond-mat:mtrl-sci"]),
            ("math-ph", &["math:math:MP", "physics:math-ph"]),
            ("math.ST stat.TH", &["math:math:ST", "stat:stat:TH"]),
            ("cs.IT", &["cs:cs:IT", "math:math:IT"]),
            ("astro-ph", &["physics:astro-ph"]),
            ("astro-ph astro-ph.CO", &["physics:astro-ph:CO"]),
            ("q-bio", &["q-bio:q-bio"]),
            ("", &[]),
            ("nosuch.XX test", &[]),
        ] {
            assert_eq!(of(&rules, categories), sets, "{categories}");
        }
    }

    #[test]
    fn every_set_of_arxiv_has_a_name_and_every_name_a_set() {
        let archive = arxiv();
        assert_eq!(archive.repository_identifier, "arXiv.org");
        assert_eq!(archive.formats[0], "oai_dc");
        assert_eq!(archive.constants["landing"].as_str(), Some("https://arxiv.org/abs/"));
        let rules = SetRules::compile(archive.sets.clone()).expect("good rules");
        let named: BTreeSet<String> = rules.named().into_iter().map(|set| set.spec.to_string()).collect();
        // A set is a class if it has three levels, or if its archive has none.
        let is_class = |spec: &&String| spec.contains(':') && !named.iter().any(|s| s.starts_with(&format!("{spec}:")));
        let classes: Vec<&String> = named.iter().filter(is_class).collect();
        assert_eq!(classes.len(), 155, "arXiv has so many");
        for class in classes {
            let category = class.split_once(':').map(|(_, rest)| rest.replace(':', ".")).expect("has levels");
            assert!(of(&rules, &category).contains(class), "{class}");
        }
        let [categories, aliases] = &archive.sets[..] else { panic!("two rules") };
        let known = categories.tables["subsumed"].keys().chain(aliases.tables["alias"].keys());
        for category in known.chain(categories.tables["group"].keys()) {
            let sets = of(&rules, category);
            assert!(!sets.is_empty() && sets.iter().all(|set| named.contains(set)), "{category}: {sets:?}");
        }
    }
}
