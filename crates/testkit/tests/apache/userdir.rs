//! Whose folders are listed: those that `OAIUsers` names and `UserDir` serves.

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::http::Client;

use super::{listed, paths};

const HOSTS: &str = r#"
OAIIndexDir "${SITE}/index"
<Location "/modoai">
    SetHandler oai-handler
</Location>
<Directory "${SITE}">
    Require all granted
    AllowOverride All
</Directory>
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://127.0.0.1:${PORT}
    DocumentRoot "${SITE}/docs"
    UserDir "${SITE}/homes/*/public"
    UserDir disabled dora
    OAIUsers carol dora nobody-of-this-name
    OAIUsers emil
</VirtualHost>
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://localhost:${PORT}
    DocumentRoot "${SITE}/docs"
    UserDir "${SITE}/homes"
    UserDir disabled
    UserDir enabled carol charles
    OAIUsers c* [d-e]ora
</VirtualHost>
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://127.0.0.2:${PORT}
    ServerAlias nobody.example
    DocumentRoot "${SITE}/docs"
    UserDir "${SITE}/homes/*/public"
</VirtualHost>
"#;

#[test]
fn users_are_listed_by_name_or_by_pattern_and_nobody_else() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).modules(&["mod_userdir"]).text(HOSTS);
    launch.write("docs/a.txt", "a");
    for user in ["carol", "charles", "dora", "emil", "frieda"] {
        launch.write(format!("homes/{user}/public/page.html"), user);
    }
    launch.write("homes/emil/public/.htaccess", "Require all denied\n");
    let httpd = launch.start();
    let (one, two) = (httpd.url(), httpd.url().replace("127.0.0.1", "localhost"));
    let (mut by_name, mut by_pattern) = (Client::new(&one), Client::new(&two));
    httpd.wait_for_index(&mut by_name);
    httpd.wait_for_index(&mut by_pattern);
    assert_eq!(listed(&mut by_name), paths(["a.txt", "~carol/page.html"]));
    assert_eq!(
        listed(&mut by_pattern),
        paths(["a.txt", "~carol/public/page.html", "~charles/public/page.html"]),
        "a pattern names users, and UserDir decides whom of them it serves"
    );
    let errors = httpd.error_log().len();
    let host = [("Host", "nobody.example")];
    let page = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    httpd.wait("the third index is made", || by_name.get_with(page, &host).expect("an answer").status == 200);
    let answer = by_name.get_with(page, &host).expect("an answer").text();
    assert!(answer.contains("/a.txt<") && !answer.contains('~'), "nobody is named: {answer}");
    // A file that appears in a user's folder is found like any other.
    httpd.write("homes/carol/public/new.html", "new");
    httpd.wait("the new page is listed", || listed(&mut by_name).contains("~carol/new.html"));
    httpd.expect_clean_log_since(errors, &[]);
}
