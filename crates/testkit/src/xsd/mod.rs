//! Validation against the official schemas, with `xmllint` and, as far as the protocol goes, Xerces.
//!
//! The schemas belong to others and are not part of this repository. `OFFICIAL` lists them; each file is looked for in the
//! directory `MODOAI_SCHEMAS`, in `shared/xsd` next to the workspace, and where `tools/install-test-tools` puts it.
//!
//! Some schemas are in no package, and a machine may lack them. OAI-PMH.xsd requires a declaration for every
//! metadata and description element, so a missing schema would make every response that has such an element invalid. A
//! stand-in that accepts any content takes its place: the rest of the response is still validated, and each test that
//! relies on a stand-in prints a line that begins with `SKIPPED`.

mod xerces;

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::workspace;

/// Directory of the schemas of modoai's own namespaces, within the workspace.
const OWN: &str = "crates/repository/src/formats";

/// A schema of somebody else.
struct Official {
    namespace: &'static str,
    /// Path below the directory that has the schemas.
    file: &'static str,
    /// Elements that occur in responses, for a stand-in; none if a package has the schema.
    elements: &'static [&'static str],
}

const fn packaged(namespace: &'static str, file: &'static str) -> Official {
    Official { namespace, file, elements: &[] }
}

const fn published(namespace: &'static str, file: &'static str, elements: &'static [&'static str]) -> Official {
    Official { namespace, file, elements }
}

/// Schemas of everything that modoai's responses contain, except of modoai's own namespaces.
const OFFICIAL: &[Official] = &[
    packaged("http://www.openarchives.org/OAI/2.0/", "OAI-PMH.xsd"),
    packaged("http://www.openarchives.org/OAI/2.0/oai_dc/", "oai_dc.xsd"),
    packaged("http://datacite.org/schema/kernel-4", "datacite/metadata.xsd"),
    packaged("http://www.loc.gov/mods/v3", "mods/mods-3-4.xsd"),
    published("http://www.openarchives.org/OAI/2.0/oai-identifier", "oai-identifier.xsd", &["oai-identifier"]),
    published("http://www.openarchives.org/OAI/2.0/friends/", "friends.xsd", &["friends"]),
    published("http://www.openarchives.org/OAI/2.0/branding/", "branding.xsd", &["branding"]),
    published("http://www.openarchives.org/OAI/2.0/provenance", "provenance.xsd", &["provenance"]),
    published("http://www.openarchives.org/OAI/2.0/rights/", "rightsManifest.xsd", &["rights", "rightsManifest"]),
    published("http://www.openarchives.org/OAI/1.1/eprints", "eprints.xsd", &["eprints"]),
    published("http://info.internet.isi.edu:80/in-notes/rfc/files/rfc1807.txt", "rfc1807.xsd", &["rfc1807"]),
    published("urn:mpeg:mpeg21:2002:02-DIDL-NS", "didl.xsd", &["DIDL"]),
    published("http://www.loc.gov/MARC21/slim", "MARC21slim.xsd", &["record"]),
    published("http://arxiv.org/OAI/arXiv/", "arXiv.xsd", &["arXiv"]),
    published("http://arxiv.org/OAI/arXivRaw/", "arXivRaw.xsd", &["arXivRaw"]),
    published("http://arxiv.org/OAI/arXivOld/", "arXivOld.xsd", &["arXivOld"]),
];

/// Addresses that those schemas import, and the files that have them.
const IMPORTED: &[(&str, &str)] = &[
    ("http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd", "OAI-PMH.xsd"),
    ("http://www.openarchives.org/OAI/2.0/rights.xsd", "rights.xsd"),
    ("http://dublincore.org/schemas/xmls/simpledc20021212.xsd", "simpledc20021212.xsd"),
    ("http://www.loc.gov/standards/xlink/xlink.xsd", "mods/xlink.xsd"),
    ("http://www.loc.gov/mods/xml.xsd", "datacite/include/xml.xsd"),
    ("http://www.w3.org/2001/03/xml.xsd", "datacite/include/xml.xsd"),
    ("http://www.w3.org/2001/xml.xsd", "datacite/include/xml.xsd"),
];

/// Returns true if the table of official schemas has this namespace.
pub fn knows(namespace: &str) -> bool {
    OFFICIAL.iter().any(|schema| schema.namespace == namespace)
}

/// Fails the test if a document is not valid; prints that the validation is skipped if it is impossible.
#[track_caller]
pub fn expect_valid(what: &str, xml: impl AsRef<[u8]>) {
    expect_all_valid([(what, xml.as_ref())]);
}

/// [`expect_valid`] for many documents, in one run of xmllint: reading the schemas takes longer than validating.
#[track_caller]
pub fn expect_all_valid<'a>(documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) {
    expect_all_valid_by(ALL, documents);
}

/// [`expect_all_valid`] with the official schemas alone, as a validator does that does not know modoai.
#[track_caller]
pub fn expect_all_officially_valid<'a>(documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) {
    let documents: Vec<_> = documents.into_iter().collect();
    expect_all_valid_by(OFFICIAL_ONLY, documents.iter().copied());
    if let Some(schemas) = schemas().filter(|_| xerces::is_installed()) {
        let complaints =
            xerces::complaints(&schemas.scratch.path().join(COPIES), &[], documents).expect("Xerces can be run");
        assert!(complaints.is_empty(), "{complaints}");
    }
}

/// [`expect_all_valid`] by xmllint and by Xerces.
#[track_caller]
pub fn expect_all_valid_by_both<'a>(documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) {
    let documents: Vec<_> = documents.into_iter().collect();
    expect_all_valid(documents.iter().copied());
    if let Some(schemas) = schemas().filter(|_| xerces::is_installed()) {
        let (copies, own) = (schemas.scratch.path().join(COPIES), own_schemas().expect("this workspace can be read"));
        for (_, path) in &own {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            xerces::copy(path, &name, &copies).expect("a schema can be copied");
        }
        let complaints = xerces::complaints(&copies, &own, documents).expect("Xerces can be run");
        assert!(complaints.is_empty(), "{complaints}");
    }
}

#[track_caller]
fn expect_all_valid_by<'a>(driver: &str, documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) {
    let Some(schemas) = schemas() else { return };
    let documents: Vec<_> = documents.into_iter().collect();
    let is_used = |namespace: &&str| documents.iter().any(|(_, xml)| declares(xml, namespace));
    let unchecked: Vec<_> = schemas.unchecked.iter().copied().filter(is_used).collect();
    if !unchecked.is_empty() {
        crate::skipped(&format!("validated without the schemas of {}", unchecked.join(", ")));
    }
    let complaints = schemas.complaints(driver, documents).expect("xmllint can be run");
    assert!(complaints.is_empty(), "{complaints}");
}

/// The schemas, if they are installed. Prints that the test skips the validation if they are not.
///
/// # Panics
///
/// On a CI, if the schemas that packages have are missing: [`crate::not_installed`].
pub fn schemas() -> Option<&'static Schemas> {
    static SCHEMAS: OnceLock<Result<Schemas, String>> = OnceLock::new();
    let found = SCHEMAS.get_or_init(|| {
        let mut directories = vec![workspace().join("../shared/xsd"), workspace().join("tools/.installed/schemas")];
        directories.splice(0..0, std::env::var_os("MODOAI_SCHEMAS").map(PathBuf::from));
        Schemas::among(&directories)
    });
    found.as_ref().map_err(|why| crate::not_installed(why)).ok()
}

/// Driver with the official schemas and modoai's own.
const ALL: &str = "all.xsd";
/// Driver with the official schemas.
const OFFICIAL_ONLY: &str = "official.xsd";
/// Copies of the schemas for Xerces.
const COPIES: &str = "copies";

/// The official schemas, and modoai's own.
#[derive(Debug)]
pub struct Schemas {
    /// Holds the drivers, which import every namespace (xmllint ignores `xsi:schemaLocation` below a strict wildcard),
    /// the stand-ins, and a catalogue that resolves imports without the network.
    scratch: TempDir,
    /// Namespaces with a stand-in.
    unchecked: Vec<&'static str>,
}

impl Schemas {
    /// The schemas that are in these directories, the first that has a file winning; an error names what is missing.
    pub fn among(directories: &[PathBuf]) -> Result<Self, String> {
        if crate::command(&["xmllint"]).is_none() {
            return Err("no validation against the official schemas: no xmllint".to_owned());
        }
        let place = |file: &str| directories.iter().map(|directory| directory.join(file)).find(|path| path.exists());
        let scratch = TempDir::new().expect("a temporary directory");
        let write = |name: &str, text: &str| {
            std::fs::write(scratch.path().join(name), text).expect("a writable temporary directory");
        };
        let copies = scratch.path().join(COPIES);
        std::fs::create_dir(&copies).expect("a writable temporary directory");
        let (mut official, mut unchecked) = (String::new(), Vec::new());
        for (number, schema) in OFFICIAL.iter().enumerate() {
            let path = match place(schema.file) {
                Some(path) => path,
                None if schema.elements.is_empty() => {
                    return Err(format!("no validation against the official schemas: no {}", schema.file));
                }
                None => {
                    unchecked.push(schema.namespace);
                    let name = format!("stand-in-{number}.xsd");
                    write(&name, &stand_in(schema));
                    scratch.path().join(name)
                }
            };
            if !schema.file.contains('/') {
                xerces::copy(&path, schema.file, &copies).expect("a schema can be copied");
            }
            official.push_str(&import(schema.namespace, &path));
        }
        // Some schemas name these by a relative address.
        let relative = [("didmodel.xsd", "didmodel.xsd"), ("xml.xsd", "datacite/include/xml.xsd")];
        let parts = IMPORTED.iter().map(|(_, file)| (*file, *file)).chain(relative);
        for (name, path) in parts.filter_map(|(name, file)| Some((name, place(file)?))) {
            xerces::copy(&path, name, &copies).expect("a schema can be copied");
        }
        let own = own_schemas().expect("this workspace can be read");
        let own: String = own.iter().map(|(namespace, path)| import(namespace, path)).collect();
        write(OFFICIAL_ONLY, &driver(&official));
        write(ALL, &driver(&(official + &own)));
        let mut catalogue = "<catalog xmlns=\"urn:oasis:names:tc:entity:xmlns:xml:catalog\">\n".to_owned();
        for (address, file) in IMPORTED {
            let Some(path) = place(file) else { continue };
            let path = location(&path);
            let _ = writeln!(
                catalogue,
                "<system systemId=\"{address}\" uri=\"{path}\"/><uri name=\"{address}\" uri=\"{path}\"/>"
            );
        }
        write("catalog.xml", &(catalogue + "</catalog>\n"));
        Ok(Self { scratch, unchecked })
    }

    /// Validates named documents; returns xmllint's complaints, empty if there are none.
    pub fn judge<'a>(&self, documents: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> io::Result<String> {
        self.complaints(ALL, documents)
    }

    fn complaints<'a>(
        &self,
        driver: &str,
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
            .arg(self.scratch.path().join(driver))
            .args(files.iter().map(|(_, file)| file))
            .env("XML_CATALOG_FILES", location(&self.scratch.path().join("catalog.xml")))
            .output()?;
        if output.status.success() {
            return Ok(String::new());
        }
        let mut complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        for (what, file) in &files {
            complaints = complaints.replace(&file.display().to_string(), what);
        }
        // Several schemas import `xml:lang`, and xmllint warns about each import after the first.
        let interesting = |line: &&str| !line.ends_with(" validates") && !line.contains("Schemas parser warning");
        Ok(complaints.lines().filter(interesting).fold(String::new(), |all, line| all + line + "\n"))
    }
}

/// Returns true if a document declares this namespace.
fn declares(xml: &[u8], namespace: &str) -> bool {
    let quoted = |mark: char| format!("{mark}{namespace}{mark}");
    ['"', '\''].into_iter().any(|mark| memchr::memmem::find(xml, quoted(mark).as_bytes()).is_some())
}

fn import(namespace: &str, path: &Path) -> String {
    format!("<xs:import namespace=\"{namespace}\" schemaLocation=\"{}\"/>\n", location(path))
}

fn driver(imports: &str) -> String {
    format!("<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n{imports}</xs:schema>\n")
}

/// A schema that declares the elements of another one and accepts any content in them.
fn stand_in(schema: &Official) -> String {
    let elements: String = schema.elements.iter().map(|name| format!("<xs:element name=\"{name}\"/>\n")).collect();
    format!(
        "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" targetNamespace=\"{}\">\n{elements}</xs:schema>\n",
        schema.namespace
    )
}

/// Target namespace and path of each of modoai's own schemas.
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
        let Some(schemas) = schemas() else { return };
        let good = identify("YYYY-MM-DDThh:mm:ssZ");
        let bad = identify("every second");
        expect_valid("Identify", &good);
        let complaints = schemas.judge([("the good", good.as_bytes()), ("the bad", bad.as_bytes())]).expect("it runs");
        assert!(complaints.contains("the bad:") && complaints.contains("granularity"), "{complaints}");
        assert!(!complaints.contains("the good"), "{complaints}");
    }

    #[test]
    fn xerces_reports_an_invalid_answer_and_passes_a_valid_one() {
        let Some(schemas) = schemas().filter(|_| xerces::is_installed()) else { return };
        let root = "xmlns=\"http://www.openarchives.org/OAI/2.0/\"";
        let hint = format!(
            "{root} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\""
        );
        let judge = |granularity: &str| {
            let document = identify(granularity).replace(root, &hint);
            xerces::complaints(&schemas.scratch.path().join(COPIES), &[], [("it", document.as_bytes())])
                .expect("it runs")
        };
        assert_eq!(judge("YYYY-MM-DDThh:mm:ssZ"), "");
        assert_ne!(judge("every second"), "");
    }

    #[test]
    fn our_own_namespaces_are_judged_too() {
        let Some(schemas) = schemas() else { return };
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
        let Some(schemas) = schemas() else { return };
        assert_ne!(schemas.judge([("junk", b"<a>".as_slice())]).expect("it runs"), "");
    }

    #[test]
    fn directory_without_schemas_names_the_missing_file() {
        let why = Schemas::among(&[PathBuf::from("/nowhere/at all")]).expect_err("no schemas");
        assert!(why.contains("OAI-PMH.xsd") || why.contains("xmllint"), "{why}");
    }

    #[test]
    fn stand_in_accepts_any_content_and_only_in_its_element() {
        let Some(installed) = schemas() else { return };
        let directory = TempDir::new().expect("a temporary directory");
        for schema in OFFICIAL.iter().filter(|schema| !schema.elements.is_empty()) {
            std::fs::write(directory.path().join("it.xsd"), stand_in(schema)).expect("written");
            let driver = driver(&import(schema.namespace, &directory.path().join("it.xsd")));
            std::fs::write(installed.scratch.path().join("stand-in.xsd"), driver).expect("written");
            let judge = |xml: String| installed.complaints("stand-in.xsd", [("it", xml.as_bytes())]).expect("it runs");
            for element in schema.elements {
                assert_eq!(judge(format!("<{element} xmlns=\"{}\"><any/></{element}>", schema.namespace)), "");
            }
            assert_ne!(judge(format!("<other xmlns=\"{}\"/>", schema.namespace)), "", "{}", schema.namespace);
        }
    }
}
