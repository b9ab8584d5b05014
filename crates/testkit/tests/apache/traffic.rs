//! URLs that only visitors know: no file has that name, and yet httpd answers with a file. They are learnt from what
//! visitors get, and nothing is learnt about the visitors.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::http::encode;
use modoai_testkit::waiting::{next_second, wait_for};

use super::{listed, paths};
use crate::oai;

const RULES: &str = r#"
OAITraffic On
RewriteEngine On
RewriteRule "^/handed-on\.html$" "/real.html" [PT]
RewriteRule "^/straight\.html$" "${SITE}/docs/real.html"
AliasMatch "^/match/(.*)$" "${SITE}/else/$1"
<Directory "${SITE}/else">
    Require all granted
</Directory>
Alias "/dynamic" "${SITE}/dynamic"
<Location "/dynamic">
    Require all granted
    SetHandler server-status
</Location>
"#;

#[test]
fn urls_that_visitors_get_are_learnt_and_nothing_about_the_visitors() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).modules(&["mod_rewrite", "mod_status"]).ordinary_site().text(RULES);
    launch.write("docs/real.html", "<p>real</p>");
    launch.write("else/x.txt", "x");
    launch.write("dynamic/x.txt", "x");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    assert_eq!(listed(&mut client), paths(["real.html"]));
    let secret = "do-not-keep-this";
    let mut visitor = httpd.client().with_password(secret, secret);
    let query = format!("?q={secret}");
    for (target, status) in [
        (format!("/handed-on.html{query}"), 200),
        (format!("/straight.html{query}"), 200),
        (format!("/match/x.txt{query}"), 200),
        // What a request to the repository names is no visit, nor is what was not given, or was made on the spot.
        (format!("/missing.html{query}"), 404),
        (format!("/dynamic/x.txt{query}"), 200),
        (format!("/{query}"), 403),
    ] {
        assert_eq!(visitor.get(&target).expect("an answer").status, status, "{target}");
    }
    let expected = paths(["handed-on.html", "match/x.txt", "real.html", "straight.html"]);
    wait_for("what visitors got is listed", || {
        let listed = listed(&mut client);
        if listed == expected { Ok(()) } else { Err(format!("{listed:?} instead of {expected:?}")) }
    });
    for name in &expected {
        let id = encode(format!("{}/{name}", httpd.url()));
        let record = oai::ask(&mut client, &format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={id}"));
        assert_eq!(record.answer.errors, [], "{name}");
    }
    // A change of the file shows under every name it has.
    let until = oai::ask(&mut client, "verb=Identify").answer.response_date;
    next_second();
    httpd.write("docs/real.html", "<p>changed, and longer</p>");
    let changed = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={until}");
    let names = ["/real.html", "/handed-on.html", "/straight.html"];
    httpd.wait("the change shows under every name", || {
        let records = oai::harvest(&mut client, &changed);
        let late =
            |name: &str| records.iter().any(|record| record.identifier.ends_with(name) && record.datestamp > until);
        names.iter().all(|name| late(name))
    });
    let read = |name: &str| {
        let files = files_below(&httpd.path().join("index")).into_iter();
        let texts = files.filter(|file| file.ends_with(name)).map(|file| fs::read_to_string(file).expect("readable"));
        texts.collect::<String>()
    };
    // Known URLs are queued, too, and dropped by the keeper.
    for _ in 0..3 {
        assert_eq!(httpd.client().get("/real.html").expect("an answer").status, 200);
    }
    httpd.wait("the queue is empty", || read("visited-urls").is_empty());
    let stored: BTreeSet<String> =
        read("found-urls").lines().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect();
    assert_eq!(stored, paths(["handed-on.html", "match/x.txt", "straight.html"]));
    for file in files_below(&httpd.path().join("index")) {
        let bytes = fs::read(&file).expect("readable");
        let kept = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!kept, "{} knows what a visitor asked", file.display());
    }
    httpd.expect_clean_log(&["AH01276"]);
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let names = modoai_testkit::site::files_below(folder).expect("readable");
    names.into_iter().map(|name| folder.join(name)).collect()
}
