//! A real mail server on loopback, until it is dropped, and what it has received. It is aiosmtpd, of
//! `tools/install-test-tools`; what it does is in `server.py`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Who may log in.
pub(super) const USER: &str = "spider";

/// With what. It has what shells, URLs and base64 trip over.
pub(super) const PASSWORD: &str = "pa ss:w@rd/=é";

pub(super) struct Server {
    child: Child,
    pub(super) port: u16,
    folder: TempDir,
}

impl Server {
    /// Starts one with these settings. Nothing if it is not installed, and that is said loudly.
    pub(super) fn start(mut settings: Value) -> Option<Self> {
        let skipped = "no mail server receives the messages to owners";
        let python = modoai_testkit::installed("MODOAI_SMTPD", "smtpd/bin/python", skipped)?;
        let folder = tempfile::tempdir().expect("a folder");
        settings["folder"] = json!(folder.path());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mail/server.py");
        // -B: nothing compiled is left among the sources.
        let mut child = Command::new(python)
            .arg("-B")
            .arg(script)
            .arg(settings.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python can be run");
        let output = child.stdout.take().expect("a pipe was asked for");
        let mut server = Self { child, port: 0, folder };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("a line");
        server.port = line.trim().parse().expect("the server says its port");
        Some(server)
    }

    /// What it has written down with this extension, in order.
    fn written(&self, extension: &str) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.folder.path()).expect("a folder");
        let mut paths: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|found| found == extension));
        paths.sort();
        paths
    }

    /// How often it has closed a connection after a message.
    pub(super) fn hung_up(&self) -> usize {
        self.written("closed").len()
    }

    /// What it has received, in order.
    pub(super) fn received(&self) -> Vec<Value> {
        let paths = self.written("json");
        let read = |path: &PathBuf| serde_json::from_slice(&std::fs::read(path).expect("readable")).expect("JSON");
        paths.iter().map(read).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A certificate for loopback, the authority behind it, and the key: files in a folder.
pub(super) struct Certificates {
    folder: TempDir,
}

impl Certificates {
    pub(super) fn new() -> Self {
        let made = |file: &str, folder: &TempDir, pem: &str| {
            std::fs::write(folder.path().join(file), pem).expect("written");
        };
        let mut authority = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority_key = rcgen::KeyPair::generate().expect("a key");
        let authority_itself = authority.self_signed(&authority_key).expect("a certificate");
        let issuer = rcgen::Issuer::new(authority, authority_key);
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let key = rcgen::KeyPair::generate().expect("a key");
        let leaf = rcgen::CertificateParams::new(names).expect("parameters").signed_by(&key, &issuer).expect("signed");
        let folder = tempfile::tempdir().expect("a folder");
        made("authority.pem", &folder, &authority_itself.pem());
        made("certificate.pem", &folder, &leaf.pem());
        made("key.pem", &folder, &key.serialize_pem());
        // As `openssl req -x509` makes them: an authority, without a name that verifiers read.
        let mut own = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
        own.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        own.distinguished_name.push(rcgen::DnType::CommonName, "mail.example.org");
        let own_key = rcgen::KeyPair::generate().expect("a key");
        made("self-signed.pem", &folder, &own.self_signed(&own_key).expect("a certificate").pem());
        made("self-signed-key.pem", &folder, &own_key.serialize_pem());
        Self { folder }
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }
}
