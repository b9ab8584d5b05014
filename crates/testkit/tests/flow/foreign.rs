//! Harvesters of others that are refused, wait as long as they are told, and return.

use std::process::Command;

use modoai_testkit::apache::{self, Mpm};
use modoai_testkit::process::Launch;
use modoai_testkit::site::TestSite;
use modoai_testkit::{installed, workspace};

/// Files of the site, and records of each page.
const FILES: usize = 60;
const PAGE: usize = 20;

/// How many records a harvester gets. Nothing if it is not installed.
fn harvested(name: &str, url: &str) -> Option<usize> {
    let python = installed("MODOAI_HARVESTERS", "harvesters/bin/python", "no harvesters of others")?;
    let script = workspace().join("crates/testkit/peers/harvesters.py");
    let output = Command::new(python).arg("-B").arg(script).arg(name).arg(format!("{url}/modoai")).output();
    let output = output.expect("python can be run");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

/// How often the server has refused a request, by the harvest log.
fn refusals(log: &std::path::Path) -> usize {
    let log = std::fs::read_to_string(log).expect("a log");
    log.lines().filter(|line| line.contains("\"o\":\"later\"")).count()
}

#[test]
fn sickle_and_scythe_get_all_records_from_the_server() {
    let site = TestSite::default();
    (0..FILES).for_each(|number| site.write(format!("{number}.txt"), "text"));
    for name in ["sickle", "scythe"] {
        let launch = Launch::of(site.path()).set("list_delay", "2s").set("records_per_page", &PAGE.to_string());
        let server = launch.start();
        let Some(records) = harvested(name, server.url()) else { return };
        assert_eq!(records, FILES, "{name}");
        assert!(refusals(&server.state().join("harvest-log/harvests.jsonl")) > 0, "{name} was never refused");
    }
}

#[test]
fn sickle_and_scythe_get_all_records_from_httpd() {
    if apache::is_missing() {
        return;
    }
    for name in ["sickle", "scythe"] {
        let directives = format!("OAIListDelay 2s\nOAIPageSize {PAGE}");
        let launch = apache::Launch::new(Mpm::Event).ordinary_site().text(&directives);
        (0..FILES).for_each(|number| launch.write(format!("docs/{number}.txt"), "text"));
        let httpd = launch.start();
        httpd.wait_for_index(&mut httpd.client());
        let Some(records) = harvested(name, &httpd.url()) else { return };
        assert_eq!(records, FILES, "{name}");
    }
}
