//! The heavy first pass of a huge site, before httpd runs: `modoai index --apache` fills the catalogues, and httpd, which
//! has the last word on what its files are, completes them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use modoai_testkit::apache::{self, Launch, Mpm, machine};
use modoai_testkit::process;
use modoai_testkit::site::files_below;

use super::{listed, paths};
use crate::oai;

const HOSTS: &str = r#"
OAIIndexDir "${SITE}/index"
# The virtual hosts answer everything.
OAIEngine Off
<Location "/modoai">
    SetHandler oai-handler
</Location>
<Directory "${SITE}">
    Require all granted
</Directory>
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://127.0.0.1:${PORT}
    OAIEngine On
    DocumentRoot "${SITE}/docs"
    Alias "/icons" "${SITE}/icons"
    AddType text/x-told .odd
    OAIIgnore "*.private"
    OAISet odd "Odd files" "description=With \"quotes\"" "re:\.odd$"
</VirtualHost>
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://localhost:${PORT}
    OAIEngine On
    DocumentRoot "${SITE}/icons"
</VirtualHost>
"#;

#[test]
fn what_was_indexed_before_is_completed_by_httpd_and_keeps_its_dates() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).text(HOSTS);
    for (name, content) in [
        ("docs/index.html", "<title>Hello</title>"),
        ("docs/a/b.odd", "odd"),
        ("docs/secret.private", "not listed"),
        ("icons/i.png", "an icon"),
    ] {
        launch.write(name, content);
        let file = fs::File::options().append(true).open(launch.path().join(name)).expect("just written");
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.set_modified(long_ago).expect("a date it can have");
    }
    let (fine, message) = launch.config_test("");
    assert!(fine, "{message}");
    let configuration = launch.path().join("test.conf");
    let indexed = index(launch.path(), &configuration);
    assert_eq!(
        indexed,
        "127.0.0.1: 3 files, 3 added or updated, 0 deleted, 3 read; httpd completes it when it starts\n\
         localhost: 1 file, 1 added or updated, 0 deleted, 1 read; httpd completes it when it starts\n"
    );
    let owner = fs::metadata(launch.path().join("index")).expect("a folder").uid();
    for name in files_below(&launch.path().join("index")).expect("catalogues") {
        let file = launch.path().join("index").join(&name);
        assert_eq!(fs::metadata(&file).expect("it is there").uid(), owner, "{} belongs to another", file.display());
    }
    let mut httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    assert_eq!(listed(&mut client), paths(["a/b.odd", "icons/i.png", "index.html"]));
    let records = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=oai_dc");
    for record in &records {
        assert_eq!(record.datestamp, "2001-09-09T01:46:40Z", "{}: nothing has changed", record.identifier);
    }
    let odd = oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:text:x-told");
    assert_eq!(odd.len(), 1, "httpd had the last word");
    assert!(odd[0].sets.contains(&"odd".to_owned()), "{odd:?}");
    // While httpd runs there is nothing to do.
    let kept = "127.0.0.1: httpd is running and keeps this catalogue current; nothing to do\n\
                localhost: httpd is running and keeps this catalogue current; nothing to do\n";
    httpd.wait("both catalogues are kept", || index(httpd.path(), &configuration) == kept);
    httpd.stop();
    httpd.write("docs/new.odd", "new");
    fs::remove_file(httpd.path().join("docs/index.html")).expect("it was there");
    let again = index(httpd.path(), &configuration);
    assert!(again.starts_with("127.0.0.1: 3 files, 1 added or updated, 1 deleted, 1 read\n"), "{again}");
    httpd.expect_clean_log(&[]);
}

/// What `modoai index --apache` prints, by server. Whoever runs the tests asks httpd where its sites are, and whom httpd's children
/// run as does the rest.
fn index(folder: &Path, configuration: &Path) -> String {
    let mut httpd = Command::new(machine::httpd());
    httpd.arg("-d").arg(folder).arg("-f").arg(configuration).args(["-t", "-D", "MODOAI_SHOW_ROOTS"]);
    let mut asked = httpd.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("httpd can be run");
    // A copy, because the folder of the original may be closed to that user.
    let binary = folder.join("modoai");
    if !binary.exists() {
        process::copy_program(process::binary(), &binary);
    }
    let mut command = Command::new(binary);
    command.args(["index", "--apache", "--httpd", "-"]).current_dir(folder);
    command.stdin(asked.stdout.take().expect("it was asked for"));
    if let Some(user) = machine::run_user() {
        command.uid(user.uid).gid(user.gid);
    }
    let done = command.output().expect("the command was built");
    assert!(asked.wait().expect("our own child").success());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let printed = String::from_utf8_lossy(&done.stdout);
    let mut lines: Vec<&str> = printed.split_inclusive('\n').collect();
    lines.sort_unstable();
    lines.concat()
}
