//! Files larger than what httpd hands on in one piece: a gigabyte.

use std::fs::File;

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::http::encode;

use super::{listed, paths};
use crate::oai;

#[test]
fn files_of_any_size_are_listed_with_their_length() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    let sizes: [u64; 4] = [(1 << 30) - 1, 1 << 30, (1 << 30) + 1, 5 << 30];
    let mut names = Vec::new();
    for size in sizes {
        let name = format!("{size}.bin");
        // Holes: they take no room.
        let file = File::create(launch.path().join("docs").join(&name)).expect("a new file");
        file.set_len(size).expect("a file system with large files");
        names.push((name, size));
    }
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let expected = paths([0, 1, 2, 3].map(|number| names[number].0.as_str()));
    assert_eq!(listed(&mut client), expected);
    for (name, size) in &names {
        let head = client.head(&format!("/{name}")).expect("an answer");
        assert_eq!((head.status, head.header("Content-Length")), (200, Some(size.to_string().as_str())));
        let id = encode(format!("{}/{name}", httpd.url()));
        let record = oai::ask(&mut client, &format!("verb=GetRecord&metadataPrefix=http_header&identifier={id}"));
        let told = String::from_utf8_lossy(&record.xml).into_owned();
        assert!(told.contains(&format!("<header name=\"Content-Length\">{size}</header>")), "{told}");
    }
    httpd.expect_clean_log(&[]);
}
