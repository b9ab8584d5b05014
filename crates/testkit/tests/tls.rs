//! HTTPS of `modoai serve`, with curl and with our own harvester as clients.

use std::fs;

use modoai_testkit::apache;
use modoai_testkit::curl::{Curl, Version};
use modoai_testkit::http::Get as _;
use modoai_testkit::process;
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;

use crate::harvest::{Harvest, stored};

#[test]
fn the_server_speaks_both_versions_and_keeps_a_good_certificate() {
    if apache::is_missing() {
        return;
    }
    let site = TestSite::with(&[("a.html", "<title>a</title>"), ("b/c.txt", "c")]);
    let folder = tempfile::tempdir().expect("a folder");
    apache::make_certificate(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let server = process::Launch::of(site.path())
        .set("tls_certificate", &path("tls.pem"))
        .set("tls_key", &path("tls.key"))
        .start();
    assert!(server.url().starts_with("https://"), "{}", server.url());

    let targets = ["/a.html", "/b/c.txt", "/b//c.txt", "/modoai?verb=Identify"].map(str::to_owned);
    for version in [Version::Http1, Version::Http2] {
        for mut client in [Curl::new(server.url(), version), Curl::new(server.url(), version).with_older_tls()] {
            let responses = client.get_all(&targets).expect("responses");
            assert_eq!(responses.iter().map(|response| response.status).collect::<Vec<_>>(), [200, 200, 301, 200]);
            let base_url = format!("<baseURL>{}/modoai</baseURL>", server.url());
            assert!(responses[3].text().contains(&base_url), "{}", responses[3].text());
        }
    }
    let harvest = Harvest::new(&format!("{}/modoai", server.url()), &folder.path().join("copy"), "jsonl");
    harvest.with(["--insecure"]).complete();
    assert_eq!(stored::lines(&folder.path().join("copy")).len(), 2);

    fs::write(path("tls.key"), "no key").expect("written");
    server.signal("HUP");
    wait_until("the error is logged", || server.said().contains("the previous one stays in use"));
    let mut client = Curl::new(server.url(), Version::Http2);
    assert_eq!(client.get("/a.html").expect("a response").status, 200);
}
