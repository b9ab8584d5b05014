//! The real `modoai serve`: started, watched and ended.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use tempfile::TempDir;

use crate::http::Client;
use crate::waiting::{PATIENCE, wait_for};
use crate::workspace;

/// What the line that says "ready" contains, before the address.
const READY: &str = "listening on ";

/// How a server is to be started.
#[derive(Debug)]
pub struct Launch {
    subject: Subject,
    state: State,
    listen: String,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

/// What is served.
#[derive(Debug)]
enum Subject {
    Folder(PathBuf),
    Catalogue(PathBuf),
    Elsewhere(String),
}

#[derive(Debug)]
enum State {
    Own(TempDir),
    Given(PathBuf),
}

impl Launch {
    /// Serve this folder, with a state folder that vanishes with the server, on a free port.
    pub fn of(folder: impl AsRef<Path>) -> Self {
        Self::of_subject(Subject::Folder(folder.as_ref().to_owned()))
    }

    /// Serve this catalogue of records instead of a folder of files.
    pub fn of_catalogue(file: impl AsRef<Path>) -> Self {
        Self::of_subject(Subject::Catalogue(file.as_ref().to_owned()))
    }

    /// Crawl the site at this URL and serve what was found.
    pub fn of_crawl(url: &str) -> Self {
        Self::of_subject(Subject::Elsewhere(url.to_owned()))
    }

    fn of_subject(subject: Subject) -> Self {
        Self {
            subject,
            state: State::Own(TempDir::new().expect("a temporary folder")),
            listen: "127.0.0.1:0".to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// Keep the state in this folder, for tests that start a server again.
    #[must_use]
    pub fn state(mut self, folder: impl AsRef<Path>) -> Self {
        self.state = State::Given(folder.as_ref().to_owned());
        self
    }

    /// Listen here instead of on a free port.
    #[must_use]
    pub fn listen(mut self, address: &str) -> Self {
        address.clone_into(&mut self.listen);
        self
    }

    /// Change a setting: `--option key=value`.
    #[must_use]
    pub fn set(self, key: &str, value: &str) -> Self {
        self.argument("--option").argument(format!("{key}={value}"))
    }

    /// One more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// A variable in the server's environment.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Starts the server and waits until it says that it listens. If it does not, panics with what it said instead.
    pub fn start(self) -> Server {
        let state = match &self.state {
            State::Own(folder) => folder.path(),
            State::Given(folder) => folder,
        };
        let mut command = Command::new(binary());
        command.arg("serve").args(["--listen", &self.listen]);
        match &self.subject {
            Subject::Folder(folder) => command.arg(folder).arg("--data").arg(state),
            Subject::Elsewhere(url) => command.args(["--crawl", url, "--data"]).arg(state),
            // A catalogue is all the state there is.
            Subject::Catalogue(file) => command.arg("--catalogue").arg(file),
        };
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        let said = Arc::new(Mutex::new(String::new()));
        let (ready, listening) = mpsc::channel();
        let stdout = child.stdout.take().expect("it was asked for");
        let stderr = child.stderr.take().expect("it was asked for");
        listen_to(stdout, said.clone(), move |line| {
            if let Some(url) = url_in(line) {
                // Only the first one is waited for.
                let _ = ready.send(url);
            }
        });
        listen_to(stderr, said.clone(), |_| {});
        let mut server = Server { child, url: String::new(), state: self.state, said };
        match listening.recv_timeout(PATIENCE) {
            Ok(url) => server.url = url,
            Err(RecvTimeoutError::Timeout) => {
                panic!("no '{READY}' within {PATIENCE:?}:\n{}", server.said())
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = server.child.wait().expect("our own child");
                panic!("the server ended ({status}) instead of listening:\n{}", server.said());
            }
        }
        server
    }
}

/// A running server. It is killed when it is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    url: String,
    state: State,
    said: Arc<Mutex<String>>,
}

impl Server {
    /// Serves a folder with nothing but defaults.
    pub fn of(folder: impl AsRef<Path>) -> Self {
        Launch::of(folder).start()
    }

    /// Where it listens, such as `http://127.0.0.1:8080`, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A new client of it.
    pub fn client(&self) -> Client {
        Client::new(&self.url)
    }

    /// Where it keeps its state.
    pub fn state(&self) -> &Path {
        match &self.state {
            State::Own(folder) => folder.path(),
            State::Given(folder) => folder,
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// All that it has said so far, on both outputs.
    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Resident memory in bytes.
    pub fn resident(&self) -> io::Result<u64> {
        resident(self.pid())
    }

    /// Sends a signal, such as `TERM`.
    pub fn signal(&self, name: &str) {
        // The shell has a `kill` of its own; the command of that name is not installed everywhere.
        let status = Command::new("sh").arg("-c").arg(format!("kill -{name} {}", self.pid())).status();
        assert!(status.is_ok_and(|status| status.success()), "failed to send {name} to {}", self.pid());
    }

    /// Asks it to end, and waits until it has. Returns how it ended.
    pub fn terminate(mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait()
    }

    /// Ends it as a power cut would: at once, without a chance to tidy up.
    pub fn kill(mut self) {
        self.child.kill().expect("our own child");
        self.wait();
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> ExitStatus {
        wait_for("the server ends", || self.child.try_wait().expect("our own child").ok_or(""))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- what the server said ---\n{}----------------------------", self.said());
        }
    }
}

/// Writes a program that can be run at once, such as a shell script, and creates its folder.
///
/// Another process writes it: as long as a file is open for writing somewhere, it cannot be run ("text file busy"), and what a
/// thread of these tests has open, a command that another thread is starting has open, too, for a moment.
pub fn write_program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("below a folder")).expect("a new folder");
    let mut command = Command::new("sh");
    command.args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"]).arg(path).stdin(Stdio::piped());
    let mut writing = command.spawn().expect("there is a shell");
    let mut input = writing.stdin.take().expect("it was asked for");
    input.write_all(text.as_bytes()).expect("the shell reads it");
    drop(input);
    assert!(writing.wait().expect("our own child").success(), "{} cannot be written", path.display());
}

/// Copies a program that can then be run at once; see [`write_program`].
pub fn copy_program(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "{} cannot be copied", from.display());
}

/// Resident memory of a process in bytes.
pub fn resident(pid: u32) -> io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes * 1024).ok_or_else(|| io::Error::other("no VmRSS"))
}

/// Where the `modoai` command is: `MODOAI_BIN`, or the one built beside this executable.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("MODOAI_BIN", "modoai", "modoai"))
}

/// What a package builds: the file that a variable of the environment names, or the one built beside this executable.
/// Under cargo it is brought up to date first, because building one crate's tests does not build what another makes.
pub(crate) fn built(variable: &str, package: &str, file: &str) -> PathBuf {
    if let Some(path) = std::env::var_os(variable) {
        return path.into();
    }
    let executable = std::env::current_exe().expect("this process has an executable");
    // target/PROFILE/deps/test or target/PROFILE/examples/example.
    let folder = executable.ancestors().nth(2).expect("cargo's own layout");
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut build = Command::new(cargo);
        build.current_dir(workspace()).args(["build", "--quiet", "--package", package]);
        if folder.ends_with("release") {
            build.arg("--release");
        }
        let status = build.status().expect("cargo can be run");
        assert!(status.success(), "failed to build {package}");
    }
    let path = folder.join(file);
    assert!(path.exists(), "{} is missing; build it, or name it in {variable}", path.display());
    path
}

/// Reads everything a server says, so that it never blocks on a full pipe.
fn listen_to(
    output: impl Read + Send + 'static,
    said: Arc<Mutex<String>>,
    mut each: impl FnMut(&str) + Send + 'static,
) {
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&line);
            said.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            each(&text);
            line.clear();
        }
    });
}

fn url_in(line: &str) -> Option<String> {
    let url = line.split_once(READY)?.1.split_whitespace().next().filter(|url| url.starts_with("http"))?;
    Some(url.trim_end_matches(['/', '.', ',']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_tells_the_url() {
        let url = Some("http://127.0.0.1:4711".to_owned());
        assert_eq!(url_in("listening on http://127.0.0.1:4711\n"), url);
        assert_eq!(url_in("listening on https://[::1]:1\n").as_deref(), Some("https://[::1]:1"));
        assert_eq!(url_in("INFO modoai: listening on http://127.0.0.1:4711/ (stop with Ctrl-C)\n"), url);
        assert_eq!(url_in("will be listening soon\n"), None);
    }
}
