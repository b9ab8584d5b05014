//! What this machine has to run an httpd with. What is missing is said loudly: a test that cannot run has not passed.

use std::fs;
use std::net::Ipv4Addr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};

use crate::process::built;
use crate::{command, lacks, not_installed, skipped};

/// The httpd that is installed here: `MODOAI_HTTPD`, or one of the usual names in the usual places.
fn find_httpd() -> Option<&'static Path> {
    static HTTPD: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = HTTPD.get_or_init(|| {
        let named = std::env::var_os("MODOAI_HTTPD").map(PathBuf::from);
        let built = || ["/usr/local/apache2/bin/httpd"].map(PathBuf::from).into_iter().find(|place| place.is_file());
        named.or_else(|| command(&["apache2", "httpd"])).or_else(built)
    });
    found.as_deref()
}

/// The httpd that is installed here.
///
/// # Panics
///
/// If there is none: tests ask [`is_missing`] first.
pub fn httpd() -> &'static Path {
    find_httpd().expect("no Apache httpd on this machine: run tools/install-test-tools, or name one in MODOAI_HTTPD")
}

/// Whether there is no httpd here, or not all that its tests need beside it, which is then said: [`crate::not_installed`].
pub fn is_missing() -> bool {
    if find_httpd().is_none() {
        not_installed("no Apache httpd");
        return true;
    }
    if module_file("libphp*.so").is_none() {
        not_installed("no PHP for Apache httpd");
        return true;
    }
    // A chroot in a directory of mktemp has such a root.
    if is_root() && fs::metadata("/").is_ok_and(|root| root.mode() & 0o001 == 0) {
        skipped("the user of httpd has no access to /: chmod 755 /");
        return true;
    }
    lacks(&["curl", "openssl"])
}

/// The file of one of httpd's own modules, such as `mod_alias.so`; `None` if it is not installed.
pub fn module_file(name: &str) -> Option<PathBuf> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        if let Some(path) = std::env::var_os("MODOAI_HTTPD_MODULES") {
            return path.into();
        }
        let usual = ["/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/local/apache2/modules"];
        let found = usual.map(PathBuf::from).into_iter().find(|folder| folder.is_dir());
        found.expect("no folder of httpd's modules: run tools/install-test-tools, or name it in MODOAI_HTTPD_MODULES")
    });
    // PHP's name has its version in it.
    let Some((start, end)) = name.split_once('*') else {
        return Some(folder.join(name)).filter(|file| file.is_file());
    };
    let entries = fs::read_dir(folder).expect("a folder that can be read").filter_map(Result::ok);
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(start) && name.ends_with(end)
    };
    entries.map(|entry| entry.path()).find(fits)
}

/// Whether a module such as `mod_watchdog` is part of the executable.
pub fn is_compiled_in(name: &str) -> bool {
    static LIST: OnceLock<String> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let done = Command::new(httpd()).arg("-l").output().expect("httpd can be run");
        String::from_utf8_lossy(&done.stdout).into_owned()
    });
    list.lines().any(|line| line.trim().strip_suffix(".c") == Some(name))
}

/// Our own module: `MODOAI_MODULE`, or the one built beside this executable.
///
/// # Panics
///
/// If there is none.
pub fn mod_oai() -> &'static Path {
    static MODULE: OnceLock<PathBuf> = OnceLock::new();
    MODULE.get_or_init(|| built("MODOAI_MODULE", "mod_oai", "libmod_oai.so"))
}

/// Compiles a module in C for the httpd that is installed here.
///
/// # Panics
///
/// If that fails: its headers or a compiler are not installed.
pub fn compile(folder: &Path, name: &str, source: &str) -> PathBuf {
    let include = |what: &str| {
        let done = Command::new("apxs").args(["-q", what]).output().expect("apxs: tools/install-test-tools");
        format!("-I{}", String::from_utf8_lossy(&done.stdout).trim())
    };
    let (file, text) = (folder.join(format!("mod_{name}.so")), folder.join(format!("mod_{name}.c")));
    fs::write(&text, source).expect("a source file");
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-D_GNU_SOURCE", "-D_LARGEFILE64_SOURCE", "-DLINUX"]).arg(include("INCLUDEDIR"));
    let done = command.arg(include("APR_INCLUDEDIR")).arg("-o").arg(&file).arg(&text).output().expect("cc can be run");
    assert!(done.status.success(), "mod_{name}.c: {}", String::from_utf8_lossy(&done.stderr));
    file
}

/// A user as the password file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The number.
    pub uid: u32,
    /// The number of the user's own group.
    pub gid: u32,
}

/// Whom httpd's children run as: if the tests run as root, the user that distributions keep for it.
pub fn run_user() -> Option<User> {
    if !is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("a password file");
    let named = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().ok());
        Some(User { name: name.to_owned(), uid: fields.next()??, gid: fields.next()?? })
    };
    let user = ["www-data", "apache", "daemon", "nobody"].into_iter().find_map(named);
    Some(user.expect("a user for httpd's children"))
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0)
}

/// A port of 127.0.0.1 on which nobody listens. From below the range that systems take for outgoing connections, so that
/// it is still free when the server takes it; and no other process of tests gets the same one while this process runs.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    static TAKEN: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());
    const FIRST: u16 = 12_000;
    const COUNT: u16 = 20_000;
    let start = (std::process::id() % u32::from(COUNT)) as u16;
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(7);
        let port = FIRST + start.wrapping_add(step) % COUNT;
        // A name that the system forgets with the process, whatever becomes of it.
        let name = SocketAddr::from_abstract_name(format!("modoai-test-port-{port}")).expect("a short name");
        let Ok(taken) = UnixListener::bind_addr(&name) else { continue };
        if can_bind(port) {
            TAKEN.lock().unwrap_or_else(PoisonError::into_inner).push(taken);
            return port;
        }
    }
}

/// Whether a server can listen on this port. The socket of this test never listens: a process that another thread is just
/// starting has a copy of it until `exec`, and a listening copy would accept connections and keep the port.
fn can_bind(port: u16) -> bool {
    let Ok(socket) = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None) else {
        return false;
    };
    sockopt::set_socket_reuseaddr(&socket, true).is_ok()
        && bind(&socket, &std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, port))).is_ok()
}
