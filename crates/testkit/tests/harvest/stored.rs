//! What harvests left behind, read by code that shares nothing with what wrote it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::bufread::GzDecoder;
use modoai_testkit::process::binary;
use modoai_testkit::site::files_below;
use serde_json::Value;

/// One line of JSON: a record, or the news that one is gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line {
    pub(crate) identifier: String,
    pub(crate) datestamp: String,
    pub(crate) deleted: bool,
    pub(crate) sets: Vec<String>,
    pub(crate) metadata: Option<Vec<u8>>,
    pub(crate) namespaces: BTreeMap<String, String>,
    pub(crate) abouts: Vec<Vec<u8>>,
}

impl Line {
    fn read(line: &str) -> Self {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let text = |name: &str| value[name].as_str().unwrap_or_else(|| panic!("no {name}: {line}")).to_owned();
        let strings = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let pairs = value["namespaces"].as_object().into_iter().flatten();
        Self {
            identifier: text("identifier"),
            datestamp: text("datestamp"),
            deleted: value["deleted"].as_bool().unwrap_or_else(|| panic!("no deleted: {line}")),
            sets: strings(&value["sets"]),
            metadata: part(&value, "metadata"),
            namespaces: pairs
                .map(|(prefix, uri)| (prefix.clone(), uri.as_str().unwrap_or_default().to_owned()))
                .collect(),
            abouts: value["about"].as_array().into_iter().flatten().filter_map(|about| part(about, "xml")).collect(),
        }
    }
}

/// The exact bytes of a part, in whichever way they are told.
fn part(value: &Value, name: &str) -> Option<Vec<u8>> {
    let text = value[name].as_str().map(|text| text.as_bytes().to_vec());
    text.or_else(|| Some(STANDARD.decode(value[format!("{name}_base64")].as_str()?).expect("base64")))
}

/// The text of the segments of the `records` sink.
pub(crate) fn text(folder: &Path) -> String {
    // A harvest that failed may have left no directory.
    let mut segments = files_below(folder).unwrap_or_default();
    segments.retain(|path| path.to_string_lossy().ends_with(".jsonl.zst"));
    segments.sort();
    let read = |path| io::read_to_string(zstd::Decoder::new(fs::File::open(folder.join(path))?)?);
    segments.into_iter().map(|path| read(path).expect("a segment")).collect()
}

/// The lines of the `records` sink, in their order.
pub(crate) fn lines(folder: &Path) -> Vec<Line> {
    let text = text(folder);
    assert!(text.is_empty() || text.ends_with('\n'), "the last line has no end");
    text.lines().map(Line::read).collect()
}

/// The latest records of the `records` sink, sorted.
pub(crate) fn records(folder: &Path) -> Vec<Line> {
    let done = Command::new(binary()).arg("records").arg(folder).args(["--json", "--deleted"]).output();
    let done = done.expect("the command runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut lines: Vec<Line> = String::from_utf8(done.stdout).expect("JSON is UTF-8").lines().map(Line::read).collect();
    lines.sort();
    lines
}

/// The files of a folder with their contents and whole seconds of modification times; what belongs to the harvest itself
/// is left out.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u64)> {
    let ours = |path: &PathBuf| path.starts_with(".modoai");
    let files = files_below(folder).expect("readable").into_iter().filter(|path| !ours(path));
    let content = |path: &PathBuf| {
        let path = folder.join(path);
        let modified = fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("a file");
        let seconds = modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        (fs::read(&path).expect("readable"), seconds)
    };
    files.map(|path| (path.clone(), content(&path))).collect()
}

/// Says in a few words how two trees differ; nothing if they do not.
pub(crate) fn difference(wanted: &Path, found: &Path) -> Option<String> {
    let (wanted, found) = (tree(wanted), tree(found));
    let lacking = wanted.keys().filter(|path| !found.contains_key(*path)).map(|path| format!("lacks {path:?}"));
    let extra = found.keys().filter(|path| !wanted.contains_key(*path)).map(|path| format!("has {path:?} too"));
    let other = wanted.iter().filter_map(|(path, (content, modified))| match found.get(path)? {
        (bytes, _) if bytes != content => Some(format!("{path:?} has other bytes")),
        (_, at) if at != modified => Some(format!("{path:?} is of {at}, not of {modified}")),
        _ => None,
    });
    let all: Vec<String> = lacking.chain(extra).chain(other).take(20).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// The records of all WARC files of a folder: type, URI and digest of each, sorted. Records about the files are left out.
/// Every record is a gzip member of its own, and the CDXJ file lists exactly the captures among them.
pub(crate) fn warc(folder: &Path) -> Vec<[String; 3]> {
    let (mut records, mut captures, mut listed) = (Vec::new(), Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.ends_with(".cdxj") {
            let text = fs::read_to_string(&path).expect("readable");
            assert!(text.lines().is_sorted(), "{text}");
            listed.extend(text.lines().map(|line| {
                let json = line.splitn(3, ' ').nth(2).expect("a key, a time, and JSON");
                let value: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {line}"));
                let text = |name: &str| value[name].as_str().expect("a field").to_owned();
                [text("filename"), text("offset"), text("length"), text("url"), text("digest")]
            }));
        }
        if !name.ends_with(".warc.gz") {
            continue;
        }
        let bytes = fs::read(&path).expect("readable");
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (offset, before) = (bytes.len() - rest.len(), rest.len());
            let mut record = Vec::new();
            let read = GzDecoder::new(&mut rest).read_to_end(&mut record);
            read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let end = record.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
            let head = String::from_utf8_lossy(&record[..end]).into_owned();
            assert!(head.starts_with("WARC/1.1\r\n"), "{head}");
            let field = |name: &str| {
                let value = head.lines().filter_map(|line| line.split_once(": "));
                value.into_iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
            };
            let length: usize = field("Content-Length").parse().expect("a length");
            assert_eq!(&record[end + length..], b"\r\n\r\n", "two line ends after a record");
            let [kind, uri, digest] = ["WARC-Type", "WARC-Target-URI", "WARC-Payload-Digest"].map(field);
            if kind != "warcinfo" {
                records.push([kind, uri, digest].map(str::to_owned));
            }
            if ["response", "resource", "revisit"].contains(&kind) {
                let (offset, length) = (offset.to_string(), (before - rest.len()).to_string());
                captures.push([name.clone(), offset, length, uri.to_owned(), digest.to_owned()]);
            }
        }
    }
    captures.sort();
    listed.sort();
    assert_eq!(listed, captures, "the index lists the captures");
    records.sort();
    records
}
