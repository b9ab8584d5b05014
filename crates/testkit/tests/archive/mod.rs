//! `modoai import`, and what is then served.
//!
//! | file | what it shows |
//! |---|---|
//! | `inputs` | every kind of input, and what becomes of it |
//! | `faults` | bad input, broken configuration, too much gone: what is said, and what is left alone |
//! | `again` | second imports: what did not change keeps its datestamp, what did moves it |
//! | `crosswalks` | a change of a format or of a rule moves what it changes |
//! | `files` | documents with files, packaged |
//! | `get_record` | the four cases of GetRecord, and the formats of one item |
//! | `sets` | hierarchies, and what being in one means |
//! | `spans` | a harvest during which the archive changes misses nothing |
//! | `killed` | `kill -9` at any moment costs nothing but time |
//! | `round_trip` | the judge, the harvester and the schemas on an archive of arXiv's shape |
//! | `watch` | a folder that is watched |

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

use modoai_protocol::Datestamp;
use modoai_protocol::xml::document::Record;
use modoai_testkit::archive::{self, Shape, Wanted};
use modoai_testkit::process::{Launch, Server, binary};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::oai;
use crate::running::to_its_end;

mod again;
mod crosswalks;
mod faults;
mod files;
mod get_record;
mod inputs;
mod killed;
mod page;
mod round_trip;
mod sets;
mod spans;
mod terms;
mod watch;

/// All that an archive of one's own must say.
const PLAIN: &str = "repository_identifier = \"example.org\"\n";

/// An archive in a folder that vanishes with the test: its input, its configuration, its catalogue.
pub(crate) struct Archive {
    folder: TempDir,
    /// What tells it apart: a configuration of its own, or a preset.
    options: Vec<String>,
}

impl Archive {
    /// With this as its archive.toml.
    pub(crate) fn configured(toml: &str) -> Self {
        let archive = Self { folder: TempDir::new().expect("a temporary folder"), options: Vec::new() };
        let file = archive.write("archive.toml", toml);
        let options = vec!["--config".to_owned(), file.to_string_lossy().into_owned()];
        Self { options, ..archive }
    }

    /// With a shipped configuration.
    pub(crate) fn preset(name: &str) -> Self {
        let options = vec!["--preset".to_owned(), name.to_owned()];
        Self { folder: TempDir::new().expect("a temporary folder"), options }
    }

    /// Where something is, below its folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file below its folder.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a writable folder");
        fs::write(&path, content).expect("a writable folder");
        path
    }

    /// Writes records of our own model, one a line.
    pub(crate) fn write_lines(&self, name: &str, records: &[Value]) -> PathBuf {
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        self.write(name, lines)
    }

    /// Writes a generated archive as lines.
    pub(crate) fn write_generated(&self, name: &str, shape: Shape, wanted: Wanted) -> PathBuf {
        let mut lines = Vec::new();
        for eprint in archive::Archive::new(wanted).eprints() {
            shape.write(&eprint, &mut lines);
        }
        self.write(name, lines)
    }

    /// An import of an input, named as below the folder.
    pub(crate) fn import(&self, input: &str) -> Import {
        self.import_into(input, &self.catalogue())
    }

    /// An import into another catalogue.
    pub(crate) fn import_into(&self, input: &str, catalogue: &Path) -> Import {
        let mut command = Command::new(binary());
        command.arg("import").arg(self.path(input)).arg("--into").arg(catalogue);
        command.args(&self.options).arg("--json").stdin(Stdio::null());
        Import { command }
    }

    /// An import of what is on standard input.
    pub(crate) fn import_from(&self, input: fs::File) -> Import {
        let mut command = Command::new(binary());
        command.args(["import", "-", "--into"]).arg(self.catalogue());
        command.args(&self.options).arg("--json").stdin(input);
        Import { command }
    }

    /// Imports lines of our own model, and expects that all goes well.
    #[track_caller]
    pub(crate) fn fill(&self, records: &[Value]) -> Imported {
        self.write_lines("records.jsonl", records);
        self.import("records.jsonl").done()
    }

    /// Where its catalogue is.
    pub(crate) fn catalogue(&self) -> PathBuf {
        self.path("catalogue.sqlite")
    }

    /// Serves it.
    pub(crate) fn serve(&self) -> Server {
        Launch::of_catalogue(self.catalogue()).start()
    }

    /// All that it tells in Dublin Core.
    pub(crate) fn told(&self) -> BTreeMap<String, Record> {
        told(&self.serve(), "oai_dc")
    }
}

/// All that a server tells in a format, by identifier.
pub(crate) fn told(server: &Server, prefix: &str) -> BTreeMap<String, Record> {
    let query = format!("verb=ListRecords&metadataPrefix={prefix}");
    let listed = oai::harvest(&mut server.client(), &query);
    let count = listed.len();
    let records: BTreeMap<String, Record> =
        listed.into_iter().map(|record| (record.identifier.clone(), record)).collect();
    assert_eq!(records.len(), count, "something is listed twice");
    records
}

/// The identifiers that a query lists, sorted.
pub(crate) fn identifiers(server: &Server, query: &str) -> Vec<String> {
    let listed = oai::harvest(&mut server.client(), query);
    let mut identifiers: Vec<String> = listed.into_iter().map(|record| record.identifier).collect();
    identifiers.sort();
    identifiers
}

/// An import to be started.
pub(crate) struct Import {
    command: Command,
}

/// An import that has ended.
pub(crate) struct Imported {
    /// The exit status.
    pub(crate) code: Option<i32>,
    /// Its summary; null if it did not come to one.
    pub(crate) report: Value,
    /// What it said to people.
    pub(crate) said: String,
}

impl Import {
    /// With more arguments.
    pub(crate) fn with<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Starts it without listening to it, for those who will end it.
    pub(crate) fn start(mut self) -> Child {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command runs")
    }

    /// Runs it to its end, whatever that is.
    #[track_caller]
    pub(crate) fn run(mut self) -> Imported {
        let told = to_its_end(&mut self.command).unwrap_or_else(|error| panic!("{error}"));
        let report = serde_json::from_str(told.out.trim_end().lines().last().unwrap_or_default());
        Imported { code: told.status.code(), report: report.unwrap_or(Value::Null), said: told.err }
    }

    /// Runs it, and expects that all was imported.
    #[track_caller]
    pub(crate) fn done(self) -> Imported {
        let imported = self.run();
        assert_eq!(imported.code, Some(0), "{}{}", imported.said, imported.report);
        assert_eq!(imported.report["complete"], true, "{}", imported.report);
        imported
    }
}

impl Imported {
    /// How many of the summary's things of that name there were.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.report[name].as_u64().unwrap_or_else(|| panic!("no {name} in {}; {}", self.report, self.said))
    }

    /// Fails unless the summary says exactly this of what was done with entries.
    #[track_caller]
    pub(crate) fn expect(&self, wanted: &[(&str, u64)]) {
        for name in ["new", "changed", "unchanged", "gone", "back", "bad", "duplicates"] {
            let expected = wanted.iter().find(|(given, _)| *given == name).map_or(0, |(_, count)| *count);
            assert_eq!(self.count(name), expected, "{name}: {}\n{}", self.report, self.said);
        }
    }
}

/// A record of our own model, of long ago.
pub(crate) fn record(identifier: &str, title: &str) -> Value {
    json!({ "identifier": identifier, "title": title, "datestamp": "2001-02-03" })
}

/// The same with more fields.
pub(crate) fn record_with(identifier: &str, title: &str, more: Value) -> Value {
    let mut all = record(identifier, title);
    let (Value::Object(fields), Value::Object(more)) = (&mut all, more) else { panic!("fields are an object") };
    fields.extend(more);
    all
}

/// The metadata of a record as text.
#[track_caller]
pub(crate) fn metadata(record: &Record) -> String {
    let part = record.metadata.as_ref().unwrap_or_else(|| panic!("{} has no metadata", record.identifier));
    String::from_utf8(part.bytes.clone()).expect("UTF-8")
}

/// The repository's time, by its own account: nothing that comes later is stamped earlier.
pub(crate) fn now(server: &Server) -> String {
    oai::ask(&mut server.client(), "verb=Identify").answer.response_date
}

/// This machine's time as a datestamp. What is imported from now on is not stamped earlier.
pub(crate) fn here_and_now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    let seconds = i64::try_from(since.as_secs()).expect("a time of this age");
    Datestamp::from_unix(seconds).to_string()
}
