//! `modoai records`.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use modoai_harvester::mend::PartCheck;
use modoai_harvester::sink::container::{Container, Surroundings};
use modoai_harvester::sink::gathered::Gathered;
use modoai_harvester::sink::records::{Found, Reader, write_line};
use modoai_harvester::sink::{Origin, SinkError};
use modoai_protocol::xml::writer::escape_into;

use crate::config::shown;
use crate::error::CliError;
use crate::output;

/// Print the records that `modoai harvest` stored in a directory.
///
/// The output is one XML document. It contains the metadata and about containers of each record exactly as received,
/// inside an element that declares the namespaces in scope. Content that is not text is encoded as base64. Deleted
/// records are omitted unless requested. Unreadable records are reported on standard error, and the exit code is 1.
#[derive(Debug, Args)]
pub(crate) struct Records {
    /// Directory given to `modoai harvest --into`.
    dir: PathBuf,
    /// Print one JSON object per record and line, as the segments contain them.
    #[arg(long)]
    json: bool,
    /// Print only the record with this identifier, deleted or not.
    #[arg(long, value_name = "ID")]
    identifier: Option<String>,
    /// Print the headers of deleted records as well.
    #[arg(long)]
    deleted: bool,
    /// Print every stored version, including deletions, not only the latest.
    #[arg(long)]
    versions: bool,
}

impl Records {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let unreadable = |error: SinkError| {
            CliError::failed(format!("failed to read the records in {}", shown(&self.dir))).because(error)
        };
        let mut reader = Reader::open(&self.dir)
            .map_err(|error| unreadable(error).hint("give the directory of a harvest with the sink `records`"))?;
        let mut records = match (&self.identifier, self.versions) {
            (Some(identifier), all) => reader.find(identifier, all).map_err(unreadable)?,
            (None, false) => reader.latest().map_err(unreadable)?,
            (None, true) => reader.versions(),
        };
        let with_deleted = self.deleted || self.versions || self.identifier.is_some();
        let mut out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
        let (mut printed, mut damages) = (0_u64, 0_u64);
        if !self.json
            && let Err(error) = out.write_all(BEGIN.as_bytes())
        {
            return output::tolerate_broken_pipe(Err(error));
        }
        // The printed part is a complete document, even if the rest cannot be read.
        let mut failure = None;
        while let Some(found) = records.next().transpose() {
            let (record, origin) = match found {
                Ok(Found::Record(record, origin)) => (record, origin),
                Ok(Found::Damage(damage)) => {
                    tracing::error!("{damage}");
                    damages += 1;
                    continue;
                }
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            };
            if record.header().deleted && !with_deleted {
                continue;
            }
            let written =
                if self.json { write_line(record, origin, &mut out) } else { write_xml(record, origin, &mut out) };
            if let Err(error) = written {
                return output::tolerate_broken_pipe(Err(error));
            }
            printed += 1;
        }
        let ending = if self.json { "" } else { END };
        output::tolerate_broken_pipe(out.write_all(ending.as_bytes()).and_then(|()| out.flush()))?;
        if let Some(error) = failure {
            return Err(unreadable(error));
        }
        match &self.identifier {
            _ if damages > 0 => Err(CliError::failed(format!("failed to read some records in {}", shown(&self.dir)))
                .hint("their locations are listed above; to fetch them again, harvest into another directory")),
            Some(identifier) if printed == 0 => Err(CliError::failed(format!("record {identifier} not found"))),
            _ => Ok(()),
        }
    }
}

const BEGIN: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<modoai:records xmlns:modoai=\"urn:modoai:records:1\">\n";
const END: &str = "</modoai:records>\n";

/// The declarations of [`BEGIN`].
const RECORD: Surroundings = Surroundings { declared: &[("modoai", "urn:modoai:records:1")], stem: "modoai" };

fn write_xml(record: &mut Gathered, origin: &Origin, out: &mut dyn Write) -> io::Result<()> {
    let mut xml = b"<modoai:record".to_vec();
    attribute(&mut xml, "source", &origin.base_url);
    attribute(&mut xml, "format", &origin.prefix);
    attribute(&mut xml, "harvested", &origin.harvested.to_string());
    xml.extend_from_slice(b">\n<modoai:header");
    let header = record.header();
    if header.deleted {
        attribute(&mut xml, "status", "deleted");
    }
    xml.push(b'>');
    element(&mut xml, "identifier", &header.identifier);
    element(&mut xml, "datestamp", &header.datestamp);
    header.sets.iter().for_each(|set| element(&mut xml, "setSpec", set));
    xml.extend_from_slice(b"</modoai:header>\n");
    out.write_all(&xml)?;
    for at in 0..record.parts().len() {
        write_part(record, at, out)?;
    }
    out.write_all(b"</modoai:record>\n")
}

fn write_part(record: &mut Gathered, at: usize, out: &mut dyn Write) -> io::Result<()> {
    let part = &record.parts()[at];
    let is_text = part.is_text && is_well_formed(record, at)?;
    let part = &record.parts()[at];
    let attributes = if is_text { "" } else { " encoding=\"base64\"" };
    let Container { open, close } = RECORD.container(part.part.name(), &part.namespaces, false, attributes);
    out.write_all(open.as_bytes())?;
    if is_text {
        record.read(at, |piece| out.write_all(piece))?;
    } else {
        record.write_base64(at, out)?;
    }
    writeln!(out, "{close}")
}

/// Returns true if a part can be printed unmodified. The harvest stores parts as received, and checks only their
/// nesting.
fn is_well_formed(record: &mut Gathered, at: usize) -> io::Result<bool> {
    let namespaces = record.parts()[at].namespaces.clone();
    let inherited: Vec<_> = namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str())).collect();
    let mut check = PartCheck::new(&inherited);
    let mut is_sound = true;
    record.read(at, |piece| {
        is_sound = is_sound && check.push(piece).is_ok();
        Ok(())
    })?;
    Ok(is_sound && check.finish().is_ok())
}

fn attribute(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(format!(" {name}=\"").as_bytes());
    escape_into(out, value);
    out.push(b'"');
}

fn element(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(format!("<modoai:{name}>").as_bytes());
    escape_into(out, text);
    out.extend_from_slice(format!("</modoai:{name}>").as_bytes());
}
