//! TLS: a certificate and its key, read from files, and read again when the files change.
//!
//! A broken pair is an error at start. Later it is logged, and the previous certificate stays in use: programs that renew
//! certificates write two files, one after the other, so a change counts only once both files have stayed the same from
//! one check to the next.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::current::Current;
use crate::password_file::{Stamp, stamp_of};

/// The time between two checks of the files.
const CHECK: Duration = Duration::from_secs(1);

/// The name of HTTP/2 in ALPN.
pub(crate) const HTTP_2: &[u8] = b"h2";

/// The reason why files cannot be used for TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Only one of the two settings is given.
    #[error("tls_certificate and tls_key must be set together")]
    Incomplete,
    /// A file cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file is not in PEM.
    #[error("failed to parse {} as PEM", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: pem::Error,
    },
    /// The file has no certificate.
    #[error("no certificate in {}: it must contain a chain of certificates in PEM (BEGIN CERTIFICATE)", .0.display())]
    NoCertificate(PathBuf),
    /// The file has no key.
    #[error("no private key in {}: it must contain a key in PEM (BEGIN PRIVATE KEY)", .0.display())]
    NoKey(PathBuf),
    /// The key has a passphrase.
    #[error("the private key in {} is encrypted; remove its passphrase", .0.display())]
    Encrypted(PathBuf),
    /// They do not fit together, or are of an unknown kind.
    #[error("failed to use the certificate {} with the key {}", certificate.display(), key.display())]
    Unusable {
        /// The certificate.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
        /// The cause.
        source: rustls::Error,
    },
}

/// The certificate of a server.
#[derive(Clone)]
pub struct Certificate {
    files: Arc<Files>,
    current: Current<ServerConfig>,
}

#[derive(Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Certificate {
    /// Reads the files. None if both paths are empty, which means that the server has no TLS.
    pub(crate) fn open(certificate: &Path, key: &Path) -> Result<Option<Self>, TlsError> {
        match (certificate.as_os_str().is_empty(), key.as_os_str().is_empty()) {
            (true, true) => return Ok(None),
            (false, false) => {}
            _ => return Err(TlsError::Incomplete),
        }
        let files = Files { certificate: certificate.to_owned(), key: key.to_owned() };
        let current = Current::new(files.read()?);
        Ok(Some(Self { files: Arc::new(files), current }))
    }

    /// The configuration for the next connection.
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        self.current.get()
    }

    /// Reads the files again. If they cannot be used, that is logged, and the previous certificate stays in use.
    pub fn reload(&self) {
        match self.files.read() {
            Ok(config) => {
                self.current.replace(config);
                tracing::info!("reloaded the certificate {}", self.files.certificate.display());
            }
            Err(error) => tracing::error!(
                "failed to reload the certificate: {}; the previous one stays in use",
                modoai_repository::with_causes(&error)
            ),
        }
    }

    /// Reloads the certificate whenever its files have changed. Never returns.
    pub(crate) async fn follow(self) {
        let mut used = self.files.stamps();
        let mut before = used;
        loop {
            sleep(CHECK).await;
            let this = self.clone();
            let check = move || {
                let now = this.files.stamps();
                if now != used && now == before {
                    this.reload();
                    return (now, now);
                }
                (used, now)
            };
            if let Ok((in_use, now)) = spawn_blocking(check).await {
                (used, before) = (in_use, now);
            }
        }
    }
}

impl Files {
    fn stamps(&self) -> [Option<Stamp>; 2] {
        [&self.certificate, &self.key].map(|path| stamp_of(path))
    }

    fn read(&self) -> Result<ServerConfig, TlsError> {
        let (chain, key) = (chain(&self.certificate)?, key(&self.key)?);
        let unusable = |source| {
            let (certificate, key) = (self.certificate.clone(), self.key.clone());
            TlsError::Unusable { certificate, key, source }
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(unusable)?.with_no_client_auth();
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        config.alpn_protocols = vec![HTTP_2.to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source })
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    match chain {
        Ok(chain) if chain.is_empty() => Err(TlsError::NoCertificate(path.to_owned())),
        Ok(chain) => Ok(chain),
        Err(source) => Err(TlsError::Pem { path: path.to_owned(), source }),
    }
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(path)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|source| match source {
        pem::Error::NoItemsFound if text.windows(9).any(|part| part == b"ENCRYPTED") => {
            TlsError::Encrypted(path.to_owned())
        }
        pem::Error::NoItemsFound => TlsError::NoKey(path.to_owned()),
        source => TlsError::Pem { path: path.to_owned(), source },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    #[test]
    fn wrong_files_are_named_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let ((certificate, key), (_, other_key)) = (pair(), pair());
        let (certificate, key) = (file("certificate", &certificate), file("key", &key));
        let other = file("other", &other_key);
        let empty = file("empty", "");
        let encrypted =
            file("encrypted", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
        let torn = file("torn", "-----BEGIN CERTIFICATE-----\nAA");
        let missing = folder.path().join("missing");
        let none = Path::new("");
        let open = |certificate: &Path, key: &Path| Certificate::open(certificate, key).map(|it| it.is_some());
        assert!(open(&certificate, &key).expect("a good pair"));
        assert!(!open(none, none).expect("no TLS"));
        assert!(matches!(open(&certificate, none), Err(TlsError::Incomplete)));
        assert!(matches!(open(&missing, &key), Err(TlsError::Read { path, .. }) if path == missing));
        assert!(matches!(open(&certificate, &missing), Err(TlsError::Read { path, .. }) if path == missing));
        assert!(matches!(open(&key, &key), Err(TlsError::NoCertificate(_))));
        assert!(matches!(open(&empty, &key), Err(TlsError::NoCertificate(_))));
        assert!(matches!(open(&torn, &key), Err(TlsError::Pem { .. })));
        assert!(matches!(open(&certificate, &certificate), Err(TlsError::NoKey(_))));
        assert!(matches!(open(&certificate, &encrypted), Err(TlsError::Encrypted(_))));
        assert!(matches!(open(&certificate, &other), Err(TlsError::Unusable { .. })));
    }

    #[test]
    fn a_broken_certificate_does_not_replace_a_good_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let (certificate, key) = (folder.path().join("certificate"), folder.path().join("key"));
        let write = |(a, b): (&str, &str)| {
            std::fs::write(&certificate, a).expect("written");
            std::fs::write(&key, b).expect("written");
        };
        let (first, second) = (pair(), pair());
        write((&first.0, &first.1));
        let opened = Certificate::open(&certificate, &key).expect("a good pair").expect("TLS");
        let before = opened.config();
        write((&second.0, &first.1));
        opened.reload();
        assert!(Arc::ptr_eq(&before, &opened.config()), "the key is not that of the certificate");
        write((&second.0, &second.1));
        opened.reload();
        assert!(!Arc::ptr_eq(&before, &opened.config()));
    }
}
