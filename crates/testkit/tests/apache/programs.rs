//! No program runs because somebody asks what there is, however it is tied to a file: by a handler, by a media type, by a
//! filter, by what the file itself says, or by a rule that leads there. A GET runs them all.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use modoai_testkit::apache::{self, Launch, Mpm};

use super::{listed, paths};
use crate::oai;

const RULES: &str = r#"
<Directory "${SITE}/docs/run">
    Options +ExecCGI +Includes
    AddHandler cgi-script .by-handler
    AddType application/x-httpd-cgi .by-type
    AddType text/x-acted .by-action
    Action text/x-acted /run/x.by-handler
    AddOutputFilter INCLUDES .by-include
    AddOutputFilter run-it .by-filter
    RewriteEngine On
    RewriteRule "^led\.txt$" "/run/x.by-handler"
</Directory>
ExtFilterDefine run-it cmd="${SITE}/docs/run/filter.sh"
"#;

#[test]
fn asking_what_there_is_runs_nothing() {
    if apache::is_missing() {
        return;
    }
    let modules = ["mod_actions", "mod_cgid", "mod_ext_filter", "mod_include", "mod_rewrite"];
    let launch = Launch::new(Mpm::Event).modules(&modules).ordinary_site().text(RULES);
    let marks = launch.path().join("marks");
    fs::create_dir(&marks).expect("a folder");
    fs::set_permissions(&marks, fs::Permissions::from_mode(0o777)).expect("ours");
    let script = |name: &str, rest: &str| {
        let file = format!("docs/run/{name}");
        launch.write(&file, format!("#!/bin/sh\ntouch {}/{name}\n{rest}\n", marks.display()));
        fs::set_permissions(launch.path().join(&file), fs::Permissions::from_mode(0o755)).expect("ours");
    };
    let answer = "printf 'Content-Type: text/plain\\r\\n\\r\\nrun'";
    script("x.by-handler", answer);
    script("x.by-type", answer);
    script("filter.sh", "cat");
    launch.write("docs/run/x.by-action", "x");
    launch.write("docs/run/x.by-filter", "x");
    launch.write("docs/run/led.txt", "x");
    launch.write("docs/run/x.by-include", format!("<!--#exec cmd=\"touch {}/include\" -->", marks.display()));
    launch.write("docs/plain.txt", "x");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let run = || fs::read_dir(&marks).expect("the folder").count();
    assert_eq!(listed(&mut client), paths(["plain.txt", "run/filter.sh"]));
    for format in ["oai_dc", "http_header", "oai_didl"] {
        assert_eq!(oai::harvest(&mut client, &format!("verb=ListRecords&metadataPrefix={format}")).len(), 2);
    }
    oai::ask(&mut client, "verb=ListSets");
    assert_eq!(run(), 0, "something ran");
    // They would have, each of them.
    for (name, mark) in [
        ("x.by-handler", "x.by-handler"),
        ("x.by-type", "x.by-type"),
        ("x.by-filter", "filter.sh"),
        ("x.by-include", "include"),
    ] {
        assert_eq!(client.get(&format!("/run/{name}")).expect("an answer").status, 200, "{name}");
        assert!(marks.join(mark).exists(), "{name} runs");
    }
    fs::remove_file(marks.join("x.by-handler")).expect("it ran");
    for name in ["x.by-action", "led.txt"] {
        assert_eq!(client.get(&format!("/run/{name}")).expect("an answer").status, 200, "{name}");
        assert!(marks.join("x.by-handler").exists(), "{name} leads to it");
        fs::remove_file(marks.join("x.by-handler")).expect("it ran");
    }
}
