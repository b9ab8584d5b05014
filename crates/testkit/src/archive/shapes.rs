//! An e-print as it is written: one line of the snapshot, an abs file, or one line of our own record model.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::Eprint;
use super::calendar::{Day, mail_date};

/// How e-prints are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line of arXiv's public metadata snapshot.
    Snapshot,
    /// arXiv's own file of one e-print.
    Abs,
    /// A line of JSON in our own record model.
    Model,
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "snapshot" => Ok(Self::Snapshot),
            "abs" => Ok(Self::Abs),
            "model" => Ok(Self::Model),
            _ => Err(format!("'{name}' is no shape; there are snapshot, abs and model")),
        }
    }
}

impl Shape {
    /// Appends an e-print.
    pub fn write(self, eprint: &Eprint, out: &mut Vec<u8>) {
        let mut text = Text(out);
        let written = match self {
            Self::Snapshot => snapshot(eprint, &mut text),
            Self::Abs => abs(eprint, &mut text),
            Self::Model => model(eprint, &mut text),
        };
        written.expect("memory can be written to");
    }
}

/// The fields in the order of the real one, with accents in TeX but for the authors that are taken apart.
fn snapshot(eprint: &Eprint, out: &mut Text<'_>) -> fmt::Result {
    write!(out, r#"{{"id":"{}","submitter":{}"#, eprint.id, Json(&submitter(eprint)))?;
    write!(out, r#","authors":{},"title":{}"#, Json(&authors(eprint)), Json(&eprint.title))?;
    write!(out, r#","comments":{},"journal-ref":{}"#, Maybe(&eprint.comments), Maybe(&eprint.journal_ref))?;
    write!(out, r#","doi":{},"report-no":{}"#, Maybe(&eprint.doi), Maybe(&eprint.report_no))?;
    write!(out, r#","categories":"{}","license":"#, eprint.categories.join(" "))?;
    match eprint.licence {
        Some(licence) => write!(out, "{}", Json(licence))?,
        None => out.write_str("null")?,
    }
    write!(out, r#","abstract":{},"versions":["#, Json(&eprint.abstract_lines))?;
    for (number, moment) in eprint.versions.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(out, r#"{comma}{{"version":"v{}","created":"{}"}}"#, number + 1, mail_date(*moment))?;
    }
    write!(out, r#"],"update_date":"{}","authors_parsed":["#, eprint.updated)?;
    for (number, person) in eprint.people.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(out, r#"{comma}[{},"{}",""]"#, Json(&person.family.1), person.given)?;
    }
    out.write_str("]}\n")
}

fn abs(eprint: &Eprint, out: &mut Text<'_>) -> fmt::Result {
    let rule = "-".repeat(78);
    let scheme = if eprint.id.contains('/') { "Paper: " } else { "arXiv:" };
    write!(out, "{rule}\n\\\\\n{scheme}{}\nFrom: {} <someone@example.org>\n", eprint.id, submitter(eprint))?;
    for (number, (moment, size)) in eprint.versions.iter().zip(&eprint.sizes).enumerate() {
        let which = if number == 0 { String::new() } else { format!(" (revised v{})", number + 1) };
        writeln!(out, "Date{which}: {}   ({size}kb)", mail_date(*moment))?;
    }
    write!(out, "\nTitle: {}\nAuthors: {}\n", eprint.title, authors(eprint))?;
    writeln!(out, "Categories: {}", eprint.categories.join(" "))?;
    let further = [
        ("Comments", &eprint.comments),
        ("Report-no", &eprint.report_no),
        ("Journal-ref", &eprint.journal_ref),
        ("DOI", &eprint.doi),
    ];
    for (name, value) in further {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}")?;
        }
    }
    if let Some(licence) = eprint.licence {
        writeln!(out, "License: {licence}")?;
    }
    write!(out, "\\\\\n{}\\\\\n", eprint.abstract_lines)
}

fn model(eprint: &Eprint, out: &mut Text<'_>) -> fmt::Result {
    let title = eprint.title.replace("\n  ", " ");
    write!(out, r#"{{"identifier":"{}","title":{},"creators":["#, eprint.id, Json(&title))?;
    for (number, person) in eprint.people.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(out, r#"{comma}{{"family":{},"given":"{}"}}"#, Json(&person.family.1), person.given)?;
    }
    let created = Day::of_seconds(eprint.versions[0]);
    let abstract_ = eprint.abstract_lines.trim().replace('\n', " ");
    write!(out, r#"],"abstract":{},"dates":{{"created":"{created}""#, Json(&abstract_))?;
    write!(out, r#","updated":"{}"}},"categories":{:?}"#, eprint.updated, eprint.categories)?;
    let optional = [
        ("comments", &eprint.comments),
        ("journal_ref", &eprint.journal_ref),
        ("doi", &eprint.doi),
        ("report_no", &eprint.report_no),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            write!(out, r#","{name}":{}"#, Json(value))?;
        }
    }
    if let Some(licence) = eprint.licence {
        write!(out, r#","licence":"{licence}""#)?;
    }
    writeln!(out, r#","links":["https://arxiv.org/abs/{}"]}}"#, eprint.id)
}

fn submitter(eprint: &Eprint) -> String {
    let person = &eprint.people[0];
    format!("{} {}", person.given, person.family.0)
}

fn authors(eprint: &Eprint) -> String {
    let mut authors = String::new();
    for (number, person) in eprint.people.iter().enumerate() {
        let joint = match number {
            0 => "",
            last if last + 1 == eprint.people.len() => " and ",
            _ => ", ",
        };
        authors.push_str(joint);
        authors.push_str(&person.given);
        authors.push(' ');
        authors.push_str(&person.family.0);
    }
    authors
}

/// A buffer that can be formatted into.
struct Text<'a>(&'a mut Vec<u8>);

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// A text in JSON, in ASCII as the real snapshot is.
struct Json<'a>(&'a str);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        let mut rest = self.0;
        while let Some(place) = rest.find(|letter: char| matches!(letter, '"' | '\\' | '\n') || !letter.is_ascii()) {
            f.write_str(&rest[..place])?;
            let letter = rest[place..].chars().next().expect("something was found");
            match letter {
                '\n' => f.write_str("\\n")?,
                '"' | '\\' => write!(f, "\\{letter}")?,
                _ => letter.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))?,
            }
            rest = &rest[place + letter.len_utf8()..];
        }
        f.write_str(rest)?;
        f.write_char('"')
    }
}

/// A text in JSON, or null.
struct Maybe<'a>(&'a Option<String>);

impl fmt::Display for Maybe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(text) => Json(text).fmt(f),
            None => f.write_str("null"),
        }
    }
}
