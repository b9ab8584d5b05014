//! The values of a field of a record.
//!
//! Strings are borrowed, not copied, because this runs for every record of an archive.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::record::Record;

/// A field, identified by its path: `categories`, `creators.family`, `versions.0.date`.
#[derive(Debug)]
pub(super) struct Field {
    name: String,
    below: Vec<String>,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.below.iter().try_for_each(|part| write!(f, ".{part}"))
    }
}

impl Field {
    /// Parses a path, unless a part of it is empty.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let mut parts = path.split('.').map(str::to_owned);
        let field = Self { name: parts.next()?, below: parts.collect() };
        (!field.name.is_empty() && field.below.iter().all(|part| !part.is_empty())).then_some(field)
    }

    /// Passes on every value of the field as text: each element of a list by itself, and numbers and booleans as in
    /// JSON.
    pub(super) fn each<E>(&self, record: &Record, found: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        match plain(record, &self.name) {
            Some(texts) if self.below.is_empty() => texts.iter().try_for_each(|text| found(text)),
            // A plain string has no levels below it.
            Some(_) => Ok(()),
            None => look_up(record, &self.name).map_or(Ok(()), |value| each_below(&value, &self.below, found)),
        }
    }
}

/// Returns a field of the record as JSON, by its name in templates.
pub(super) fn look_up<'r>(record: &'r Record, name: &str) -> Option<Cow<'r, Value>> {
    let typed = match name {
        "identifier" => json(&record.identifier),
        "deleted" => json(&record.deleted),
        "datestamp" => json(record.datestamp.as_ref()?),
        "title" => json(record.title.as_ref()?),
        "creators" => json(&record.creators),
        "contributors" => json(&record.contributors),
        "abstract" => json(record.abstract_.as_ref()?),
        "subjects" => json(&record.subjects),
        "dates" => json(&record.dates),
        "versions" => json(&record.versions),
        "licence" | "license" => json(record.licence.as_ref()?),
        "links" => json(&record.links),
        "files" => json(&record.files),
        "sets" => json(&record.sets),
        "provenance" => json(record.provenance.as_ref()?),
        further => return record.further.get(further).map(Cow::Borrowed),
    };
    Some(Cow::Owned(typed))
}

fn json(field: &impl Serialize) -> Value {
    serde_json::to_value(field).expect("fields of a record have only texts as keys")
}

/// Returns the strings of a typed field that contains only strings; `None` for every other field.
fn plain<'r>(record: &'r Record, name: &str) -> Option<&'r [String]> {
    let one = |field: &'r Option<String>| field.as_ref().map_or(&[] as &[String], std::slice::from_ref);
    match name {
        "identifier" => Some(std::slice::from_ref(&record.identifier)),
        "datestamp" => Some(one(&record.datestamp)),
        "title" => Some(one(&record.title)),
        "abstract" => Some(one(&record.abstract_)),
        "licence" | "license" => Some(one(&record.licence)),
        "subjects" => Some(&record.subjects),
        "sets" => Some(&record.sets),
        _ => None,
    }
}

fn each_below<E>(value: &Value, below: &[String], found: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    match (value, below) {
        (Value::Array(values), [index, deeper @ ..]) if index.bytes().all(|b| b.is_ascii_digit()) => {
            let value = index.parse::<usize>().ok().and_then(|index| values.get(index));
            value.map_or(Ok(()), |value| each_below(value, deeper, found))
        }
        (Value::Array(values), _) => values.iter().try_for_each(|value| each_below(value, below, found)),
        (Value::Object(members), [name, deeper @ ..]) => {
            members.get(name).map_or(Ok(()), |value| each_below(value, deeper, found))
        }
        (Value::String(text), []) => found(text),
        (Value::Number(_) | Value::Bool(_), []) => found(&value.to_string()),
        (Value::Null | Value::Object(_), []) | (_, [_, ..]) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn values(record: &Record, path: &str) -> Vec<String> {
        let mut values = Vec::new();
        let field = Field::parse(path).expect("a path");
        let Ok(()) = field.each::<Infallible>(record, &mut |value| {
            values.push(value.to_owned());
            Ok(())
        });
        values
    }

    #[test]
    fn paths_lead_to_values() {
        let record: Record = serde_json::from_value(serde_json::json!({
            "identifier": "1", "title": "T", "subjects": ["a", "b"], "dates": {"created": "2001-02-03"},
            "creators": [{"family": "Curie", "given": "Marie"}, {"family": "Curie", "given": "Pierre"}],
            "versions": [{"version": "v1", "date": "d"}, {"version": "v2", "date": "e"}],
            "year": 2001, "open": true, "nothing": null, "place": {"in": [{"country": "FR"}, ["x"]]},
        }))
        .expect("a record");
        assert_eq!(values(&record, "subjects"), ["a", "b"]);
        assert_eq!(values(&record, "creators.given"), ["Marie", "Pierre"]);
        assert_eq!(values(&record, "creators.1.given"), ["Pierre"]);
        assert_eq!(values(&record, "dates.created"), ["2001-02-03"]);
        assert_eq!(values(&record, "versions.0.version"), ["v1"]);
        assert_eq!(values(&record, "year"), ["2001"]);
        assert_eq!(values(&record, "open"), ["true"]);
        assert_eq!(values(&record, "place.in.country"), ["FR"]);
        for nothing in ["nothing", "place", "title.x", "absent", "creators", "versions.7.date", "abstract"] {
            assert!(values(&record, nothing).is_empty(), "{nothing}");
        }
        for broken in ["", ".", "a..b", "a."] {
            assert!(Field::parse(broken).is_none(), "{broken}");
        }
    }
}
