//! A repository chooses the names of the files in a mirror. None of them may become settings of a program, an option of a
//! command, a device, or something outside of the folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modoai_testkit::endpoint::{Endpoint, Script};
use modoai_testkit::lacks;
use modoai_testkit::process::{Server, binary};
use modoai_testkit::site::{self, TestSite, files_below, is_mirrored};

use crate::harvest::{Ended, Harvest};

/// An endpoint whose records hold one resource each, by value, at these URLs. `{}` stands for its own address.
fn offering(names: &[&str]) -> Endpoint {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let endpoint = Endpoint::start(Script::default().holding(|holdings| holdings.records.clear()));
    let origin = endpoint.url().trim_end_matches("/oai").to_owned();
    endpoint.change(|holdings| {
        for name in names {
            holdings.add();
            let record = holdings.records.last_mut().expect("just added");
            let url = name.replace("{}", &origin);
            record.metadata = format!(
                "<d:DIDL xmlns:d=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><d:Item><d:Component>\
                 <d:Descriptor><d:Statement mimeType=\"text/xml\"><i:Identifier xmlns:i=\"urn:mpeg:mpeg21:2002:01-DII-NS\">{url}\
                 </i:Identifier></d:Statement></d:Descriptor>\
                 <d:Resource mimeType=\"text/plain\" encoding=\"base64\">ZXZpbA==</d:Resource>\
                 </d:Component></d:Item></d:DIDL>"
            )
            .into_bytes();
            record.identifier = url;
        }
    });
    endpoint
}

fn mirrored(endpoint: &Endpoint, folder: &Path, more: &[&str]) -> Ended {
    let harvest = Harvest::new(endpoint.url(), folder, "mirror").with(["--format", "oai_dc"]).with(more);
    harvest.run().expect("an end")
}

/// The files of a mirror, without its own folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = files_below(folder).expect("a folder");
    files.retain(|file| !file.starts_with(".modoai"));
    files.sort();
    files
}

/// Names that were written once, and run code or change settings where a mirror is served or looked at.
const SPECIAL: &[&str] = &[
    "{}/.htaccess",
    "{}/sub/%2ehtaccess",
    "{}/.user.ini",
    "{}/.ssh/authorized_keys",
    "{}/.bashrc",
    "{}/.git/config",
    "{}/.git/hooks/post-checkout",
    "{}/.GIT/config",
    "{}/%E2%80%8C.git/config",
];

/// Names that are refused in any case.
const NEVER: &[&str] = &[
    "{}/git~1/config",
    "{}/web.config",
    "{}/-rf",
    "{}/--checkpoint-action=exec=sh%20x",
    "{}/~",
    "{}/%1b%5b2J",
    "{}/a%0ab",
    "{}/a%7fb",
    "{}/%C2%9b2J",
    "{}/txt%E2%80%AEgpj.exe",
    "{}/.modoai/state.sqlite",
    "{}/../outside",
    "{}/%2e%2e/outside",
    "{}/a%2f..%2f..%2foutside",
    "{}/a%00b",
    "{}//outside",
    "/etc/outside",
    "../outside",
    "file:///etc/outside",
    "http://../outside",
];

#[test]
fn names_that_programs_treat_specially_are_named_and_not_written() {
    let all: Vec<&str> = SPECIAL.iter().chain(NEVER).copied().chain(["{}/good.txt", "{}/.well-known/x.txt"]).collect();
    let endpoint = offering(&all);
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("mirror");
    for run in 1..=2 {
        let ended = mirrored(&endpoint, &folder, &[]);
        assert_eq!(ended.code, Some(3), "run {run}: {}", ended.said);
        assert_eq!(files(&folder), [".well-known/x.txt", "good.txt"].map(PathBuf::from), "run {run}");
        assert_eq!(ended.missing().len(), SPECIAL.len() + NEVER.len(), "run {run}: {}", ended.said);
        assert_eq!(ended.report["refused"], ended.missing().len(), "{}", ended.said);
        assert!(ended.said.contains("--allow-dotfiles"), "{}", ended.said);
        for gap in ended.missing() {
            let reason = gap["reason"].as_str().unwrap_or_default();
            assert!(reason.contains("cannot be written as a file"), "{gap}");
        }
    }
    let beside: Vec<_> = fs::read_dir(parent.path()).expect("a folder").collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
}

#[test]
fn dotfiles_are_written_if_that_is_asked_for_and_nothing_else_is() {
    let endpoint = offering(&SPECIAL.iter().chain(NEVER).copied().collect::<Vec<_>>());
    let folder = tempfile::tempdir().expect("a folder");
    let ended = mirrored(&endpoint, folder.path(), &["--allow-dotfiles"]);
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    assert_eq!(ended.missing().len(), NEVER.len(), "{}", ended.said);
    let files = files(folder.path());
    assert_eq!(files.len(), SPECIAL.len(), "{files:?}");
    assert!(files.contains(&PathBuf::from(".htaccess")), "{files:?}");
}

/// The whole attack: `git status` in a mirror ran what the repository had put into `.git/config`.
#[test]
fn git_runs_nothing_in_a_mirror() {
    let names = ["{}/.git/config", "{}/.git/HEAD", "{}/.git/objects/x", "{}/.git/refs/x", "{}/index.html"];
    let endpoint = offering(&names);
    let folder = tempfile::tempdir().expect("a folder");
    mirrored(&endpoint, folder.path(), &[]);
    assert!(!folder.path().join(".git").exists());
    assert!(folder.path().join("index.html").exists());
}

/// The same without a directory `.git`: git takes any directory with `HEAD`, `objects` and `refs` for a repository.
#[test]
fn git_runs_nothing_in_a_mirror_that_looks_like_a_bare_repository() {
    if lacks(&["git"]) {
        return;
    }
    let files = ["HEAD", "config", "objects/x", "refs/x"];
    for top in ["", "/sub", "/project.git"] {
        let names: Vec<String> = files.iter().map(|file| format!("{{}}{top}/{file}")).collect();
        let endpoint = offering(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let parent = tempfile::tempdir().expect("a folder");
        let (folder, ran) = (parent.path().join("mirror"), parent.path().join("ran"));
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch '{}'; false\"\n",
            ran.display()
        );
        endpoint.change(|holdings| {
            for (record, text) in holdings.records.iter_mut().zip(["ref: refs/heads/main\n", &config, "x", "x"]) {
                let metadata = String::from_utf8_lossy(&record.metadata).replace("ZXZpbA==", &STANDARD.encode(text));
                record.metadata = metadata.into_bytes();
            }
        });
        let ended = mirrored(&endpoint, &folder, &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.said);
        assert_eq!(self::files(&folder).len(), files.len(), "nothing is lost");
        let mut git = Command::new("git");
        git.args(["status", "--short"]).current_dir(folder.join(top.trim_start_matches('/')));
        let done = git.env("GIT_CEILING_DIRECTORIES", parent.path()).output().expect("git runs");
        assert!(!ran.exists(), "{top}: {}", String::from_utf8_lossy(&done.stdout));
        assert!(!done.status.success(), "{top}: a mirror is no repository");
    }
}

#[test]
fn files_of_a_mirror_are_never_executable() {
    let endpoint = offering(&["{}/run.sh", "{}/cgi-bin/run.cgi", "{}/shell.php"]);
    let folder = tempfile::tempdir().expect("a folder");
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 0; exec \"$0\" \"$@\""]).arg(binary());
    shell.args(["harvest", endpoint.url(), "--sink", "mirror", "--format", "oai_dc", "--into"]).arg(folder.path());
    let done = shell.output().expect("a shell");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let files = files(folder.path());
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        let mode = fs::metadata(folder.path().join(&file)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777 & !0o644, 0, "{} has mode {mode:o}", file.display());
    }
}

/// Links that somebody planted in the folder are not followed, whether to a file or to a directory.
#[test]
fn planted_links_are_not_followed() {
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("file"), "untouched").expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let link = |to: &Path, name: &str| {
        std::os::unix::fs::symlink(to, folder.path().join(name)).expect("a link");
    };
    link(&outside.path().join("file"), "file");
    link(&outside.path().join("new"), "dangling");
    link(outside.path(), "sub");
    let endpoint = offering(&["{}/file", "{}/dangling", "{}/sub/file", "{}/sub/other", "{}/good"]);
    let ended = mirrored(&endpoint, folder.path(), &[]);
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    assert_eq!(fs::read(outside.path().join("file")).expect("a file"), b"untouched");
    assert_eq!(files_below(outside.path()).expect("a folder").len(), 1);
    assert!(folder.path().join("good").exists());
}

/// A site of ours may have names that a mirror refuses. Each of them is named, and everything else is there.
#[test]
fn what_a_mirror_refuses_of_an_honest_site_is_all_that_is_missing() {
    let folder = TestSite::default();
    site::awkward(folder.path()).expect("a site");
    let names = files_below(folder.path()).expect("a site");
    let refused = names.iter().filter(|name| !is_mirrored(name)).count();
    assert!(refused > 3, "{refused}");
    let server = Server::of(folder.path());
    let mirror = tempfile::tempdir().expect("a folder");
    let ended = Harvest::new(&format!("{}/modoai", server.url()), mirror.path(), "mirror").run().expect("an end");
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    assert_eq!(ended.missing().len(), refused, "{}", ended.said);
    assert_eq!(files(mirror.path()).len(), names.len() - refused, "{}", ended.said);
}
