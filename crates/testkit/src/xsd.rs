//! Judgement by the official schemas, with `xmllint`.
//!
//! The schemas belong to others and are not part of this repository. They are looked for in the folder that
//! `MODOAI_XSD` names, else in `shared/xsd` beside the workspace: a folder with `driver.xsd`, which imports every
//! namespace a response may carry, and `catalog.xml`, which keeps xmllint off the network. Where they are missing, tests
//! say so loudly and go on; [`REQUIRED`] makes that an error. A few more come with `tools/install-test-tools`.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::workspace;

/// A variable that turns missing schemas from something skipped into a failure.
pub const REQUIRED: &str = "MODOAI_XSD_REQUIRED";

/// Where the schemas of our own namespaces are, within the workspace.
const OWN: &str = "crates/repository/src/formats";

/// Schemas that `tools/install-test-tools` brings, by namespace; `MODOAI_SCHEMAS` names another folder that has them.
const INSTALLED: [(&str, &str); 2] = [
    ("http://datacite.org/schema/kernel-4", "datacite/metadata.xsd"),
    ("http://www.loc.gov/mods/v3", "mods/mods-3-4.xsd"),
];

/// What those import, and where it is.
const IMPORTED: [(&str, &str); 2] = [
    ("http://www.loc.gov/standards/xlink/xlink.xsd", "mods/xlink.xsd"),
    ("http://www.loc.gov/mods/xml.xsd", "datacite/include/xml.xsd"),
];

/// Fails the test if a document is not valid; says so on stderr if it cannot be judged.
#[track_caller]
pub fn expect_valid(what: &str, xml: impl AsRef<[u8]>) {
    expect_all_valid([(what, xml.as_ref())]);
}

/// [`expect_valid`] for many documents, in one run of xmllint: reading the schemas takes longer than judging by them.
#[track_caller]
pub fn expect_all_valid<'a>(documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) {
    match schemas() {
        Ok(schemas) => {
            let complaints = schemas.judge(documents).expect("xmllint can be run");
            assert!(complaints.is_empty(), "{complaints}");
        }
        Err(skipped) => assert!(std::env::var_os(REQUIRED).is_none(), "{skipped}"),
    }
}

/// [`expect_all_valid`] by the official schemas alone, as somebody judges who has never heard of modoai.
#[track_caller]
pub fn expect_all_officially_valid<'a>(documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) {
    match schemas() {
        Ok(schemas) => {
            let driver = schemas.folder.join("driver.xsd");
            let complaints = schemas.judge_by(&driver, documents).expect("xmllint can be run");
            assert!(complaints.is_empty(), "{complaints}");
        }
        Err(skipped) => assert!(std::env::var_os(REQUIRED).is_none(), "{skipped}"),
    }
}

/// Why documents cannot be judged here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped(String);

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no validation against the official schemas: {}", self.0)
    }
}

/// The schemas, if they are here. Says on stderr, once and past the test harness's capture, if they are not.
pub fn schemas() -> Result<&'static Schemas, &'static Skipped> {
    static SCHEMAS: OnceLock<Result<Schemas, Skipped>> = OnceLock::new();
    let found = SCHEMAS.get_or_init(|| {
        Schemas::find().inspect_err(|skipped| {
            crate::skipped(&skipped.to_string());
        })
    });
    found.as_ref()
}

/// The official schemas, and our own.
#[derive(Debug)]
pub struct Schemas {
    folder: PathBuf,
    /// Holds a driver that joins the official one and our own schema: wildcards in OAI-PMH.xsd are strict, so all
    /// namespaces must be in one schema set.
    scratch: TempDir,
    /// Namespaces of which the schema should be installed and is not.
    missing: Vec<&'static str>,
}

impl Schemas {
    /// Finds the schemas, and the program that judges by them.
    pub fn find() -> Result<Self, Skipped> {
        let folder = match std::env::var_os("MODOAI_XSD") {
            Some(folder) => PathBuf::from(folder),
            None => workspace().join("../shared/xsd"),
        };
        Self::at(&folder)
    }

    /// The schemas in this folder.
    pub fn at(folder: &Path) -> Result<Self, Skipped> {
        let Some(folder) = folder.canonicalize().ok().filter(|folder| folder.join("driver.xsd").exists()) else {
            let message = format!("{} has no driver.xsd; MODOAI_XSD can name another folder", folder.display());
            return Err(Skipped(message));
        };
        if Command::new("xmllint").arg("--version").output().is_err() {
            return Err(Skipped("xmllint is missing (Debian package libxml2-utils)".to_owned()));
        }
        let scratch = TempDir::new().expect("a temporary folder");
        let mut driver = "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n".to_owned();
        let official = location(&folder.join("driver.xsd"));
        let _ = writeln!(driver, "<xs:include schemaLocation=\"{official}\"/>");
        for (namespace, path) in own_schemas().expect("this workspace can be read") {
            let path = location(&path);
            let _ = writeln!(driver, "<xs:import namespace=\"{namespace}\" schemaLocation=\"{path}\"/>");
        }
        let installed = match std::env::var_os("MODOAI_SCHEMAS") {
            Some(folder) => PathBuf::from(folder),
            None => workspace().join("tools/.installed/schemas"),
        };
        let mut missing = Vec::new();
        for (namespace, file) in INSTALLED {
            let path = installed.join(file);
            if path.exists() {
                let path = location(&path);
                let _ = writeln!(driver, "<xs:import namespace=\"{namespace}\" schemaLocation=\"{path}\"/>");
            } else {
                missing.push(namespace);
            }
        }
        driver.push_str("</xs:schema>\n");
        let mut catalog = "<catalog xmlns=\"urn:oasis:names:tc:entity:xmlns:xml:catalog\">\n".to_owned();
        for (address, file) in IMPORTED {
            let path = location(&installed.join(file));
            let _ = writeln!(
                catalog,
                "<system systemId=\"{address}\" uri=\"{path}\"/><uri name=\"{address}\" uri=\"{path}\"/>"
            );
        }
        catalog.push_str("</catalog>\n");
        std::fs::write(scratch.path().join("driver.xsd"), driver).expect("a writable temporary folder");
        std::fs::write(scratch.path().join("catalog.xml"), catalog).expect("a writable temporary folder");
        Ok(Self { folder, scratch, missing })
    }

    /// Whether the schema of this namespace was looked for and is not here. Says so on stderr, past the test harness's
    /// capture, and fails the test where schemas are required.
    #[track_caller]
    pub fn lacks(&self, namespace: &str) -> bool {
        let lacks = self.missing.contains(&namespace);
        if lacks {
            let skipped = Skipped(format!("that of {namespace} is missing; run tools/install-test-tools"));
            assert!(std::env::var_os(REQUIRED).is_none(), "{skipped}");
            let _ = writeln!(io::stderr(), "{skipped}");
        }
        lacks
    }

    /// Judges named documents; returns what xmllint has against them, empty if nothing.
    pub fn judge<'a>(&self, documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> io::Result<String> {
        self.judge_by(&self.scratch.path().join("driver.xsd"), documents)
    }

    fn judge_by<'a>(
        &self,
        driver: &Path,
        documents: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> io::Result<String> {
        let papers = TempDir::new()?;
        let mut files = Vec::new();
        for (number, (what, xml)) in documents.into_iter().enumerate() {
            let file = papers.path().join(format!("{number}.xml"));
            std::fs::write(&file, xml)?;
            files.push((what, file));
        }
        if files.is_empty() {
            return Ok(String::new());
        }
        // --huge: base64 of a large file is one long text.
        let output = Command::new("xmllint")
            .args(["--nonet", "--noout", "--huge", "--schema"])
            .arg(driver)
            .args(files.iter().map(|(_, file)| file))
            .env("XML_CATALOG_FILES", self.catalogs())
            .output()?;
        if output.status.success() {
            return Ok(String::new());
        }
        let mut complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        for (what, file) in &files {
            complaints = complaints.replace(&file.display().to_string(), what);
        }
        // Each schema brings `xml:lang` along, and xmllint tells of every one that it did not need.
        let interesting = |line: &&str| !line.ends_with(" validates") && !line.contains("Schemas parser warning");
        Ok(complaints.lines().filter(interesting).fold(String::new(), |all, line| all + line + "\n"))
    }
}

impl Schemas {
    /// The catalogues of both places, as xmllint wants them: URLs, with spaces in between.
    fn catalogs(&self) -> String {
        let [official, installed] =
            [&*self.folder, self.scratch.path()].map(|folder| location(&folder.join("catalog.xml")));
        format!("{official} {installed}")
    }
}

/// Target namespace and place of each of our own schemas.
fn own_schemas() -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(workspace().join(OWN))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "xsd") {
            let text = std::fs::read_to_string(&path)?;
            let namespace = text.split("targetNamespace=\"").nth(1).and_then(|rest| rest.split('"').next());
            let namespace = namespace.ok_or_else(|| io::Error::other("a schema without a namespace"))?;
            found.push((namespace.to_owned(), path));
        }
    }
    Ok(found)
}

/// A path as a URL, for a folder may have any name.
fn location(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let encoded = crate::http::encode(path.as_os_str().as_bytes());
    format!("file://{}", encoded.replace("%2F", "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identify(granularity: &str) -> String {
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">
  <responseDate>2024-01-01T00:00:00Z</responseDate>
  <request verb="Identify">http://example.org/modoai</request>
  <Identify>
    <repositoryName>A site</repositoryName>
    <baseURL>http://example.org/modoai</baseURL>
    <protocolVersion>2.0</protocolVersion>
    <adminEmail>webmaster@example.org</adminEmail>
    <earliestDatestamp>1990-02-01T12:00:00Z</earliestDatestamp>
    <deletedRecord>persistent</deletedRecord>
    <granularity>{granularity}</granularity>
  </Identify>
</OAI-PMH>"#
        )
    }

    #[test]
    fn a_valid_answer_passes_and_an_invalid_one_is_named() {
        let Ok(schemas) = schemas() else { return };
        let good = identify("YYYY-MM-DDThh:mm:ssZ");
        let bad = identify("every second");
        expect_valid("Identify", &good);
        let complaints = schemas.judge([("the good", good.as_bytes()), ("the bad", bad.as_bytes())]).expect("it runs");
        assert!(complaints.contains("the bad:") && complaints.contains("granularity"), "{complaints}");
        assert!(!complaints.contains("the good"), "{complaints}");
    }

    #[test]
    fn our_own_namespaces_are_judged_too() {
        let Ok(schemas) = schemas() else { return };
        let record = |metadata: &str| {
            format!(
                r#"<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">
<responseDate>2024-01-01T00:00:00Z</responseDate>
<request>http://example.org/modoai</request>
<GetRecord><record>
  <header><identifier>http://example.org/a</identifier><datestamp>2024-01-01</datestamp></header>
  <metadata>{metadata}</metadata>
</record></GetRecord></OAI-PMH>"#
            )
        };
        let judge = |metadata: &str| schemas.judge([("it", record(metadata).as_bytes())]).expect("it runs");
        let good = r#"<fixity xmlns="urn:modoai:fixity:1"><digest algorithm="md5">00ff</digest></fixity>"#;
        assert_eq!(judge(good), "");
        assert_ne!(judge(&good.replace("00ff", "junk")), "", "it breaks our schema");
        assert_ne!(judge(r#"<a xmlns="urn:of:no:schema"/>"#), "", "no schema knows it");
    }

    #[test]
    fn what_is_not_even_xml_does_not_pass() {
        let Ok(schemas) = schemas() else { return };
        assert_ne!(schemas.judge([("junk", b"<a>".as_slice())]).expect("it runs"), "");
    }

    #[test]
    fn a_folder_without_schemas_is_reported_with_its_name() {
        let skipped = Schemas::at(Path::new("/nowhere/at all")).expect_err("there is none");
        let message = skipped.to_string();
        assert!(message.starts_with("no validation") && message.contains("/nowhere/at all"), "{message}");
    }
}
