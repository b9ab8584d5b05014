//! The settings of a repository, one entry each, for all hosts.
//!
//! The configuration file, environment variables, `--option key=value`, the Apache directives and the guide's reference
//! all read this table.

use std::path::PathBuf;

use modoai_settings::{Former, Problem, Value, settings};

use crate::description::Description;
use crate::sets::SetRules;

settings! {
    /// The settings of a repository, for all hosts: its presentation, and the size of its pages.
    pub struct Settings, SETTINGS {
        /// Repository name in Identify, shown by harvesters and aggregators.
        repository_name: String = "\"A modoai repository\"", Value::string;
        /// Contact address in Identify, or a list of addresses. Set a real one before you register the repository.
        admin_email: Vec<String> = "[\"webmaster@example.org\"]", addresses;
        /// Maximum number of records in a page of ListRecords. A page can end earlier, at page_bytes. Aggregators
        /// recommend 100 to 500.
        records_per_page: usize = "500", |v| v.number(PER_PAGE);
        /// Maximum number of headers in a page of ListIdentifiers. Headers are small, so a page can contain more of
        /// them.
        identifiers_per_page: usize = "2000", |v| v.number(PER_PAGE);
        /// A page of records ends when it exceeds this size. Every page contains at least one record.
        page_bytes: u64 = "\"16M\"", Value::bytes;
        /// Resources up to this size are included in their oai_didl record, in base64; larger ones by reference only.
        /// Clients based on libxml2 (lxml, PHP, xmllint) reject or lose records with more than 7M unless they allow
        /// huge documents.
        by_value_limit: u64 = "\"7M\"", Value::bytes;
        /// Directory for copies of files above 1M while they are sent by value. By default that of the system: TMPDIR,
        /// or /tmp.
        temporary_directory: PathBuf = "\"\"", Value::path;
        /// Include a description in modoai's own namespace in Identify, which lets `modoai harvest` skip the overlap of
        /// incremental harvests. Set it to false for validators that have only the official schemas.
        describe_datestamps: bool = "true", Value::flag;
        /// Domain name for identifiers. With "example.org", identifiers are oai:example.org: followed by the path,
        /// instead of URLs, and Identify describes this. Set it before the first harvest.
        repository_identifier: Option<String> = "\"\"", repository_identifier;
        /// XML files, each with one element that Identify includes as a description: eprints, rights, friends, branding
        /// or any other. examples/identify/ shows some.
        identify_descriptions: Vec<Description> = "[]", Description::read_all;
        /// Sets of a site by path, in addition to the sets by media type: one `[[set]]` each, with the keys spec, name,
        /// description and patterns.
        set: SetRules = "[]", SetRules::read;
    }
}

fn addresses(value: &Value) -> Result<Vec<String>, Problem> {
    let addresses = value.texts()?;
    match addresses.iter().find(|address| !is_email(address)) {
        Some(bad) => {
            Err(format!("has the invalid address '{bad}'; expected an address such as name@example.org").into())
        }
        None if addresses.is_empty() => Err("needs at least one address".into()),
        None => Ok(addresses),
    }
}

fn repository_identifier(value: &Value) -> Result<Option<String>, Problem> {
    let name = Some(value.string()?).filter(|name| !name.is_empty());
    name.as_deref().map_or(Ok(()), check_repository_identifier)?;
    Ok(name)
}

/// The number of items of a page: few enough to fit into memory.
const PER_PAGE: std::ops::RangeInclusive<u64> = 1..=100_000;

/// The replacement of settings for descriptions.
const FILE: &str = "is a file now: list it in identify_descriptions (OAIDescription in Apache httpd); examples/identify/ shows the form of each";

/// The former settings of all hosts.
pub const FORMER: Former = &[
    ("max_vanished", "is named max_deleted now (OAIMaxDeleted in Apache httpd)"),
    ("sets_per_page", "has the fixed value 1000 now; remove it"),
    ("header_timeout", "has the fixed value 10s now, or that of stall_timeout if it is shorter; remove it"),
    ("grace", "has the fixed value 10s now; remove it"),
    ("workers", "depends only on the number of processor cores now; remove it"),
    (
        "show_dotfiles",
        "is a pattern now: to list names that begin with a dot, add \"!.*\" to ignore (OAIIgnore in Apache httpd)",
    ),
    ("friends", FILE),
    ("sample_identifier", FILE),
    ("metadata_rights", FILE),
    ("eprints_content", FILE),
    ("eprints_metadata_policy", FILE),
    ("eprints_data_policy", FILE),
    ("eprints_submission_policy", FILE),
    ("eprints_comments", FILE),
    ("branding_icon", FILE),
    ("branding_link", FILE),
];

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
    use std::path::Path;

    use modoai_settings::load;

    use super::*;

    fn loaded(text: &str) -> Result<Settings, Problem> {
        let mut settings = Settings::default();
        load(text, Path::new(""), &mut (SETTINGS, &mut settings)).map(|()| settings)
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
    fn a_bad_value_says_what_is_needed() {
        for (text, needed) in [
            ("page_bytes = 'lots'", "needs a number of bytes"),
            ("records_per_page = 0", "from 1"),
            ("records_per_page = 1000000", "from 1 to 100000"),
            ("admin_email = 'nobody'", "invalid address"),
            ("admin_email = []", "at least one"),
            ("repository_identifier = 'localhost'", "domain name"),
            ("repository_name = 5", "needs text"),
            ("identify_descriptions = 5", "needs text in quotes"),
            ("identify_descriptions = '/none.xml'", "has the unreadable file /none.xml: "),
            ("identify_descriptions = ['<a/>']", "has an invalid element: <a> must be in a namespace"),
        ] {
            let message = loaded(text).expect_err(text).to_string();
            assert!(message.contains(needed), "{text}: {message}");
        }
    }
}
