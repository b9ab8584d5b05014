//! One catalogued document, whatever it came from.
//!
//! The few fields with a shape of their own are typed; everything else is kept under the name it came with
//! ([`Record::further`]), where templates and rules find it. As JSON this is both the documented input format and what
//! the catalogue keeps, so the two never drift apart.

pub(crate) mod lenient;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One catalogued document.
///
/// In templates and rules a field is called as here; the further fields are called by their own names on the same
/// level. Names that several formats know: `doi`, `language`, `publisher`, `type`, `comments`, `journal_ref`,
/// `report_no`, `submitter`, `categories`, `msc_class`, `acm_class`, `proxy`, `authors` (the list of authors as one
/// text, as it was submitted).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// What tells it from all others in the archive. Becomes `oai:NAMESPACE:identifier` unless it is a URI already
    /// ([`crate::terms::Archive::identifier`]).
    pub identifier: String,
    /// It was there and is no more: only a header will tell of it.
    #[serde(skip_serializing_if = "is_false")]
    pub deleted: bool,
    /// When it last changed where it comes from; counts only for what is there when the archive is first filled. By
    /// default the latest of its own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datestamp: Option<String>,
    /// Its title, in plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who made it, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub creators: Vec<Agent>,
    /// Who else had a part in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contributors: Vec<Agent>,
    /// What it is about, in plain text.
    #[serde(rename = "abstract", skip_serializing_if = "Option::is_none")]
    pub abstract_: Option<String>,
    /// Subjects, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
    /// Dates of its life, `YYYY-MM-DD` or longer, by what happened: `created`, `updated`, `issued`, `available`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dates: BTreeMap<String, String>,
    /// Its versions, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<Version>,
    /// The licence it is under: a URL where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Where it can be looked at; the first is its home page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Its files, below the archive's folder of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// Sets it is in, by their specs, besides those that follow from its fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<String>,
    /// Where it was harvested from, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Everything else.
    #[serde(flatten)]
    pub further: BTreeMap<String, Value>,
}

/// A person or body. In JSON also a plain text, `"Family, Given"` or a whole name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Agent {
    /// The family name, or the whole name of a body or of whom has only one.
    #[serde(deserialize_with = "lenient::any_text")]
    pub family: String,
    /// Given names.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// What follows the name, such as `Jr.`.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub suffix: Option<String>,
    /// Where they work.
    #[serde(deserialize_with = "lenient::many_texts", skip_serializing_if = "Vec::is_empty")]
    pub affiliations: Vec<String>,
    /// An ORCID iD, as a URL or bare.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub orcid: Option<String>,
}

impl Record {
    /// The names of all fields but the further ones, as they are in JSON. None of those may be called so.
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
    /// Who is called this: `Family, Given`, or a whole name.
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
    /// What it is called: `v1`.
    #[serde(deserialize_with = "lenient::any_text")]
    pub version: String,
    /// When it was made: as it came, for `date` of arXivRaw an RFC 2822 date.
    #[serde(deserialize_with = "lenient::any_text")]
    pub date: String,
    /// How large it is, as it came: `12kb`.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// arXiv's letters for the kind of source.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub source_type: Option<String>,
}

/// Where a document can be looked at. In JSON also a plain URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Link {
    /// The URL.
    #[serde(deserialize_with = "lenient::any_text")]
    pub url: String,
    /// What is there: `landing`, `pdf`, `source`, …
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub rel: Option<String>,
    /// Its media type.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// A file of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct File {
    /// Where it is, below the archive's folder of files.
    #[serde(deserialize_with = "lenient::any_text")]
    pub path: String,
    /// Where everybody can get it.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its media type; told by its name if not given.
    #[serde(deserialize_with = "lenient::optional_text", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Its length, and when it was last written (nanoseconds since 1970), as the import found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<(u64, i64)>,
}

/// Where a record was harvested from: what OAI's provenance container tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The repository.
    pub base_url: String,
    /// The identifier there.
    pub identifier: String,
    /// The datestamp there.
    pub datestamp: String,
    /// The namespace of the format it came in.
    pub metadata_namespace: String,
    /// When it was got.
    pub harvest_date: String,
    /// Whether it was changed on the way.
    pub altered: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}
