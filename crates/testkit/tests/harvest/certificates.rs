//! Whose certificates are believed: `tls-broken`, against a real TLS server with a certificate that nobody has signed.

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::curl::{Curl, Version};
use modoai_testkit::http::Get as _;

use super::{Harvest, stored};

#[test]
fn a_certificate_that_nobody_signed_is_refused_by_name_unless_it_is_vouched_for() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).tls().ordinary_site().text(
        "<VirtualHost 127.0.0.1:${TLS_PORT}>\nInclude tls.conf\nDocumentRoot \"${SITE}/docs\"\n\
         <Location \"/modoai\">\nSetHandler oai-handler\n</Location>\n</VirtualHost>",
    );
    launch.write("docs/index.html", "<title>Home</title>");
    let httpd = launch.start();
    httpd.wait("the repository answers", || {
        let mut client = Curl::new(&httpd.tls_url(), Version::Http1);
        client.get("/modoai?verb=Identify").is_ok_and(|answer| answer.status == 200)
    });
    let url = format!("{}/modoai", httpd.tls_url());
    let folder = tempfile::tempdir().expect("a folder");
    let harvest = |name: &str| Harvest::new(&url, &folder.path().join(name), "jsonl");

    let refused = harvest("refused").run().expect("a report");
    assert!(matches!(refused.code, Some(1 | 3)), "{}", refused.said);
    assert!(refused.said.to_lowercase().contains("certificate"), "{}", refused.said);
    assert_eq!(stored::lines(&folder.path().join("refused")), []);

    harvest("insecure").with(["--insecure"]).complete();
    assert_eq!(stored::lines(&folder.path().join("insecure")).len(), 1);
}
