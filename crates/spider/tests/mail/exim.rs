//! The same with exim, where there is one (`exim4` in the path, or what `MODOAI_EXIM` names): a server of the kind that owners'
//! mail goes through, and its own `sendmail -t`. Too much to install for a test alone, so that a machine without it is none
//! the worse.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use modoai_spider::mail::Delivery;
use modoai_spider::mail::route::{Means, open};
use modoai_spider::task::MailRoute;
use modoai_spider::verdict::Verdict;
use modoai_testkit::apache::machine::free_port;
use modoai_testkit::process::write_program;
use modoai_testkit::waiting::wait_for;
use rusqlite::Connection;
use tempfile::TempDir;

use super::fixture::{Made, broken};
use super::server::{Certificates, USER};

struct Exim {
    program: PathBuf,
    port: u16,
    folder: TempDir,
    child: Option<Child>,
}

impl Exim {
    /// One with a configuration of its own, that keeps what it accepts. Nothing if there is none.
    fn new(certificates: &Certificates) -> Option<Self> {
        let named = std::env::var_os("MODOAI_EXIM").map(PathBuf::from);
        let Some(program) = named.or_else(|| Some(PathBuf::from("/usr/sbin/exim4")).filter(|path| path.exists()))
        else {
            modoai_testkit::skipped("no exim4, which is too much to install for this test alone");
            return None;
        };
        let port = free_port();
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().display();
        let configuration = format!(
            "primary_hostname = box.example\n\
             spool_directory = {place}/spool\nlog_file_path = {place}/log-%s\npid_file_path = {place}/pid\n\
             daemon_smtp_ports = {port}\nlocal_interfaces = 127.0.0.1\n\
             queue_only = true\nqueue_only_override = false\n\
             tls_advertise_hosts = *\ntls_certificate = {}\ntls_privatekey = {}\n\
             acl_smtp_rcpt = judge\n\
             begin acl\njudge:\n  deny local_parts = refused\n    message = nobody of that name\n  \
             require authenticated = *\n  accept\n\
             begin authenticators\nplain:\n  driver = plaintext\n  public_name = PLAIN\n  \
             server_condition = ${{if eq{{$auth2:$auth3}}{{{USER}:secret}}}}\n  server_set_id = $auth2\n  \
             server_advertise_condition = ${{if def:tls_in_cipher}}\n",
            certificates.path("certificate.pem").display(),
            certificates.path("key.pem").display(),
        );
        fs::write(folder.path().join("configuration"), configuration).expect("written");
        // It gives up its rights before it reads these.
        for path in [folder.path(), &certificates.path("")] {
            open_to_all(path);
        }
        let mut exim = Self { program, port, folder, child: None };
        let mut daemon = exim.command();
        daemon.arg("-bdf").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        exim.child = Some(daemon.spawn().expect("exim can be run"));
        wait_for("exim starts", || TcpStream::connect(("127.0.0.1", port)).map_err(|_| exim.log()));
        Some(exim)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-C").arg(self.folder.path().join("configuration"));
        command
    }

    /// Headers and bodies of what it keeps.
    fn kept(&self) -> Vec<(String, String)> {
        let input = self.folder.path().join("spool/input");
        let mut names: Vec<_> =
            fs::read_dir(input).map(|files| files.flatten().map(|file| file.path()).collect()).unwrap_or_default();
        names.retain(|path: &PathBuf| path.to_string_lossy().ends_with("-H"));
        names.sort();
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).expect("readable")).into_owned();
        let body = |path: &PathBuf| PathBuf::from(path.to_string_lossy().trim_end_matches('H').to_owned() + "D");
        names.iter().map(|path| (text(path), text(&body(path)))).collect()
    }

    fn log(&self) -> String {
        ["log-main", "log-panic", "log-reject"]
            .iter()
            .filter_map(|name| fs::read_to_string(self.folder.path().join(name)).ok())
            .collect()
    }
}

impl Drop for Exim {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        if thread::panicking() {
            eprintln!("--- what exim said ---\n{}", self.log());
        }
    }
}

fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    // exim wants its configuration to be its owner's alone to write.
    open(path, 0o755);
    for file in fs::read_dir(path).expect("a folder").flatten() {
        open(&file.path(), 0o644);
    }
    let spool = path.join("spool");
    if path.join("configuration").exists() {
        fs::create_dir(&spool).expect("a folder");
        open(&spool, 0o777);
        open(path, 0o777);
    }
}

fn deliver(route: &MailRoute, means: Means) -> Delivery {
    let mut made = Made::new(&[("one", &["ann@example.net", "refused@example.net"], broken())]).with(
        "one",
        "a",
        "https://x.example/gone",
        Verdict::Broken,
    );
    made.webs[0].task.index_title = Some("Übersicht".to_owned());
    let table = Connection::open_in_memory().expect("a database");
    made.deliver(&mut *open(route, means).expect("a route"), &table)
}

#[test]
fn exim_takes_messages_over_tls_and_refuses_one() {
    let certificates = Certificates::new();
    let Some(exim) = Exim::new(&certificates) else { return };
    let route = MailRoute::Smtp {
        url: format!("smtp+starttls://localhost:{}", exim.port).parse().expect("a URL"),
        user: Some(USER.to_owned()),
        password_file: None,
        from: "Die Spinne für alle <spider@example.org>".to_owned(),
    };
    let means = Means {
        password: Some("secret".to_owned()),
        authority: Some(certificates.path("authority.pem")),
        ..Means::default()
    };
    let delivery = deliver(&route, means);
    assert_eq!(delivery.written.len(), 1, "{delivery:?}");
    assert_eq!(delivery.written[0].addresses, ["ann@example.net"]);
    assert!(delivery.failed[0].what.contains("nobody of that name"), "{delivery:?}");
    let kept = exim.kept();
    let [(headers, body)] = &kept[..] else { panic!("{kept:?}") };
    assert!(headers.contains("ann@example.net") && headers.contains("Subject: 1 new broken target in"), "{headers}");
    assert!(headers.contains("with esmtpsa"), "{headers}");
    assert!(body.contains("https://x.example/gone"), "{body}");
}

#[test]
fn exim_takes_messages_as_a_program() {
    let certificates = Certificates::new();
    let Some(exim) = Exim::new(&certificates) else { return };
    let script = exim.folder.path().join("sendmail");
    let configuration = exim.folder.path().join("configuration");
    let text = format!("#!/bin/sh\nexec '{}' -C '{}' \"$@\"\n", exim.program.display(), configuration.display());
    write_program(&script, &text);
    let route = MailRoute::Sendmail { program: script, from: "spider@example.org".to_owned() };
    let delivery = deliver(&route, Means::default());
    assert_eq!(delivery.written.len(), 1, "{delivery:?}");
    let kept = exim.kept();
    let [(headers, body)] = &kept[..] else { panic!("{kept:?}") };
    assert!(headers.contains("ann@example.net") && headers.contains("refused@example.net"), "{headers}");
    assert!(body.contains("https://x.example/gone"), "{body}");
}
