//! Sends messages through a local program with the interface of `sendmail -t`. Every mail server for Unix provides one.

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lettre::message::Mailbox;

use super::{Refused, Route, RouteError};
use crate::foreign::one_line;
use crate::mail::compose::Letter;

/// The maximum number of bytes of a program's error output to keep.
const COMPLAINTS: u64 = 4_096;

/// The interval at which the program is checked for its exit.
const GLANCE: Duration = Duration::from_millis(10);

/// A local program.
#[derive(Debug)]
pub struct Sendmail {
    program: PathBuf,
    patience: Duration,
    sender: Mailbox,
}

impl Sendmail {
    /// Creates the route.
    pub fn new(program: &Path, patience: Duration, sender: Mailbox) -> Self {
        Self { program: program.to_owned(), patience, sender }
    }

    fn failed(&self, what: impl Into<String>) -> RouteError {
        RouteError::Program { program: self.program.clone(), what: what.into() }
    }

    /// Runs the program on a message. Returns its exit status and error output.
    fn run(&self, message: Vec<u8>) -> Result<(ExitStatus, String), String> {
        // -t: the program reads the addresses from the header, so none is ever an argument. -i: a lone dot is text.
        let mut child = Command::new(&self.program)
            .args(["-t", "-i"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot be run: {error}"))?;
        // Both on separate threads: a program that does not read, or writes too much, must not block this process.
        let mut input = child.stdin.take().expect("a pipe was asked for");
        let output = child.stderr.take().expect("a pipe was asked for");
        let writer = thread::spawn(move || input.write_all(&message));
        let reader = thread::spawn(move || {
            let mut said = Vec::new();
            let mut output = output.take(COMPLAINTS);
            // On a read error, the output so far is enough.
            let _ = output.read_to_end(&mut said);
            let _ = std::io::copy(&mut output.into_inner(), &mut std::io::sink());
            said
        });
        let deadline = Instant::now() + self.patience;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => thread::sleep(GLANCE),
                outcome => {
                    let _ = child.kill();
                    let _ = child.wait();
                    // The threads end when the pipes are closed; a grandchild that keeps them open delays only them.
                    return Err(match outcome {
                        Err(error) => format!("failed to wait for it: {error}"),
                        Ok(_) => format!("timed out after {} seconds", self.patience.as_secs()),
                    });
                }
            }
        };
        if !status.success() {
            let said = reader.join().unwrap_or_default();
            return Ok((status, one_line(&String::from_utf8_lossy(&said), 500)));
        }
        // A program that does not read the message completely cannot have accepted it.
        match writer.join() {
            Ok(Ok(())) => Ok((status, String::new())),
            Ok(Err(error)) => Err(format!("did not read the message: {error}")),
            Err(_) => Err("did not read the message".to_owned()),
        }
    }
}

impl Route for Sendmail {
    fn sender(&self) -> &Mailbox {
        &self.sender
    }

    fn name(&self) -> String {
        self.program.display().to_string()
    }

    fn send(&mut self, letter: &Letter) -> Result<Vec<Refused>, RouteError> {
        // Programs of this kind expect the line endings of the system.
        let message = unix_lines(&letter.message.formatted());
        match self.run(message).map_err(|what| self.failed(what))? {
            (status, _) if status.success() => Ok(Vec::new()),
            (status, said) if said.is_empty() => Err(self.failed(status.to_string())),
            (status, said) => Err(self.failed(format!("{status}: {said}"))),
        }
    }
}

fn unix_lines(message: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(message.len());
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(text) => {
                lines.extend_from_slice(text);
                lines.push(b'\n');
            }
            None => lines.extend_from_slice(line),
        }
    }
    lines
}
