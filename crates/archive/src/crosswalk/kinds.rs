//! The type of a document in the vocabularies that formats require.
//!
//! It is one table: catalogues have a hundred terms for `article`, `preprint` or `doctoral thesis`, and every format
//! has its own list. To support another type, add a row; to support another term for a type, add an alias.

use std::sync::LazyLock;

use minijinja::Value;

/// A type of document.
struct Kind {
    /// The terms of catalogues, in lower-case letters and digits only.
    aliases: &'static [&'static str],
    /// The COAR concept.
    coar: &'static str,
    /// COAR's English label.
    label: &'static str,
    /// OpenAIRE's `resourceTypeGeneral`.
    openaire: &'static str,
    /// DataCite's `resourceTypeGeneral`.
    datacite: &'static str,
    /// The DCMI type.
    dcmi: &'static str,
    /// `typeOfResource` of MODS.
    mods: &'static str,
}

/// The base URL of COAR's concepts.
const COAR: &str = "http://purl.org/coar/";

const fn text(
    aliases: &'static [&'static str],
    coar: &'static str,
    label: &'static str,
    datacite: &'static str,
) -> Kind {
    Kind { aliases, coar, label, openaire: "literature", datacite, dcmi: "Text", mods: "text" }
}

/// All types. The first represents unknown ones.
const KINDS: [Kind; 20] = [
    Kind {
        aliases: &["other"],
        coar: "c_1843",
        label: "other",
        openaire: "other research product",
        datacite: "Other",
        dcmi: "",
        mods: "",
    },
    text(&["text", "document"], "c_18cf", "text", "Text"),
    text(&["preprint", "eprint"], "c_816b", "preprint", "Preprint"),
    text(&["article", "journalarticle", "researcharticle", "c6501"], "c_6501", "journal article", "JournalArticle"),
    text(&["review", "reviewarticle", "bookreview"], "c_efa0", "review", "Text"),
    text(&["workingpaper"], "c_8042", "working paper", "Text"),
    text(&["report", "technicalreport", "techreport"], "c_93fc", "report", "Report"),
    text(&["book", "monograph"], "c_2f33", "book", "Book"),
    text(&["bookpart", "bookchapter", "chapter", "incollection"], "c_3248", "book part", "BookChapter"),
    text(
        &["conferencepaper", "conferenceobject", "inproceedings", "proceedingspaper"],
        "c_5794",
        "conference paper",
        "ConferencePaper",
    ),
    text(&["lecture", "talk", "presentation"], "c_8544", "lecture", "Text"),
    text(&["thesis", "dissertation"], "c_46ec", "thesis", "Dissertation"),
    text(&["bachelorthesis", "bachelorsthesis"], "c_7a1f", "bachelor thesis", "Dissertation"),
    text(&["masterthesis", "mastersthesis"], "c_bdcc", "master thesis", "Dissertation"),
    text(&["doctoralthesis", "phdthesis", "phd"], "c_db06", "doctoral thesis", "Dissertation"),
    Kind {
        aliases: &["dataset", "data"],
        coar: "c_ddb1",
        label: "dataset",
        openaire: "dataset",
        datacite: "Dataset",
        dcmi: "Dataset",
        mods: "software, multimedia",
    },
    Kind {
        aliases: &["software", "code"],
        coar: "c_5ce6",
        label: "software",
        openaire: "software",
        datacite: "Software",
        dcmi: "Software",
        mods: "software, multimedia",
    },
    Kind {
        aliases: &["image", "stillimage", "picture", "photograph"],
        coar: "c_c513",
        label: "image",
        openaire: "other research product",
        datacite: "Image",
        dcmi: "StillImage",
        mods: "still image",
    },
    Kind {
        aliases: &["video", "movingimage", "film"],
        coar: "c_12ce",
        label: "video",
        openaire: "other research product",
        datacite: "Audiovisual",
        dcmi: "MovingImage",
        mods: "moving image",
    },
    Kind {
        aliases: &["sound", "audio", "recording"],
        coar: "c_18cc",
        label: "sound",
        openaire: "other research product",
        datacite: "Sound",
        dcmi: "Sound",
        mods: "sound recording",
    },
];

/// Returns the type that a text names: a term, a COAR URI, or `info:eu-repo/semantics/…`. As a map for templates.
pub(super) fn of(text: &str) -> Value {
    static MAPS: LazyLock<Vec<Value>> = LazyLock::new(|| KINDS.iter().map(|kind| map(kind, true)).collect());
    static OTHER: LazyLock<Value> = LazyLock::new(|| map(&KINDS[0], false));
    let (last, plain) = reduced(text);
    let known = KINDS.iter().position(|kind| kind.coar == last || kind.aliases.contains(&plain.as_str()));
    known.map_or_else(|| OTHER.clone(), |at| MAPS[at].clone())
}

fn map(kind: &Kind, known: bool) -> Value {
    let filled = |text: &'static str| if text.is_empty() { Value::UNDEFINED } else { Value::from(text) };
    Value::from_pairs([
        ("uri", Value::from(format!("{COAR}resource_type/{}", kind.coar))),
        ("label", Value::from(kind.label)),
        ("openaire", Value::from(kind.openaire)),
        ("datacite", Value::from(kind.datacite)),
        ("dcmi", filled(kind.dcmi)),
        ("mods", filled(kind.mods)),
        ("known", Value::from(known)),
    ])
}

/// COAR's access rights: concept, label, and the terms of catalogues. The last represents unknown ones, because it
/// grants nothing.
const ACCESS: [(&str, &str, &[&str]); 4] = [
    ("c_abf2", "open access", &["open", "openaccess", "oa", "public", "free"]),
    ("c_f1cf", "embargoed access", &["embargoed", "embargo", "embargoedaccess"]),
    ("c_16ec", "restricted access", &["restricted", "restrictedaccess", "closed", "closedaccess"]),
    ("c_14cb", "metadata only access", &["metadata", "metadataonly", "metadataonlyaccess"]),
];

/// Returns the access rights of a document that a text of the same forms names.
pub(super) fn access(text: &str) -> Value {
    let (last, plain) = reduced(text);
    let known = ACCESS.iter().find(|(coar, _, aliases)| *coar == last || aliases.contains(&plain.as_str()));
    let (coar, label, _) = known.unwrap_or(&ACCESS[3]);
    Value::from_pairs([
        ("uri", Value::from(format!("{COAR}access_right/{coar}"))),
        ("label", Value::from(*label)),
        ("known", Value::from(known.is_some())),
    ])
}

/// Returns the part after the last slash, unchanged and in lower-case letters and digits.
fn reduced(text: &str) -> (&str, String) {
    let last = text.trim().rsplit('/').next().unwrap_or_default();
    (last, last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_many_names() {
        let uri = |text: &str| of(text).get_attr("label").map(|label| label.to_string()).expect("a map");
        assert_eq!(uri("Journal Article"), "journal article");
        assert_eq!(uri("info:eu-repo/semantics/doctoralThesis"), "doctoral thesis");
        assert_eq!(uri("http://purl.org/coar/resource_type/c_ddb1"), "dataset");
        assert_eq!(uri("conference-paper"), "conference paper");
        assert_eq!(uri(""), "other");
        assert_eq!(uri("Bauplan"), "other");
    }

    #[test]
    fn access_is_promised_only_where_it_is_told() {
        let label = |text: &str| access(text).get_attr("label").map(|label| label.to_string()).expect("a map");
        assert_eq!(label("info:eu-repo/semantics/openAccess"), "open access");
        assert_eq!(label("http://purl.org/coar/access_right/c_16ec"), "restricted access");
        assert_eq!(label(""), "metadata only access");
    }

    #[test]
    fn no_alias_stands_for_two_kinds() {
        let mut aliases: Vec<_> = KINDS.iter().flat_map(|kind| kind.aliases).collect();
        let count = aliases.len();
        aliases.sort_unstable();
        aliases.dedup();
        assert_eq!(aliases.len(), count);
    }
}
