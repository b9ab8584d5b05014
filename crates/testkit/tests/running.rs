//! Commands that are run to their end, and what they told.

use std::fs::File;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use modoai_testkit::waiting::PATIENCE;
use tempfile::NamedTempFile;

/// What a command told that has ended.
pub(crate) struct Told {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// What it said to machines.
    pub(crate) out: String,
    /// What it said to people.
    pub(crate) err: String,
    /// The most memory it had at once, in bytes.
    pub(crate) peak: u64,
}

/// Runs a command to its end. One that does not end is killed, and that is the error.
pub(crate) fn to_its_end(command: &mut Command) -> Result<Told, String> {
    to_its_end_while(command, |_| {})
}

/// The same, while something is done to it again and again: it is told the number of the process.
pub(crate) fn to_its_end_while(command: &mut Command, mut meanwhile: impl FnMut(u32)) -> Result<Told, String> {
    // Files, not pipes: nobody needs to read along, and whatever it said is there when it is killed, too.
    let (out, err) = (NamedTempFile::new().expect("a file"), NamedTempFile::new().expect("a file"));
    let handle = |file: &NamedTempFile| File::options().append(true).open(file.path()).expect("just made");
    let mut child = command.stdout(handle(&out)).stderr(handle(&err)).spawn().expect("the command runs");
    let deadline = Instant::now() + PATIENCE;
    let mut peak = 0;
    let status = loop {
        peak = peak.max(peak_memory(child.id()));
        meanwhile(child.id());
        match child.try_wait().expect("our own child") {
            Some(status) => break Some(status),
            None if Instant::now() > deadline => {
                child.kill().and_then(|()| child.wait()).expect("our own child");
                break None;
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    };
    let text = |file: &NamedTempFile| std::fs::read_to_string(file.path()).unwrap_or_default();
    let (out, err) = (text(&out), text(&err));
    match status {
        Some(status) => Ok(Told { status, out, err, peak }),
        None => Err(format!("it does not end\n{out}{err}")),
    }
}

/// The most memory a process ever had, while it is there to be asked. A process that has just been started shares the memory
/// of this one for a moment, and its program tells when that is over.
fn peak_memory(pid: u32) -> u64 {
    let program = |process: &str| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    if program(&pid.to_string()) == program("self") {
        return 0;
    }
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    line.and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Sends a signal to a process that was started here, such as `INT`.
pub(crate) fn signal(pid: u32, name: &str) {
    // The shell has a `kill` of its own; the command of that name is not installed everywhere. A process that has just ended
    // takes no signals.
    let _ = Command::new("sh").arg("-c").arg(format!("kill -{name} {pid}")).status();
}
