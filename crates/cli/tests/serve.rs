//! `modoai serve`: how it starts, how it refuses to, and how it ends. What it answers is tested end to end elsewhere.

use std::io::{BufRead as _, BufReader};
use std::process::Command;

use modoai_testkit::http::Client;
use modoai_testkit::process::Launch;
use modoai_testkit::waiting::{wait_for, wait_until};

use crate::desk::Desk;

#[test]
fn it_says_where_everything_is_and_ends_cleanly_when_told() {
    for signal in ["TERM", "INT"] {
        let desk = Desk::new();
        let mut server = Launch::of(desk.at("site")).state(desk.at("state")).start();
        let url = server.url().to_owned();
        let expected = format!(
            "serving {}\n  site        {url}/\n  repository  {url}/modoai\n  catalogue   {}\nlistening on {url}\n",
            desk.at("site").display(),
            desk.at("state").display()
        );
        assert!(server.said().contains(&expected), "{}", server.said());
        // An open connection on which nothing happens is not a request in flight.
        let mut idle = server.client();
        assert_eq!(idle.get("/healthz").expect("an answer").status, 200);
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0), "{}", server.said());
        assert!(!server.said().contains("requests in progress"), "{}", server.said());
    }
}

#[test]
fn with_a_public_url_that_is_what_it_says() {
    let desk = Desk::new();
    let server = Launch::of(desk.at("site")).argument("--url").argument("https://www.example.org").start();
    assert!(server.said().contains("\n  repository  https://www.example.org/modoai\n"), "{}", server.said());
    let answer = server.client().get("/modoai?verb=Identify").expect("an answer").text();
    assert!(answer.contains("<baseURL>https://www.example.org/modoai</baseURL>"), "{answer}");
}

#[test]
fn one_catalogue_has_one_keeper() {
    let desk = Desk::new();
    let server = desk.serve();
    let said = format!(
        "modoai: another modoai process is using the catalogue in {}\n  hint: stop it, or give another directory with --data",
        desk.at("state").display()
    );
    desk.run_on_site("serve", &["--listen", "127.0.0.1:0"]).failed(1, &said);
    // The kernel frees what a killed server held.
    server.kill();
    assert_eq!(desk.serve().terminate().code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let desk = Desk::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let said = format!(
        "modoai: failed to listen on {address}: Address already in use (os error 98)
  hint: give another address with --listen; port 0 selects a free port"
    );
    desk.run_on_site("serve", &["--listen", &address]).failed(1, &said);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let said = "modoai: failed to open the directory nowhere: No such file or directory (os error 2)";
    Desk::new().run(&["serve", "nowhere", "--listen", "127.0.0.1:0", "--data", "state"]).failed(1, said);
}

#[test]
fn a_state_folder_inside_the_site_is_refused() {
    let desk = Desk::new();
    let said = format!(
        "modoai: the state directory {} is inside the site and would be served with it\n  hint: give another directory with --data",
        desk.at("site/state").display()
    );
    desk.run(&["serve", "site", "--listen", "127.0.0.1:0", "--data", "site/state"]).failed(64, &said);
}

#[test]
fn a_good_configuration_is_called_good_and_nothing_is_done() {
    let desk = Desk::new();
    desk.write("modoai.toml", "repository_name = \"Mine\"\n");
    let ended = desk.run_on_site("serve", &["--config", "modoai.toml", "--check-config"]);
    assert_eq!(ended.printed(), "the configuration is valid\n");
    assert!(!desk.at("state").exists());
}

#[test]
fn a_bad_password_file_is_named_with_its_line() {
    let desk = Desk::new();
    desk.write("etc/users", "# who may enter\nalice:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=\nbob:plain\n");
    desk.write("etc/modoai.toml", "[[area]]\npath = \"/docs\"\nhtpasswd = \"users\"\n");
    let said = "modoai: failed to protect an area: etc/users, line 3: this kind of password hash is not supported; use `htpasswd -B` (bcrypt)";
    desk.run_on_site("serve", &["--config", "etc/modoai.toml", "--check-config"]).failed(78, said);
    desk.run_on_site("serve", &["--config", "etc/modoai.toml", "--listen", "127.0.0.1:0"]).failed(78, said);
    std::fs::remove_file(desk.at("etc/users")).expect("it was there");
    let said = "modoai: failed to protect an area: failed to read the password file etc/users: No such file or directory (os error 2)";
    desk.run_on_site("serve", &["--config", "etc/modoai.toml", "--check-config"]).failed(78, said);
}

#[test]
fn a_hangup_reloads_the_configuration_and_ends_nothing() {
    let desk = Desk::new();
    desk.write("modoai.toml", "repository_name = \"First\"\n");
    // The password is "secret".
    desk.write("users", "reader:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n");
    let launch = Launch::of(desk.at("site")).state(desk.at("state"));
    let server = launch.argument("--config").argument(desk.at("modoai.toml")).start();
    let identify = || server.client().get("/modoai?verb=Identify").expect("an answer").text();
    let status = || server.client().get("/docs/b.txt").expect("an answer").status;
    assert!(identify().contains("<repositoryName>First<"));
    assert_eq!(status(), 200);

    let area = "[[area]]\npath = \"/docs\"\nhtpasswd = \"users\"\n";
    desk.write("modoai.toml", format!("repository_name = \"Second\"\n{area}"));
    server.signal("HUP");
    wait_until("the new name is told", || identify().contains("<repositoryName>Second<"));
    assert_eq!(status(), 401, "the area is closed");

    // What is wrong changes nothing.
    desk.write("modoai.toml", "repository_name = \"Third\"\nlistn = 1\n");
    server.signal("HUP");
    wait_until("the error is logged", || server.said().contains("failed to reload the configuration"));
    assert!(server.said().contains("unknown setting 'listn'; did you mean 'listen'?"), "{}", server.said());
    assert!(identify().contains("<repositoryName>Second<"));
    assert_eq!(status(), 401);
    assert!(server.terminate().success());
}

#[test]
fn a_server_whose_standard_error_is_closed_goes_on() {
    let desk = Desk::new();
    let mut child = desk.start(&["serve", "site", "--data", "state", "--listen", "127.0.0.1:0"]);
    drop(child.stderr.take());
    let mut lines = BufReader::new(child.stdout.take().expect("it is a pipe")).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.strip_prefix("listening on ").map(str::to_owned)).expect("it listens");
    // Each request is logged.
    let statuses: Vec<u16> = (0..3).map(|_| Client::new(&url).get("/a.txt").expect("an answer").status).collect();
    let sent = Command::new("sh").arg("-c").arg(format!("kill -TERM {}", child.id())).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let ended = wait_for("the server ends", || child.try_wait().expect("our own child").ok_or(""));
    assert_eq!((statuses, ended.code()), (vec![200; 3], Some(0)));
}

#[test]
fn requests_are_logged_in_the_combined_log_format_and_nothing_else() {
    let desk = Desk::new();
    let server = Launch::of(desk.at("site")).state(desk.at("state")).start();
    assert_eq!(server.client().get("/healthz").expect("an answer").status, 200);
    wait_until("the request is logged", || server.said().contains("GET /healthz"));
    let said = server.said();
    let line = said.lines().find(|line| line.contains("GET /healthz")).expect("a line");
    assert!(line.starts_with("127.0.0.1 - - ["), "{line}");
    assert!(line.contains("] \"GET /healthz HTTP/1.1\" 200 3 \"-\" "), "{line}");
}

#[test]
fn logs_are_json_if_that_is_set() {
    let desk = Desk::new();
    let launch = Launch::of(desk.at("site")).state(desk.at("state")).variable("MODOAI_LOG_FORMAT", "json");
    let server = launch.argument("--url").argument("https://www.example.org").start();
    assert_eq!(server.client().get("/healthz").expect("an answer").status, 200);
    wait_until("the request is logged", || server.said().contains("/healthz"));
    let said = server.said();
    let object = |part: &str| -> serde_json::Value {
        let line = said.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part} in {said}"));
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    };
    let request = object("/healthz");
    assert_eq!((&request["status"], &request["path"]), (&200.into(), &"/healthz".into()));
    // A public server with default values in Identify is told so.
    let message = object("default values");
    assert_eq!(message["level"], "WARN");
    assert!(message["message"].as_str().is_some_and(|text| text.ends_with("set repository_name and admin_email")));
}

#[test]
fn an_access_log_in_a_file_can_be_rotated() {
    let desk = Desk::new();
    let file = desk.at("logs/access.log");
    let server =
        Launch::of(desk.at("site")).state(desk.at("state")).set("access_log", &file.display().to_string()).start();
    let logged = |path: &std::path::Path| std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(server.client().get("/healthz").expect("an answer").status, 200);
    wait_until("the request is logged", || logged(&file).starts_with("127.0.0.1 - - ["));
    std::fs::rename(&file, desk.at("logs/access.log.1")).expect("rotated");
    wait_until("there is a new file", || {
        assert_eq!(server.client().get("/healthz").expect("an answer").status, 200);
        logged(&file).contains("/healthz")
    });
    assert!(!server.said().contains("GET /healthz"), "{}", server.said());
}

#[test]
fn one_link_out_of_the_site_is_one_link() {
    let desk = Desk::new();
    desk.write("elsewhere/a.html", "<title>a</title>");
    std::os::unix::fs::symlink(desk.at("elsewhere/a.html"), desk.at("site/one.html")).expect("a link");
    let reported = "skipped 1 symbolic link that points outside of the directory, one.html; to serve and list it, set \
                    follow_links = \"anywhere\"";
    let server = Launch::of(desk.at("site")).state(desk.at("state")).start();
    wait_until("it is reported", || server.said().contains(reported));
}

#[test]
fn links_out_of_the_site_are_reported_with_the_setting_that_follows_them() {
    let desk = Desk::new();
    desk.write("elsewhere/a.html", "<title>a</title>");
    for name in ["one.html", "two.html"] {
        std::os::unix::fs::symlink(desk.at("elsewhere/a.html"), desk.at("site").join(name)).expect("a link");
    }
    std::os::unix::fs::symlink("missing", desk.at("site").join("dangling.html")).expect("a link");
    let reported = "skipped 2 symbolic links that point outside of the directory, such as one.html; to serve and list them, set \
                    follow_links = \"anywhere\"";
    let launch = || Launch::of(desk.at("site")).state(desk.at("state"));
    let server = launch().start();
    wait_until("it is reported", || server.said().contains(reported));
    server.terminate();
    let server = launch().set("follow_links", "anywhere").start();
    assert_eq!(server.client().get("/one.html").expect("an answer").status, 200);
    assert!(!server.said().contains("symbolic links"), "{}", server.said());
}

#[test]
fn wrong_certificates_are_named_before_anything_is_served() {
    let desk = Desk::new();
    desk.write("certificate.pem", "nothing");
    let set = ["--option", "tls_certificate=certificate.pem", "--option", "tls_key=key.pem"];
    let said = "modoai: invalid configuration: no certificate in certificate.pem: it must contain a chain of \
                certificates in PEM (BEGIN CERTIFICATE)";
    desk.run_on_site("serve", &set).failed(78, said);
    desk.run_on_site("serve", &[&set[..], &["--check-config"]].concat()).failed(78, said);
    let said = "modoai: invalid configuration: tls_certificate and tls_key must be set together";
    desk.run_on_site("serve", &[&set[..2], &["--check-config"]].concat()).failed(78, said);
}
