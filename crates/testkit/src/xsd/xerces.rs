//! Validation with Xerces-C, whose reading of XML Schema differs from that of libxml2: it follows `xsi:schemaLocation`, as
//! harvesters in Java do.
//!
//! Its programs know no catalogue. So schemas are copied, with the addresses of others that they import replaced by those of
//! the copies, and a document's own `xsi:schemaLocation` is replaced in the same way. Nothing goes to the network.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{IMPORTED, OFFICIAL, location};

/// The program, of Debian's package libxerces-c-samples.
const PROGRAM: &str = "SAX2Count";

/// Address of the schema that every response names.
const OAI_PMH: &str = "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd";

/// Returns true if Xerces is installed; prints that it is not.
pub(super) fn is_installed() -> bool {
    let found = crate::command(&[PROGRAM]).is_some();
    if !found {
        crate::not_installed("no validation with Xerces: no SAX2Count");
    }
    found
}

/// Copies a schema to a directory. Schemas with parts in directories of their own are not among those it is used for.
pub(super) fn copy(schema: &Path, name: &str, directory: &Path) -> io::Result<()> {
    let mut text = std::fs::read_to_string(schema)?;
    for (address, file) in IMPORTED {
        text = text.replace(&format!("\"{address}\""), &format!("\"{}\"", location(&directory.join(flat(file)))));
    }
    std::fs::write(directory.join(flat(name)), text)
}

/// Validates documents with the copies in a directory, of the official schemas and of these; returns what Xerces reports,
/// empty if nothing.
pub(super) fn complaints<'a>(
    directory: &Path,
    own: &[(String, PathBuf)],
    documents: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> io::Result<String> {
    let at = |file: &str| location(&directory.join(flat(file)));
    let copied = OFFICIAL.iter().filter(|schema| directory.join(flat(schema.file)).exists());
    let mut hints: Vec<String> = copied.map(|schema| format!("{} {}", schema.namespace, at(schema.file))).collect();
    hints.extend(own.iter().map(|(namespace, path)| {
        format!("{namespace} {}", at(&path.file_name().unwrap_or_default().to_string_lossy()))
    }));
    let mut all = String::new();
    for (what, xml) in documents {
        let text = String::from_utf8_lossy(xml);
        let local = text.replacen(OAI_PMH, &format!("{} {}", at("OAI-PMH.xsd"), hints.join(" ")), 1);
        assert_ne!(local, text, "{what} does not name {OAI_PMH}");
        let paper = tempfile::NamedTempFile::with_suffix(".xml")?;
        std::fs::write(&paper, local)?;
        let output = Command::new(PROGRAM).args(["-v=always", "-f"]).arg(paper.path()).output()?;
        if !output.status.success() || !output.stderr.is_empty() {
            all += &format!("{what}: {}\n", String::from_utf8_lossy(&output.stderr).trim());
        }
    }
    Ok(all)
}

fn flat(file: &str) -> String {
    file.replace('/', "-")
}
