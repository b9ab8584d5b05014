//! One catalogued document, from any source.
//!
//! The few fields with a special structure are typed; all others are kept with their names in the source
//! ([`Record::further`]), where templates and rules find them. As JSON this is both the documented input format and the
//! stored format of the catalogue, so the two cannot diverge.

pub(crate) mod lenient;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One catalogued document.
///
/// Templates and rules use the same field names; the further fields have their own names on the same level. Names that
/// several formats use: `doi`, `language`, `publisher`, `type`, `comments`, `journal_ref`, `report_no`, `submitter`,
/// `categories`, `msc_class`, `acm_class`, `proxy`, `authors` (the list of authors as one string, as submitted).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// The unique identifier in the archive. Becomes `oai:NAMESPACE:identifier` unless it is already a URI
    /// ([`crate::terms::Archive::identifier`]).
    pub identifier: String,
    /// True if the document was deleted: only a header will report it.
    #[serde(skip_serializing_if = "is_false")]
    pub deleted: bool,
    /// The date of its last change at the source; counts only for documents that exist when the archive is first
    /// filled. By default the latest of its other dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datestamp: Option<String>,
    /// The title, in plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The authors, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub creators: Vec<Agent>,
    /// Other contributors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contributors: Vec<Agent>,
    /// The abstract, in plain text.
    #[serde(rename = "abstract", skip_serializing_if = "Option::is_none")]
    pub abstract_: Option<String>,
    /// The subjects, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
    /// The dates of its events, `YYYY-MM-DD` or longer, by event: `created`, `updated`, `issued`, `available`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dates: BTreeMap<String, String>,
    /// The versions, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<Version>,
    /// The licence: a URL if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Web pages and files of the document; the first is its home page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// The files, below the archive's directory of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// The sets, by their specs, in addition to those derived from its fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<String>,
    /// The provenance, if it was harvested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// All other fields.
    #[serde(flatten)]
    pub further: BTreeMap<String, Value>,
}

/// A person or organisation. In JSON also a plain string, `"Family, Given"` or a whole name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Agent {
    /// The family name, or the whole name of an organisation or of a person with only one name.
    #[serde(deserialize_with = "lenient::any_text")]
    pub family: String,
    /// The given names.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// The suffix of the name, such as `Jr.`.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub suffix: Option<String>,
    /// The affiliations.
    #[serde(deserialize_with = "lenient::many_texts", skip_serializing_if = "Vec::is_empty")]
    pub affiliations: Vec<String>,
    /// The ORCID iD, as a URL or bare.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub orcid: Option<String>,
}

impl Record {
    /// The further field `date`: what many tables call their one date.
    pub(crate) fn further_date(&self) -> Option<Cow<'_, str>> {
        match self.further.get("date")? {
            Value::String(text) => (!text.trim().is_empty()).then_some(Cow::from(text)),
            Value::Number(year) => Some(Cow::from(year.to_string())),
            _ => None,
        }
    }

    /// The names of all fields except the further ones, as in JSON. No further field may have one of them.
    pub const FIELDS: [&str; 16] = [
        "identifier",
        "deleted",
        "datestamp",
        "title",
        "creators",
        "contributors",
        "abstract",
        "subjects",
        "dates",
        "versions",
        "licence",
        "license",
        "links",
        "files",
        "sets",
        "provenance",
    ];
}

impl Agent {
    /// Creates an agent from a name: `Family, Given`, or a whole name.
    pub fn named(name: &str) -> Self {
        let (family, given) = name.split_once(',').unwrap_or((name, ""));
        let given = Some(given.trim()).filter(|given| !given.is_empty());
        Self { family: family.trim().to_owned(), given: given.map(str::to_owned), ..Self::default() }
    }
}

/// One version of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Version {
    /// The name of the version: `v1`.
    #[serde(deserialize_with = "lenient::any_text")]
    pub version: String,
    /// The date of the version, as received; for `date` of arXivRaw an RFC 2822 date.
    #[serde(deserialize_with = "lenient::any_text")]
    pub date: String,
    /// The size, as received: `12kb`.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// arXiv's letters for the kind of source.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub source_type: Option<String>,
}

/// A web page or file of a document. In JSON also a plain URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Link {
    /// The URL.
    #[serde(deserialize_with = "lenient::any_text")]
    pub url: String,
    /// The kind of target: `landing`, `pdf`, `source`, …
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub rel: Option<String>,
    /// The media type.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// A file of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct File {
    /// The path below the archive's directory of files.
    #[serde(deserialize_with = "lenient::any_text")]
    pub path: String,
    /// The public URL.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The media type; derived from the file name if missing.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The length, and the time of the last change (nanoseconds since 1970), as the import found them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<(u64, i64)>,
}

/// The provenance of a harvested record: the content of OAI's provenance container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The base URL of the repository.
    pub base_url: String,
    /// The identifier in that repository.
    pub identifier: String,
    /// The datestamp in that repository.
    pub datestamp: String,
    /// The namespace of the format in which it was harvested.
    pub metadata_namespace: String,
    /// The date of the harvest.
    pub harvest_date: String,
    /// True if it was altered after the harvest.
    pub altered: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}
