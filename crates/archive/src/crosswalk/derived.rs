//! Values that are derived from a record's fields: home page, date, authors and access rights.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::dates::Date;
use super::escape::is_blank;
use super::subject::{full_name, is_named, joined, value_of};
use super::web;
use crate::record::Record;

/// Returns true if a record has a field with this name, which may contain a dot: `dates.issued`. Derived values count,
/// and so do the archive's constants.
pub(super) fn has(record: &Record, constants: &toml::Table, path: &str) -> bool {
    let some = |text: &Option<String>| text.as_deref().is_some_and(|text| !is_blank(text));
    match path {
        "identifier" | "oai_identifier" => true,
        "datestamp" => some(&record.datestamp),
        "title" => some(&record.title),
        "abstract" => some(&record.abstract_),
        "licence" | "license" => some(&record.licence),
        "creators" => record.creators.iter().any(is_named),
        "contributors" => record.contributors.iter().any(is_named),
        "subjects" => record.subjects.iter().any(|subject| !is_blank(subject)),
        "sets" => record.sets.iter().any(|set| !is_blank(set)),
        "dates" => !record.dates.is_empty(),
        "versions" => !record.versions.is_empty(),
        "links" => record.links.iter().any(|link| !is_blank(&link.url)),
        "files" => record.files.iter().any(|file| !is_blank(&file.path)),
        "authors" => authors_of(record).is_some(),
        "date" => date_of(record).is_some(),
        "date_text" => date_text_of(record).is_some(),
        "landing" => landing_of(record, constants).is_some(),
        "access" => access_of(record, constants).is_some(),
        "archive" => !constants.is_empty(),
        _ => match path.split_once('.') {
            Some(("dates", name)) => record.dates.get(name).is_some_and(|date| !is_blank(date)),
            Some(("archive", name)) => constant(constants, name).is_some(),
            Some((first, rest)) => {
                let found = rest.split('.').try_fold(record.further.get(first), |json, name| Some(json?.get(name)));
                found.flatten().and_then(value_of).is_some()
            }
            None => record.further.get(path).and_then(value_of).is_some(),
        },
    }
}

/// Returns the URL of its home page: that of the record, of its links, below the archive's landing URL, or of its DOI.
pub(super) fn landing_of(record: &Record, constants: &toml::Table) -> Option<String> {
    let front = record.links.iter().find(|link| link.rel.as_deref() == Some("landing"));
    let links = front.into_iter().chain(&record.links).map(|link| link.url.as_str());
    let told = further_text(record, "landing").into_iter().chain(links).find_map(web::url);
    let below = || match constant(constants, "landing") {
        Some(landing) => web::url(&format!("{landing}{}", web::encode(record.identifier.trim()))),
        None => web::url(&record.identifier),
    };
    told.or_else(below).or_else(|| {
        let dois = match record.further.get("doi")? {
            Json::Array(dois) => dois.as_slice(),
            doi => std::slice::from_ref(doi),
        };
        let doi = dois.iter().find_map(|doi| web::doi(doi.as_str()?))?;
        web::url(&format!("https://doi.org/{}", web::encode(doi)))
    })
}

/// Returns its access rights: those of the record, those of the archive, or open access if the licence is a URL.
pub(super) fn access_of<'r>(record: &'r Record, constants: &'r toml::Table) -> Option<&'r str> {
    let told = further_text(record, "access").or_else(|| further_text(record, "access_rights"));
    let open = || record.licence.as_deref().and_then(web::url).map(|_| "open");
    told.or_else(|| constant(constants, "access")).or_else(open)
}

/// Returns its authors as one string: the record's own, or one composed of its creators.
pub(super) fn authors_of(record: &Record) -> Option<String> {
    let given = match record.further.get("authors") {
        Some(Json::String(text)) => text.trim().to_owned(),
        Some(Json::Array(names)) => joined(names.iter().filter_map(Json::as_str), ", "),
        _ => String::new(),
    };
    if !is_blank(&given) {
        return Some(given);
    }
    let names: Vec<_> = record.creators.iter().filter(|agent| is_named(agent)).map(full_name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn further_text<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
    record.further.get(name).and_then(Json::as_str).filter(|text| !is_blank(text))
}

fn constant<'c>(constants: &'c toml::Table, name: &str) -> Option<&'c str> {
    constants.get(name).and_then(toml::Value::as_str).filter(|text| !is_blank(text))
}

/// Returns the date of publication, as precisely as the record contains it.
pub(super) fn date_of(record: &Record) -> Option<Date> {
    dates_of(record).find_map(|text| Date::parse(&text))
}

/// The same date as the record has it, which may be any text.
pub(super) fn date_text_of(record: &Record) -> Option<String> {
    dates_of(record).find(|text| !is_blank(text)).map(Cow::into_owned)
}

/// The dates of a record, the likeliest day of publication first.
fn dates_of(record: &Record) -> impl Iterator<Item = Cow<'_, str>> {
    const BEST_FIRST: [&str; 6] = ["issued", "published", "available", "created", "submitted", "updated"];
    let named = BEST_FIRST.iter().filter_map(|name| record.dates.get(*name));
    let versions = record.versions.iter().map(|version| &version.date);
    let known = named.chain(versions).chain(record.dates.values()).map(|date| Cow::from(date.as_str()));
    known.chain(record.further_date().or_else(|| record.datestamp.as_deref().map(Cow::from)))
}
