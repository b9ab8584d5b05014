//! Settings as one table: a row per setting, with its key, default, explanation and parser.
//!
//! The configuration file, environment variables, `--option key=value`, the Apache directives and the guide's reference
//! all read these rows, so adding a setting is one field and one row. A crate with other settings has a similar table;
//! [`load`] applies a file to a [`Target`], which can be several tables, and suggests the nearest key for an unknown
//! one.

pub mod value;

use std::path::PathBuf;

use toml::Value;

use crate::sets::SetRules;

/// One setting of a `T`.
pub struct Setting<T> {
    /// The key in the configuration file.
    pub key: &'static str,
    /// The default, in the notation of the file; empty if the setting is required.
    pub default: &'static str,
    /// The effect of the setting and the reason to change it, in one or two sentences.
    pub doc: &'static str,
    /// Parses a value and stores it in the settings, or returns the expected kind of value.
    pub set: fn(&mut T, &Value) -> Result<(), String>,
}

/// An error in a configuration.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The key is unknown.
    #[error("unknown setting '{key}'{}", hint(.nearest))]
    Unknown {
        /// The key as written.
        key: String,
        /// The most similar known key.
        nearest: Option<&'static str>,
    },
    /// The value is invalid.
    #[error("setting '{key}' {problem}")]
    Value {
        /// The key of the setting.
        key: String,
        /// The expected kind of value.
        problem: String,
    },
    /// The file is not TOML.
    #[error("{0}")]
    Syntax(String),
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map(|key| format!("; did you mean '{key}'?")).unwrap_or_default()
}

/// The destination of [`load`]: a table of settings together with the value that it fills, or several of them.
pub trait Target {
    /// Returns the keys of this target.
    fn keys(&mut self) -> Vec<&'static str>;
    /// Stores a value; returns `None` if this target does not have the key.
    fn put(&mut self, key: &str, value: &Value) -> Option<Result<(), String>>;
}

impl<T> Target for (&'static [Setting<T>], &mut T) {
    fn keys(&mut self) -> Vec<&'static str> {
        self.0.iter().map(|setting| setting.key).collect()
    }

    fn put(&mut self, key: &str, value: &Value) -> Option<Result<(), String>> {
        let setting = self.0.iter().find(|setting| setting.key == key)?;
        Some((setting.set)(self.1, value))
    }
}

/// Former names of settings, and their present names.
const FORMER: &[(&str, &str)] = &[("max_vanished", "max_deleted")];

/// Applies the text of a configuration file.
pub fn load(text: &str, target: &mut dyn Target) -> Result<(), SettingsError> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| SettingsError::Syntax(error.to_string()))?;
    table.iter().try_for_each(|(key, value)| put(key, value, target))
}

/// Applies one `key=value` from the command line. The value is parsed as TOML, or used as plain text if it is not TOML,
/// so that `--option repository_name=My site` needs no quotes within quotes.
pub fn assign(assignment: &str, target: &mut dyn Target) -> Result<(), SettingsError> {
    let Some((key, text)) = assignment.split_once('=') else {
        let problem = "has no value; write key=value".to_owned();
        return Err(SettingsError::Value { key: assignment.to_owned(), problem });
    };
    put(key.trim(), &plain_value(text), target)
}

/// Returns the name of the environment variable for a setting: `MODOAI_RECORDS_PER_PAGE` for `records_per_page`.
pub fn variable(key: &str) -> String {
    format!("MODOAI_{}", key.to_ascii_uppercase())
}

/// Applies the environment variables of all settings. `lookup` returns the value of a variable; an empty value counts
/// as not set. The notation of values is that of [`assign`]. An error contains the name of the variable.
pub fn load_variables(
    lookup: impl Fn(&str) -> Option<String>,
    target: &mut dyn Target,
) -> Result<(), (String, SettingsError)> {
    let former = FORMER.iter().filter(|(_, present)| target.keys().contains(present)).map(|(former, _)| *former);
    for key in former.collect::<Vec<_>>().into_iter().chain(target.keys()) {
        let name = variable(key);
        if let Some(text) = lookup(&name).filter(|text| !text.is_empty()) {
            put(key, &plain_value(&text), target).map_err(|error| (name, error))?;
        }
    }
    Ok(())
}

/// Returns the setting that a variable was probably meant for, if its name is not that of a setting.
pub fn misspelt_variable(name: &str, target: &mut dyn Target) -> Option<&'static str> {
    let key = name.strip_prefix("MODOAI_")?.to_ascii_lowercase();
    nearest(&key, target, 0.8).filter(|nearest| *nearest != key)
}

/// Parses a value outside of a file: TOML, or text without quotes.
fn plain_value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn put(key: &str, value: &Value, target: &mut dyn Target) -> Result<(), SettingsError> {
    if let Some(result) = target.put(key, value) {
        return result.map_err(|problem| SettingsError::Value { key: key.to_owned(), problem });
    }
    if let Some((_, present)) =
        FORMER.iter().find(|(former, present)| *former == key && target.keys().contains(present))
    {
        return Err(SettingsError::Value { key: key.to_owned(), problem: format!("is named '{present}' now") });
    }
    Err(SettingsError::Unknown { key: key.to_owned(), nearest: nearest(key, target, 0.4) })
}

/// Returns the most similar known key, if the similarity is greater than `least`, between 0 and 1.
fn nearest(key: &str, target: &mut dyn Target, least: f64) -> Option<&'static str> {
    let keys = target.keys().into_iter();
    let scored = keys.map(|known| (strsim::normalized_damerau_levenshtein(key, known), known));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > least).map(|(_, known)| known)
}

/// The presentation of a repository, and the size of its pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name of the repository, for Identify.
    pub repository_name: String,
    /// The contact address for harvesters.
    pub admin_email: Vec<String>,
    /// Records per page of ListRecords.
    pub records_per_page: usize,
    /// Headers per page of ListIdentifiers.
    pub identifiers_per_page: usize,
    /// Sets per page of ListSets.
    pub sets_per_page: usize,
    /// The maximum size of a page of records in bytes: a page ends when it has reached this size.
    pub page_bytes: u64,
    /// The maximum size of a resource that oai_didl includes by value.
    pub by_value_limit: u64,
    /// Directory for copies of files that are sent by value and are not held in memory; empty for that of the system.
    pub temporary_directory: PathBuf,
    /// True if Identify describes the datestamps, in a namespace defined by modoai.
    pub describe_datestamps: bool,
    /// The base URLs of other repositories, for the friends description.
    pub friends: Vec<String>,
    /// An oai-identifier namespace, if identifiers follow that scheme.
    pub repository_identifier: Option<String>,
    /// A sample identifier for that description, without the namespace; for a site, `index.html` is suitable.
    pub sample_identifier: Option<String>,
    /// Licences of the metadata, as URLs.
    pub metadata_rights: Vec<String>,
    /// The eprints description: strings and URLs.
    pub eprints: EprintsPolicies,
    /// The URL of an icon that aggregators can display with the records.
    pub branding_icon: Option<String>,
    /// The link target of the icon.
    pub branding_link: Option<String>,
    /// Sets of a site, in addition to those by media type.
    pub sets: SetRules,
}

/// Parses a path, which must be absolute or empty.
fn absolute_path(value: &Value) -> Result<PathBuf, String> {
    let path = PathBuf::from(value::text(value)?);
    let is_legal = path.is_absolute() || path.as_os_str().is_empty();
    is_legal.then_some(path).ok_or_else(|| "needs an absolute path".to_owned())
}

/// The eprints description of Identify: for each part, strings and URLs in the configured order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EprintsPolicies {
    /// The content of the repository.
    pub content: Vec<String>,
    /// The policy for the use of metadata.
    pub metadata: Vec<String>,
    /// The policy for the use of full-text items.
    pub data: Vec<String>,
    /// The policy for submissions.
    pub submission: Vec<String>,
    /// Comments.
    pub comments: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let mut settings = Self {
            repository_name: String::new(),
            admin_email: Vec::new(),
            records_per_page: 0,
            identifiers_per_page: 0,
            sets_per_page: 0,
            page_bytes: 0,
            by_value_limit: 0,
            temporary_directory: PathBuf::new(),
            describe_datestamps: false,
            friends: Vec::new(),
            repository_identifier: None,
            sample_identifier: None,
            metadata_rights: Vec::new(),
            eprints: EprintsPolicies::default(),
            branding_icon: None,
            branding_link: None,
            sets: SetRules::default(),
        };
        apply_defaults(SETTINGS, &mut settings);
        settings
    }
}

/// Creates settings from the defaults in their table, so that each default is written in one place.
pub fn apply_defaults<T>(table: &'static [Setting<T>], settings: &mut T) {
    for setting in table.iter().filter(|setting| !setting.default.is_empty()) {
        assign(&format!("{}={}", setting.key, setting.default), &mut (table, &mut *settings))
            .expect("a default is a legal value; a test looks at each");
    }
}

/// The settings of a repository, for all hosts.
pub const SETTINGS: &[Setting<Settings>] = &[
    Setting {
        key: "repository_name",
        default: "\"A modoai repository\"",
        doc: "Repository name in Identify, shown by harvesters and aggregators.",
        set: |s, v| value::text(v).map(|text| s.repository_name = text),
    },
    Setting {
        key: "admin_email",
        default: "\"webmaster@example.org\"",
        doc: "Contact address in Identify, or a list of addresses. Set a real one before you register the repository.",
        set: |s, v| {
            let addresses = value::texts(v)?;
            match addresses.iter().find(|address| !is_email(address)) {
                Some(bad) => {
                    Err(format!("has the invalid address '{bad}'; expected an address such as name@example.org"))
                }
                None if addresses.is_empty() => Err("needs at least one address".to_owned()),
                None => {
                    s.admin_email = addresses;
                    Ok(())
                }
            }
        },
    },
    Setting {
        key: "records_per_page",
        default: "500",
        doc: "Maximum number of records in a page of ListRecords; page_bytes can end a page earlier. Aggregators recommend 100 to 500.",
        set: |s, v| per_page(v).map(|number| s.records_per_page = number),
    },
    Setting {
        key: "identifiers_per_page",
        default: "2000",
        doc: "Maximum number of headers in a page of ListIdentifiers. Headers are small, so a page can contain more of them.",
        set: |s, v| per_page(v).map(|number| s.identifiers_per_page = number),
    },
    Setting {
        key: "sets_per_page",
        default: "1000",
        doc: "Maximum number of sets in a page of ListSets.",
        set: |s, v| per_page(v).map(|number| s.sets_per_page = number),
    },
    Setting {
        key: "page_bytes",
        default: "\"16M\"",
        doc: "A page of records ends when it exceeds this size. Every page contains at least one record.",
        set: |s, v| value::bytes(v).map(|bytes| s.page_bytes = bytes),
    },
    Setting {
        key: "by_value_limit",
        default: "\"7M\"",
        doc: "Resources up to this size are included in their oai_didl record, in base64; larger ones by reference only. Clients based on libxml2 (lxml, PHP, xmllint) reject or lose records with more than 7M unless they allow huge documents.",
        set: |s, v| value::bytes(v).map(|bytes| s.by_value_limit = bytes),
    },
    Setting {
        key: "temporary_directory",
        default: "\"\"",
        doc: "Directory for copies of files above 1M while they are sent by value; an absolute path. By default that of the system: TMPDIR, or /tmp.",
        set: |s, v| absolute_path(v).map(|path| s.temporary_directory = path),
    },
    Setting {
        key: "describe_datestamps",
        default: "true",
        doc: "Include a description in modoai's own namespace in Identify, which lets `modoai harvest` skip the overlap of incremental harvests. Set it to false for validators that have only the official schemas.",
        set: |s, v| value::flag(v).map(|flag| s.describe_datestamps = flag),
    },
    Setting {
        key: "friends",
        default: "[]",
        doc: "Base URLs of other repositories, included in Identify.",
        set: |s, v| value::texts(v).map(|urls| s.friends = urls),
    },
    Setting {
        key: "repository_identifier",
        default: "\"\"",
        doc: "Domain name for identifiers. With \"example.org\", identifiers are oai:example.org: followed by the path, instead of URLs, and Identify describes this. Set it before the first harvest.",
        set: |s, v| {
            let name = value::text(v)?;
            if name.is_empty() {
                s.repository_identifier = None;
                return Ok(());
            }
            check_repository_identifier(&name)?;
            s.repository_identifier = Some(name);
            Ok(())
        },
    },
    Setting {
        key: "sample_identifier",
        default: "\"\"",
        doc: "Sample identifier for repository_identifier in Identify, without oai: and the domain name: \"hep-th/9901001\". If empty, modoai chooses one.",
        set: |s, v| {
            let sample = value::text(v)?;
            if !sample.is_empty() && !is_local_identifier(&sample) {
                return Err(format!("has the invalid sample '{sample}', which cannot be part of an identifier"));
            }
            s.sample_identifier = Some(sample).filter(|sample| !sample.is_empty());
            Ok(())
        },
    },
    Setting {
        key: "metadata_rights",
        default: "[]",
        doc: "URL of the licence of the metadata, or a list, included in Identify (rightsManifest): \"https://creativecommons.org/publicdomain/zero/1.0/\".",
        set: |s, v| value::urls(v).map(|urls| s.metadata_rights = urls),
    },
    Setting {
        key: "eprints_content",
        default: "[]",
        doc: "Content of the repository, included in Identify (eprints description): text, a URL, or a list of them.",
        set: |s, v| value::texts(v).map(|texts| s.eprints.content = texts),
    },
    Setting {
        key: "eprints_metadata_policy",
        default: "[]",
        doc: "Terms of use of the metadata, in the same description.",
        set: |s, v| value::texts(v).map(|texts| s.eprints.metadata = texts),
    },
    Setting {
        key: "eprints_data_policy",
        default: "[]",
        doc: "Terms of use of the full texts, in the same description.",
        set: |s, v| value::texts(v).map(|texts| s.eprints.data = texts),
    },
    Setting {
        key: "eprints_submission_policy",
        default: "[]",
        doc: "Submission policy, in the same description.",
        set: |s, v| value::texts(v).map(|texts| s.eprints.submission = texts),
    },
    Setting {
        key: "eprints_comments",
        default: "[]",
        doc: "Other comments, in the same description.",
        set: |s, v| value::texts(v).map(|texts| s.eprints.comments = texts),
    },
    Setting {
        key: "branding_icon",
        default: "\"\"",
        doc: "URL of an image that aggregators may show with the records (branding description in Identify).",
        set: |s, v| value::text(v).map(|url| s.branding_icon = Some(url).filter(|url| !url.is_empty())),
    },
    Setting {
        key: "branding_link",
        default: "\"\"",
        doc: "Link target of that image.",
        set: |s, v| value::text(v).map(|url| s.branding_link = Some(url).filter(|url| !url.is_empty())),
    },
    Setting {
        key: "set",
        default: "[]",
        doc: "Sets of a site by path, in addition to the sets by media type: one [[set]] each, with the keys spec, name, description and patterns.",
        set: |s, v| SetRules::read(v).map(|sets| s.sets = sets),
    },
];

/// Parses the number of items of a page: at least one, and few enough to fit into memory.
fn per_page(v: &Value) -> Result<usize, String> {
    const MOST: u64 = 100_000;
    match value::number(v, 1)? {
        number if number <= MOST => Ok(usize::try_from(number).expect("checked against MOST")),
        _ => Err(format!("needs at most {MOST}")),
    }
}

/// Checks the namespace of oai-identifiers against the pattern of the schema: a domain name. Returns the expected form
/// if it is invalid.
pub fn check_repository_identifier(name: &str) -> Result<(), String> {
    let label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphabetic())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if name.contains('.') && name.split('.').all(label) {
        Ok(())
    } else {
        Err(format!("needs a domain name such as example.org, not '{name}'"))
    }
}

/// Returns true if a text has only characters of a URI, as the schema requires for the part of a sample identifier
/// after the namespace.
pub(crate) fn is_local_identifier(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,%".contains(&byte);
    !text.is_empty() && text.bytes().all(legal)
}

/// Returns true if a text matches the pattern of the schema for adminEmail: something, `@`, and a domain with a dot,
/// without spaces.
fn is_email(address: &str) -> bool {
    let domain = address.split_once('@').filter(|(local, _)| !local.is_empty()).map(|(_, domain)| domain);
    let dotted = |domain: &str| domain.split('.').count() > 1 && domain.split('.').all(|label| !label.is_empty());
    domain.is_some_and(dotted) && !address.contains(char::is_whitespace) && !address.starts_with("mailto:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(text: &str) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        load(text, &mut (SETTINGS, &mut settings)).map(|()| settings)
    }

    #[test]
    fn every_default_is_legal_and_every_row_explained() {
        assert_eq!(loaded(""), Ok(Settings::default()));
        assert_eq!(Settings::default().page_bytes, 16 << 20);
        for setting in SETTINGS {
            assert!(setting.doc.ends_with('.'), "{} wants an explanation", setting.key);
        }
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_the_nearest() {
        let error = loaded("page_byte = 5").expect_err("no such key");
        assert_eq!(error.to_string(), "unknown setting 'page_byte'; did you mean 'page_bytes'?");
        let error = loaded("zzz = 5").expect_err("no such key");
        assert_eq!(error.to_string(), "unknown setting 'zzz'");
    }

    #[test]
    fn a_bad_value_says_what_is_needed() {
        for (text, needed) in [
            ("page_bytes = 'lots'", "needs a number of bytes"),
            ("records_per_page = 0", "at least 1"),
            ("records_per_page = 1000000", "at most 100000"),
            ("admin_email = 'nobody'", "invalid address"),
            ("admin_email = []", "at least one"),
            ("repository_identifier = 'localhost'", "domain name"),
            ("repository_name = 5", "needs text"),
            ("sample_identifier = 'a b'", "part of an identifier"),
            ("metadata_rights = 'all reserved'", "invalid URL"),
            ("metadata_rights = ['https://example.org/a b']", "invalid URL"),
            ("eprints_content = 5", "needs text, or a list"),
        ] {
            let message = loaded(text).expect_err(text).to_string();
            assert!(message.contains(needed), "{text}: {message}");
        }
    }

    #[test]
    fn an_assignment_needs_no_quotes() {
        let mut settings = Settings::default();
        let mut target = (SETTINGS, &mut settings);
        for assignment in
            ["repository_name=My site", "by_value_limit=64K", "records_per_page=7", "friends=['http://a/']"]
        {
            assign(assignment, &mut target).expect(assignment);
        }
        assert_eq!(settings.repository_name, "My site");
        assert_eq!(settings.by_value_limit, 64 << 10);
        assert_eq!(settings.records_per_page, 7);
        assert_eq!(settings.friends, ["http://a/"]);
    }
}
