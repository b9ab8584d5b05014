//! Requesters behind a proxy: what `Require ip` lets them have is what they find, by the address that mod_remoteip takes
//! them to have.

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::http::{Dressed, Get as _};

use super::{listed, paths};

#[test]
fn requesters_behind_a_proxy_see_what_their_own_address_may_have() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).modules(&["mod_remoteip"]).ordinary_site().text(
        r#"RemoteIPHeader X-Client
        RemoteIPInternalProxy 127.0.0.1
        <Location "/modoai">
            Require ip 127.0.0.1 10.9.9.9 10.8.8.8
        </Location>"#,
    );
    for (name, address) in [("here", "127.0.0.1"), ("there", "10.9.9.9")] {
        launch.write(format!("docs/{name}/.htaccess"), format!("Require ip {address}\n"));
        launch.write(format!("docs/{name}/x.txt"), name);
    }
    launch.write("docs/x.txt", "x");
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    for (header, expected) in [
        (None, paths(["here/x.txt", "x.txt"])),
        (Some("10.9.9.9"), paths(["there/x.txt", "x.txt"])),
        (Some("10.8.8.8"), paths(["x.txt"])),
        // What the proxy was told by others is not believed.
        (Some("10.9.9.9, 10.8.8.8"), paths(["x.txt"])),
    ] {
        let headers: Vec<(&str, &str)> = header.map(|value| ("X-Client", value)).into_iter().collect();
        let mut client = Dressed { client: httpd.client(), headers: &headers };
        for name in ["here/x.txt", "there/x.txt", "x.txt"] {
            let given = client.get(&format!("/{name}")).expect("an answer").status == 200;
            assert_eq!(given, expected.contains(name), "{header:?}: GET {name}");
        }
        let errors = httpd.error_log().len();
        assert_eq!(listed(&mut client), expected, "{header:?}");
        httpd.expect_clean_log_since(errors, &[]);
    }
}
