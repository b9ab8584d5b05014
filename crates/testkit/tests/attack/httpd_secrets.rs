//! What a record tells is about the file that a GET returns to this requester at this moment: not about sessions, not
//! about what the file was a moment ago, not about another file. And caches keep the answers of several requesters apart.

use std::fs;

use modoai_testkit::apache::{self, Httpd, Launch, Mpm};
use modoai_testkit::http::{Get, encode};

use crate::oai;

fn record(httpd: &Httpd, client: &mut impl Get, prefix: &str, name: &str) -> String {
    let id = encode(format!("{}/{name}", httpd.url()));
    let target = format!("/modoai?verb=GetRecord&metadataPrefix={prefix}&identifier={id}");
    client.get(&target).expect("an answer").text()
}

#[test]
fn sessions_and_challenges_are_not_in_records() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).modules(&["mod_headers", "mod_usertrack"]).ordinary_site().text(
        r#"CookieTracking On
        Header add Set-Cookie "session=secret1; HttpOnly"
        Header set Set-Cookie2 "session=secret2"
        Header set Authentication-Info "nextnonce=secret3"
        Header always set WWW-Authenticate "Basic realm=secret4"
        Header set X-Kept kept"#,
    );
    launch.write("docs/x.txt", "x");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    assert!(client.get("/x.txt").expect("an answer").header("Set-Cookie").is_some());
    for prefix in ["http_header", "oai_didl"] {
        let text = record(&httpd, &mut client, prefix, "x.txt");
        assert!(text.contains("X-Kept"), "{text}");
        for secret in ["Set-Cookie", "secret", "WWW-Authenticate", "Authentication-Info"] {
            assert!(!text.contains(secret), "{prefix}: {secret} in {text}");
        }
    }
}

#[test]
fn a_cache_keeps_apart_what_is_listed_to_different_requesters() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    launch.write("docs/x.txt", "x");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let target = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    for (headers, expected) in [
        (&[][..], "no-cache"),
        (&[("Cookie", "member=1")], "private, no-cache"),
        (&[("Authorization", "Basic YTpi")], "private, no-cache"),
    ] {
        let answer = client.get_with(target, headers).expect("an answer");
        assert_eq!(answer.header("Cache-Control"), Some(expected), "{headers:?}");
        let vary = answer.header("Vary").unwrap_or_default();
        assert!(vary.contains("Authorization") && vary.contains("Cookie") && vary.contains("Accept"), "{vary}");
    }
}

#[test]
fn a_record_describes_the_file_as_it_is_now_although_nobody_has_noticed_the_change() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site().text("OAIRescan 10h");
    launch.write("docs/page.html", "<title>Old secret</title>");
    // A second name outside of the site: a change through it is not noticed.
    fs::create_dir(launch.path().join("elsewhere")).expect("a folder");
    fs::hard_link(launch.path().join("docs/page.html"), launch.path().join("elsewhere/page.html")).expect("a link");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    httpd.wait("its title is known", || record(&httpd, &mut client, "oai_dc", "page.html").contains("Old secret"));
    std::thread::sleep(std::time::Duration::from_secs(2));
    fs::write(httpd.path().join("elsewhere/page.html"), "<title>For all</title> and a little more").expect("a change");
    for text in [
        record(&httpd, &mut client, "oai_dc", "page.html"),
        client.get("/modoai?verb=ListRecords&metadataPrefix=oai_dc").expect("an answer").text(),
    ] {
        assert!(text.contains("For all") && text.contains(">40 bytes<"), "{text}");
        assert!(!text.contains("Old secret"), "{text}");
    }
}

#[test]
fn a_record_describes_the_file_that_a_cookie_selects() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).modules(&["mod_rewrite"]).ordinary_site().text(
        r#"RewriteEngine On
        RewriteCond %{HTTP_COOKIE} member
        RewriteRule ^/page.html$ /inner.html"#,
    );
    launch.write("docs/page.html", "<title>For all</title>");
    launch.write("docs/inner.html", "<title>For members</title> and more");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    httpd.wait("its title is known", || record(&httpd, &mut client, "oai_dc", "page.html").contains("For all"));
    let id = encode(format!("{}/page.html", httpd.url()));
    let target = format!("/modoai?verb=GetRecord&metadataPrefix=oai_dc&identifier={id}");
    let text = client.get_with(&target, &[("Cookie", "member=1")]).expect("an answer").text();
    assert!(text.contains("For members") && !text.contains("For all"), "{text}");
    assert!(text.contains(">35 bytes<"), "{text}");
    let set = oai::ask(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc").answer;
    assert_eq!(set.records.len(), 2);
}
