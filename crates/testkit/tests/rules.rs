//! Every row of the protocol's rule sheet, through HTTP, in both hosts, with each kind of answer judged by the official
//! schemas.

use std::process::Command;

use modoai_testkit::http::{BROWSER, Client, encode};
use modoai_testkit::process::{Launch, Server, binary};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;
use modoai_testkit::{workspace, xsd};

use crate::hosts::Host;
use crate::oai::{self, Page};
use crate::running::to_its_end;

/// Makes a test of each rule for each host.
macro_rules! in_both_hosts {
    ($($rule:ident),* $(,)?) => {
        mod standalone {
            $(#[test] fn $rule() { super::$rule(crate::hosts::Host::Standalone); })*
        }
        mod apache {
            $(#[test] fn $rule() {
                if !modoai_testkit::apache::is_missing() {
                    super::$rule(crate::hosts::Host::Apache);
                }
            })*
        }
    };
}

in_both_hosts! {
    every_illegal_request_gets_its_proper_error_with_status_200,
    every_legal_request_is_answered_by_get_and_by_post,
    dates_select_inclusively_in_both_granularities,
    sets_are_hierarchical_and_only_those_present,
    set_whose_last_record_was_deleted_leaves_list_sets,
    lists_come_in_pages_that_join_and_tokens_are_bound_to_their_list,
    an_empty_site_is_a_legal_repository,
    identifiers_follow_the_oai_scheme_where_that_is_set,
    identifiers_come_from_settings_and_never_from_the_host_header,
    people_get_a_page_and_machines_get_xml,
    other_methods_are_refused_and_head_is_get_without_a_body,
    a_post_with_a_query_in_its_url_is_refused,
    answers_can_be_valid_by_the_official_schemas_alone,
}

fn small_site() -> TestSite {
    TestSite::with(&[("index.html", "<title>Home &amp; away</title>"), ("a.txt", "a"), ("b/c.svg", "<svg/>")])
}

fn codes(page: &Page) -> Vec<&str> {
    page.answer.errors.iter().map(|(code, _)| code.as_str()).collect()
}

fn every_illegal_request_gets_its_proper_error_with_status_200(host: Host) {
    let site = small_site();
    let server = host.serve(&site, &[]);
    let mut client = server.client();
    let id = encode(format!("{}/a.txt", server.url()));
    let long = "x".repeat(20_000);
    let table: Vec<(String, &[&str])> = vec![
        // The verb: absent, empty, unknown, in the wrong case, repeated. Nothing else is judged then.
        ("".into(), &["badVerb"]),
        ("junk".into(), &["badVerb"]),
        ("verb=".into(), &["badVerb"]),
        ("verb=junk&junk=1".into(), &["badVerb"]),
        ("verb=identify".into(), &["badVerb"]),
        ("verb=Identify&verb=Identify".into(), &["badVerb"]),
        ("verb=Identify&verb=ListSets".into(), &["badVerb"]),
        // Arguments: unknown, repeated, missing, empty, exclusive in company; all faults together.
        ("verb=Identify&identifier=x".into(), &["badArgument"]),
        ("verb=Identify&resumptionToken=x".into(), &["badArgument"]),
        ("verb=GetRecord&metadataPrefix=oai_dc".into(), &["badArgument"]),
        (format!("verb=GetRecord&identifier={id}"), &["badArgument"]),
        ("verb=GetRecord".into(), &["badArgument", "badArgument"]),
        (format!("verb=GetRecord&identifier={id}&identifier={id}&metadataPrefix=oai_dc"), &["badArgument"]),
        (format!("verb=GetRecord&identifier={id}&metadataPrefix="), &["badArgument"]),
        ("verb=ListRecords".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&junk=1&set=".into(), &["badArgument", "badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=junk".into(), &["badArgument"]),
        ("verb=ListIdentifiers&resumptionToken=junk&until=2000-02-05".into(), &["badArgument"]),
        ("verb=ListSets&resumptionToken=".into(), &["badArgument"]),
        // Values: prefixes, set specs, dates, granularities, ranges.
        (format!("verb=GetRecord&identifier={id}&metadataPrefix=oai%2Fdc"), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&set=mime:image:svg%2Bxml".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&set=mime::text".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=junk".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&until=2023-02-29".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=0000-01-01".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-01T25:00:00Z".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-01T00:00:00.0Z".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-01T00:00:00%2B01:00".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-05&until=2002-02-06T05:35:00Z".into(), &["badArgument"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-06&until=2002-02-05".into(), &["badArgument"]),
        // Not UTF-8, and over-long.
        ("verb=GetRecord&metadataPrefix=oai_dc&identifier=%FF%FE".into(), &["badArgument"]),
        (format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={long}"), &["badArgument"]),
        // Tokens that are not ours.
        ("verb=ListRecords&resumptionToken=junk".into(), &["badResumptionToken"]),
        ("verb=ListSets&resumptionToken=junk".into(), &["badResumptionToken"]),
        ("verb=ListIdentifiers&resumptionToken=%22%3E%3Cx".into(), &["badResumptionToken"]),
        // What only the repository can judge.
        ("verb=ListRecords&metadataPrefix=marcxml".into(), &["cannotDisseminateFormat"]),
        ("verb=ListIdentifiers&metadataPrefix=marcxml".into(), &["cannotDisseminateFormat"]),
        (format!("verb=GetRecord&identifier={id}&metadataPrefix=marcxml"), &["cannotDisseminateFormat"]),
        ("verb=GetRecord&identifier=invalid%22id&metadataPrefix=oai_dc".into(), &["idDoesNotExist"]),
        (
            format!("verb=GetRecord&identifier={id}x&metadataPrefix=junk"),
            &["idDoesNotExist", "cannotDisseminateFormat"],
        ),
        ("verb=GetRecord&identifier=http://elsewhere/a.txt&metadataPrefix=oai_dc".into(), &["idDoesNotExist"]),
        ("verb=GetRecord&identifier=%00%01&metadataPrefix=oai_dc".into(), &["idDoesNotExist"]),
        // What is no URI cannot be repeated in the response.
        ("verb=GetRecord&identifier=%&metadataPrefix=oai_dc".into(), &["badArgument"]),
        ("verb=GetRecord&identifier=%25zz&metadataPrefix=marcxml".into(), &["badArgument", "cannotDisseminateFormat"]),
        ("verb=GetRecord&identifier=a%23b%23c&metadataPrefix=oai_dc".into(), &["badArgument"]),
        ("verb=GetRecord&identifier=http://%5B/&metadataPrefix=oai_dc".into(), &["badArgument"]),
        ("verb=GetRecord&identifier=:a&metadataPrefix=oai_dc".into(), &["badArgument"]),
        ("verb=ListMetadataFormats&identifier=%25".into(), &["badArgument"]),
        (format!("verb=ListMetadataFormats&identifier={id}x"), &["idDoesNotExist"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&set=mime:video".into(), &["noRecordsMatch"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&set=unknown".into(), &["noRecordsMatch"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&until=1969-12-31".into(), &["noRecordsMatch"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&until=0001-01-01T00:00:00Z".into(), &["noRecordsMatch"]),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=9999-12-31".into(), &["noRecordsMatch"]),
    ];
    let mut pages = Vec::new();
    for (query, expected) in &table {
        let by_get = oai::ask(&mut client, query);
        assert_eq!(codes(&by_get), *expected, "{query}");
        for (code, message) in &by_get.answer.errors {
            assert!(!message.is_empty(), "{query}: {code} says nothing");
        }
        let hidden = expected.iter().any(|code| matches!(*code, "badVerb" | "badArgument"));
        assert_eq!(
            by_get.answer.arguments.is_empty(),
            hidden,
            "{query}: arguments are echoed unless they are at fault"
        );
        assert_eq!(by_get.answer.url, format!("{}/modoai", server.url()));
        if query.len() < 16_000 {
            let by_post = client.post_form("/modoai", query).expect("an answer");
            let by_post = modoai_protocol::xml::Response::read(&by_post.body).expect("well-formed");
            assert_eq!(by_post.errors, by_get.answer.errors, "{query} by POST");
        }
        pages.push(by_get);
    }
    xsd::expect_all_valid(pages.iter().map(|page| (page.query.as_str(), page.xml.as_slice())));
}

fn every_legal_request_is_answered_by_get_and_by_post(host: Host) {
    let site = small_site();
    let files = ["eprints", "rights", "friends", "branding"].map(example_description);
    let settings: [(&str, &[&str]); 3] = [
        ("name", &["Names & <marks>"]),
        ("email", &["a@example.org", "b@example.org"]),
        ("descriptions", &files.each_ref().map(String::as_str)),
    ];
    let server = host.serve(&site, &settings);
    let mut client = server.client();
    let id = encode(format!("{}/index.html", server.url()));
    let mut pages = Vec::new();
    for query in [
        "verb=Identify".to_owned(),
        "verb=ListMetadataFormats".to_owned(),
        format!("verb=ListMetadataFormats&identifier={id}"),
        "verb=ListSets".to_owned(),
        format!("metadataPrefix=oai_dc&identifier={id}&verb=GetRecord"),
        format!("verb=GetRecord&identifier={id}&metadataPrefix=http_header"),
        format!("verb=GetRecord&identifier={id}&metadataPrefix=oai_didl"),
        "verb=ListIdentifiers&metadataPrefix=oai_didl&from=1950-01-01".to_owned(),
        "verb=ListRecords&metadataPrefix=oai_dc&set=mime".to_owned(),
        "verb=ListRecords&metadataPrefix=oai_dc&from=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z".to_owned(),
    ] {
        let page = oai::ask(&mut client, &query);
        assert_eq!(page.answer.errors, [], "{query}");
        let by_post = client.post_form("/modoai", &query).expect("an answer");
        let by_post = modoai_protocol::xml::Response::read(&by_post.body).expect("well-formed");
        assert_eq!(by_post.records, page.answer.records, "{query}");
        assert_eq!(by_post.identify, page.answer.identify, "{query}");
        pages.push(page);
    }
    xsd::expect_all_valid(pages.iter().map(|page| (page.query.as_str(), page.xml.as_slice())));
    let identify = &pages[0].answer;
    assert_eq!(identify.identify("repositoryName"), Some("Names & <marks>"));
    assert_eq!(identify.identify("baseURL"), Some(format!("{}/modoai", server.url()).as_str()));
    assert_eq!(identify.identify("protocolVersion"), Some("2.0"));
    assert_eq!(identify.identify("deletedRecord"), Some("persistent"));
    assert_eq!(identify.identify("granularity"), Some("YYYY-MM-DDThh:mm:ssZ"));
    assert_eq!(identify.descriptions.len(), 5, "datestamps, eprints, rights, friends and branding");
}

fn dates_select_inclusively_in_both_granularities(host: Host) {
    let site = small_site();
    site.date("a.txt", std::time::Duration::from_secs(1_000_000_000)); // 2001-09-09T01:46:40Z
    let server = host.serve(&site, &[]);
    let mut client = server.client();
    let mut names = |selection: &str| -> Vec<String> {
        let page = oai::ask(&mut client, &format!("verb=ListIdentifiers&metadataPrefix=oai_dc&{selection}"));
        page.answer.records.iter().map(|record| record.identifier.rsplit('/').next().unwrap_or("").to_owned()).collect()
    };
    for inside in [
        "from=2001-09-09T01:46:40Z&until=2001-09-09T01:46:40Z",
        "from=2001-09-09&until=2001-09-09",
        "until=2001-09-09",
        "until=2001-09-09T01:46:40Z",
        "from=1969-01-01&until=2001-12-31",
    ] {
        assert_eq!(names(inside), ["a.txt"], "{inside}");
    }
    for outside in
        ["until=2001-09-09T01:46:39Z", "from=2001-09-09T01:46:41Z&until=2001-09-09T23:59:59Z", "until=2001-09-08"]
    {
        assert_eq!(names(outside), [""; 0], "{outside}");
    }
    assert_eq!(names("from=2001-09-10").len(), 2);
    let identify = oai::ask(&mut client, "verb=Identify").answer;
    assert_eq!(identify.identify("earliestDatestamp"), Some("2001-09-09T01:46:40Z"));
}

fn sets_are_hierarchical_and_only_those_present(host: Host) {
    let site = small_site();
    let server = host.serve(&site, &[]);
    let mut client = server.client();
    let sets = oai::ask(&mut client, "verb=ListSets").answer.sets;
    let specs: Vec<&str> = sets.iter().map(|set| set.spec.as_str()).collect();
    assert_eq!(specs, ["mime", "mime:image", "mime:image:svg!2Bxml", "mime:text", "mime:text:html", "mime:text:plain"]);
    assert!(sets.iter().all(|set| !set.name.is_empty()));
    for (set, size) in [("mime", 3), ("mime:text", 2), ("mime:text:html", 1), ("mime:image:svg!2Bxml", 1)] {
        let records = oai::harvest(&mut client, &format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={set}"));
        assert_eq!(records.len(), size, "{set}");
    }
}

fn set_whose_last_record_was_deleted_leaves_list_sets(host: Host) {
    let site = small_site();
    let server = host.serve(&site, &[]);
    let mut client = server.client();
    assert!(oai::harvest_sets(&mut client).contains("mime:image"));
    site.remove("b/c.svg");
    wait_until("the set is no longer listed", || {
        let sets = oai::harvest_sets(&mut client);
        !sets.iter().any(|set| set.starts_with("mime:image")) && sets.contains("mime:text:html")
    });
    // Its deletion is still found by the set.
    let query = "verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:image";
    let deleted = oai::harvest(&mut client, query);
    assert_eq!(deleted.iter().map(|record| record.deleted).collect::<Vec<_>>(), [true]);
    // modoai's own validator has nothing against it.
    let mut validate = Command::new(binary());
    validate.args(["validate", &format!("{}/modoai", server.url()), "--only", "sets"]);
    let validated = to_its_end(&mut validate).expect("it ends");
    assert_eq!(validated.status.code(), Some(0), "{}{}", validated.out, validated.err);
    assert!(!validated.out.contains("mime:image"), "{}", validated.out);
}

fn lists_come_in_pages_that_join_and_tokens_are_bound_to_their_list(host: Host) {
    let site = TestSite::with(&[]);
    for number in 0..15 {
        site.write(format!("{number}.txt"), "x");
    }
    for number in 0..10 {
        site.write(format!("{number}.css"), "x");
    }
    let server = host.serve(&site, &[("page size", &["10"])]);
    let mut client = server.client();
    let pages = oai::pages(&mut client, "verb=ListRecords&metadataPrefix=oai_dc");
    let sizes: Vec<usize> = pages.iter().map(|page| page.answer.records.len()).collect();
    assert_eq!(sizes, [10, 10, 5]);
    for (page, cursor) in pages.iter().zip(["0", "10", "20"]) {
        let token = page.answer.token.as_ref().expect("on every page of several");
        assert_eq!((token.cursor.as_deref(), token.size.as_deref()), (Some(cursor), Some("25")));
    }
    let mut identifiers: Vec<_> =
        pages.iter().flat_map(|page| &page.answer.records).map(|record| &record.identifier).collect();
    identifiers.sort();
    identifiers.dedup();
    assert_eq!(identifiers.len(), 25);
    // A list that fits exactly has no token at all.
    let exactly = oai::ask(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:text:css").answer;
    assert_eq!((exactly.records.len(), exactly.token), (10, None));
    // The same token gives the same page again; a token of another list is refused.
    let token = encode(&pages[0].answer.token.as_ref().expect("more to come").value);
    let again = oai::ask(&mut client, &format!("verb=ListRecords&resumptionToken={token}"));
    assert_eq!(again.answer.records, pages[1].answer.records);
    assert_eq!(again.answer.arguments.len(), 2, "verb and token are echoed");
    for verb in ["ListIdentifiers", "ListSets"] {
        assert_eq!(
            codes(&oai::ask(&mut client, &format!("verb={verb}&resumptionToken={token}"))),
            ["badResumptionToken"]
        );
    }
    xsd::expect_all_valid(pages.iter().map(|page| (page.query.as_str(), page.xml.as_slice())));
}

fn an_empty_site_is_a_legal_repository(host: Host) {
    let site = TestSite::with(&[]);
    let server = host.serve(&site, &[]);
    let mut client = server.client();
    let identify = oai::ask(&mut client, "verb=Identify");
    assert_eq!(codes(&oai::ask(&mut client, "verb=ListRecords&metadataPrefix=oai_dc")), ["noRecordsMatch"]);
    for query in ["verb=ListSets", "verb=ListRecords&metadataPrefix=oai_dc&set=a"] {
        assert_eq!(codes(&oai::ask(&mut client, query)), ["noSetHierarchy"], "{query}");
    }
    xsd::expect_valid("Identify", &identify.xml);
}

fn identifiers_follow_the_oai_scheme_where_that_is_set(host: Host) {
    let site = small_site();
    let server = host.serve(&site, &[("identifier", &["example.org"])]);
    let mut client = server.client();
    let records = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=oai_dc");
    assert!(records.iter().any(|record| record.identifier == "oai:example.org:b/c.svg"));
    let record = oai::ask(&mut client, "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:example.org:a.txt");
    let metadata = record.answer.records[0].metadata.as_ref().expect("a description");
    let url = format!("<dc:identifier>{}/a.txt</dc:identifier>", server.url());
    assert!(String::from_utf8_lossy(&metadata.bytes).contains(&url), "the URL stays in the description");
    // A DIDL document's own identifier is the request that returns it.
    let package = oai::ask(&mut client, "verb=GetRecord&metadataPrefix=oai_didl&identifier=oai:example.org:a.txt");
    let metadata =
        String::from_utf8_lossy(&package.answer.records[0].metadata.as_ref().expect("a package").bytes).into_owned();
    let document =
        metadata.split_once("DIDLDocumentId=\"").and_then(|(_, rest)| rest.split_once('"')).expect("an identifier");
    let request = document.0.replace("&amp;", "&");
    let again = oai::ask(&mut client, request.split_once('?').expect("a request").1);
    assert_eq!(again.answer.records, package.answer.records);
    let identify = oai::ask(&mut client, "verb=Identify");
    assert_eq!(identify.answer.descriptions.len(), 2, "datestamps and identifiers");
    let sample = "<sampleIdentifier>oai:example.org:index.html</sampleIdentifier>";
    assert!(String::from_utf8_lossy(&identify.xml).contains(sample));
    xsd::expect_all_valid([("Identify", identify.xml.as_slice()), ("GetRecord", record.xml.as_slice())]);
}

fn identifiers_come_from_settings_and_never_from_the_host_header(host: Host) {
    let site = small_site();
    let server = host.serve(&site, &[("url", &["https://www.example.org"])]);
    let answer = Client::new(&server.url())
        .raw(b"GET /modoai?verb=ListIdentifiers&metadataPrefix=oai_dc HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        .expect("an answer");
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("<identifier>https://www.example.org/a.txt</identifier>"), "{answer}");
    assert!(!answer.contains("evil"), "{answer}");
}

#[test]
fn answers_are_encoded_when_asked_and_only_then() {
    let site = small_site();
    let server = Server::of(site.path());
    let mut client = server.client();
    let target = "/modoai?verb=ListRecords&metadataPrefix=oai_dc";
    let plain = client.get(target).expect("an answer");
    assert_eq!(plain.header("Content-Encoding"), None);
    for (asked, magic) in [("gzip", &b"\x1f\x8b"[..]), ("zstd", b"\x28\xb5\x2f\xfd"), ("br", b"")] {
        let answer = client.get_with(target, &[("Accept-Encoding", asked)]).expect("an answer");
        assert_eq!(answer.header("Content-Encoding"), Some(asked));
        assert!(answer.body.starts_with(magic) && answer.body.len() < plain.body.len(), "{asked}");
        assert!(answer.header("Vary").is_some_and(|vary| vary.contains("Accept-Encoding")));
    }
    let refused = client.get_with(target, &[("Accept-Encoding", "gzip;q=0, identity")]).expect("an answer");
    assert_eq!(refused.header("Content-Encoding"), None);
}

fn people_get_a_page_and_machines_get_xml(host: Host) {
    let site = small_site();
    let server = host.serve(&site, &[]);
    let mut client = server.client();
    let page = client.get_with("/modoai", &[BROWSER]).expect("an answer");
    assert!(page.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")));
    assert!(page.text().contains("ListSets"), "there are links to go on");
    for accept in ["*/*", "text/xml", "application/xml, text/xml"] {
        let xml = client.get_with("/modoai?verb=Identify", &[("Accept", accept)]).expect("an answer");
        assert_eq!(xml.header("Content-Type"), Some("text/xml; charset=UTF-8"), "{accept}");
    }
    for name in ["http_header.xsd", "fixity.xsd", "datestamps.xsd"] {
        assert_eq!(client.get(&format!("/modoai/{name}")).expect("an answer").status, 200);
    }
}

fn answers_can_be_valid_by_the_official_schemas_alone(host: Host) {
    let site = small_site();
    let extended = oai::ask(&mut host.serve(&site, &[]).client(), "verb=Identify");
    assert!(String::from_utf8_lossy(&extended.xml).contains("urn:modoai:datestamps"));
    let friends = example_description("friends");
    let settings = [("datestamps", &["Off"][..]), ("descriptions", &[&friends]), ("page size", &["2"])];
    let server = host.serve(&site, &settings);
    let mut client = server.client();
    let id = encode(format!("{}/a.txt", server.url()));
    let mut pages: Vec<Page> = [
        "verb=Identify",
        "verb=ListMetadataFormats",
        "verb=ListSets",
        "verb=ListRecords",
        "verb=Nonsense",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2100-01-01",
        &format!("verb=ListMetadataFormats&identifier={id}"),
        &format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={id}"),
        &format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={id}"),
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=%",
    ]
    .map(|query| oai::ask(&mut client, query))
    .into();
    for list in [
        "ListIdentifiers&metadataPrefix=oai_dc",
        "ListRecords&metadataPrefix=oai_dc",
        "ListRecords&metadataPrefix=oai_didl",
    ] {
        pages.extend(oai::pages(&mut client, &format!("verb={list}")));
    }
    assert!(!String::from_utf8_lossy(&pages[0].xml).contains("urn:modoai:"), "the setting leaves it out");
    xsd::expect_all_officially_valid(pages.iter().map(|page| (page.query.as_str(), page.xml.as_slice())));
}

fn a_post_with_a_query_in_its_url_is_refused(host: Host) {
    let site = small_site();
    let server = host.serve(&site, &[]);
    let mut client = server.client();
    for (target, form) in [
        ("/modoai?verb=Identify", "verb=Identify"),
        ("/modoai?verb=Identify", ""),
        ("/modoai?junk", "verb=ListSets"),
        ("/modoai?metadataPrefix=oai_dc", "verb=ListRecords"),
    ] {
        let answer = client.post_form(target, form).expect("an answer");
        assert_eq!(answer.status, 200);
        let text = answer.text();
        assert!(text.contains("<error code=\"badArgument\">"), "{target} {form}: {text}");
        assert!(text.contains("<request>"), "nothing is repeated: {text}");
        xsd::expect_valid(target, &text);
    }
    let empty = client.post_form("/modoai?", "verb=Identify").expect("an answer");
    assert!(empty.text().contains("<Identify>"), "{}", empty.text());
}

#[test]
fn sets_come_in_pages_too() {
    let site = small_site();
    let number = 0..1000;
    number.clone().for_each(|number| site.write(format!("{number}.x{number}"), "x"));
    let types: Vec<_> = number.map(|number| format!("x{number} = 'application/x-{number}'")).collect();
    let server = Launch::of(site.path()).set("types", &format!("{{ {} }}", types.join(", "))).start();
    let pages = oai::pages(&mut server.client(), "verb=ListSets");
    assert_eq!(pages.len(), 2);
    assert_eq!(pages[0].answer.sets.len(), 1000);
}

/// The path of an example of a description for Identify.
fn example_description(name: &str) -> String {
    workspace().join(format!("examples/identify/{name}.xml")).display().to_string()
}

fn other_methods_are_refused_and_head_is_get_without_a_body(host: Host) {
    let site = small_site();
    let server = host.serve(&site, &[]);
    let mut client = server.client();
    let target = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    for method in ["PUT", "DELETE", "PATCH", "PROPFIND"] {
        let answer = client.send(method, target, &[], b"").expect("an answer");
        assert_eq!(answer.status, 405, "{method}");
        let allowed = answer.header("Allow").unwrap_or_default().to_owned();
        assert!(allowed.contains("GET") && allowed.contains("POST"), "{method}: {allowed}");
    }
    let other = [("Content-Type", "text/xml")];
    assert_eq!(client.send("POST", "/modoai", &other, b"verb=Identify").expect("an answer").status, 415);
    let (head, get) = (client.head(target).expect("an answer"), client.get(target).expect("an answer"));
    assert_eq!((head.status, head.header("Content-Type")), (get.status, get.header("Content-Type")));
}
