//! Where a test works: a folder with a site in it, a home of its own, and commands that are run there to their end.
//!
//! Messages are compared literally, so nothing of the surroundings may leak in: not the user's state folder, not the
//! width of a terminal, not a configuration named in the environment.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::PATIENCE;

/// A folder to work in; `site` in it is a small site, `state` is where its catalogue goes.
pub(crate) struct Desk {
    folder: TestSite,
}

/// How a command ended, and what it said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let page = "<!doctype html><title>Hello</title>";
        Self { folder: TestSite::with(&[("site/index.html", page), ("site/a.txt", "a"), ("site/docs/b.txt", "b")]) }
    }

    /// Creates a file here.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        self.folder.write(name, content);
    }

    /// Where a file of this name is.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        // As the command shows it: without links in it.
        self.folder.path().canonicalize().expect("it is there").join(name)
    }

    /// `modoai` with these arguments, here.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        finish(self.start(arguments))
    }

    /// `modoai COMMAND site --data state` with these further arguments.
    pub(crate) fn run_on_site(&self, command: &str, arguments: &[&str]) -> Ended {
        self.run(&[&[command, "site", "--data", "state"], arguments].concat())
    }

    /// `modoai serve site --data state --listen` on a free port, running.
    pub(crate) fn serve(&self) -> Server {
        Launch::of(self.at("site")).state(self.at("state")).start()
    }

    /// Starts `modoai` here without waiting for its end.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(env!("CARGO_BIN_EXE_modoai"), self.folder.path());
        command.args(arguments);
        command.spawn().expect("the command was built")
    }

    /// Starts `modoai` here with nobody who reads what it prints, on standard output or standard error.
    pub(crate) fn start_unheard(&self, arguments: &[&str]) -> Child {
        let closed = || std::io::pipe().map(|(_, writer)| Stdio::from(writer)).expect("a pipe");
        let mut command = self.command(env!("CARGO_BIN_EXE_modoai"), self.folder.path());
        command.args(arguments).stdout(closed()).stderr(closed());
        command.spawn().expect("the command was built")
    }

    /// A line of shell as the guide shows it, in the given folder, with `modoai` on the path.
    pub(crate) fn shell(&self, line: &str, folder: &Path) -> Ended {
        let binaries = Path::new(env!("CARGO_BIN_EXE_modoai")).parent().expect("a folder").as_os_str().to_owned();
        let path = [binaries, std::env::var_os("PATH").unwrap_or_default()].join(OsStr::new(":"));
        finish(self.command("sh", folder).args(["-c", line]).env("PATH", path).spawn().expect("there is a shell"))
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        for variable in ["MODOAI_CONFIG", "RUST_LOG", "COLUMNS", "XDG_STATE_HOME", "NO_COLOR"] {
            command.env_remove(variable);
        }
        command.env("HOME", self.at("home")).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Ended {
    /// It succeeded without a word on standard error. Returns what it printed.
    #[track_caller]
    pub(crate) fn printed(self) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "after printing:\n{}", self.stdout);
        self.stdout
    }

    /// It failed with this status and exactly these lines on standard error, and printed nothing.
    #[track_caller]
    pub(crate) fn failed(self, status: i32, stderr: &str) {
        assert_eq!(self, Ended { status, stdout: String::new(), stderr: format!("{stderr}\n") });
    }
}

/// Waits for the end of a command.
pub(crate) fn finish(mut child: Child) -> Ended {
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().expect("our own child") {
            Some(status) => break status,
            None if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            None => {
                let _ = child.kill();
                panic!("it does not end within {PATIENCE:?}");
            }
        }
    };
    let text = |reader: Option<JoinHandle<String>>| reader.map_or_else(String::new, |it| it.join().expect("no panic"));
    Ended { status: status.code().expect("it was not killed"), stdout: text(stdout), stderr: text(stderr) }
}

fn read_all(mut output: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8(bytes).expect("all that modoai says is text")
    })
}
