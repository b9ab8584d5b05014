//! The words in which the site of the matrix is written down: cases, what they are made of, and who gets what.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

use modoai_testkit::apache::{Launch, Mpm, machine};

/// One thing that a webmaster can do, and what comes of it.
pub(crate) struct Case {
    /// Only where PHP is: it is made for prefork alone.
    pub(crate) php: bool,
    /// Lines of a virtual host.
    pub(crate) conf: &'static str,
    /// Files that are not simply there; all others are made for the rows that name them.
    pub(crate) made: &'static [Made],
    /// The URLs.
    pub(crate) rows: &'static [Row],
}

/// A case that needs neither configuration nor odd files.
pub(crate) const PLAIN: Case = Case { php: false, conf: "", made: &[], rows: &[] };

/// A file that is not simply there. Paths are below the server's folder.
pub(crate) enum Made {
    /// With this content.
    Content(&'static str, &'static str),
    /// With so many bytes.
    Size(&'static str, usize),
    /// A script that says hello.
    Script(&'static str),
    /// With these permissions, given when all is made.
    Mode(&'static str, u32),
    /// A symbolic link, and where it leads.
    Link(&'static str, &'static str),
    /// A symbolic link, owned by another user than what it leads to.
    ForeignLink(&'static str, &'static str),
}

/// One URL.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) url: &'static str,
    /// To whom a plain GET gives the file, untouched and with status 200.
    pub(crate) who: Who,
    /// The file; empty if there is none.
    pub(crate) file: &'static str,
    /// Whether those who get it also find it in the repository.
    pub(crate) listed: bool,
}

/// Who gets a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Nobody,
    Everybody,
    Alice,
    Bob,
    /// Both of them.
    Members,
    OverTls,
    InClear,
}

/// The two users, and their passwords.
pub(crate) const ALICE: (&str, &str) = ("alice", "secret");
pub(crate) const BOB: (&str, &str) = ("bob", "hidden");

/// Who asks, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requester {
    pub(crate) user: Option<(&'static str, &'static str)>,
    pub(crate) tls: bool,
}

impl Who {
    pub(crate) fn includes(self, requester: Requester) -> bool {
        let is = |user| requester.user == Some(user);
        match self {
            Self::Nobody => false,
            Self::Everybody => true,
            Self::Alice => is(ALICE),
            Self::Bob => is(BOB),
            Self::Members => is(ALICE) || is(BOB),
            Self::OverTls => requester.tls,
            Self::InClear => !requester.tls,
        }
    }
}

/// A file below `docs` under its own name.
pub(crate) const fn own(url: &'static str, file: &'static str, who: Who) -> Row {
    Row { url, who, file, listed: true }
}

/// A file that a GET gives to everybody and that is not listed: hidden by the site's policy, or the URL is another name
/// for a file that is listed under its own, or nobody can tell from outside that the file comes untouched.
pub(crate) const fn unlisted(url: &'static str, file: &'static str) -> Row {
    Row { url, who: Who::Everybody, file, listed: false }
}

/// A URL that gives no file.
pub(crate) const fn nothing(url: &'static str) -> Row {
    Row { url, who: Who::Nobody, file: "", listed: true }
}

/// Rows of files below `docs` whose names need no escapes: `docs!["a.txt", "b.txt": Everybody]`.
macro_rules! docs {
    ($($name:literal: $who:ident),* $(,)?) => {
        &[$($crate::apache::table::own(concat!("/", $name), concat!("docs/", $name), $crate::apache::table::Who::$who)),*]
    };
}
pub(crate) use docs;

/// The site as it was made.
pub(crate) struct Site {
    /// The rows of all cases that apply.
    pub(crate) rows: Vec<Row>,
    /// The configuration of all cases that apply.
    pub(crate) conf: String,
    contents: BTreeMap<&'static str, Vec<u8>>,
}

impl Site {
    /// Makes the files in the folder of a server that is to be started.
    pub(crate) fn make(launch: &Launch, mpm: Mpm, cases: &[Case]) -> Self {
        let mut site = Self { rows: Vec::new(), conf: String::new(), contents: BTreeMap::new() };
        let cases: Vec<&Case> = cases.iter().filter(|case| mpm == Mpm::Prefork || !case.php).collect();
        for case in &cases {
            site.conf.push_str(case.conf);
            site.conf.push('\n');
            site.rows.extend(case.rows);
            for made in case.made {
                site.make_one(launch, made);
            }
        }
        for row in &site.rows {
            // What is there already was made with content of its own, or by an earlier row.
            let is_there = row.file.is_empty() || fs::symlink_metadata(launch.path().join(row.file)).is_ok();
            if !is_there {
                let content = format!("This is {}.\n", row.file).into_bytes();
                launch.write(row.file, &content);
                site.contents.insert(row.file, content);
            }
        }
        for made in cases.iter().flat_map(|case| case.made) {
            if let Made::Mode(path, mode) = made {
                let path = launch.path().join(path);
                fs::set_permissions(path, Permissions::from_mode(*mode)).expect("permissions set");
            }
        }
        site
    }

    /// What is in the file of a row.
    pub(crate) fn content(&self, row: &Row) -> Option<&[u8]> {
        self.contents.get(row.file).map(Vec::as_slice)
    }

    fn make_one(&mut self, launch: &Launch, made: &Made) {
        let mut write = |path: &'static str, content: Vec<u8>| {
            launch.write(path, &content);
            self.contents.insert(path, content);
        };
        let link = |path: &str, target: &str| {
            let path = launch.path().join(path);
            fs::create_dir_all(path.parent().expect("below a folder")).expect("a new folder");
            symlink(target, &path).expect("a new link");
            path
        };
        match *made {
            Made::Content(path, text) => write(path, text.as_bytes().to_vec()),
            Made::Size(path, size) => write(path, vec![b'x'; size]),
            Made::Script(path) => {
                write(path, b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhello\\n'\n".to_vec());
                fs::set_permissions(launch.path().join(path), Permissions::from_mode(0o755)).expect("permissions set");
            }
            Made::Link(path, target) => drop(link(path, target)),
            Made::ForeignLink(path, target) => {
                let path = link(path, target);
                // Nobody else can give a file away; but then the target is root's, and the link is not.
                if let Some(user) = machine::run_user() {
                    lchown(path, Some(user.uid), Some(user.gid)).expect("root may do that");
                }
            }
            // When there is no file left to make.
            Made::Mode(..) => {}
        }
    }
}
