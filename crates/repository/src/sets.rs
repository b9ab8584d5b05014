//! Sets defined by the administrator, by the paths of resources.
//!
//! A site has sets by media type. Rules of the configuration add others: a department, a project, a series. They are applied
//! with every rescan, so that a changed rule changes exactly the records that enter or leave a set. Names and descriptions
//! do not need the catalogue, and are taken from the configuration with every response.

use std::sync::Arc;

use modoai_protocol::SetSpec;
use toml::Value;

use crate::catalogue::SetTitle;
use crate::settings::{Setting, load, value};
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
        set: |s, v| spec(&value::text(v)?).map(|spec| s.spec = Arc::new(spec)),
    },
    Setting {
        key: "name",
        default: "",
        doc: "setName, shown by harvesters and aggregators.",
        set: |s, v| match value::text(v)? {
            name if name.trim().is_empty() => Err("needs a name".to_owned()),
            name => {
                s.name = name;
                Ok(())
            }
        },
    },
    Setting {
        key: "description",
        default: "\"\"",
        doc: "Description of the set, included in ListSets as Dublin Core.",
        set: |s, v| value::text(v).map(|text| s.description = Some(text).filter(|text| !text.is_empty())),
    },
    Setting {
        key: "patterns",
        default: "[]",
        doc: "Patterns of the paths that belong to the set, as in ignore. Without patterns, the table only names a set above others.",
        set: |s, v| {
            s.patterns = Patterns::new(&value::texts(v)?).map_err(|error| error.to_string())?;
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
    pub fn read(tables: &Value) -> Result<Self, String> {
        let tables = tables.as_array().ok_or("needs to be written as [[set]], once for each set")?;
        let mut rules: Vec<SetRule> = Vec::new();
        for table in tables {
            let table = table.as_table().ok_or("needs to be written as [[set]]")?;
            let (spec, patterns) = (Arc::new(SetSpec::from_levels([])), Patterns::default());
            let mut rule = SetRule { spec, name: String::new(), description: None, patterns };
            load(&table.to_string(), &mut (SET_SETTINGS, &mut rule)).map_err(|error| format!("is invalid: {error}"))?;
            match rule {
                SetRule { spec, .. } if spec.as_str().is_empty() => return Err("needs a spec for each set".to_owned()),
                SetRule { spec, name, .. } if name.is_empty() => return Err(format!("needs a name for {spec}")),
                SetRule { spec, .. } if rules.iter().any(|known| known.spec == spec) => {
                    return Err(format!("has {spec} twice; give the patterns of a set in one table"));
                }
                rule => rules.push(rule),
            }
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
        SetRules::read(&text.parse::<toml::Table>().expect("TOML")["set"])
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
