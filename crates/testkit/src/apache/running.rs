//! A server that runs: told to begin anew, looked at from outside, and judged by what it wrote into its logs.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::http::{Client, Get};
use crate::waiting::{wait_for, wait_until};

/// What httpd says each time that it has (again) read its configuration and serves.
const SERVES: &str = "resuming normal operations";

/// Complaints about the machine that no test can do anything about: an OpenSSL other than the one mod_ssl was built with.
const OF_THE_MACHINE: [&str; 1] = ["AH01882"];

/// What httpd itself writes while it ends its children, by number; before [`ENDED`], and at no other time.
///
/// `AH03092` and `AH03093`: the event MPM closes the sockets of its workers under them, and a worker that was just about to
/// put its connection aside finds a closed descriptor ("Bad file descriptor"). Of 530 stops of httpd 2.4.71 without this
/// module and with four clients, four had the one line and four the other; of 300 stops with it, one had the first.
/// `AH00045`: a child did not end within three seconds and is told again, as on a busy machine.
const WHILE_IT_ENDS: [&str; 3] = ["AH00045", "AH03092", "AH03093"];

/// What httpd writes when it has ended its children, to stop (SIGTERM) or to begin anew (SIGHUP).
const ENDED: [&str; 2] = ["caught SIGTERM, shutting down", "SIGHUP received"];

/// A running httpd. It is ended when it is dropped.
#[derive(Debug)]
pub struct Httpd {
    command: Command,
    child: Child,
    folder: TempDir,
    port: u16,
    tls_port: Option<u16>,
}

impl Httpd {
    pub(super) fn start(mut command: Command, folder: TempDir, port: u16, tls_port: Option<u16>) -> Self {
        let said = fs::File::create(folder.path().join("logs/said")).expect("a file for what it says");
        command
            .args(["-D", "FOREGROUND"])
            // When it ends, it sends a signal to its whole process group, which must not be that of the tests.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(said.try_clone().expect("a second handle"))
            .stderr(said);
        let child = spawn(&mut command);
        let mut httpd = Self { command, child, folder, port, tls_port };
        httpd.wait_until_it_serves(0);
        httpd
    }

    /// Starts it again after it was stopped.
    pub fn start_again(&mut self) {
        let before = self.times_begun();
        self.child = spawn(&mut self.command);
        self.wait_until_it_serves(before);
    }

    fn wait_until_it_serves(&mut self, times_before: usize) {
        wait_until("httpd serves", || {
            let ended = self.child.try_wait().expect("our own child");
            assert!(ended.is_none(), "httpd ended ({ended:?}) instead of serving");
            self.times_begun() > times_before && self.client().connect().is_ok()
        });
    }

    /// How often it has said that it serves.
    fn times_begun(&self) -> usize {
        self.error_log().matches(SERVES).count()
    }

    /// Where it listens, such as `http://127.0.0.1:20080`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Where it listens for TLS.
    ///
    /// # Panics
    ///
    /// If it was not asked to.
    pub fn tls_url(&self) -> String {
        format!("https://127.0.0.1:{}", self.tls_port.expect("it was started with TLS"))
    }

    /// A new client of it.
    pub fn client(&self) -> Client {
        Client::new(&self.url())
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file below its folder, such as `docs/new.html`.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("below a folder")).expect("a new folder");
        fs::write(path, content).expect("a new file");
    }

    /// Waits until the repository answers: until the first look at the site is done, it asks harvesters to come later.
    pub fn wait_for_index(&self, client: &mut impl Get) {
        self.wait("the repository answers", || {
            let answer = client.get("/modoai?verb=Identify").expect("an answer");
            assert!(matches!(answer.status, 200 | 503), "{}: {}", answer.status, answer.text());
            answer.status == 200
        });
    }

    /// Waits until something holds.
    #[track_caller]
    pub fn wait(&self, what: &str, holds: impl FnMut() -> bool) {
        wait_until(what, holds);
    }

    /// Begins anew with the configuration as it is now; requests under way are finished by the old children.
    pub fn graceful(&self) {
        self.begin_anew("USR1");
    }

    /// Begins anew at once; requests under way are cut.
    pub fn restart(&self) {
        self.begin_anew("HUP");
    }

    fn begin_anew(&self, signal: &str) {
        let before = self.times_begun();
        signal_to(signal, self.child.id());
        self.wait("it serves again", || self.times_begun() > before);
    }

    /// Ends it, and waits until it has ended; what it has written stays for the test to look at.
    pub fn stop(&mut self) {
        if self.child.try_wait().expect("our own child").is_none() {
            signal_to("TERM", self.child.id());
        }
        wait_for("httpd ends", || self.child.try_wait().expect("our own child").ok_or(""));
    }

    /// The process ids of its children, in no order. A daemon that runs scripts is one of them.
    pub fn children(&self) -> Vec<u32> {
        let parent = self.child.id().to_string();
        let processes = fs::read_dir("/proc").expect("a list of processes").filter_map(Result::ok);
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_ours = |pid: &u32| {
            // "pid (name) state parent …", and one that is dead already has the state Z.
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            fields.next() != Some("Z") && fields.next() == Some(parent.as_str())
        };
        pids.filter(is_ours).collect()
    }

    /// The child that holds a lock on a file, if one does.
    pub fn lock_holder(&self, path: &Path) -> Option<u32> {
        let inode = fs::metadata(path).ok()?.ino().to_string();
        let locks = fs::read_to_string("/proc/locks").expect("a list of locks");
        // "1: FLOCK ADVISORY WRITE pid major:minor:inode start end"
        let holder = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let here = fields.get(5)?.rsplit(':').next() == Some(inode.as_str());
            fields.get(4)?.parse().ok().filter(|_| here)
        };
        let children = self.children();
        locks.lines().filter_map(holder).find(|pid| children.contains(pid))
    }

    /// Kills one of its children, and waits until it is gone; it may have ended by itself before.
    pub fn kill_child(&self, pid: u32) {
        if self.children().contains(&pid) {
            let _ = Command::new("sh").arg("-c").arg(format!("kill -KILL {pid}")).output();
        }
        wait_until("the killed child is gone", || !self.children().contains(&pid));
    }

    /// The error log.
    pub fn error_log(&self) -> String {
        let bytes = fs::read(self.path().join("logs/error.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The access log: for whom a proxy asks, or a dash; name and port of the virtual host, user, method, URL, protocol,
    /// status, size.
    pub fn access_log(&self) -> String {
        let bytes = fs::read(self.path().join("logs/access.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Fails if there is a warning or worse in the error log that contains none of these texts.
    #[track_caller]
    pub fn expect_clean_log(&self, expected: &[&str]) {
        self.expect_clean_log_since(0, expected);
    }

    /// The same for what was written after the log was so long.
    #[track_caller]
    pub fn expect_clean_log_since(&self, length: usize, expected: &[&str]) {
        let log = self.error_log();
        let news = log.get(length..).unwrap_or_default();
        let unexpected: Vec<&str> = complaints(news, expected).collect();
        assert!(unexpected.is_empty(), "unexpected in the error log:\n{}", unexpected.join("\n"));
    }
}

impl Drop for Httpd {
    fn drop(&mut self) {
        if thread::panicking() {
            let said = fs::read_to_string(self.path().join("logs/said")).unwrap_or_default();
            let log = self.error_log();
            // The end of a long log is what matters.
            let lines: Vec<&str> = log.lines().collect();
            let end = &lines[lines.len().saturating_sub(200)..];
            eprintln!("--- what httpd said ---\n{said}\n--- its error log ---\n{}\n---", end.join("\n"));
        }
        let children = self.children();
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let _ = Command::new("sh").arg("-c").arg(format!("kill -TERM {}", self.child.id())).status();
        }
        let start = Instant::now();
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if start.elapsed() > Duration::from_secs(20) {
                // It hangs, and so may its children, each of which is ended by its own number.
                for pid in &children {
                    let _ = Command::new("sh").arg("-c").arg(format!("kill -KILL {pid}")).status();
                }
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
            thread::sleep(Duration::from_millis(10));
        }
        // Whoever is not root cannot delete what is in a folder that cannot be read.
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(self.path()).output();
    }
}

/// The lines that are worse than a notice and were not expected. A line without a level is worse than any.
fn complaints<'a>(log: &'a str, expected: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let ended = log.lines().rfind(|line| ENDED.iter().any(|text| line.contains(text)));
    let (before, after) = ended.and_then(|line| log.rsplit_once(line)).unwrap_or(("", log));
    let known = |line: &&str| !WHILE_IT_ENDS.iter().any(|number| line.contains(number));
    before.lines().filter(known).chain(after.lines().filter(|line| !line.is_empty())).filter(move |line| {
        let level = line.split(['[', ']']).nth(3).and_then(|field| field.split(':').nth(1)).unwrap_or("emerg");
        let is_fine = ["notice", "info", "debug"].contains(&level) || level.starts_with("trace");
        !is_fine && !expected.iter().chain(&OF_THE_MACHINE).any(|text| line.contains(text))
    })
}

fn spawn(command: &mut Command) -> Child {
    command.spawn().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"))
}

fn signal_to(name: &str, pid: u32) {
    // The shell has a `kill` of its own; the command of that name is not installed everywhere.
    let status = Command::new("sh").arg("-c").arg(format!("kill -{name} {pid}")).status();
    assert!(status.is_ok_and(|status| status.success()), "failed to send {name} to {pid}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_worse_than_a_notice_is_a_complaint() {
        let log = "[Sun Nov 15 23:33:36.9 2026] [mpm_event:notice] [pid 1:tid 1] AH00489: resuming normal operations\n\
                   [Sun Nov 15 23:33:36.9 2026] [core:warn] [pid 1:tid 1] AH00111: not defined\n\
                   thread panicked\n";
        let found: Vec<&str> = complaints(log, &[]).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(complaints(log, &["AH00111", "panicked"]).count(), 0);
    }

    #[test]
    fn what_httpd_writes_while_it_ends_is_known_then_and_at_no_other_time() {
        let closed = "[x] [mpm_event:error] [pid 1:tid 2] (9)Bad file descriptor: AH03093: process_socket\n";
        let served = "[x] [mpm_event:notice] [pid 1:tid 1] AH00489: resuming normal operations\n";
        let ended = "[x] [mpm_event:notice] [pid 1:tid 1] AH00491: caught SIGTERM, shutting down\n";
        let count = |log: &str| complaints(log, &[]).count();
        assert_eq!(count(&format!("{served}{closed}{ended}{served}")), 0);
        assert_eq!(count(&format!("{served}{closed}")), 1);
        assert_eq!(count(&format!("{served}{closed}{ended}{served}{closed}")), 1);
        assert_eq!(count(&format!("{served}thread panicked\n{ended}")), 1);
    }
}
