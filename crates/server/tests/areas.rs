//! Areas with passwords: the site and the repository agree on who sees what.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::bench::{Bench, Folder};
use modoai_server::AreaSettings;

fn bench() -> Bench {
    let files = [
        ("open", "o"),
        ("private/a", "a"),
        ("private/index.html", "i"),
        ("private/boss/b", "b"),
        ("home/index.html", "h"),
    ];
    Folder::new(&files).serve(|settings, outside| {
        let htpasswd = outside.join("users");
        fs::write(
            &htpasswd,
            "alice:$2y$05$7SmHSBxzbspGAWju2sLEVOtDGmuhJjnMfpZSzxcb.BfBzs6PElvZ.\n\
             boss:$apr1$xbRcZiep$maIY6rgrgtBaDy.wgYiiA/\n",
        )
        .expect("written");
        let area = |path: &str, users: &[&str]| AreaSettings {
            path: path.to_owned(),
            htpasswd: htpasswd.clone(),
            realm: "Members".to_owned(),
            users: users.iter().map(|&user| user.to_owned()).collect(),
        };
        settings.area = vec![area("/private", &[]), area("/private/boss", &["boss"]), area("/home/index.html", &[])];
    })
}

fn basic(credentials: &str) -> String {
    format!("Basic {}", STANDARD.encode(credentials))
}

#[test]
fn a_closed_area_asks_for_a_password_whatever_the_spelling() {
    let bench = bench();
    for path in ["/private/a", "/private/", "/private", "/%70rivate/a", "/private/nothing", "/private/boss/b", "/home/"]
    {
        let reply = bench.get(path);
        assert_eq!(reply.status, 401, "{path}");
        assert_eq!(reply.header("www-authenticate"), Some("Basic realm=\"Members\", charset=\"UTF-8\""));
    }
    assert_eq!(bench.get("/open").status, 200);
    let status = |credentials: &str, path: &str| bench.get_with(path, &[("Authorization", &basic(credentials))]).status;
    for (credentials, path, expected) in [
        ("alice:secret", "/private/a", 200),
        ("alice:secret", "/private/a", 200),
        ("alice:secret", "/private", 301),
        ("alice:secret", "/private/", 200),
        ("alice:secret", "/private/nothing", 404),
        ("alice:secret", "/private/boss/b", 401),
        ("alice:secret", "/home/", 200),
        ("boss:secret", "/private/boss/b", 200),
        ("boss:secret", "/private/a", 200),
        ("alice:wrong", "/private/a", 401),
        ("eve:secret", "/private/a", 401),
        ("alice:wrong", "/open", 200),
    ] {
        assert_eq!(status(credentials, path), expected, "{credentials} {path}");
    }
    let names = bench.get_with("/private/a", &[("Authorization", &basic("alice:secret"))]).lasting_headers();
    assert_eq!(names.len(), 5, "nothing but the headers of the file: {names:?}");
}

#[test]
fn a_harvester_sees_exactly_what_it_could_get() {
    let bench = bench();
    let listed = |credentials: Option<&str>| {
        let header = credentials.map(basic).unwrap_or_default();
        let headers = [("Authorization", header.as_str())];
        let headers = if credentials.is_some() { &headers[..] } else { &[] };
        let reply = bench.get_with("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc", headers);
        assert_eq!(reply.status, 200);
        let urls = reply.text().split("<identifier>").skip(1).map(|rest| rest.split('<').next().expect("text"));
        let mut paths: Vec<String> =
            urls.map(|url| format!("/{}", url.splitn(4, '/').nth(3).expect("a path"))).collect();
        for path in &paths {
            assert_eq!(bench.get_with(path, headers).status, 200, "{path}");
        }
        paths.sort();
        paths
    };
    assert_eq!(listed(None), ["/open"]);
    let members = ["/home/index.html", "/open", "/private/a", "/private/index.html"];
    assert_eq!(listed(Some("alice:secret")), members);
    assert_eq!(listed(Some("boss:secret")).len(), 5);
    let wrong = bench.get_with("/modoai?verb=Identify", &[("Authorization", &basic("alice:wrong"))]);
    assert_eq!(wrong.status, 401);
}

#[test]
fn a_repository_in_a_closed_area_asks_for_a_password() {
    let bench = Folder::new(&[("a", "x")]).serve(|settings, outside| {
        let htpasswd = outside.join("users");
        fs::write(&htpasswd, "alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=").expect("written");
        let (path, realm) = ("/".to_owned(), "Alles für Mitglieder".to_owned());
        settings.area = vec![AreaSettings { path, htpasswd, realm, users: Vec::new() }];
    });
    for path in ["/", "/a", "/modoai?verb=Identify"] {
        assert_eq!(bench.get(path).status, 401, "{path}");
    }
    assert_eq!(bench.get("/healthz").status, 200);
    let alice = basic("alice:secret");
    assert_eq!(bench.get_with("/modoai?verb=Identify", &[("Authorization", &alice)]).status, 200);
}
