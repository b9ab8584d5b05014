//! Whose folders are listed: those that `OAIUsers` names and `UserDir` serves.

use std::fs;

use modoai_testkit::apache::{self, Httpd, Launch, Mpm};
use modoai_testkit::http::Client;

use super::{listed, paths};
use crate::mounts::Mount;
use crate::oai;

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

/// Starts httpd for the homes of two named users, and of those whose names begin with a p. None of them exists yet.
fn without_homes() -> Httpd {
    let launch = Launch::new(Mpm::Event).modules(&["mod_userdir"]).ordinary_site().text(
        r#"UserDir "${SITE}/homes/*/public"
        OAIUsers mln zoe "p*"
        OAIRescan 1s
        <Directory "${SITE}/homes">
            Require all granted
        </Directory>"#,
    );
    launch.write("docs/a.txt", "a");
    fs::create_dir(launch.path().join("homes")).expect("a new folder");
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    httpd
}

fn reports_of(httpd: &Httpd, user: &str) -> usize {
    httpd.error_log().matches(&format!("user {user} of OAIUsers has no directory yet")).count()
}

#[test]
fn a_home_that_is_created_later_is_found_and_its_absence_is_logged_once() {
    if apache::is_missing() {
        return;
    }
    let httpd = without_homes();
    let mut client = httpd.client();
    assert_eq!(listed(&mut client), paths(["a.txt"]));
    httpd.wait("both are reported", || reports_of(&httpd, "mln") == 1 && reports_of(&httpd, "zoe") == 1);
    assert!(httpd.error_log().contains("homes/mln/public does not exist"), "{}", httpd.error_log());
    httpd.write("homes/mln/public/page.html", "mln");
    httpd.wait("the page of a named user is listed", || listed(&mut client).contains("~mln/page.html"));
    httpd.write("homes/pat/public/page.html", "pat");
    httpd.write("homes/quentin/public/page.html", "not named");
    httpd.wait("the page of a matching user is listed", || listed(&mut client).contains("~pat/page.html"));
    assert_eq!(listed(&mut client), paths(["a.txt", "~mln/page.html", "~pat/page.html"]));
    // After many rescans there is still one line for each.
    assert_eq!((reports_of(&httpd, "mln"), reports_of(&httpd, "zoe"), reports_of(&httpd, "pat")), (1, 1, 0));
}

#[test]
fn a_home_that_is_mounted_comes_and_goes_without_a_deletion() {
    if apache::is_missing() {
        return;
    }
    let httpd = without_homes();
    let mut client = httpd.client();
    httpd.write("exports/zoe/public/page.html", "zoe");
    let export = httpd.path().join("exports/zoe").display().to_string();
    let mount = || Mount::new(&["--bind", &export], &httpd.path().join("homes/zoe"));
    let Some(mounted) = mount() else { return };
    let page = |client: &mut Client| {
        let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
        records.into_iter().find(|record| record.identifier.ends_with("/~zoe/page.html"))
    };
    httpd.wait("the page of the mounted home is listed", || page(&mut client).is_some());
    let before = page(&mut client).expect("just seen");
    drop(mounted);
    // When the absence is logged, the site has been looked at without the home.
    let reports = || httpd.error_log().matches("a file system is no longer mounted here").count();
    httpd.wait("the absence is logged", || reports() > 0);
    httpd.write("docs/later.txt", "later");
    httpd.wait("a later change is listed", || listed(&mut client).contains("later.txt"));
    assert_eq!(page(&mut client), None, "neither listed nor deleted");
    assert_eq!(reports(), 1, "it is logged once, not at every rescan");
    let Some(_mounted) = mount() else { panic!("it could be mounted before") };
    httpd.wait("the page is back", || page(&mut client).is_some());
    assert_eq!(page(&mut client), Some(before), "it is what it was");
}
