//! The ways to send messages: through an SMTP server, through a local program, or, for a preview, into a directory.

mod dry;
mod sendmail;
mod smtp;

use std::path::{Path, PathBuf};
use std::time::Duration;

use lettre::message::Mailbox;

pub use dry::Dry;
pub use sendmail::Sendmail;
pub use smtp::Smtp;

use super::address::mailbox;
use super::compose::Letter;
use crate::task::MailRoute;

/// The environment variable with the password, for callers that read the environment.
pub const PASSWORD_VARIABLE: &str = "MODOAI_SMTP_PASSWORD";

/// An address that was refused, and the reason.
pub type Refused = (String, String);

/// A way to send messages.
pub trait Route {
    /// Returns the sender of the messages.
    fn sender(&self) -> &Mailbox;

    /// Returns a name for reports: the server, the program, the directory. It never contains a password.
    fn name(&self) -> String;

    /// Sends a message. When this returns, the receiving server or program is responsible for it, except for the
    /// refused addresses that are returned. On an error, the message was not accepted for any address.
    fn send(&mut self, letter: &Letter) -> Result<Vec<Refused>, RouteError>;

    /// Returns true if messages are not delivered, so that they must not be recorded as sent.
    fn is_rehearsal(&self) -> bool {
        false
    }
}

/// The reason why a message, or every message, cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// The sender is not an address.
    #[error("invalid sender {sender:?}: {what}")]
    Sender {
        /// The configured value.
        sender: String,
        /// The problem.
        what: String,
    },
    /// The URL is not that of a mail server.
    #[error("invalid mail server {url}: {what}")]
    Url {
        /// The configured value.
        url: String,
        /// The problem, and its solution.
        what: &'static str,
    },
    /// A file that belongs to the route cannot be used.
    #[error("failed to read {}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection to the SMTP server failed: no connection, no TLS, no login.
    #[error("failed to connect to {server}")]
    Connect {
        /// The server.
        server: String,
        /// The cause, with the server's response if it sent one.
        #[source]
        source: lettre::transport::smtp::Error,
    },
    /// The SMTP server refused the message.
    #[error("{server} did not accept the message")]
    Smtp {
        /// The server.
        server: String,
        /// The cause, with the server's response if it sent one.
        #[source]
        source: lettre::transport::smtp::Error,
    },
    /// The program failed.
    #[error("failed to send the message with {}: {what}", program.display())]
    Program {
        /// The path of the program.
        program: PathBuf,
        /// Its exit status and error output.
        what: String,
    },
    /// The message could not be written to the directory.
    #[error("failed to write {}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

impl RouteError {
    /// Returns true if other messages would probably fail in the same way.
    pub(super) fn is_of_the_route(&self) -> bool {
        match self {
            Self::Smtp { source, .. } => source.status().is_none(),
            Self::Connect { .. } | Self::Program { .. } | Self::Write { .. } => true,
            Self::Sender { .. } | Self::Url { .. } | Self::File { .. } => false,
        }
    }
}

/// The settings of a route that are not in the task file.
#[derive(Clone)]
pub struct Means {
    /// The password, if it was not in a file ([`PASSWORD_VARIABLE`]).
    pub password: Option<String>,
    /// A file of certificates to trust in addition to those of the system.
    pub authority: Option<PathBuf>,
    /// The timeout for a server or a program. Longer than the response time of greylisting servers, and short enough
    /// for an administrator to wait.
    pub patience: Duration,
}

impl Default for Means {
    fn default() -> Self {
        Self { password: None, authority: None, patience: Duration::from_secs(60) }
    }
}

/// Creates the route of a plan. It makes no connection yet.
pub fn open(route: &MailRoute, means: Means) -> Result<Box<dyn Route>, RouteError> {
    Ok(match route {
        MailRoute::Smtp { url, user, password_file, from } => {
            let password = password_file.as_deref().map(read_password).transpose()?.or(means.password);
            let credentials = user.clone().map(|user| (user, password));
            Box::new(Smtp::new(url, credentials, means.authority.as_deref(), means.patience, sender(from)?)?)
        }
        MailRoute::Sendmail { program, from } => Box::new(Sendmail::new(program, means.patience, sender(from)?)),
    })
}

/// Returns the sender of a route's messages.
pub fn sender_of(route: &MailRoute) -> Result<Mailbox, RouteError> {
    let (MailRoute::Smtp { from, .. } | MailRoute::Sendmail { from, .. }) = route;
    sender(from)
}

fn sender(from: &str) -> Result<Mailbox, RouteError> {
    mailbox(from).map_err(|what| RouteError::Sender { sender: from.to_owned(), what })
}

/// Returns the first line of the file: editors end it with a newline that is not part of the password.
fn read_password(path: &Path) -> Result<String, RouteError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| RouteError::File { path: path.to_owned(), source: Box::new(source) })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Formats an error with all its causes on one line.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let more = cause.to_string();
        // Some errors already contain the text of their causes.
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        next = cause.source();
    }
    crate::foreign::one_line(&text, 1_000)
}
