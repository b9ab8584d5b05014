//! A whole list as a file: CSV for spreadsheets, JSON lines for programs.
//!
//! The list is read page by page through the repository's own responses, as a harvester would, so a download contains
//! exactly what this requester may list. Memory is bounded by one page.

use std::io;

use modoai_protocol::xml::{Response, document};
use modoai_protocol::{ErrorCode, Parsed, Request, Verb};
use serde_json::{Map, Value, json};

use super::choices::grouped;
use super::form::Form;
use super::fragment::flat;
use super::tokens::tokens;
use crate::answer::Sent;
use crate::error::Failure;
use crate::host::Host;
use crate::repository::Repository;

/// The number of records per page of the list.
const PAGE: usize = 500;

/// The elements of Dublin Core, which are columns of CSV.
const DUBLIN_CORE: [&str; 15] = [
    "title",
    "creator",
    "subject",
    "description",
    "publisher",
    "contributor",
    "date",
    "type",
    "format",
    "identifier",
    "source",
    "language",
    "relation",
    "coverage",
    "rights",
];

/// The limits of one download, in records and in bytes; 0 for no limit. Lists in pages are admitted page by page, a
/// download only once: without limits, it would evade an hourly budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// The number of records.
    pub records: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// A list to be written as a file.
pub struct Download<'a> {
    repository: Repository,
    host: &'a dyn Host,
    form: Form,
    allowance: Allowance,
    first: Response,
}

impl Repository {
    /// Starts a download. Files inside of records are left out. Errors before the first byte are returned here. A list
    /// that is too long is not sent; instead of it, or of its rest, the file has a line with an error.
    pub fn download<'a>(
        &self,
        form: Form,
        request: Parsed,
        host: &'a dyn Host,
        allowance: Allowance,
    ) -> Result<Download<'a>, Failure> {
        let repository = self.without_resources().with_pages_up_to(PAGE);
        let mut first = page(&repository, request, host)?;
        let size = first.token.as_ref().and_then(|token| token.size.as_deref()?.parse().ok());
        if size.is_some_and(|records| allowance.is_exceeded(records, 0)) {
            first = Response { errors: vec![allowance.error()], ..Response::default() };
        }
        Ok(Download { repository, host, form, allowance, first })
    }
}

impl Allowance {
    fn is_exceeded(&self, records: u64, bytes: u64) -> bool {
        let exceeds = |used: u64, most: u64| most > 0 && used > most;
        exceeds(records, self.records) || exceeds(bytes, self.bytes)
    }

    fn error(&self) -> (String, String) {
        let limits = [(self.records, "records"), (self.bytes, "bytes")];
        let limits =
            limits.iter().filter(|(most, _)| *most > 0).map(|(most, unit)| format!("{} {unit}", grouped(*most)));
        let limits = limits.collect::<Vec<_>>().join(" and ");
        let message =
            format!("a download is limited to {limits}; harvest the list with OAI-PMH, or narrow the selection");
        ("listTooLong".to_owned(), message)
    }
}

impl Download<'_> {
    /// Writes the whole list, and reports in `sent` what was sent, also if writing fails in the middle.
    pub fn write_and_tell(self, out: &mut dyn io::Write, sent: &mut Sent) -> Result<(), Failure> {
        let Self { repository, host, form, allowance, mut first } = self;
        if form == Form::Csv {
            write(out, &csv_line(columns(&first).map(str::to_owned)), sent)?;
        }
        loop {
            for error in &first.errors {
                // An empty list is a file without records; any other error is written into the file.
                if ErrorCode::from_name(&error.0) != Some(ErrorCode::NoRecordsMatch) {
                    sent.is_error = true;
                    write(out, &error_line(form, error), sent)?;
                }
            }
            for record in &first.records {
                let line = match form {
                    Form::Csv => csv_line(cells(record, first.verb)),
                    _ => format!("{}\n", object(record)),
                };
                write(out, &line, sent)?;
                sent.records += 1;
            }
            let token = first.token.as_ref().filter(|token| !token.value.is_empty());
            let (Some(token), Some(verb)) = (token, first.verb) else { break };
            let arguments = [("verb", verb.as_str()), ("resumptionToken", &token.value)];
            let arguments = arguments.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
            first = match allowance.is_exceeded(sent.records, sent.bytes) {
                true => Response { errors: vec![allowance.error()], ..Response::default() },
                false => page(&repository, Request::parse(&arguments), host)?,
            };
        }
        sent.is_last = true;
        Ok(())
    }
}

/// A page of the list, read.
pub(super) fn page(repository: &Repository, request: Parsed, host: &dyn Host) -> Result<Response, Failure> {
    let mut xml = Vec::new();
    repository.answer(request, host)?.write_to(&mut xml)?;
    Ok(Response::read(&xml).map_err(io::Error::other)?)
}

/// Returns the first title in flat metadata.
pub(super) fn title(record: &document::Record) -> Option<String> {
    let title = fields(record)?.into_iter().find(|(name, _)| *name == "title");
    title.map(|(_, text)| text).filter(|text| !text.is_empty())
}

fn write(out: &mut dyn io::Write, line: &str, sent: &mut Sent) -> io::Result<()> {
    out.write_all(line.as_bytes())?;
    sent.bytes += line.len() as u64;
    Ok(())
}

/// Returns local names and values of metadata without nested elements, such as Dublin Core.
fn fields(record: &document::Record) -> Option<Vec<(String, String)>> {
    let xml = String::from_utf8_lossy(&record.metadata.as_ref()?.bytes).into_owned();
    let fields = flat(&tokens(&xml))?;
    let local = |name: &str| name.rsplit(':').next().unwrap_or_default().to_owned();
    Some(fields.into_iter().map(|(name, text)| (local(name), text)).collect())
}

fn object(record: &document::Record) -> Value {
    let mut object = json!({
        "identifier": record.identifier,
        "datestamp": record.datestamp,
        "deleted": record.deleted,
        "sets": record.sets,
    });
    if let Some(metadata) = &record.metadata {
        let (name, value) = match fields(record) {
            Some(fields) => {
                let mut grouped = Map::new();
                for (name, text) in fields {
                    if let Value::Array(texts) = grouped.entry(name).or_insert_with(|| json!([])) {
                        texts.push(Value::String(text));
                    }
                }
                ("metadata", Value::Object(grouped))
            }
            None => ("xml", Value::String(String::from_utf8_lossy(&metadata.bytes).into_owned())),
        };
        object[name] = value;
    }
    object
}

fn columns(page: &Response) -> impl Iterator<Item = &'static str> {
    let metadata: &[&str] = if page.verb == Some(Verb::ListRecords) { &DUBLIN_CORE } else { &[] };
    ["oai_identifier", "datestamp", "status", "sets"].into_iter().chain(metadata.iter().copied())
}

fn cells(record: &document::Record, verb: Option<Verb>) -> impl Iterator<Item = String> {
    let status = if record.deleted { "deleted" } else { "" };
    let header = [record.identifier.clone(), record.datestamp.clone(), status.to_owned(), record.sets.join(" ")];
    let fields = fields(record).unwrap_or_default();
    let metadata: &[&str] = if verb == Some(Verb::ListRecords) { &DUBLIN_CORE } else { &[] };
    let texts = metadata.iter().map(move |element| {
        let texts = fields.iter().filter(|(name, _)| name == element).map(|(_, text)| text.as_str());
        texts.collect::<Vec<_>>().join("; ")
    });
    header.into_iter().chain(texts)
}

/// Returns a line of CSV (RFC 4180). A cell that a spreadsheet would run as a formula gets an apostrophe in front.
fn csv_line(cells: impl Iterator<Item = String>) -> String {
    let cell = |text: String| {
        let text = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text };
        match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text,
        }
    };
    format!("{}\r\n", cells.map(cell).collect::<Vec<_>>().join(","))
}

fn error_line(form: Form, (code, message): &(String, String)) -> String {
    match form {
        Form::Csv => csv_line(["error".to_owned(), code.clone(), message.clone()].into_iter()),
        _ => format!("{}\n", json!({ "error": code, "message": message })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_are_disarmed() {
        let cells = ["a,b", "say \"x\"", "=1+1", "two\nlines", "plain"].map(str::to_owned);
        assert_eq!(csv_line(cells.into_iter()), "\"a,b\",\"say \"\"x\"\"\",'=1+1,\"two\nlines\",plain\r\n");
    }
}
