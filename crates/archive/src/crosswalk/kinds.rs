//! What a document is, in the words of the vocabularies that formats ask for.
//!
//! One table: catalogues say `article`, `preprint` or `doctoral thesis` in a hundred ways, and every format has its own
//! list. To know another kind, add a row; another way to say it, an alias.

use minijinja::Value;

/// One kind of document.
struct Kind {
    /// How catalogues call it, in small letters and digits only.
    aliases: &'static [&'static str],
    /// Its COAR concept.
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

/// Where COAR's concepts are.
const COAR: &str = "http://purl.org/coar/resource_type/";

/// What a record is if it does not say, or says something unknown: anything.
const OTHER: &Kind = &KINDS[0];

const fn text(
    aliases: &'static [&'static str],
    coar: &'static str,
    label: &'static str,
    datacite: &'static str,
) -> Kind {
    Kind { aliases, coar, label, openaire: "literature", datacite, dcmi: "Text", mods: "text" }
}

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

/// The kind that a text names: a word of its own, a COAR URI, or `info:eu-repo/semantics/…`. As a map for templates.
pub(super) fn of(text: &str) -> Value {
    let last = text.trim().rsplit('/').next().unwrap_or_default();
    let plain: String = last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let known = KINDS.iter().find(|kind| kind.coar == last || kind.aliases.contains(&plain.as_str()));
    let kind = known.unwrap_or(OTHER);
    let filled = |text: &'static str| if text.is_empty() { Value::UNDEFINED } else { Value::from(text) };
    Value::from_pairs([
        ("uri", Value::from(format!("{COAR}{}", kind.coar))),
        ("label", Value::from(kind.label)),
        ("openaire", Value::from(kind.openaire)),
        ("datacite", Value::from(kind.datacite)),
        ("dcmi", filled(kind.dcmi)),
        ("mods", filled(kind.mods)),
        ("known", Value::from(known.is_some())),
    ])
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
    fn no_alias_stands_for_two_kinds() {
        let mut aliases: Vec<_> = KINDS.iter().flat_map(|kind| kind.aliases).collect();
        let count = aliases.len();
        aliases.sort_unstable();
        aliases.dedup();
        assert_eq!(aliases.len(), count);
    }
}
