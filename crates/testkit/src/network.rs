//! A network of its own for a test: public and private addresses on this machine, and names that resolve as the test says.
//!
//! What a client does with addresses can only be tested with such addresses. So the test runs itself again, as a process in
//! a network namespace whose loopback interface has them and which has no other interface, with a name server of the
//! test's own. Nothing leaves the machine.

use std::collections::HashMap;
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::{lacks, skipped};

/// Set in the process that runs inside.
const INSIDE: &str = "MODOAI_TEST_NETWORK";

/// What the name server of a network answers: the addresses of a name, given how often it was asked for before.
type Answer = Box<dyn Fn(&str, usize) -> Option<Vec<Ipv4Addr>> + Send>;

/// A network that the current process is inside of.
pub struct Network {
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

impl Network {
    /// Enters a network with these addresses. To be called first in the test of that name (`module::test`), which ends if
    /// it gets nothing: then it has been run inside, or that is not possible here, which is said.
    ///
    /// # Panics
    ///
    /// If the test fails inside.
    pub fn enter(
        test: &str,
        addresses: &[&str],
        names: impl Fn(&str, usize) -> Option<Vec<Ipv4Addr>> + Send + 'static,
    ) -> Option<Self> {
        if std::env::var_os(INSIDE).is_some() {
            let asked = Arc::default();
            serve_names(Arc::clone(&asked), Box::new(names));
            return Some(Self { asked });
        }
        if lacks(&["ip", "unshare"]) {
            return None;
        }
        if !is_possible() {
            skipped("no right to make a network namespace");
            return None;
        }
        let files = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(files.path().join(name), text).expect("a file");
        write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:2\n");
        write("nsswitch.conf", "hosts: files dns\n");
        write("hosts", "127.0.0.1 localhost\n");
        let mut script = "set -e\nPATH=$PATH:/usr/sbin\nip link set lo up\n".to_owned();
        for address in addresses {
            script.push_str(&format!("ip address add {address}/32 dev lo\n"));
        }
        for file in ["resolv.conf", "nsswitch.conf", "hosts"] {
            script.push_str(&format!("mount --bind \"$1/{file}\" /etc/{file}\n"));
        }
        script.push_str("exec \"$2\" \"$3\" --exact --nocapture --test-threads=1\n");
        let own = std::env::current_exe().expect("this program");
        let mut inside = unshare();
        inside.args(["sh", "-c", &script, "sh"]).arg(files.path()).arg(own).arg(test).env(INSIDE, "1");
        for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            inside.env_remove(proxy);
        }
        let done = inside.stdin(Stdio::null()).output().expect("unshare can be run");
        let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success() && said.contains("1 passed"), "inside of the network:\n{said}");
        None
    }

    /// How often the address of a name was asked for.
    pub fn asked(&self, name: &str) -> usize {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or_default()
    }
}

/// A process with networks and mounts of its own.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.starts_with(b"0"));
    if !is_root {
        command.arg("--map-root-user");
    }
    command.args(["--net", "--mount"]);
    command
}

fn is_possible() -> bool {
    let tried = unshare()
        .args(["sh", "-c", "PATH=$PATH:/usr/sbin ip link set lo up"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// Answers as a name server on this machine, for as long as the process lives.
fn serve_names(asked: Arc<Mutex<HashMap<String, usize>>>, answer: Answer) {
    let socket = UdpSocket::bind("127.0.0.1:53").expect("nobody else is here");
    thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut query) {
            if let Some(reply) = reply(&query[..length], &asked, &answer) {
                // Whoever asked may be gone.
                let _ = socket.send_to(&reply, from);
            }
        }
    });
}

/// The reply to a query for one name (RFC 1035). Only IPv4 addresses are known.
fn reply(query: &[u8], asked: &Mutex<HashMap<String, usize>>, answer: &Answer) -> Option<Vec<u8>> {
    const A: [u8; 2] = [0, 1];
    let mut labels = Vec::new();
    let mut at = 12;
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(query.get(at..at + length)?).to_lowercase());
        at += length;
    }
    let (name, kind, question) = (labels.join("."), query.get(at..at + 2)?, query.get(12..at + 4)?);
    let mut counts = asked.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry(name.clone()).or_default();
    let found = answer(&name, *count);
    *count += usize::from(kind == A);
    let addresses = found.as_ref().filter(|_| kind == A).cloned().unwrap_or_default();
    let code = if found.is_some() { 0 } else { 3 };
    let mut reply = query.get(..2)?.to_vec();
    reply.extend([0x81, 0x80 | code, 0, 1, 0, u8::try_from(addresses.len()).ok()?, 0, 0, 0, 0]);
    reply.extend(question);
    for address in addresses {
        // The name of the question, an address of the Internet, not to be kept.
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        reply.extend(address.octets());
    }
    Some(reply)
}
