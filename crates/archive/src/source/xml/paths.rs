//! Paths of elements, as written in `[source.fields]` and in the table of well-known formats.

/// A field, and the path of the elements that contain it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) field: String,
    pub(super) steps: Vec<Step>,
    /// The attribute of the last element, if the value is not its text.
    pub(super) attribute: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    name: String,
    condition: Option<Condition>,
}

#[derive(Clone, Debug)]
enum Condition {
    Is(String, String),
    Lacks(String),
}

impl Place {
    /// Parses the path of a field.
    pub(super) fn parse(field: &str, path: &str) -> Result<Self, String> {
        let wrong =
            || format!("invalid path {path:?}; expected a path such as `name/namePart[type=given]` or `rights/@uri`");
        let mut steps = Vec::new();
        let mut attribute = None;
        for part in path.split('/') {
            if attribute.is_some() || part.is_empty() {
                return Err(wrong());
            }
            if let Some(name) = part.strip_prefix('@') {
                attribute = Some(name.to_owned());
                continue;
            }
            let (name, condition) = match part.strip_suffix(']').map(|part| part.split_once('[')) {
                None => (part, None),
                Some(None) => return Err(wrong()),
                Some(Some((name, condition))) => (name, Some(condition)),
            };
            let condition = match condition {
                None => None,
                Some(condition) => Some(match (condition.strip_prefix('!'), condition.split_once('=')) {
                    (Some(name), _) => Condition::Lacks(name.to_owned()),
                    (None, Some((name, value))) => Condition::Is(name.to_owned(), value.to_owned()),
                    (None, None) => return Err(wrong()),
                }),
            };
            if name.is_empty() || name.contains(['[', ']', '@']) {
                return Err(wrong());
            }
            steps.push(Step { name: name.to_owned(), condition });
        }
        if steps.is_empty() { Err(wrong()) } else { Ok(Self { field: field.to_owned(), steps, attribute }) }
    }
}

impl Step {
    pub(super) fn fits(&self, name: &str, attributes: &[(String, String)]) -> bool {
        let value = |wanted: &str| attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        self.name == name
            && match &self.condition {
                None => true,
                Some(Condition::Is(name, wanted)) => value(name) == Some(wanted),
                Some(Condition::Lacks(name)) => value(name).is_none(),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_parsed_or_refused() {
        for path in ["a", "a/b", "a[x=1]/b[!y]", "a/@href"] {
            assert!(Place::parse("title", path).is_ok(), "{path}");
        }
        for path in ["", "/a", "a//b", "@a/b", "@a", "a[x]", "a]", "a[", "[x=1]"] {
            assert!(Place::parse("title", path).is_err(), "{path}");
        }
    }
}
