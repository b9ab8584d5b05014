//! A harvest in a world of its own: a repository in memory instead of a network, and a clock that only moves when the harvest
//! waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use modoai_fetch::{Ask, FetchError, Fetched, HeaderMap, HeaderValue, Url};
use modoai_harvester::harvest::{Harvest, Options};
use modoai_harvester::sink::records::RecordSink;
use modoai_harvester::summary::Summary;
use modoai_harvester::world::{Clock, Pieces, Transport};

/// A repository: a function from the number of a request and its query to status and body.
#[derive(Clone)]
struct Repository {
    respond: fn(usize, &str) -> (u16, String),
    requests: Arc<Mutex<Vec<String>>>,
}

/// The rest of a body.
struct Rest(Option<Bytes>);

impl Pieces for Rest {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchError> {
        Ok(self.0.take())
    }

    fn wire_bytes(&self) -> u64 {
        0
    }
}

impl Transport for Repository {
    type Body = Rest;

    async fn get(&self, ask: Ask) -> Result<Fetched<Rest>, FetchError> {
        let query = ask.url.query().unwrap_or_default().to_owned();
        let mut requests = self.requests.lock().expect("no panic");
        let (status, body) = (self.respond)(requests.len(), &query);
        requests.push(query);
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("text/xml"));
        if status == 503 {
            headers.insert("retry-after", HeaderValue::from_static("200"));
        }
        Ok(Fetched { status, headers, url: ask.url, hops: Vec::new(), body: Rest(Some(body.into())) })
    }
}

/// Seconds since the beginning of the harvest.
#[derive(Clone, Default)]
struct Stopwatch(Arc<AtomicU64>);

impl Clock for Stopwatch {
    fn now(&self) -> SystemTime {
        let beginning = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        beginning + Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, time: Duration) {
        self.0.fetch_add(time.as_secs().max(1), Ordering::SeqCst);
    }
}

fn answer(verb: &str, content: &str) -> (u16, String) {
    let start =
        "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><responseDate>2020-09-13T12:26:40Z</responseDate>";
    (200, format!("{start}<request>http://memory/oai</request><{verb}>{content}</{verb}></OAI-PMH>"))
}

fn header(number: usize) -> String {
    let date = format!("2020-01-{number:02}T00:00:00Z");
    format!("<header><identifier>oai:memory:{number}</identifier><datestamp>{date}</datestamp></header>")
}

/// Three records, on two pages.
fn healthy(query: &str) -> (u16, String) {
    let dc = "http://www.openarchives.org/OAI/2.0/oai_dc/";
    let format = format!(
        "<metadataFormat><metadataPrefix>oai_dc</metadataPrefix><schema>{dc}x</schema>\
         <metadataNamespace>{dc}</metadataNamespace></metadataFormat>"
    );
    let record = |number| format!("<record>{}<metadata><dc xmlns='{dc}'/></metadata></record>", header(number));
    let token = |text| format!("<resumptionToken completeListSize='3'>{text}</resumptionToken>");
    match query.split('&').next().unwrap_or_default() {
        "verb=Identify" => answer(
            "Identify",
            "<repositoryName>memory</repositoryName><baseURL>http://memory/oai</baseURL>\
             <protocolVersion>2.0</protocolVersion><adminEmail>a@b.example</adminEmail>\
             <earliestDatestamp>2020-01-01T00:00:00Z</earliestDatestamp><deletedRecord>persistent</deletedRecord>\
             <granularity>YYYY-MM-DDThh:mm:ssZ</granularity>",
        ),
        "verb=ListMetadataFormats" => answer("ListMetadataFormats", &format),
        "verb=ListRecords" if query.contains("resumptionToken") => answer("ListRecords", &(record(3) + &token(""))),
        "verb=ListRecords" => answer("ListRecords", &(record(1) + &record(2) + &token("more"))),
        _ => answer("ListIdentifiers", &(header(1) + &header(2) + &header(3))),
    }
}

async fn harvest(respond: fn(usize, &str) -> (u16, String)) -> (Summary, Vec<String>, u64) {
    let (repository, clock) = (Repository { respond, requests: Arc::default() }, Stopwatch::default());
    let options = Options::new(Url::parse("http://memory/oai").expect("a URL"));
    let folder = tempfile::tempdir().expect("a folder");
    let sink = Box::new(RecordSink::open(folder.path(), None).expect("a sink"));
    let harvest = Harvest::in_world(repository.clone(), clock.clone(), options);
    let summary = harvest.into_sink(None, "records", "oai_dc", sink).await.expect("a summary");
    let requests = repository.requests.lock().expect("no panic").clone();
    (summary, requests, clock.0.load(Ordering::SeqCst))
}

#[tokio::test]
async fn repository_in_memory_is_harvested_without_a_network() {
    let (summary, requests, seconds) = harvest(|_, query| healthy(query)).await;
    assert!(summary.complete, "{:?}", summary.missing);
    assert_eq!((summary.records, requests.len(), seconds), (3, 7, 0), "{requests:?}");
    assert_eq!(summary.next.from.as_deref(), Some("2020-09-13T12:26:40Z"), "the clock of the caller");
}

#[tokio::test]
async fn waits_pass_on_the_clock_of_the_caller() {
    let (summary, requests, seconds) = harvest(|number, query| match number {
        2 => (503, String::new()),
        _ => healthy(query),
    })
    .await;
    assert!(summary.complete, "{:?}", summary.missing);
    assert_eq!(requests.len(), 8, "{requests:?}");
    assert!((200..=300).contains(&seconds), "{seconds} s");
}
