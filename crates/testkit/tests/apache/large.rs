//! Files larger than what httpd hands on in one piece, a gigabyte, and those that are copied before they are sent by value.

use std::fs::File;

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::http::encode;
use modoai_testkit::site;

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

#[test]
fn temporary_copies_are_below_the_index_directory() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    launch.write("docs/large.bin", vec![7; 2 << 20]);
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let id = encode(format!("{}/large.bin", httpd.url()));
    let query = format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={id}");
    assert!(oai::ask(&mut client, &query).xml.len() > 2 << 20, "the file is sent by value");
    // A file of no name leaves no trace; the directory is that of the host, next to its catalogue.
    let catalogues = site::files_below(&httpd.path().join("index")).expect("the index directory");
    let catalogue = catalogues.iter().find(|file| file.ends_with("catalogue.sqlite")).expect("a catalogue");
    assert!(httpd.path().join("index").join(catalogue).with_file_name("tmp").is_dir(), "{catalogues:?}");
    httpd.expect_clean_log(&[]);
}

#[test]
fn temporary_directory_that_is_missing_is_logged_with_its_path() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site().text("OAITempDir nowhere\n");
    launch.write("docs/large.bin", vec![7; 2 << 20]);
    launch.write("docs/small.txt", "small");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let get = |name: &str| {
        let id = encode(format!("{}/{name}", httpd.url()));
        format!("/modoai?verb=GetRecord&metadataPrefix=oai_didl&identifier={id}")
    };
    assert_eq!(client.get(&get("small.txt")).expect("an answer").status, 200);
    // The response has begun when the copy fails, and breaks off.
    let large = client.get(&get("large.bin"));
    assert!(large.is_err() || large.is_ok_and(|answer| answer.status == 500), "it is not passed off as whole");
    let place = format!("failed to create a temporary file in {}", httpd.path().join("nowhere").display());
    httpd.wait("a line in the log", || httpd.error_log().contains(&place));
}
