//! The misbehaving endpoint itself: where no defect is asked for it is right, or its defects would prove nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use modoai_testkit::endpoint::repertoire::REPERTOIRE;
use modoai_testkit::endpoint::{Delivery, Endpoint, Holdings, Reply, Script};
use modoai_testkit::http::{Client, encode};
use modoai_testkit::xsd;

use crate::oai;

#[test]
fn without_a_defect_it_is_a_repository() {
    let endpoint = Endpoint::start(Script::default());
    let mut client = Client::new(endpoint.url());
    let holdings = endpoint.holdings();
    let names = |records: &mut dyn Iterator<Item = &modoai_testkit::endpoint::Record>| -> BTreeSet<String> {
        records.map(|record| record.identifier.clone()).collect()
    };
    let mut pages = oai::pages(&mut client, "verb=ListRecords&metadataPrefix=oai_dc");
    assert_eq!(pages.len(), 5);
    let records: Vec<_> = pages.iter().flat_map(|page| &page.answer.records).collect();
    assert_eq!(records.len(), 23);
    let live = records.iter().filter(|record| !record.deleted).map(|record| record.identifier.clone()).collect();
    assert_eq!(names(&mut holdings.live(None)), live);
    for (query, count) in [
        ("verb=ListIdentifiers&metadataPrefix=oai_dc&set=a", 8),
        ("verb=ListIdentifiers&metadataPrefix=oai_dc&set=a:b", 8),
        ("verb=ListIdentifiers&metadataPrefix=oai_dc&from=2015-03-01&until=2015-03-01", 1),
        ("verb=ListIdentifiers&metadataPrefix=oai_dc&from=2015-03-01T08:00:01Z", 22),
        ("verb=ListIdentifiers&metadataPrefix=oai_dc&until=2015-03-01T07:59:59Z", 0),
    ] {
        assert_eq!(oai::harvest(&mut client, query).len(), count, "{query}");
    }
    let id = encode(&holdings.records[0].identifier);
    for query in ["verb=Identify", "verb=ListSets", "verb=ListMetadataFormats"] {
        pages.push(oai::ask(&mut client, query));
        assert_eq!(pages.last().expect("there is one").answer.errors, [], "{query}");
    }
    pages.push(oai::ask(&mut client, &format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={id}")));
    for (query, code) in [
        ("verb=Nothing", "badVerb"),
        ("", "badVerb"),
        ("verb=ListRecords", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=x", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2015", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2015-01-01&until=2015-01-01T00:00:00Z", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2016-01-01&until=2015-01-01", "badArgument"),
        ("verb=ListRecords&metadataPrefix=marc", "cannotDisseminateFormat"),
        ("verb=ListRecords&metadataPrefix=oai_dc&set=z", "noRecordsMatch"),
        ("verb=ListRecords&resumptionToken=x", "badResumptionToken"),
        ("verb=GetRecord&metadataPrefix=oai_dc&identifier=x", "idDoesNotExist"),
        ("verb=ListMetadataFormats&identifier=x", "idDoesNotExist"),
    ] {
        let page = oai::ask(&mut client, query);
        assert_eq!(page.answer.errors.first().map(|error| error.0.as_str()), Some(code), "{query}");
        pages.push(page);
    }
    // The abouts are of namespaces without schemas, which the official schemas do not forgive.
    let judged = pages.iter().filter(|page| !page.xml.windows(7).any(|bytes| bytes == b"<about>"));
    xsd::expect_all_valid(judged.map(|page| (page.query.as_str(), page.xml.as_slice())));
    assert_eq!(endpoint.log()[0].request.header("Host"), Some(&endpoint.url()[7..endpoint.url().len() - 4]));
}

#[test]
fn changes_show_at_once() {
    let endpoint = Endpoint::start(Script::of(Holdings::of(6)));
    let mut client = Client::new(endpoint.url());
    endpoint.change(|holdings| {
        holdings.change_first("Something else");
        holdings.delete_last();
        holdings.add();
    });
    let news = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=oai_dc&from=2020-01-01");
    assert_eq!(news.iter().filter(|record| record.deleted).count(), 1);
    assert_eq!(news.len(), 3);
}

/// What comes over the wire in each way of delivery, as another client sees it.
#[test]
fn answers_are_broken_as_they_are_told_to_be() {
    let get = |delivery: Delivery| {
        let script = Script::default().instead(move |_| {
            let mut reply = Reply::of(200, "text/plain", "0123456789");
            reply.delivery = delivery;
            Some(reply)
        });
        let endpoint = Endpoint::start(script);
        let mut client = Client::new(endpoint.url());
        let mut answer = || client.get("/").map(|response| response.text()).map_err(|error| error.to_string());
        [answer(), answer()]
    };
    for delivery in [Delivery::Length, Delivery::Chunked, Delivery::UntilClose] {
        assert_eq!(get(delivery), [Ok("0123456789".to_owned()), Ok("0123456789".to_owned())], "{delivery:?}");
    }
    for delivery in [Delivery::CutAt(5), Delivery::ResetAt(5), Delivery::ResetAt(0), Delivery::ChunkedWithoutEnd] {
        assert!(get(delivery).iter().all(Result::is_err), "{delivery:?}");
    }
    let stalled = Endpoint::start(Script::default().reply(|_, reply| reply.delivery = Delivery::StallAt(3)));
    let mut stream = Client::new(stalled.url()).connect().expect("it listens");
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a time-out");
    let mut seen = Vec::new();
    std::io::Write::write_all(&mut stream, b"GET /oai?verb=Identify HTTP/1.1\r\nHost: x\r\n\r\n").expect("it listens");
    let error = std::io::Read::read_to_end(&mut stream, &mut seen).expect_err("it says nothing more");
    assert!(matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut));
    assert!(seen.ends_with(b"\r\n\r\n<?x"), "{}", String::from_utf8_lossy(&seen));
}

#[test]
fn every_defect_has_a_name_of_its_own_and_an_endpoint_that_answers() {
    let mut names = BTreeSet::new();
    for defect in REPERTOIRE.iter().flat_map(|(_, defects)| *defects) {
        assert!(names.insert((defect.quirk, defect.variant)), "{}: {} is there twice", defect.quirk, defect.variant);
        let endpoint = Endpoint::start((defect.script)());
        // Whatever comes is fine, a broken connection too; that no hook panics is seen when the endpoint ends.
        let _ = Client::new(endpoint.url()).get("/oai?verb=Identify");
        assert_eq!(endpoint.log().len(), 1);
    }
}
