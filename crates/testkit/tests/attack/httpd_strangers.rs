//! Modules that are not httpd's own find in a probe what they keep for every connection. Internal filters can be named by a
//! `.htaccess`.

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::lacks;

use crate::oai;

#[test]
fn a_module_that_relies_on_its_slot_of_the_connection_does_not_end_the_child() {
    if apache::is_missing() || lacks(&["apxs", "cc"]) {
        return;
    }
    for mpm in [Mpm::Event, Mpm::Prefork] {
        let launch = Launch::new(mpm).compiled("strange", include_str!("mod_strange.c")).ordinary_site();
        launch.write("docs/x.txt", "x");
        launch.write("docs/empty.txt", "");
        let httpd = launch.start();
        let mut client = httpd.client();
        httpd.wait_for_index(&mut client);
        let records = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=oai_didl");
        assert_eq!(records.len(), 2);
        assert!(!httpd.error_log().contains("exit signal"), "{}", httpd.error_log());
        httpd.expect_clean_log(&[]);
    }
}

/// A `.htaccess` may name every filter that is registered.
#[test]
fn internal_filters_named_in_htaccess_do_not_end_the_child() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    launch.write("docs/plain/x.txt", "x");
    for filter in ["OAI_CAPTURE", "OAI_PROTECTED_HEADERS"] {
        launch.write(format!("docs/{filter}/.htaccess"), format!("SetOutputFilter {filter}\n"));
        launch.write(format!("docs/{filter}/x.txt"), "x");
    }
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    for folder in ["OAI_CAPTURE", "OAI_PROTECTED_HEADERS", "plain"] {
        let answer = httpd.client().get(&format!("/{folder}/x.txt")).expect("an answer");
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"x"[..]), "{folder}");
    }
    let records = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=oai_didl");
    assert!(records.iter().any(|record| record.identifier.ends_with("/plain/x.txt")), "{records:?}");
    assert!(!httpd.error_log().contains("exit signal"), "{}", httpd.error_log());
}
