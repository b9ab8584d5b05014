//! Things mounted inside a site, and unmounted again. Needs the right to mount; where that is missing, it is said loudly.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use modoai_testkit::http::Client;
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;

use crate::oai;

/// A mount that ends with the test.
pub(crate) struct Mount(PathBuf);

impl Mount {
    pub(crate) fn new(arguments: &[&str], at: &Path) -> Option<Self> {
        fs::create_dir_all(at).expect("a folder to mount on");
        let mounted = Command::new("mount").args(arguments).arg(at).output().is_ok_and(|done| done.status.success());
        if !mounted {
            modoai_testkit::skipped("no right to mount");
        }
        mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let done = Command::new("umount").arg("--lazy").arg(&self.0).status();
        assert!(done.is_ok_and(|status| status.success()), "{} stays mounted", self.0.display());
    }
}

fn live(client: &mut Client) -> BTreeSet<String> {
    let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc").into_iter();
    let name = |identifier: String| identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    records.filter(|record| !record.deleted).map(|record| name(record.identifier)).collect()
}

#[test]
fn what_is_bound_into_a_site_belongs_to_it_but_never_in_circles() {
    let outside = TestSite::with(&[("x.txt", "x")]);
    let site = TestSite::with(&[("a/b.txt", "x")]);
    let outside_path = outside.path().to_string_lossy().into_owned();
    let site_path = site.path().to_string_lossy().into_owned();
    let Some(_bound) = Mount::new(&["--bind", &outside_path], &site.at("bound")) else { return };
    let Some(_circle) = Mount::new(&["--bind", &site_path], &site.at("a/circle")) else { return };
    let server = Launch::of(site.path()).start();
    let mut client = server.client();
    assert_eq!(live(&mut client), ["a/b.txt", "bound/x.txt"].map(str::to_owned).into());
    assert_eq!(client.get("/bound/x.txt").expect("an answer").status, 200);
    assert_eq!(client.get("/a/circle/a/b.txt").expect("an answer").status, 404, "what is not listed is not served");
    // Changes in what is bound are noticed too.
    outside.write("y.txt", "y");
    wait_until("a change in what is bound is listed", || live(&mut client).contains("bound/y.txt"));
}

#[test]
fn a_disk_that_is_unmounted_takes_nothing_with_it() {
    let site = TestSite::with(&[("home.txt", "x")]);
    let state = tempfile::tempdir().expect("a folder");
    let Some(disk) = Mount::new(&["-t", "tmpfs", "none"], &site.at("disk")) else { return };
    for number in 0..5 {
        site.write(format!("disk/{number}.txt"), "x");
    }
    let launch = || Launch::of(site.path()).state(state.path()).argument("--url").argument("http://same.example/");
    let server = launch().start();
    let mut whole = live(&mut server.client());
    assert_eq!(whole.len(), 6);
    drop(disk);
    // When a later change is listed, the site has been looked at without its disk.
    let mut expect_whole = |server: &Server, later: &str, when: &str| {
        site.write(later, "x");
        whole.insert(later.to_owned());
        let mut client = server.client();
        wait_until("a later change is listed", || live(&mut client).contains(later));
        assert_eq!(live(&mut client), whole, "{when}");
    };
    expect_whole(&server, "one.txt", "while the server runs");
    assert!(server.terminate().success());
    expect_whole(&launch().start(), "two.txt", "after a restart without the disk");
}
