//! Sends messages through an SMTP server: one connection for all of them, and a refused address does not affect the
//! others.
//!
//! lettre implements the protocol. This module sends the commands itself, because lettre ends a message at the first
//! address that is refused. lettre's `tracing` feature must stay off: it logs the dialogue, including passwords.

use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{Certificate, SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use url::{Host, Url};

use super::{Refused, Route, RouteError, causes};
use crate::mail::compose::Letter;

/// An SMTP server.
pub struct Smtp {
    host: String,
    port: u16,
    safety: Safety,
    /// The certificates of the file, in DER: a server that presents one of them is trusted.
    known: Vec<Vec<u8>>,
    credentials: Option<Credentials>,
    patience: Duration,
    sender: Mailbox,
    /// The name for reports.
    name: String,
    connection: Option<SmtpConnection>,
}

/// The protection of the connection.
enum Safety {
    /// None: `smtp://`.
    None,
    /// TLS after an unencrypted greeting: `smtp+starttls://`.
    Upgraded(TlsParameters),
    /// TLS from the first byte: `smtps://`.
    Wrapped(TlsParameters),
}

impl Smtp {
    /// Creates the route to the server at a URL. Credentials are a user and, if one was found, a password.
    pub fn new(
        url: &Url,
        credentials: Option<(String, Option<String>)>,
        authority: Option<&Path>,
        patience: Duration,
        sender: Mailbox,
    ) -> Result<Self, RouteError> {
        let wrong = |what| RouteError::Url { url: without_password(url), what };
        if url.password().is_some() {
            return Err(wrong("the URL must not contain a password; use password_file or MODOAI_SMTP_PASSWORD"));
        }
        // The URL standard does not know the scheme, so an IP address is still text.
        let host = match url.host_str().map(Host::parse) {
            Some(Ok(Host::Domain(name))) => name,
            Some(Ok(Host::Ipv4(address))) => address.to_string(),
            Some(Ok(Host::Ipv6(address))) => address.to_string(),
            _ => return Err(wrong("missing host")),
        };
        let tls = || tls(&host, authority, &without_password(url));
        let known = authority.and_then(|path| std::fs::read(path).ok()).map(|pem| certificates(&pem));
        let (safety, port) = match url.scheme() {
            "smtp" => (Safety::None, 25),
            "smtp+starttls" => (Safety::Upgraded(tls()?), 587),
            "smtps" => (Safety::Wrapped(tls()?), 465),
            _ => return Err(wrong("use smtp://, smtps:// or smtp+starttls://")),
        };
        let credentials = match credentials {
            None => None,
            Some((_, None)) => {
                return Err(wrong("missing password for the user; use password_file or MODOAI_SMTP_PASSWORD"));
            }
            Some(_) if matches!(safety, Safety::None) && !is_loopback(&host) => {
                return Err(wrong("a password is not sent without encryption; use smtps:// or smtp+starttls://"));
            }
            Some((user, Some(password))) => Some(Credentials::new(user, password)),
        };
        let port = url.port().unwrap_or(port);
        let name = format!("{}://{}:{port}", url.scheme(), url.host_str().unwrap_or_default());
        let known = known.unwrap_or_default();
        Ok(Self { host, port, safety, known, credentials, patience, sender, name, connection: None })
    }

    fn connect(&self) -> Result<SmtpConnection, Error> {
        let mut connection = match self.greet(&self.safety) {
            Err(error) if is_refusal(&error) && !self.known.is_empty() => self.greet_known().ok_or(error)?,
            connection => connection?,
        };
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials)?;
        }
        Ok(connection)
    }

    /// Connects, with TLS if configured, and sends only a greeting.
    fn greet(&self, safety: &Safety) -> Result<SmtpConnection, Error> {
        let wrapped = if let Safety::Wrapped(tls) = safety { Some(tls) } else { None };
        let server = (self.host.as_str(), self.port);
        let me = ClientId::default();
        let mut connection = SmtpConnection::connect(server, Some(self.patience), &me, wrapped, None)?;
        if let Safety::Upgraded(tls) = safety {
            connection.starttls(tls, &me)?;
        }
        Ok(connection)
    }

    /// Connects to a server that presents a certificate of the file as its own. Most self-signed certificates are
    /// authorities, which verifiers refuse as server certificates, and many have no name that verifiers read. The
    /// handshake still proves that the server has the key.
    fn greet_known(&self) -> Option<SmtpConnection> {
        let any = || {
            let any = TlsParameters::builder(self.host.clone());
            any.dangerous_accept_invalid_certs(true).dangerous_accept_invalid_hostnames(true).build().ok()
        };
        let connection = match &self.safety {
            Safety::None => return None,
            Safety::Upgraded(_) => self.greet(&Safety::Upgraded(any()?)),
            Safety::Wrapped(_) => self.greet(&Safety::Wrapped(any()?)),
        };
        connection.ok().filter(|connection| connection.peer_certificate().is_ok_and(|it| self.known.contains(&it)))
    }

    /// Sends one message over one connection. Returns the refused addresses, or an error if the only one is refused.
    fn hand_over(connection: &mut SmtpConnection, letter: &Letter) -> Result<Vec<Refused>, Error> {
        let envelope = letter.message.envelope();
        let bytes = letter.message.formatted();
        let mut parameters = Vec::new();
        let is_ascii = |address: &lettre::Address| AsRef::<str>::as_ref(address).is_ascii();
        if !envelope.from().into_iter().chain(envelope.to()).all(is_ascii) {
            parameters.push(MailParameter::SmtpUtfEight);
        }
        if !bytes.is_ascii() && connection.server_info().supports_feature(Extension::EightBitMime) {
            parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
        }
        connection.command(Mail::new(envelope.from().cloned(), parameters))?;
        let mut refused = Vec::new();
        let mut last = None;
        for address in envelope.to() {
            match connection.command(Rcpt::new(address.clone(), Vec::new())) {
                Ok(_) => {}
                // The server responded, so the other addresses can be tried.
                Err(error) if error.status().is_some() => {
                    refused.push((address.to_string(), causes(&error)));
                    last = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(error) = last.filter(|_| refused.len() == envelope.to().len()) {
            // The connection is used again for other messages.
            connection.command(Rset)?;
            return if refused.len() == 1 { Err(error) } else { Ok(refused) };
        }
        connection.command(Data)?;
        connection.message(&bytes)?;
        Ok(refused)
    }
}

impl Route for Smtp {
    fn sender(&self) -> &Mailbox {
        &self.sender
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn send(&mut self, letter: &Letter) -> Result<Vec<Refused>, RouteError> {
        let server = self.name.clone();
        // Servers close idle connections, and some close them after a number of messages.
        let kept = self.connection.take().and_then(|mut kept| kept.test_connected().then_some(kept));
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.connect().map_err(|source| RouteError::Connect { server: server.clone(), source })?,
        };
        let outcome = Self::hand_over(&mut connection, letter);
        // If the server responded, even with an error, the next message can follow; RSET resets the session.
        let is_usable = match &outcome {
            Ok(_) => true,
            Err(error) => error.status().is_some() && connection.command(Rset).is_ok(),
        };
        self.connection = is_usable.then_some(connection);
        outcome.map_err(|source| RouteError::Smtp { server, source })
    }
}

impl Drop for Smtp {
    fn drop(&mut self) {
        if let Some(connection) = &mut self.connection {
            // Not required: all messages have been accepted before.
            let _ = connection.quit();
        }
    }
}

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Smtp").field(&self.name).finish()
    }
}

/// Creates TLS parameters with the certificates of the system, and those of the file.
fn tls(host: &str, authority: Option<&Path>, server: &str) -> Result<TlsParameters, RouteError> {
    let mut parameters = TlsParameters::builder(host.to_owned());
    if let Some(path) = authority {
        let unusable =
            |source: Box<dyn std::error::Error + Send + Sync>| RouteError::File { path: path.to_owned(), source };
        let pem = std::fs::read(path).map_err(|error| unusable(Box::new(error)))?;
        parameters =
            parameters.add_root_certificate(Certificate::from_pem(&pem).map_err(|error| unusable(Box::new(error)))?);
    }
    parameters.build().map_err(|source| RouteError::Connect { server: server.to_owned(), source })
}

/// Returns true if the certificate of the server was refused. In a handshake, that is an error of the stream.
fn is_refusal(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    error.is_tls() || source.is_some_and(|source| source.kind() == io::ErrorKind::InvalidData)
}

/// Returns the certificates of a PEM file, in DER.
fn certificates(pem: &[u8]) -> Vec<Vec<u8>> {
    let pem = String::from_utf8_lossy(pem);
    let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1).filter_map(|rest| rest.split("-----END").next());
    let decoded = blocks.map(|block| BASE64_STANDARD.decode(block.split_ascii_whitespace().collect::<String>()));
    decoded.filter_map(Result::ok).collect()
}

/// Formats a URL without its password.
fn without_password(url: &Url) -> String {
    let mut shown = url.clone();
    // Fails only in URLs that cannot have a password.
    let _ = shown.set_password(None);
    shown.to_string()
}

/// Returns true if a connection without TLS stays on this machine.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(url: &str, credentials: Option<(&str, Option<&str>)>) -> Result<Smtp, RouteError> {
        let url = Url::parse(url).expect("a URL");
        let credentials = credentials.map(|(user, password)| (user.to_owned(), password.map(str::to_owned)));
        Smtp::new(&url, credentials, None, Duration::from_secs(5), "s@example.org".parse().expect("an address"))
    }

    #[test]
    fn schemes_have_their_ports() {
        for (url, name) in [
            ("smtp://mail.example.org", "smtp://mail.example.org:25"),
            ("smtps://mail.example.org", "smtps://mail.example.org:465"),
            ("smtp+starttls://mail.example.org", "smtp+starttls://mail.example.org:587"),
            ("smtp://[::1]:2525", "smtp://[::1]:2525"),
        ] {
            assert_eq!(open(url, None).expect(url).name(), name);
        }
        for url in ["http://mail.example.org", "smtp:mail.example.org", "smtp:///x"] {
            assert!(open(url, None).is_err(), "{url}");
        }
    }

    #[test]
    fn passwords_are_neither_shown_nor_sent_in_the_clear() {
        let error = open("smtps://ann:hunter2@mail.example.org", None).expect_err("a password in a URL");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        let error = open("smtp://mail.example.org", Some(("ann", Some("hunter2")))).expect_err("in the clear");
        assert!(
            error.to_string().contains("without encryption") && !format!("{error:?}").contains("hunter2"),
            "{error:?}"
        );
        open("smtp://127.0.0.1", Some(("ann", Some("hunter2")))).expect("it stays on the machine");
        let error = open("smtps://mail.example.org", Some(("ann", None))).expect_err("no password");
        assert!(error.to_string().contains(super::super::PASSWORD_VARIABLE), "{error}");
        let server = open("smtps://mail.example.org", Some(("ann", Some("hunter2")))).expect("a server");
        assert!(!format!("{server:?}").contains("hunter2"));
    }
}
