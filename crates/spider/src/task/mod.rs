//! Tasks: whose webs are traversed, how far, and who is told what; and the files that say so.
//!
//! [`Plan::read`] is the way in. It takes two syntaxes, which differ in nothing but their words: TOML, and that of MOMspider
//! (1994). Each is parsed into the same draft, without touching a disk; the files that a draft names are read, and all of it
//! is checked, in one place for both. Whatever is wrong is told with its file and line; what is only odd becomes a remark.

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

/// Everything one run is to do: the tasks of all owners, and what holds for all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// In which words it was written.
    pub syntax: Syntax,
    /// The tasks, in the order in which they were written.
    pub tasks: Vec<Task>,
    /// What is avoided or leafed, whoever's task it is.
    pub restrictions: Vec<Restriction>,
    /// Who owns what, by path. [`Owners`] says which rule wins.
    pub owners: Vec<OwnerRule>,
    /// Who is written to in an owner's stead: each owner once, with at least one address.
    pub people: Vec<(String, Vec<String>)>,
    /// Who is told to servers as the one to write to (`ReplyTo`).
    pub contact: Option<String>,
    /// How many links from a top are followed (`MaxDepth`). 20 unless said otherwise, as in 1994.
    pub max_depth: Option<u32>,
    /// The age after which robots.txt is requested again (`SitesCheck`). A day at most, by RFC 9309.
    pub robots_age: Option<jiff::SignedDuration>,
    /// How messages go out, if it says so.
    pub mail: Option<MailRoute>,
    /// What was odd about the file and is worth telling: directives that mean something else today, days that are too many.
    pub remarks: Vec<String>,
}

impl Plan {
    /// The contact that servers are given: that of the plan, or else the first address that is written to.
    pub fn contact(&self) -> Option<String> {
        let bare = |address: &String| {
            let inner = address.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>'));
            inner.map_or_else(|| address.clone(), |(bare, _)| bare.to_owned())
        };
        self.contact.clone().or_else(|| self.tasks.iter().flat_map(|task| &task.addresses).next().map(bare))
    }

    /// Where an owner is written to; empty if nobody has said so. Only who is named here is ever written to: an address that
    /// stands in a document is no reason to send anything there.
    pub fn addresses_of(&self, owner: &str) -> &[String] {
        let person = self.people.iter().find(|(known, _)| same_owner(known, owner));
        person.map(|(_, addresses)| addresses.as_slice()).unwrap_or_default()
    }
}

/// In which words a plan was written. They say the same, but for what they have no words for: how messages go out, in those
/// of 1994.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Those of today.
    #[default]
    Toml,
    /// MOMspider's.
    Momspider,
}

/// One task: one infostructure, and its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// One word; in an Owner task, the owner.
    pub name: String,
    /// How far it goes.
    pub scope: Scope,
    /// Where it begins.
    pub top: Url,
    /// Where the index document is written. A folder is made for its parts if it is large.
    pub index_file: Option<PathBuf>,
    /// The URL under which it can be read, for mail.
    pub index_url: Option<Url>,
    /// The title of the index and of mail.
    pub index_title: Option<String>,
    /// Whom to write to.
    pub addresses: Vec<String>,
    /// What they are told of.
    pub tell: Tell,
    /// Documents changed within so many days are marked in the index (`ChangeWindow`).
    pub change_window: Option<u32>,
    /// Documents that expire within so many days are marked in the index (`ExpireWindow`).
    pub expire_window: Option<u32>,
    /// Prefixes that are leaves for this task only, as normalised URLs.
    pub exclude: Vec<String>,
    /// How many documents at most.
    pub max_pages: Option<u64>,
    /// In an Owner task: documents on other hosts belong to it if they name the owner.
    pub any_host: bool,
}

impl Task {
    /// A task that tells nobody anything, and writes nothing.
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

/// How far a task goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The host and port of the top.
    Site,
    /// What is at or below the path of the top: its folder.
    Tree,
    /// Documents that name the task as their owner, on any host.
    Owner,
}

/// What the owner of a task is told of by mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tell {
    /// Broken links, and fragments that lead nowhere (`EmailBroken`).
    pub broken: bool,
    /// Links whose targets have moved (`EmailRedirected`).
    pub redirected: bool,
    /// Documents and targets changed within so many days (`EmailChanged`).
    pub changed: Option<u32>,
    /// Documents that expire within so many days (`EmailExpired`).
    pub expired: Option<u32>,
    /// Everything each time, and not only what is new.
    pub always: bool,
}

/// A prefix of URLs that is treated with caution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restriction {
    /// What is done.
    pub action: Action,
    /// The prefix, as a normalised URL.
    pub prefix: String,
    /// Until when; for ever if none.
    pub until: Option<jiff::Timestamp>,
    /// Where it is set: a file and its line, or an option.
    pub origin: String,
}

/// What is done about a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// No request at all.
    Avoid,
    /// HEAD only, never traversed.
    Leaf,
}

/// Who owns what lies below a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerRule {
    /// The pattern: a URL prefix (`https://example.org/physics/`), a path prefix (`/physics/`), or a pattern as in CODEOWNERS
    /// (`*.css`, `/docs/**/figures/`).
    pub pattern: String,
    /// The owner's name; none if a line of a file says that it is nobody's.
    pub owner: Option<String>,
    /// Where it was said, which decides between rules that fit the same URL.
    pub said_in: SaidIn,
}

/// Where a rule about owners was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SaidIn {
    /// In the table of the task file, where the longest wins.
    Table,
    /// In an owners file, where the last wins.
    File,
}

/// How messages go out.
#[derive(Clone, Debug, PartialEq)]
pub enum MailRoute {
    /// Through an SMTP server.
    Smtp {
        /// `smtp://`, `smtps://` or `smtp+starttls://`, with host and port, without a password.
        url: Url,
        /// The user, if one must log in. The password comes from the environment or a file.
        user: Option<String>,
        /// The file that holds the password.
        password_file: Option<PathBuf>,
        /// Who the messages are from.
        from: String,
    },
    /// Through a local program that reads a message (`sendmail -t`).
    Sendmail {
        /// The program.
        program: PathBuf,
        /// Who the messages are from.
        from: String,
    },
}
