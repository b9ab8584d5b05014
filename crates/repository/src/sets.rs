//! Sets defined by the administrator, by the paths of resources.
//!
//! A site has sets by media type. Rules of the configuration add others: a department, a project, a series. They are applied
//! with every rescan, so that a changed rule changes exactly the records that enter or leave a set. Names and descriptions
//! do not need the catalogue, and are taken from the configuration with every response.

use std::sync::Arc;

use modoai_protocol::SetSpec;
use modoai_settings::{Problem, Setting, Value, fill};

use crate::catalogue::SetTitle;
use crate::site::kind::MEDIA_TYPES;
use crate::site::pattern::Patterns;

/// A set, and the paths that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRule {
    /// The setSpec.
    pub spec: Arc<SetSpec>,
    /// The setName.
    pub name: String,
    /// The setDescription.
    pub description: Option<String>,
    /// Without any, the rule only names a set that other rules give members to.
    pub patterns: Patterns,
}

/// All rules. A setSpec has at most one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetRules(Vec<SetRule>);

/// The settings of one `[[set]]`.
pub const SET_SETTINGS: &[Setting<SetRule>] = &[
    Setting {
        key: "spec",
        default: "",
        doc: "setSpec, with colons between the levels of a hierarchy: \"physics:hep\". The first level \"mime\" is reserved for media types.",
        set: |s, v| v.parse_text(spec).map(|spec| s.spec = Arc::new(spec)),
    },
    Setting {
        key: "name",
        default: "",
        doc: "setName, shown by harvesters and aggregators.",
        set: |s, v| match v.text()? {
            name if name.trim().is_empty() => Err("needs a name".into()),
            name => {
                name.clone_into(&mut s.name);
                Ok(())
            }
        },
    },
    Setting {
        key: "description",
        default: "\"\"",
        doc: "Description of the set, included in ListSets as Dublin Core.",
        set: |s, v| v.text().map(|text| s.description = Some(text.to_owned()).filter(|text| !text.is_empty())),
    },
    Setting {
        key: "patterns",
        default: "[]",
        doc: "Patterns of the paths that belong to the set, as in ignore. Without patterns, the table only names a set above others.",
        set: |s, v| {
            s.patterns = Patterns::new(&v.texts()?).map_err(|error| error.to_string())?;
            Ok(())
        },
    },
];

impl SetRule {
    /// The name and the description.
    pub(crate) fn title(&self) -> SetTitle {
        let Self { spec, name, description, .. } = self.clone();
        SetTitle { set: spec, title: name, description }
    }
}

impl SetRules {
    /// Parses tables with the keys of [`SET_SETTINGS`].
    pub fn read(tables: &Value) -> Result<Self, Problem> {
        let mut rules: Vec<SetRule> = Vec::new();
        for table in tables.tables("set")? {
            let (spec, patterns) = (Arc::new(SetSpec::from_levels([])), Patterns::default());
            let mut rule = SetRule { spec, name: String::new(), description: None, patterns };
            fill(table, &mut (SET_SETTINGS, &mut rule))?;
            if rule.spec.as_str().is_empty() {
                return Err(table.problem("needs a spec for each set"));
            }
            if rule.name.is_empty() {
                return Err(table.problem(format!("needs a name for {}", rule.spec)));
            }
            if rules.iter().any(|known| known.spec == rule.spec) {
                let what = format!("has {} twice; give the patterns of a set in one table", rule.spec);
                return Err(table.problem(what));
            }
            rules.push(rule);
        }
        Ok(Self(rules))
    }

    /// Returns the rules, in the order of the configuration.
    pub fn iter(&self) -> impl Iterator<Item = &SetRule> {
        self.0.iter()
    }

    /// Returns the sets of a resource: by its media type, and by the rules that its path matches. Only the narrowest,
    /// sorted.
    pub(crate) fn of<P: AsRef<[Vec<u8>]>>(
        &self,
        by_media_type: &Arc<SetSpec>,
        path: impl FnOnce() -> P,
    ) -> Vec<Arc<SetSpec>> {
        let mut sets = vec![Arc::clone(by_media_type)];
        if !self.0.is_empty() {
            let path = path();
            let matching = self.0.iter().filter(|rule| rule.patterns.cover(path.as_ref()));
            sets.extend(matching.map(|rule| Arc::clone(&rule.spec)));
            SetSpec::keep_narrowest(&mut sets);
        }
        sets
    }
}

fn spec(text: &str) -> Result<SetSpec, String> {
    let Some(spec) = SetSpec::parse(text) else {
        return Err(format!("has '{text}', which is not a setSpec such as physics:hep"));
    };
    if spec.lineage().next() == Some(MEDIA_TYPES) {
        return Err(format!("has '{text}', but sets below '{MEDIA_TYPES}' are by media type"));
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::name;

    fn rules(text: &str) -> Result<SetRules, String> {
        let mut settings = crate::Settings::default();
        let target = &mut (crate::settings::SETTINGS, &mut settings);
        modoai_settings::load(text, std::path::Path::new(""), target).map_err(|problem| problem.what)?;
        Ok(settings.set)
    }

    #[test]
    fn a_resource_is_in_every_set_that_matches_and_of_a_branch_in_the_narrowest() {
        let rules = rules(
            r#"
            [[set]]
            spec = "physics"
            name = "Physics"
            patterns = ["/physics", "re:-phys\\.html$"]
            [[set]]
            spec = "physics:hep"
            name = "High energy physics"
            patterns = "/physics/hep/**"
            [[set]]
            spec = "talks"
            name = "Talks"
            patterns = ["*.slides.*"]
            [[set]]
            spec = "above"
            name = "Only a name"
            "#,
        )
        .expect("good rules");
        let html = Arc::new(SetSpec::from_levels(["mime", "text", "html"]));
        let of = |path: &str| {
            let sets = rules.of(&html, || name::decode(path).expect("a path"));
            sets.iter().map(|set| set.as_str().to_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("index.html"), "mime:text:html");
        assert_eq!(of("physics/a.html"), "mime:text:html physics");
        assert_eq!(of("news-phys.html"), "mime:text:html physics");
        assert_eq!(of("physics/hep/a/b.slides.html"), "mime:text:html physics:hep talks");
        assert_eq!(SetRules::default().of::<Vec<_>>(&html, || panic!("no rule needs it")), [html]);
    }

    #[test]
    fn a_wrong_rule_is_refused_with_the_reason() {
        for (table, reason) in [
            ("spec = 'a'", "a name for a"),
            ("name = 'A'", "a spec"),
            ("spec = 'a b'\nname = 'A'", "not a setSpec"),
            ("spec = 'mime:text'\nname = 'A'", "by media type"),
            ("spec = 'mime'\nname = 'A'", "by media type"),
            ("spec = 'a'\nname = ' '", "needs a name"),
            ("spec = 'a'\nname = 'A'\npatterns = ['a|b']", "looks like a regular expression"),
            ("spec = 'a'\nname = 'A'\npattern = 'x'", "did you mean 'patterns'"),
            ("spec = 'a'\nname = 'A'\n[[set]]\nspec = 'a'\nname = 'B'", "a twice"),
        ] {
            let error = rules(&format!("[[set]]\n{table}")).expect_err(table);
            assert!(error.contains(reason), "{error}");
        }
        assert!(rules("set = 'a'").is_err() && rules("set = ['a']").is_err());
        assert_eq!(rules("set = []"), Ok(SetRules::default()));
        // The first level decides, not the first letters.
        rules("[[set]]\nspec = 'mimes'\nname = 'A'").expect("a good rule");
    }
}
