//! Each virtual host is a repository of its own, even if they share an address, a port and an index directory.

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::http::{Client, encode};

use super::{listed, paths};
use crate::oai;

const HOSTS: &str = r#"
OAIIndexDir "${SITE}/index"
OAIAdminEmail "all@example.org"
<Location "/modoai">
    SetHandler oai-handler
</Location>
<Directory "${SITE}">
    Require all granted
</Directory>
Alias "/everywhere" "${SITE}/everywhere"
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://127.0.0.1:${PORT}
    DocumentRoot "${SITE}/one"
    OAIRepositoryName "The first"
</VirtualHost>
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://localhost:${PORT}
    ServerAlias alias.example
    DocumentRoot "${SITE}/two"
    OAIRepositoryName "The second"
    OAIAdminEmail "two@example.org"
    Alias "/only-two" "${SITE}/only-two"
</VirtualHost>
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://silent.example:${PORT}
    DocumentRoot "${SITE}/three"
    OAIEngine Off
</VirtualHost>
"#;

#[test]
fn each_virtual_host_is_a_repository_of_its_own() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Worker).text(HOSTS);
    for (name, content) in [
        ("one/a.txt", "of one"),
        ("one/both.txt", "of one"),
        ("two/b.txt", "of two"),
        ("two/both.txt", "of two"),
        ("three/c.txt", "of three"),
        ("everywhere/x.txt", "of all"),
        ("only-two/x.txt", "of two alone"),
    ] {
        launch.write(name, content);
    }
    let httpd = launch.start();
    let (one, two) = (httpd.url(), httpd.url().replace("127.0.0.1", "localhost"));
    let (mut first, mut second) = (Client::new(&one), Client::new(&two));
    httpd.wait_for_index(&mut first);
    httpd.wait_for_index(&mut second);
    assert_eq!(listed(&mut first), paths(["a.txt", "both.txt", "everywhere/x.txt"]));
    assert_eq!(listed(&mut second), paths(["b.txt", "both.txt", "everywhere/x.txt", "only-two/x.txt"]));
    for (client, url, name, email) in
        [(&mut first, &one, "The first", "all@example.org"), (&mut second, &two, "The second", "two@example.org")]
    {
        let identify = oai::ask(client, "verb=Identify").answer;
        assert_eq!(identify.identify("repositoryName"), Some(name));
        assert_eq!(identify.identify("adminEmail"), Some(email));
        assert_eq!(identify.identify("baseURL"), Some(format!("{url}/modoai").as_str()));
    }
    // What belongs to the one is unknown to the other, under either name.
    for identifier in [format!("{two}/both.txt"), format!("{two}/b.txt"), format!("{one}/b.txt")] {
        let query = format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={}", encode(&identifier));
        assert_eq!(oai::ask(&mut first, &query).answer.errors[0].0, "idDoesNotExist", "{identifier}");
    }
    // By whatever name a host is called, it has one.
    let answer = first.get_with("/modoai?verb=Identify", &[("Host", "alias.example")]).expect("an answer");
    assert!(answer.text().contains(&format!("<baseURL>{two}/modoai</baseURL>")), "{}", answer.text());
    let silent = [("Host", "silent.example")];
    assert_eq!(first.get_with("/c.txt", &silent).expect("an answer").text(), "of three");
    assert_eq!(first.get_with("/modoai?verb=Identify", &silent).expect("an answer").status, 404);
    httpd.expect_clean_log(&[]);
}
