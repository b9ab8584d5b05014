//! The names of formats that are sent as received.
//!
//! The catalogue identifies a format by its prefix, so two formats must never have the same one, and the prefix of a
//! format must not change between imports. Files are read on many threads, and unchanged files are not read at all.
//! Therefore no state is shared between files, and a name is derived from the file alone.

use std::collections::HashMap;
use std::sync::Arc;

use modoai_protocol::MetadataPrefix;
use modoai_repository::catalogue::stored::StoredFormat;
use xxhash_rust::xxh3::xxh3_64;

use super::document::Document;
use super::formats::FORMATS;
use crate::crosswalk;
use crate::source::Options;
use crate::source::kind::OpenError;

/// The names of formats.
pub(in crate::source) struct Names {
    /// Formats with well-known names, by namespace.
    known: HashMap<String, Arc<StoredFormat>>,
    /// The format that the options describe.
    chosen: Option<Chosen>,
}

struct Chosen {
    namespace: String,
    prefix: Option<String>,
    schema: Option<String>,
}

impl Names {
    pub(in crate::source) fn new(options: &Options) -> Result<Self, OpenError> {
        let listed = FORMATS.iter().map(|format| StoredFormat {
            prefix: format.prefix.to_owned(),
            schema: format.schema.to_owned(),
            namespace: format.namespace.to_owned(),
        });
        // The formats of shipped crosswalks come last and replace others, so that received and generated records are in
        // the same format.
        let made = crosswalk::shipped_prefixes().filter_map(crosswalk::shipped).map(|shipped| shipped.format());
        let known = listed.chain(made).map(|format| (format.namespace.clone(), Arc::new(format))).collect();
        let mut names = Self { known, chosen: None };
        let wrong = |option, what| Err(OpenError::Option { option, what });
        let Some(namespace) = &options.namespace else {
            let option = match (&options.prefix, &options.schema) {
                (Some(_), _) => "prefix",
                (None, Some(_)) => "schema",
                (None, None) => return Ok(names),
            };
            return wrong(option, "missing `namespace`: set it to the namespace of the root element".to_owned());
        };
        if let Some(prefix) = &options.prefix {
            if MetadataPrefix::parse(prefix).is_none() {
                return wrong("prefix", format!("invalid metadata prefix {prefix:?}"));
            }
            if let Some(other) = names.taken(prefix, namespace) {
                return wrong("prefix", format!("`{prefix}` is the standard prefix of {}", other.namespace));
            }
        }
        let (prefix, schema) = (options.prefix.clone(), options.schema.clone());
        names.chosen = Some(Chosen { namespace: namespace.clone(), prefix, schema });
        Ok(names)
    }

    /// Returns the format of a file.
    pub(super) fn of(&self, document: &Document<'_>) -> Arc<StoredFormat> {
        let namespace = &document.namespace;
        let known = self.known.get(namespace);
        let chosen = self.chosen.as_ref().filter(|chosen| chosen.namespace == *namespace);
        if let (Some(known), None) = (known, chosen) {
            return Arc::clone(known);
        }
        let prefix = chosen.and_then(|chosen| chosen.prefix.clone());
        let schema = chosen.and_then(|chosen| chosen.schema.as_ref());
        let prefix = prefix.or_else(|| known.map(|known| known.prefix.clone()));
        let schema = schema.or(known.map(|known| &known.schema)).or(document.schema.as_ref());
        Arc::new(StoredFormat {
            prefix: prefix.unwrap_or_else(|| told_apart(&legal(&document.name), namespace)),
            // The element must not be empty, and some servers publish a schema at the namespace.
            schema: schema.unwrap_or(namespace).clone(),
            namespace: namespace.clone(),
        })
    }

    /// Returns the prefix for a format that has this prefix in its repository: the same, unless it is the well-known
    /// prefix of another format.
    pub(in crate::source) fn apart(&self, prefix: String, namespace: &str) -> String {
        if self.taken(&prefix, namespace).is_some() { told_apart(&prefix, namespace) } else { prefix }
    }

    /// Returns another format that has this prefix.
    fn taken(&self, prefix: &str, namespace: &str) -> Option<&StoredFormat> {
        let mut known = self.known.values();
        known.find(|known| known.prefix == prefix && known.namespace != namespace).map(Arc::as_ref)
    }
}

/// Returns a prefix that no format of another namespace has.
fn told_apart(name: &str, namespace: &str) -> String {
    // With half of the hash, a collision still has a probability of one in four thousand million.
    format!("{name}.{:08x}", xxh3_64(namespace.as_bytes()) >> 32)
}

/// Converts an element's name to a valid prefix.
fn legal(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().map(legal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(options: &str, name: &str, namespace: &str) -> StoredFormat {
        let options = toml::from_str(options).expect("legal TOML");
        let names = Names::new(&options).unwrap_or_else(|error| panic!("{error}"));
        let schema = Some("told.xsd".to_owned());
        (*names.of(&Document { root: "", name: name.to_owned(), namespace: namespace.to_owned(), schema })).clone()
    }

    #[test]
    fn a_name_follows_from_namespace_and_root_alone() {
        let tei = "http://www.tei-c.org/ns/1.0";
        let (text, corpus) = (named("", "TEI", tei), named("", "teiCorpus", tei));
        assert_eq!((text.prefix.as_str(), corpus.prefix.as_str()), ("TEI.a62b0aa4", "teiCorpus.a62b0aa4"));
        assert_eq!(text.schema, "told.xsd");
        assert_ne!(named("", "r", "urn:a").prefix, named("", "r", "urn:b").prefix);
        assert_ne!(named("", "oai_dc", "urn:a").prefix, "oai_dc");
        assert!(MetadataPrefix::parse(&named("", "über", "urn:x").prefix).is_some());
    }

    #[test]
    fn known_formats_are_called_as_our_crosswalks_call_them() {
        for format in FORMATS {
            let known = named("", "x", format.namespace);
            assert_eq!((known.prefix.as_str(), known.schema.as_str()), (format.prefix, format.schema));
        }
        for prefix in crosswalk::shipped_prefixes() {
            let made = crosswalk::shipped(prefix).expect("it is shipped").format();
            assert_eq!(named("", "x", &made.namespace), made);
        }
    }

    #[test]
    fn what_was_chosen_holds_for_its_namespace() {
        let options = "namespace = 'urn:x'\nprefix = 'mine'\nschema = 'mine.xsd'";
        let mine = named(options, "r", "urn:x");
        assert_eq!((mine.prefix.as_str(), mine.schema.as_str()), ("mine", "mine.xsd"));
        assert_eq!(named(options, "r", "urn:y"), named("", "r", "urn:y"));
        let mods = "http://www.loc.gov/mods/v3";
        let newer = named(&format!("namespace = '{mods}'\nprefix = 'mods38'"), "mods", mods);
        assert_eq!((newer.prefix.as_str(), newer.schema), ("mods38", named("", "mods", mods).schema));
        for (options, said) in [
            ("prefix = 'mine'", "option `prefix`: missing `namespace`"),
            ("schema = 'mine.xsd'", "option `schema`: missing `namespace`"),
            ("namespace = 'urn:x'\nprefix = 'a b'", "invalid metadata prefix"),
            ("namespace = 'urn:x'\nprefix = 'oai_dc'", "is the standard prefix of"),
        ] {
            let error = Names::new(&toml::from_str(options).expect("legal TOML")).err().expect(said).to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_foreign_prefix_gives_way() {
        let names = Names::new(&Options::default()).expect("no options");
        assert_eq!(names.apart("mods".to_owned(), "http://www.loc.gov/mods/v3"), "mods");
        assert_eq!(names.apart("own".to_owned(), "urn:x"), "own");
        assert_eq!(names.apart("mods".to_owned(), "urn:x"), format!("mods.{:08x}", xxh3_64(b"urn:x") >> 32));
    }
}
