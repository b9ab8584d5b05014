//! `modoai ask`: one answer, no server.

use std::io::{BufRead as _, BufReader};

use modoai_testkit::xsd;

use crate::desk::{Desk, finish};

const URL: &str = "--url=https://www.example.org";

const QUERIES: [&str; 7] = [
    "verb=Identify",
    "verb=ListMetadataFormats",
    "verb=ListSets",
    "verb=ListIdentifiers&metadataPrefix=oai_dc",
    "verb=ListRecords&metadataPrefix=http_header&set=mime:text",
    "verb=ListRecords&metadataPrefix=oai_didl",
    "verb=GetRecord&metadataPrefix=oai_dc&identifier=https://www.example.org/docs/b.txt",
];

#[test]
fn every_verb_is_answered_with_a_valid_document() {
    let desk = Desk::new();
    let answers = QUERIES.map(|query| (query, desk.run_on_site("ask", &[query, URL]).printed()));
    for (query, answer) in &answers {
        let verb = query.split(['=', '&']).nth(1).expect("a verb");
        assert!(answer.contains(&format!("\n<{verb}>")), "{query}:\n{answer}");
        assert!(!answer.contains("<error "), "{query}:\n{answer}");
        assert!(answer.ends_with("</OAI-PMH>\n"), "{query}:\n{answer}");
    }
    xsd::expect_all_valid(answers.iter().map(|(query, answer)| (*query, answer.as_bytes())));
}

#[test]
fn the_folder_is_looked_at_first() {
    let desk = Desk::new();
    let listed = || desk.run_on_site("ask", &["verb=ListIdentifiers&metadataPrefix=oai_dc", URL]).printed();
    assert_eq!(listed().matches("<header>").count(), 3);
    desk.write("site/new.txt", "new");
    assert!(listed().contains("<identifier>https://www.example.org/new.txt</identifier>"));
}

#[test]
fn an_error_of_the_protocol_is_printed_and_exits_with_1() {
    let desk = Desk::new();
    let nothing = "verb=ListRecords&metadataPrefix=oai_dc&until=1990-01-01";
    for (query, code) in
        [("verb=List", "badVerb"), ("", "badVerb"), ("?verb=Identify&x=1", "badArgument"), (nothing, "noRecordsMatch")]
    {
        let ended = desk.run_on_site("ask", &[query]);
        assert_eq!((ended.status, ended.stderr.as_str()), (1, "modoai: the response is an OAI-PMH error\n"), "{query}");
        assert!(ended.stdout.contains(&format!("<error code=\"{code}\">")), "{query}:\n{}", ended.stdout);
    }
}

#[test]
fn a_running_server_is_no_obstacle() {
    let desk = Desk::new();
    let _server = desk.serve();
    let answer = desk.run_on_site("ask", &["verb=ListIdentifiers&metadataPrefix=oai_dc"]).printed();
    assert_eq!(answer.matches("<header>").count(), 3);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let desk = Desk::new();
    // More than a pipe holds, so that the command is still writing when its reader goes.
    desk.write("site/large.bin", vec![7; 400_000]);
    let mut child = desk.start(&["ask", "site", "--data", "state", "verb=ListRecords&metadataPrefix=oai_didl"]);
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("it was asked for"));
    reader.read_line(&mut first).expect("a pipe can be read");
    drop(reader);
    assert_eq!(first, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    assert_eq!(finish(child).printed(), "");
}

#[test]
fn protected_areas_stay_closed() {
    let desk = Desk::new();
    // The password is irrelevant: `ask` has none to give.
    desk.write("users", "alice:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=\n");
    desk.write("modoai.toml", "[[area]]\npath = \"/docs\"\nhtpasswd = \"users\"\n");
    let query = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let answer = desk.run_on_site("ask", &[query, "--config", "modoai.toml"]).printed();
    assert_eq!(answer.matches("<header>").count(), 2, "{answer}");
    assert!(!answer.contains("/docs/"), "{answer}");
}

#[test]
fn a_disk_that_is_not_there_gives_no_answer_rather_than_a_wrong_one() {
    let desk = Desk::new();
    desk.run_on_site("index", &[]).printed();
    std::fs::remove_dir_all(desk.at("site")).expect("it was there");
    let said = "modoai: failed to open the directory site: No such file or directory (os error 2)";
    desk.run_on_site("ask", &["verb=Identify"]).failed(1, said);
}
