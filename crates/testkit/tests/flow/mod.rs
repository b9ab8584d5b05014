//! Flow control as harvesters and readers experience it.
//!
//! | file | what it shows |
//! |---|---|
//! | `server` | `modoai serve`: many clients, restarts, proxies, the log |
//! | `httpd` | the same in Apache, whose children share one ledger |
//! | `foreign` | harvesters of others, which wait as they are told |
//! | `readers` | harvests while visitors read the site and the processors are busy |

use std::thread;
use std::time::Duration;

use modoai_protocol::xml::Response;
use modoai_testkit::http::{self, Client};
use modoai_testkit::waiting::wait_for;

mod foreign;
mod httpd;
mod readers;
mod server;

/// What a harvester went through.
#[derive(Debug, Default)]
struct Story {
    pages: usize,
    records: usize,
    /// How long it was told to wait, each time.
    waits: Vec<u64>,
}

/// How long an answer asks to wait; none if it is an answer.
///
/// # Panics
///
/// If it is neither, or does not say for how long in whole seconds.
fn told(answer: &http::Response) -> Option<u64> {
    match answer.status {
        200 => None,
        503 => {
            let value = answer.header("Retry-After").expect("a 503 says when to come back");
            let seconds = value.parse().unwrap_or_else(|_| panic!("'{value}' is no number of seconds"));
            assert!(seconds > 0, "coming back at once is no waiting");
            Some(seconds)
        }
        status => panic!("{status}: {}", answer.text()),
    }
}

/// Requests a page, and waits as long as it is told until it is admitted: on a busy machine others of its account come late, and
/// take its turn.
fn ask_politely(client: &mut Client, target: &str, waits: &mut Vec<u64>) -> http::Response {
    wait_for("the client is admitted", || {
        let answer = client.get(target).expect("an answer");
        let Some(seconds) = told(&answer) else { return Ok(answer) };
        waits.push(seconds);
        thread::sleep(Duration::from_secs(seconds));
        Err(format!("told to wait for {waits:?} seconds"))
    })
}

/// Expects that an account with an hour between requests has had its request: every further one, of whatever kind, is too
/// early. Files of the site are no requests to the repository.
fn expect_a_delay_for_every_kind(url: &str) {
    let mut client = Client::new(url);
    let identifier = http::encode(format!("{url}/0.txt"));
    let record = format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}");
    let lists =
        ["verb=ListRecords&metadataPrefix=oai_dc", "verb=ListIdentifiers&metadataPrefix=oai_dc", "verb=ListSets"];
    let others = ["verb=Identify", "verb=ListMetadataFormats", record.as_str(), "verb=Nonsense", ""];
    for query in lists.iter().chain(&others) {
        let answer = client.get(&format!("/modoai?{query}")).expect("an answer");
        assert!(told(&answer).is_some(), "{query}: {}", answer.text());
    }
    let posted = told(&client.post_form("/modoai", "verb=Identify").expect("an answer"));
    assert!(posted.is_some(), "by POST it is the same request");
    assert_eq!(client.get("/0.txt").expect("an answer").text(), "file 0");
}

/// Harvests a list to its end, or for so many pages.
fn harvest(client: &mut Client, most_pages: usize) -> Story {
    let mut story = Story::default();
    let mut target = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc".to_owned();
    while story.pages < most_pages {
        let answer = ask_politely(client, &target, &mut story.waits);
        let page = Response::read(&answer.body).expect("a page");
        story.pages += 1;
        story.records += page.records.len();
        let Some(token) = page.token.filter(|token| !token.value.is_empty()) else { break };
        target = format!("/modoai?verb=ListIdentifiers&resumptionToken={}", http::encode(&token.value));
    }
    story
}
