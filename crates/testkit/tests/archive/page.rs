//! The HTML pages of an archive.

use modoai_testkit::http::BROWSER;
use modoai_testkit::process::Server;
use modoai_testkit::site::TestSite;

use super::{Archive, PLAIN, record};

#[test]
fn the_front_page_of_an_archive_does_not_speak_of_a_web_site() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&[record("1", "One")]);
    let front = |server: &Server| server.client().get_with("/modoai", &[BROWSER]).expect("a page").text();
    let page = front(&archive.serve());
    assert!(page.contains("a catalogue of the records in this repository") && !page.contains("web site"), "{page}");
    let site = TestSite::with(&[("a.txt", "x")]);
    let page = front(&Server::of(site.path()));
    assert!(page.contains("a catalogue of the resources of the web site"), "{page}");
}
