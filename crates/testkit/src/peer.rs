//! Repositories made with the libraries of others, run for real: what a harvester and a judge meet outside of our own
//! tests; and pywb, which replays archives. The servers are in `peers/`; the libraries come with `tools/install-test-tools`.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use tempfile::NamedTempFile;

use crate::{installed, workspace};

/// How many records a peer has; one more was deleted.
pub const RECORDS: usize = 22;

/// The identifier of the one that was deleted.
pub const DELETED: &str = "oai:peer.example:item-7";

/// A program for web archives (`python`, `warcio`, `cdxj-indexer` or `wacz`). Nothing if it is not installed, and that is said
/// loudly.
pub fn archive_tool(name: &str) -> Option<PathBuf> {
    let skipped = "archives are not replayed and indexed by pywb, warcio, cdxj-indexer and wacz";
    let python = installed("MODOAI_ARCHIVE_TOOLS", "archive/bin/python", skipped)?;
    Some(python.with_file_name(name))
}

/// A running peer, until it is dropped.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    url: String,
    complaints: NamedTempFile,
}

impl Peer {
    /// Starts `peers/NAME_server.py`. Nothing if the libraries are not installed, and that is said loudly.
    pub fn start(name: &str, arguments: &[&str]) -> Option<Self> {
        let skipped = format!("a repository made with {name} is neither judged nor harvested");
        let python = installed("MODOAI_PEERS", "peers/bin/python", &skipped)?;
        Some(Self::run(&python, name, arguments))
    }

    /// Starts pywb for the WARC files of a folder. Nothing if it is not installed, and that is said loudly.
    pub fn replay(folder: &Path) -> Option<Self> {
        let python = archive_tool("python")?;
        let folder = folder.to_str().expect("a path in UTF-8");
        Some(Self::run(&python, "pywb", &[folder]))
    }

    fn run(python: &Path, name: &str, arguments: &[&str]) -> Self {
        let complaints = NamedTempFile::new().expect("a file");
        let mut command = Command::new(python);
        // -B: nothing compiled is left among the sources.
        command.arg("-B").arg(workspace().join("crates/testkit/peers").join(format!("{name}_server.py")));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::options().append(true).open(complaints.path()).expect("just made"));
        let mut child = command.spawn().expect("python can be run");
        let output = child.stdout.take().expect("a pipe was asked for");
        let mut peer = Self { child, url: String::new(), complaints };
        // It says where it listens, or it ends.
        BufReader::new(output).read_line(&mut peer.url).expect("a line of text");
        peer.url.truncate(peer.url.trim_end().len());
        assert!(!peer.url.is_empty(), "{name} does not start");
        peer
    }

    /// Its base URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What went wrong inside of it, in its own words.
    pub fn complaints(&self) -> String {
        std::fs::read_to_string(self.complaints.path()).unwrap_or_default()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- what the peer said ---\n{}--------------------------", self.complaints());
        }
    }
}
