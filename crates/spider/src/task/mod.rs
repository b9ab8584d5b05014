//! Tasks: the sites to traverse, the limits, and the recipients of mail; and the files that define them.
//!
//! [`Plan::read`] is the entry point. It reads two syntaxes, which differ only in their words: TOML, and that of
//! MOMspider (1994). Each is parsed into the same draft without access to the disk. One place for both then reads the
//! files that a draft includes, and checks everything. Errors are reported with file and line; unusual contents become
//! remarks.

mod draft;
mod error;
mod file;
mod momspider;
mod owners;
mod prefix;
mod restrictions;
mod scope;
mod toml;
mod values;

#[cfg(test)]
mod guide;

use std::path::PathBuf;

use url::Url;

pub use error::TaskError;
pub use owners::{Owners, OwnersError};
pub use restrictions::Restrictions;
pub use scope::{Scoper, Scoping};

pub(crate) use owners::folded_owner;
use owners::same_owner;

/// The definition of a run: the tasks of all owners, and the settings for all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The syntax in which it was written.
    pub syntax: Syntax,
    /// The tasks, in the order of the file.
    pub tasks: Vec<Task>,
    /// The prefixes to avoid or to leaf in all tasks.
    pub restrictions: Vec<Restriction>,
    /// The owners by path. [`Owners`] decides which rule wins.
    pub owners: Vec<OwnerRule>,
    /// The addresses of owners: each owner once, with at least one address.
    pub people: Vec<(String, Vec<String>)>,
    /// The contact that is sent to servers (`ReplyTo`).
    pub contact: Option<String>,
    /// The maximum number of links from a top (`MaxDepth`). Default 20, as in 1994.
    pub max_depth: Option<u32>,
    /// The age after which robots.txt is requested again (`SitesCheck`). A day at most, by RFC 9309.
    pub robots_age: Option<jiff::SignedDuration>,
    /// The way in which messages are sent, if configured.
    pub mail: Option<MailRoute>,
    /// Remarks about the file: directives with a different meaning today, numbers that are too large.
    pub remarks: Vec<String>,
}

impl Plan {
    /// Returns the contact that is sent to servers: that of the plan, or else the first address of a task.
    pub fn contact(&self) -> Option<String> {
        let bare = |address: &String| {
            let inner = address.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>'));
            inner.map_or_else(|| address.clone(), |(bare, _)| bare.to_owned())
        };
        self.contact.clone().or_else(|| self.tasks.iter().flat_map(|task| &task.addresses).next().map(bare))
    }

    /// Returns the addresses of an owner; empty if none are configured. Mail is sent only to addresses that are
    /// configured here, never to an address from a document.
    pub fn addresses_of(&self, owner: &str) -> &[String] {
        let person = self.people.iter().find(|(known, _)| same_owner(known, owner));
        person.map(|(_, addresses)| addresses.as_slice()).unwrap_or_default()
    }
}

/// The syntax of a plan. Both have the same meaning, except that the syntax of 1994 cannot define how messages are
/// sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// The syntax of modoai.
    #[default]
    Toml,
    /// The syntax of MOMspider.
    Momspider,
}

/// One task: one infostructure, and its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// One word; in an Owner task, the owner.
    pub name: String,
    /// The extent of the task.
    pub scope: Scope,
    /// The URL where it starts.
    pub top: Url,
    /// The path of the index document. If it is large, a directory is created for its parts.
    pub index_file: Option<PathBuf>,
    /// The URL of the index, for mail.
    pub index_url: Option<Url>,
    /// The title of the index and of mail.
    pub index_title: Option<String>,
    /// The addresses to which mail is sent.
    pub addresses: Vec<String>,
    /// The findings to which mail refers.
    pub tell: Tell,
    /// The number of days within which changed documents are marked in the index (`ChangeWindow`).
    pub change_window: Option<u32>,
    /// The number of days within which expiring documents are marked in the index (`ExpireWindow`).
    pub expire_window: Option<u32>,
    /// Prefixes that are leaves for this task only, as normalised URLs.
    pub exclude: Vec<String>,
    /// The maximum number of documents.
    pub max_pages: Option<u64>,
    /// In an Owner task: documents on other hosts belong to it if they name the owner.
    pub any_host: bool,
}

impl Task {
    /// Creates a task without mail and without an index.
    pub fn new(name: impl Into<String>, scope: Scope, top: Url) -> Self {
        Self {
            name: name.into(),
            scope,
            top,
            index_file: None,
            index_url: None,
            index_title: None,
            addresses: Vec::new(),
            tell: Tell::default(),
            change_window: None,
            expire_window: None,
            exclude: Vec::new(),
            max_pages: None,
            any_host: true,
        }
    }
}

/// The extent of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The host and port of the top.
    Site,
    /// URLs at or below the directory of the top.
    Tree,
    /// Documents that name the task as their owner, on any host.
    Owner,
}

/// The findings that the owner of a task receives by mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tell {
    /// Broken links, and missing fragments (`EmailBroken`).
    pub broken: bool,
    /// Links whose targets have moved (`EmailRedirected`).
    pub redirected: bool,
    /// Documents and targets changed within this number of days (`EmailChanged`).
    pub changed: Option<u32>,
    /// Documents that expire within this number of days (`EmailExpired`).
    pub expired: Option<u32>,
    /// All findings each time, and not only new ones.
    pub always: bool,
}

/// A prefix of URLs with restricted access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restriction {
    /// The restriction.
    pub action: Action,
    /// The prefix, as a normalised URL.
    pub prefix: String,
    /// The expiry; `None` if it is permanent.
    pub until: Option<jiff::Timestamp>,
    /// The place of its definition: a file and its line, or an option.
    pub origin: String,
}

/// The restriction of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// No request at all.
    Avoid,
    /// HEAD only, never traversed.
    Leaf,
}

/// The owner of the documents below a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerRule {
    /// The pattern: a URL prefix (`https://example.org/physics/`), a path prefix (`/physics/`), or a pattern as in CODEOWNERS
    /// (`*.css`, `/docs/**/figures/`).
    pub pattern: String,
    /// The owner's name; `None` if a line of a file assigns no owner.
    pub owner: Option<String>,
    /// The kind of definition, which decides between rules that match the same URL.
    pub said_in: SaidIn,
}

/// The kind of definition of an owner rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SaidIn {
    /// In the table of the task file, where the longest wins.
    Table,
    /// In an owners file, where the last wins.
    File,
}

/// The way in which messages are sent.
#[derive(Clone, Debug, PartialEq)]
pub enum MailRoute {
    /// Through an SMTP server.
    Smtp {
        /// `smtp://`, `smtps://` or `smtp+starttls://`, with host and port, without a password.
        url: Url,
        /// The user, if a login is required. The password is read from the environment or a file.
        user: Option<String>,
        /// The file with the password.
        password_file: Option<PathBuf>,
        /// The sender of the messages.
        from: String,
    },
    /// Through a local program that reads a message (`sendmail -t`).
    Sendmail {
        /// The program.
        program: PathBuf,
        /// The sender of the messages.
        from: String,
    },
}
