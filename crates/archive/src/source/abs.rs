//! arXiv's `.abs` files: the messages of the time when papers were submitted by mail.
//!
//! Lines of two backslashes separate three parts: sender and date, and the fields of the paper, with an empty line
//! between them; the abstract; and an empty rest. A field continues on lines that are indented.

use std::borrow::Cow;

use serde_json::Value;

use super::arxiv::{dates, describe, further_name};
use super::jsonl::legal;
use super::lines::BOM;
use super::plain::{self, squeezed};
use super::{Content, DatestampFrom, Fault, Kind, Options, Place, Reading, authors};
use crate::record::{Record, Version};

/// The separator of the parts.
const SEPARATOR: &str = "\\\\";

/// Reads `.abs` files.
pub(super) struct Abs {
    tex: bool,
    datestamp: Option<DatestampFrom>,
    fingerprint: u64,
}

impl Abs {
    pub(super) fn new(options: &Options) -> Self {
        let fingerprint = options.fingerprint(Kind::Abs, 2);
        Self { tex: options.tex != Some(false), datestamp: options.datestamp, fingerprint }
    }

    fn text(&self, text: &str) -> String {
        plain::text(squeezed(text), self.tex)
    }
}

impl Reading for Abs {
    fn identifier(&self, bytes: &[u8], _: &Place) -> Result<String, Fault> {
        let text = text_of(bytes);
        Parts::of(&text)?.fields().find_map(|field| field.identifier()).unwrap_or_else(|| legal("", "Paper"))
    }

    fn read(&self, bytes: &[u8], place: &Place) -> Result<Content, Fault> {
        let text = text_of(bytes);
        let parts = Parts::of(&text)?;
        let datestamp = self.datestamp.map(|from| from.of(place)).transpose()?;
        let mut record = Record { datestamp, ..Record::default() };
        let mut categories = String::new();
        for field in parts.fields() {
            if let Some(identifier) = field.identifier() {
                // The first counts, as for `identifier` alone.
                if record.identifier.is_empty() {
                    record.identifier = identifier?;
                }
                continue;
            }
            if let Some(version) = field.version(record.versions.len() + 1) {
                record.versions.push(version);
                continue;
            }
            let value = field.value.trim();
            if value.is_empty() {
                continue;
            }
            match field.name.to_ascii_lowercase().as_str() {
                // The name of the sender is kept, without the email address.
                "from" => {
                    let words = value.split_ascii_whitespace().filter(|word| !word.contains(['@', '<']));
                    note(&mut record, "submitter", self.text(&words.collect::<Vec<_>>().join(" ")));
                }
                "title" => record.title = Some(self.text(value)),
                "author" | "authors" => {
                    let list = self.text(value);
                    record.creators = authors::split(&list);
                    note(&mut record, "authors", list);
                }
                "categories" => categories = value.to_owned(),
                "license" => record.licence = Some(value.to_owned()),
                name => note(&mut record, &further_name(name), self.text(value)),
            }
        }
        record.identifier = legal(&record.identifier, "Paper")?;
        record.abstract_ = Some(plain::text(Cow::Borrowed(parts.paragraphs.trim_matches('\n').trim()), self.tex));
        record.abstract_ = record.abstract_.filter(|text| !text.is_empty());
        // Before arXiv had categories, the archive was part of the identifier.
        let archive = record.identifier.split_once('/').map_or("", |(archive, _)| archive).to_owned();
        let codes = if categories.is_empty() { &archive } else { &categories };
        describe(&mut record, codes.split_ascii_whitespace());
        date(&mut record)?;
        if record.title.is_none() {
            return Err(Fault("missing field `Title`".to_owned()));
        }
        Ok(Content { record, given: Vec::new() })
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// Sets the days of the first and of the latest version.
fn date(record: &mut Record) -> Result<(), Fault> {
    let day = |version: &Version| {
        dates::day(&version.date).map_err(|fault| Fault(format!("date of {}: {fault}", version.version)))
    };
    let days: Vec<String> = record.versions.iter().map(day).collect::<Result<_, _>>()?;
    if let [first, .., last] = days.as_slice() {
        record.dates.insert("updated".to_owned(), last.clone());
        record.dates.insert("created".to_owned(), first.clone());
    } else if let [only] = days.as_slice() {
        record.dates.insert("created".to_owned(), only.clone());
    }
    Ok(())
}

fn note(record: &mut Record, name: &str, text: String) {
    if !text.is_empty() {
        record.further.insert(name.to_owned(), Value::String(text));
    }
}

/// Decodes a file. Old files are in Latin-1, new ones in UTF-8; none declares its encoding, unless an editor has added
/// a byte order mark.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// The parts of a file.
struct Parts<'a> {
    head: &'a str,
    /// The abstract.
    paragraphs: Cow<'a, str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut from = 0;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if line.trim_end() == SEPARATOR {
                parts.push(&text[from..at]);
                from = at + line.len();
            }
            at += line.len();
        }
        parts.push(&text[from..]);
        // The first part precedes the first separator, and is empty.
        let (head, rest) = match parts.as_slice() {
            [_, head, rest @ ..] if !rest.is_empty() => (*head, rest),
            _ => {
                return Err(Fault("not an .abs file: no parts between lines of two backslashes".to_owned()));
            }
        };
        // Two backslashes in the abstract are a line of it.
        let rest = if let [rest @ .., last] = rest
            && last.trim().is_empty()
        {
            rest
        } else {
            rest
        };
        let paragraphs = match rest {
            [] => Cow::Borrowed(""),
            [only] => Cow::Borrowed(*only),
            several => Cow::Owned(several.join("\\\\\n")),
        };
        Ok(Self { head, paragraphs })
    }

    fn fields(&self) -> impl Iterator<Item = Field<'a>> {
        let mut rest = self.head;
        std::iter::from_fn(move || {
            loop {
                let line = rest.split_inclusive('\n').next()?;
                let mut end = line.len();
                // Some files continue a field without indentation.
                while let Some(next) = rest[end..].split_inclusive('\n').next()
                    && (next.starts_with([' ', '\t']) || Field::of(next).is_none())
                    && !next.trim().is_empty()
                {
                    end += next.len();
                }
                let whole = &rest[..end];
                rest = &rest[end..];
                if let Some(field) = Field::of(whole) {
                    return Some(field);
                }
            }
        })
    }
}

/// A field with all its lines.
struct Field<'a> {
    name: &'a str,
    /// The text in brackets after the name.
    remark: &'a str,
    value: &'a str,
}

impl<'a> Field<'a> {
    fn of(lines: &'a str) -> Option<Self> {
        // From the time before dates had a field name: `replaced with revised version Mon, 4 Jan 1999 …`.
        if let Some(value) = lines.strip_prefix("replaced with revised version") {
            return Some(Self { name: "Date", remark: "revised", value });
        }
        let (name, value) = lines.split_once(':')?;
        let (name, remark) = match name.split_once('(') {
            Some((name, remark)) => (name.trim(), remark.trim_end().trim_end_matches(')')),
            None => (name.trim(), ""),
        };
        let legal = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        legal.then_some(Self { name, remark, value })
    }

    /// Returns the identifier, if this field contains it.
    fn identifier(&self) -> Option<Result<String, Fault>> {
        let is = ["paper", "arxiv"].iter().any(|name| self.name.eq_ignore_ascii_case(name));
        let value = self.value.trim();
        let value = value.strip_prefix("arXiv:").unwrap_or(value);
        is.then(|| legal(value.split_ascii_whitespace().next().unwrap_or_default(), "Paper"))
    }

    /// Returns the version, if this field is the date of one: `Fri, 1 Jan 1999 01:34:10 GMT   (12kb,D)`.
    fn version(&self, number: usize) -> Option<Version> {
        if !self.name.eq_ignore_ascii_case("date") {
            return None;
        }
        let named = self.remark.split_ascii_whitespace().next_back().filter(|word| {
            word.strip_prefix('v')
                .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty())
        });
        let value = self.value.trim();
        let (date, size) = match value.strip_suffix(')').and_then(|value| value.rsplit_once('(')) {
            Some((date, size)) if size.contains("kb") => (date.trim(), Some(size)),
            _ => (value, None),
        };
        let (size, source_type) = size.map_or((None, None), |size| {
            let (size, letters) = size.split_once(',').unwrap_or((size, ""));
            (Some(size.trim().to_owned()), Some(letters.trim().to_owned()).filter(|letters| !letters.is_empty()))
        });
        let version = named.map_or_else(|| format!("v{number}"), str::to_owned);
        Some(Version { version, date: date.to_owned(), size, source_type })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::Agent;

    const INPUT: &[u8] = include_bytes!("../../tests/input/9901001.abs");

    fn read(bytes: &[u8]) -> Result<Record, String> {
        let abs = Abs::new(&Options::default());
        let place = Place { file: Arc::new("x.abs".into()), line: 0 };
        let content = abs.read(bytes, &place).map_err(|fault| fault.0)?;
        assert_eq!(abs.identifier(bytes, &place).as_ref(), Ok(&content.record.identifier));
        Ok(content.record)
    }

    #[test]
    fn a_file_becomes_a_record() {
        let record = read(INPUT).expect("legal");
        assert_eq!(record.identifier, "hep-th/9901001");
        assert_eq!(record.title.as_deref(), Some("On the Schrödinger operator and its many continuation lines"));
        let tied = Agent { affiliations: vec!["Universität X".to_owned()], ..Agent::named("Müller, J.") };
        assert_eq!(record.creators, [tied, Agent { affiliations: vec!["Y".to_owned()], ..Agent::named("Ås, Ø.") }]);
        assert_eq!(record.further["submitter"], "Jürgen Müller");
        assert!(!serde_json::to_string(&record).expect("a record").contains('@'), "addresses are not told");
        assert_eq!(record.further["categories"], serde_json::json!(["hep-th", "math.QA"]));
        assert_eq!(record.subjects, ["High Energy Physics - Theory", "Quantum Algebra"]);
        assert_eq!(record.further["journal_ref"], "Phys.Rev. D59 (1999) 100000");
        assert_eq!((record.dates["created"].as_str(), record.dates["updated"].as_str()), ("1999-01-01", "1999-01-04"));
        assert_eq!(record.versions[0].size.as_deref(), Some("12kb"));
        let second = &record.versions[1];
        assert_eq!(
            (second.version.as_str(), second.size.as_deref(), second.source_type.as_deref()),
            ("v2", Some("0kb"), Some("I"))
        );
        assert_eq!(second.date, "Mon, 4 Jan 1999 10:00:00 GMT");
        let text = record.abstract_.as_deref().expect("there is one");
        assert!(text.starts_with("We show that") && text.ends_with("the end of it."), "{text}");
        assert!(text.contains("\\\\\n"), "{text}");
        assert_eq!(record.licence.as_deref(), Some("http://arxiv.org/licenses/assumed-1991-2003/"));
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert_eq!(read(&[BOM, INPUT].concat()), read(INPUT));
    }

    #[test]
    fn the_oldest_files_have_less() {
        let old = b"\\\\\nPaper: cmp-lg/9404001\nFrom: a@b.c\nDate: Mon, 4 Apr 94 10:00:00 +0200\n\nTitle: X\n\
            Author: Andr\xe9\n\\\\\nText.\n\\\\\n";
        let record = read(old).expect("legal");
        assert_eq!(record.creators[0].family, "André");
        assert!(!record.further.contains_key("submitter"));
        assert_eq!(record.further["categories"], serde_json::json!(["cmp-lg"]));
        assert_eq!(record.dates["created"], "1994-04-04");
    }

    #[test]
    fn first_of_two_identifiers_counts() {
        let text = b"\\\\\nPaper: a/1\nTitle: x\nPaper: a/2\n\\\\\ny\n\\\\\n";
        assert_eq!(read(text).expect("legal").identifier, "a/1");
    }

    #[test]
    fn lines_go_on_even_if_they_are_not_indented() {
        let text = b"\\\\\narXiv:0704.0001\n\nTitle: One\ntwo and Part II: three\nSubjects: s\n\\\\\nText.\n\\\\\n";
        let record = read(text).expect("legal");
        assert_eq!(record.title.as_deref(), Some("One two and Part II: three"));
        assert_eq!(record.further["arxiv_subjects"], "s");
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, said) in [
            (&b""[..], "not an .abs file"),
            (b"\\\\\nTitle: x\n", "not an .abs file"),
            (b"\\\\\nTitle: x\n\\\\\ny\n\\\\\n", "missing field `Paper`"),
            (b"\\\\\nPaper: a/1\n\\\\\ny\n\\\\\n", "missing field `Title`"),
            (b"\\\\\nPaper: a/1\nDate: soon (1kb)\nTitle: x\n\\\\\ny\n\\\\\n", "date of v1: invalid date \"soon\""),
        ] {
            let error = read(text).expect_err(said);
            assert!(error.contains(said), "{error}");
        }
    }
}
