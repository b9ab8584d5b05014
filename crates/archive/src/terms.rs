//! The terms of an archive: its identifiers, crosswalks, sets and constants.
//!
//! The catalogue stores them with its records, because the records' datestamps depend on them. A server needs only the
//! catalogue, and an import can determine which records a change of terms changes.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use modoai_repository::Failure;
use modoai_repository::catalogue::{Catalogue, CatalogueError, Writer};
use modoai_repository::settings::check_repository_identifier;
use serde::{Deserialize, Serialize};

use crate::crosswalk::{CrosswalkError, Crosswalks, Definition};
use crate::didl::Packages;
use crate::offer;
use crate::sets::{Rule, RuleError, SetRules};
use crate::source::Fault;

/// The memo with the terms that hold.
const TERMS: &str = "archive";

/// The memo with all former terms that applied since every record was last evaluated.
const FORMER_TERMS: &str = "archive-before";

/// Increased when the same terms yield different results, so that records are evaluated again.
const EDITION: u32 = 1;

/// The terms in their stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    pub(crate) edition: u32,
    /// The namespace of identifiers by the oai-identifier scheme.
    pub repository_identifier: Option<String>,
    /// The directory of the items' files.
    pub files: Option<PathBuf>,
    /// The values of `archive` in templates.
    pub constants: toml::Table,
    /// The crosswalks, oai_dc first.
    pub crosswalks: Vec<Definition>,
    /// The rules of sets.
    pub sets: Vec<Rule>,
}

impl Terms {
    /// Creates terms with only these crosswalks.
    pub fn new(crosswalks: Vec<Definition>) -> Self {
        Self {
            edition: EDITION,
            repository_identifier: None,
            files: None,
            constants: toml::Table::new(),
            crosswalks,
            sets: Vec::new(),
        }
    }

    /// Sets the namespace of identifiers. It is not checked when terms are compiled, because terms in a catalogue were
    /// valid, and its records have identifiers in that namespace.
    pub fn in_namespace(self, namespace: &str) -> Result<Self, TermsError> {
        check_repository_identifier(namespace).map_err(TermsError::RepositoryIdentifier)?;
        Ok(Self { repository_identifier: Some(namespace.to_owned()), ..self })
    }

    /// Returns the terms that a catalogue stores; `None` if it is not that of an archive.
    pub(crate) fn held(catalogue: &dyn Catalogue) -> Result<Option<Self>, TermsError> {
        let Some(bytes) = catalogue.memo(TERMS)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(TermsError::Unreadable)
    }

    /// Returns the same terms in the present edition of the program.
    pub(crate) fn remembered(catalogue: &dyn Catalogue) -> Result<Option<Self>, TermsError> {
        Ok(Self::held(catalogue)?.map(|terms| Self { edition: EDITION, ..terms }))
    }

    /// Returns the former terms; none if every record has been evaluated since.
    pub(crate) fn former(catalogue: &dyn Catalogue) -> Result<Vec<Self>, TermsError> {
        let Some(bytes) = catalogue.memo(FORMER_TERMS)? else { return Ok(Vec::new()) };
        serde_json::from_slice(&bytes).map_err(TermsError::Unreadable)
    }

    /// Stores these terms as the present ones.
    pub(crate) fn hold(&self, writer: &mut dyn Writer) -> Result<(), CatalogueError> {
        writer.set_memo(TERMS, Some(&serde_json::to_vec(self).expect("terms are texts and numbers")))
    }

    /// Stores the former terms, or removes them if the list is empty.
    pub(crate) fn remember_former(former: &[Self], writer: &mut dyn Writer) -> Result<(), CatalogueError> {
        let bytes = serde_json::to_vec(former).expect("terms are texts and numbers");
        writer.set_memo(FORMER_TERMS, if former.is_empty() { None } else { Some(&bytes) })
    }
}

/// The reason why an archive cannot use these terms.
#[derive(Debug, thiserror::Error)]
pub enum TermsError {
    /// The namespace of identifiers is invalid.
    #[error("repository_identifier {0}")]
    RepositoryIdentifier(String),
    /// A crosswalk is invalid.
    #[error(transparent)]
    Crosswalk(#[from] CrosswalkError),
    /// A rule of sets is invalid.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A newer version wrote the data in the catalogue.
    #[error("the catalogue contains an archive definition that this version cannot read")]
    Unreadable(#[source] serde_json::Error),
    /// The catalogue failed.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
}

impl From<TermsError> for Failure {
    fn from(error: TermsError) -> Self {
        match error {
            TermsError::Catalogue(error) => Self::Catalogue(error),
            error => Self::Io(io::Error::other(error)),
        }
    }
}

/// The terms, ready to be followed.
#[derive(Debug)]
pub struct Archive {
    pub(crate) terms: Terms,
    pub(crate) crosswalks: Arc<Crosswalks>,
    pub(crate) sets: SetRules,
    /// The packages of documents' files, if it has files.
    pub(crate) packages: Option<Packages>,
}

impl Archive {
    /// Compiles the terms, and reports all errors in them.
    pub fn compile(terms: Terms) -> Result<Self, TermsError> {
        let crosswalks = Arc::new(Crosswalks::compile(terms.crosswalks.clone(), terms.constants.clone())?);
        let sets = SetRules::compile(terms.sets.clone())?;
        let packages = terms.files.as_deref().map(Packages::new);
        Ok(Self { terms, crosswalks, sets, packages })
    }

    /// Returns the terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns the prefixes of the formats that these terms generate.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &str> {
        let packages = self.packages.is_some().then_some(offer::PACKAGES);
        self.crosswalks.all().iter().map(|crosswalk| crosswalk.definition().prefix.as_str()).chain(packages)
    }

    /// Returns the OAI identifier of a document: its name in the source, prefixed with the archive's namespace, with
    /// characters that the scheme forbids percent-encoded. A URI remains unchanged.
    pub fn identifier(&self, local: &str) -> Result<String, Fault> {
        let local = local.trim();
        if local.is_empty() {
            return Err(Fault("the identifier is empty".to_owned()));
        }
        if local.len() > LONGEST_IDENTIFIER {
            return Err(Fault(format!("the identifier has more than {LONGEST_IDENTIFIER} bytes")));
        }
        let mut identifier = match &self.terms.repository_identifier {
            _ if is_uri(local) => String::new(),
            Some(namespace) => format!("oai:{namespace}:"),
            None => {
                let what =
                    format!("'{local}' is not a URI; set repository_identifier to derive URIs from local identifiers");
                return Err(Fault(what));
            }
        };
        for byte in local.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,%".contains(&byte) {
                identifier.push(byte.into());
            } else {
                identifier.push_str(&format!("%{byte:02X}"));
            }
        }
        Ok(identifier)
    }
}

/// A longer identifier would not fit into a request.
const LONGEST_IDENTIFIER: usize = 1000;

/// Returns true if it is a URI of a scheme that is used for identifiers of documents.
fn is_uri(text: &str) -> bool {
    ["oai:", "http://", "https://", "urn:", "info:", "doi:", "hdl:", "ark:"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_follow_the_scheme() {
        let mut archive = Archive::compile(Terms::new(Vec::new())).expect("no terms are good terms");
        assert!(archive.identifier("1").expect_err("no namespace").to_string().contains("repository_identifier"));
        assert_eq!(archive.identifier("https://a.example/1 2"), Ok("https://a.example/1%202".to_owned()));
        archive.terms = archive.terms.in_namespace("arXiv.org").expect("a domain name");
        assert_eq!(archive.identifier("hep-th/9901001"), Ok("oai:arXiv.org:hep-th/9901001".to_owned()));
        assert_eq!(archive.identifier("oai:other.org:5"), Ok("oai:other.org:5".to_owned()));
        assert_eq!(archive.identifier("Müller #1"), Ok("oai:arXiv.org:M%C3%BCller%20%231".to_owned()));
        assert!(archive.identifier(" ").is_err());
    }
    #[test]
    fn a_namespace_is_a_domain_name() {
        for namespace in ["Institute X", "localhost", ""] {
            let error = Terms::new(Vec::new()).in_namespace(namespace).expect_err(namespace).to_string();
            assert!(error.starts_with("repository_identifier needs a domain name"), "{error}");
        }
    }
}
