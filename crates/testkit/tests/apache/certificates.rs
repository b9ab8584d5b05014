//! A folder for those with a certificate. To ask for one, httpd negotiates a connection anew; a list of everything must
//! not do that to the connection it is sent on.

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::curl::{Curl, Version};
use modoai_testkit::http::Get as _;

use super::{listed, paths};

const HOST: &str = r#"
DocumentRoot "${SITE}/docs"
<VirtualHost 127.0.0.1:${TLS_PORT}>
    ServerName https://127.0.0.1:${TLS_PORT}
    Include tls.conf
    SSLCACertificateFile tls.pem
    <Directory "${SITE}/docs">
        Require all granted
    </Directory>
    <Directory "${SITE}/docs/certified">
        SSLVerifyClient require
    </Directory>
    <Directory "${SITE}/docs/ciphers">
        SSLCipherSuite AES256-SHA256
    </Directory>
    OAIIndexDir "${SITE}/index"
    <Location "/modoai">
        SetHandler oai-handler
    </Location>
</VirtualHost>
"#;

#[test]
fn a_list_is_whole_although_some_of_the_site_needs_a_certificate() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Prefork).tls().text(HOST);
    for name in ["a.txt", "certified/x.txt", "ciphers/x.txt", "z.txt"] {
        launch.write(format!("docs/{name}"), name);
    }
    let httpd = launch.start();
    let url = httpd.tls_url();
    httpd.wait_for_index(&mut Curl::new(&url, Version::Http1));
    for mut client in [Curl::new(&url, Version::Http1), Curl::new(&url, Version::Http1).with_older_tls()] {
        // Refused, or the connection ends: no file in either case.
        let certified = client.get("/certified/x.txt").is_ok_and(|answer| answer.status == 200);
        assert!(!certified);
        let errors = httpd.error_log().len();
        let found = listed(&mut client);
        assert!(found.is_superset(&paths(["a.txt", "z.txt"])), "{found:?}");
        assert!(!found.contains("certified/x.txt"), "{found:?}");
        httpd.expect_clean_log_since(errors, &[]);
    }
}
