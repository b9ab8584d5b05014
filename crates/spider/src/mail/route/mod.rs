//! How messages leave: through an SMTP server, through a local program, or, to try things out, into a folder.

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

/// The variable of the environment that holds the password, for whoever reads the environment.
pub const PASSWORD_VARIABLE: &str = "MODOAI_SMTP_PASSWORD";

/// An address that was refused, and why.
pub type Refused = (String, String);

/// A way out for messages.
pub trait Route {
    /// Who messages are from.
    fn sender(&self) -> &Mailbox;

    /// What a person calls it: the server, the program, the folder. Never holds a password.
    fn name(&self) -> String;

    /// Hands a message over. When this returns, whoever took it is responsible for it, but for those addresses that were
    /// refused; on an error, nobody has taken it.
    fn send(&mut self, letter: &Letter) -> Result<Vec<Refused>, RouteError>;

    /// Whether nobody will get what is sent, so that nobody has been told.
    fn is_rehearsal(&self) -> bool {
        false
    }
}

/// Why a message, or none at all, can leave.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// The sender is no address.
    #[error("invalid sender {sender:?}: {what}")]
    Sender {
        /// As written.
        sender: String,
        /// What is wrong.
        what: String,
    },
    /// The route is not one.
    #[error("invalid mail server {url}: {what}")]
    Url {
        /// As written.
        url: String,
        /// What is wrong, and what to do.
        what: &'static str,
    },
    /// A file that belongs to the route cannot be used.
    #[error("failed to read {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The SMTP server cannot be talked to: no connection, no TLS, no login.
    #[error("failed to connect to {server}")]
    Connect {
        /// Which.
        server: String,
        /// Why, in the server's words if it had any.
        #[source]
        source: lettre::transport::smtp::Error,
    },
    /// The SMTP server does not take the message.
    #[error("{server} did not accept the message")]
    Smtp {
        /// Which.
        server: String,
        /// Why, in the server's words if it had any.
        #[source]
        source: lettre::transport::smtp::Error,
    },
    /// The program.
    #[error("failed to send the message with {}: {what}", program.display())]
    Program {
        /// Which.
        program: PathBuf,
        /// How it ended and what it said.
        what: String,
    },
    /// The folder.
    #[error("failed to write {}", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl RouteError {
    /// Whether any other message would fare the same, as far as one can know.
    pub(super) fn is_of_the_route(&self) -> bool {
        match self {
            Self::Smtp { source, .. } => source.status().is_none(),
            Self::Connect { .. } | Self::Program { .. } | Self::Write { .. } => true,
            Self::Sender { .. } | Self::Url { .. } | Self::File { .. } => false,
        }
    }
}

/// What a route needs besides what the task file says.
#[derive(Clone)]
pub struct Means {
    /// The password, if it was not in a file ([`PASSWORD_VARIABLE`]).
    pub password: Option<String>,
    /// A file of certificates that are believed besides those of the system.
    pub authority: Option<PathBuf>,
    /// How long a server or a program may be silent. Longer than any greylisting server lets one wait for an answer, and
    /// shorter than an administrator's patience.
    pub patience: Duration,
}

impl Default for Means {
    fn default() -> Self {
        Self { password: None, authority: None, patience: Duration::from_secs(60) }
    }
}

/// The route that a plan asks for. Nobody is asked anything yet.
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

/// Who messages of that route are from.
pub fn sender_of(route: &MailRoute) -> Result<Mailbox, RouteError> {
    let (MailRoute::Smtp { from, .. } | MailRoute::Sendmail { from, .. }) = route;
    sender(from)
}

fn sender(from: &str) -> Result<Mailbox, RouteError> {
    mailbox(from).map_err(|what| RouteError::Sender { sender: from.to_owned(), what })
}

/// The first line of the file: editors end it, and passwords do not.
fn read_password(path: &Path) -> Result<String, RouteError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| RouteError::File { path: path.to_owned(), source: Box::new(source) })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// An error with all that is behind it, on one line.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let more = cause.to_string();
        // Some say what their causes say.
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        next = cause.source();
    }
    crate::foreign::one_line(&text, 1_000)
}
