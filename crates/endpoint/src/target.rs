//! The base URL and the paths below it, and the methods of each.

use modoai_repository::Form;
use modoai_repository::formats::SCHEMAS;

/// A resource that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The repository; with a form, every client gets its responses in that form.
    Repository(Option<Form>),
    /// The text of one of modoai's schemas.
    Schema(&'static str),
}

impl Target {
    /// The target of this name below the base URL; the base URL itself has an empty name.
    pub fn named(name: &[u8]) -> Option<Self> {
        if name.is_empty() {
            return Some(Self::Repository(None));
        }
        let schema = || SCHEMAS.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, text)| Self::Schema(text));
        Form::named(name).map(|form| Self::Repository(Some(form))).or_else(schema)
    }

    /// The methods that requests of the target may have.
    pub fn methods(self) -> &'static [&'static str] {
        match self {
            Self::Repository(_) => &["GET", "HEAD", "POST"],
            Self::Schema(_) => &["GET", "HEAD"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_schemas_have_names() {
        assert_eq!(Target::named(b""), Some(Target::Repository(None)));
        assert_eq!(Target::named(b"csv"), Some(Target::Repository(Some(Form::Csv))));
        let schema = Target::named(b"http_header.xsd").expect("a schema");
        assert!(matches!(schema, Target::Schema(text) if text.contains("schema")));
        assert!(!schema.methods().contains(&"POST"));
        for other in [&b"CSV"[..], b"csv/", b"other.xsd", b"\xff"] {
            assert_eq!(Target::named(other), None);
        }
    }
}
