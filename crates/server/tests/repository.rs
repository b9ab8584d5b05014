//! The repository over HTTP: methods, forms, encodings, and pages for people. What the answers say is tested elsewhere.

use std::io::Read as _;

use crate::bench::{Bench, Folder};

const FORM: &str = "application/x-www-form-urlencoded";
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn get_and_post_give_the_same_answer_and_head_its_headers() {
    let bench = Bench::of(&[("a", "x")]);
    let get = bench.get("/modoai?verb=ListMetadataFormats");
    assert_eq!(get.status, 200);
    assert_eq!(get.header("content-type"), Some("text/xml; charset=UTF-8"));
    let vary = "Accept, Sec-Fetch-Mode, Sec-Fetch-Dest, Authorization, Cookie, Accept-Encoding";
    assert_eq!(get.header("vary"), Some(vary));
    assert!(get.text().contains("<metadataPrefix>oai_dc</metadataPrefix>"), "{}", get.text());
    let undated =
        |text: &str| text.split("<responseDate>").map(|part| part.split_at(20).1.to_owned()).collect::<Vec<_>>();
    let post = bench.post("/modoai", FORM, "verb=ListMetadataFormats");
    assert_eq!(undated(post.text()), undated(get.text()));
    let post = bench.post("/modoai?", "application/X-WWW-form-urlencoded; charset=UTF-8", "verb=ListMetadataFormats");
    assert_eq!(undated(post.text()), undated(get.text()));
    let head = bench.ask("HEAD", "/modoai?verb=ListMetadataFormats", &[], "");
    assert_eq!((head.status, head.header("content-type")), (200, get.header("content-type")));
    assert!(head.body.is_empty());
    assert!(bench.get("/mod%6fai?verb=Identify").text().contains(&format!("http://{}/modoai<", bench.address)));
}

#[test]
fn what_is_no_form_is_refused_and_what_is_no_request_is_a_protocol_error() {
    let bench = Bench::of(&[]);
    assert_eq!(bench.post("/modoai", "application/json", "{}").status, 415);
    for reply in [bench.get("/modoai"), bench.post("/modoai", FORM, ""), bench.get("/modoai?verb=%ff")] {
        assert_eq!(reply.status, 200);
        assert!(reply.text().contains("<error code=\"bad"), "{}", reply.text());
    }
    let long = bench.get(&format!("/modoai?verb={}", "a".repeat(20_000)));
    assert_eq!(long.status, 200);
    let put = bench.ask("PUT", "/modoai", &[], "");
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, HEAD, POST")));
    let slash = bench.get("/modoai/?verb=Identify");
    assert_eq!((slash.status, slash.header("location")), (302, Some("/modoai?verb=Identify")));
}

#[test]
fn schemas_are_published() {
    let bench = Bench::of(&[]);
    let schema = bench.get("/modoai/http_header.xsd");
    assert_eq!((schema.status, schema.header("content-type")), (200, Some("application/xml; charset=UTF-8")));
    assert!(schema.text().contains("schema"));
    assert_eq!(bench.get("/modoai/other.xsd").status, 404);
    assert_eq!(bench.post("/modoai/http_header.xsd", FORM, "").status, 405);
}

#[test]
fn people_get_a_page_and_harvesters_never_do() {
    let bench = Bench::of(&[("a", "x")]);
    let page = bench.get_with("/modoai?verb=Identify", &[("Accept", BROWSER)]);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=UTF-8")));
    assert!(page.text().contains("<html"));
    assert!(page.header("content-security-policy").is_some());
    for accept in ["*/*", "text/xml", "application/xml, text/html", "text/html", ""] {
        let reply = bench.get_with("/modoai?verb=Identify", &[("Accept", accept)]);
        assert_eq!(reply.header("content-type"), Some("text/xml; charset=UTF-8"), "{accept}");
    }
}

#[test]
fn answers_are_encoded_when_asked() {
    let folder = Folder::new(&[]);
    for index in 0..1500 {
        folder.put(&format!("some/folder/file-{index}.txt"), b"x");
    }
    let bench = folder.serve(|_, _| {});
    let target = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    let headers_of = |text: &str| text.matches("<identifier>").count();
    let plain = bench.get(target);
    assert!(plain.is_whole && plain.header("content-encoding").is_none());
    assert_eq!(plain.header("transfer-encoding"), Some("chunked"), "this answer is longer than one chunk");
    assert_eq!(headers_of(plain.text()), 1500);
    for encoding in modoai_server::ENCODINGS {
        let reply = bench.get_with(target, &[("Accept-Encoding", encoding)]);
        assert_eq!(reply.header("content-encoding"), Some(*encoding));
        assert!(reply.is_whole && reply.body.len() < plain.body.len() / 4, "{encoding}");
        let mut text = String::new();
        match *encoding {
            "gzip" => flate2::read::GzDecoder::new(&reply.body[..]).read_to_string(&mut text).map(drop).expect("gzip"),
            "br" => brotli::Decompressor::new(&reply.body[..], 4096).read_to_string(&mut text).map(drop).expect("br"),
            _ => text = String::from_utf8(zstd::decode_all(&reply.body[..]).expect("zstd")).expect("text"),
        }
        assert_eq!(headers_of(&text), 1500, "{encoding}");
    }
}
