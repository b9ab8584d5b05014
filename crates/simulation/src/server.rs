//! The simulated server: responses to requests, with the errors of the case.

use std::collections::HashSet;

use modoai_fetch::{FetchError, Url, Wait};
use modoai_protocol::Datestamp;

use crate::case::{Case, Change, Fault, Verb};
use crate::list::List;
use crate::truth::{Item, Truth};
use crate::world::{Reply, Ticks};
use crate::write::summary;

/// A server, and what it holds.
pub struct Server {
    pub(crate) case: Case,
    /// What it holds.
    pub truth: Truth,
    pub(crate) clock: Ticks,
    /// Changes of the present run that are due, by the number of the request.
    changes: Vec<(u16, Change)>,
    /// The number of the present run, from 1 on.
    pub run: usize,
    /// Requests of all runs, and of the present one.
    pub requests: (u16, u16),
    /// Errors that clients have seen.
    pub injected: u64,
    /// Lists as they were at their first request, tokens that were used, and the number of tokens issued.
    pub(crate) snapshots: Vec<Vec<usize>>,
    pub(crate) used: HashSet<String>,
    pub(crate) issued: u64,
    /// A line per request, if wanted.
    pub log: Option<Vec<String>>,
}

/// The reason why a request is not answered.
pub(crate) enum Refusal {
    /// A protocol error.
    Code(&'static str),
    /// A failure.
    Fault(Fault),
}

/// The content of a response.
pub(crate) type Answer = Result<String, Refusal>;

impl Server {
    /// A server of a case.
    pub fn new(case: &Case, clock: Ticks) -> Self {
        Self {
            case: case.clone(),
            truth: Truth::of(case),
            clock,
            changes: Vec::new(),
            run: 0,
            requests: (0, 0),
            injected: 0,
            snapshots: Vec::new(),
            used: HashSet::new(),
            issued: 0,
            log: None,
        }
    }

    /// A run begins.
    pub fn begin_run(&mut self, changes: &[(u16, Change)]) {
        self.run += 1;
        self.requests.1 = 0;
        self.changes = changes.to_vec();
        self.apply_changes();
    }

    /// The last run has ended: nothing changes and nothing fails by accident any more.
    pub fn calm(&mut self) {
        self.case.faults.clear();
    }

    fn apply_changes(&mut self) {
        let (now, run) = (self.clock.unix(), self.run);
        while let Some((_, change)) = self.changes.first().copied().filter(|(at, _)| *at <= self.requests.1) {
            self.changes.remove(0);
            // A change before the first request precedes the run.
            let run = if self.requests.1 == 0 { run - 1 } else { run };
            self.truth.change(change, now, run);
            self.note(&format!("          {change:?}"));
        }
    }

    fn note(&mut self, line: &str) {
        if let Some(log) = &mut self.log {
            log.push(format!("{:>10.1} {line}", self.clock.elapsed() as f64 / 1000.0));
        }
    }

    /// Responds to a request.
    pub fn respond(&mut self, url: &Url) -> Result<Reply, FetchError> {
        self.clock.pass(std::time::Duration::from_millis(self.case.latency.into()));
        self.requests = (self.requests.0.saturating_add(1), self.requests.1.saturating_add(1));
        self.apply_changes();
        let number = self.requests.0;
        let fault = self.case.faults.iter().find(|(at, _)| *at + 1 == number).map(|(_, fault)| *fault);
        let answer = match fault {
            Some(fault) => Err(Refusal::Fault(fault)),
            None => self.answer(url),
        };
        let reply = match answer {
            Ok(content) => Ok(self.reply(&content)),
            Err(Refusal::Code(code)) => Ok(self.reply(&format!("<error code=\"{code}\"/>"))),
            Err(Refusal::Fault(fault)) => {
                self.injected += 1;
                self.fail(url, fault)
            }
        };
        if self.log.is_some() {
            let told = match &reply {
                Ok(reply) => format!("{} {}", reply.status, summary(&reply.body)),
                Err(error) => error.to_string(),
            };
            self.note(&format!("{} → {told}", url.query().unwrap_or_default()));
        }
        reply
    }

    fn reply(&self, content: &str) -> Reply {
        let date = Datestamp::from_unix(self.now());
        let body = format!(
            "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>{date}</responseDate>\
             <request>http://sim.example/oai</request>{content}</OAI-PMH>"
        );
        Reply { status: 200, retry_after: None, content_type: "text/xml", body, broken: None }
    }

    fn fail(&mut self, url: &Url, fault: Fault) -> Result<Reply, FetchError> {
        let url = url.to_string();
        let host = "sim.example".to_owned();
        let status = |status, retry_after| Reply {
            status,
            retry_after,
            content_type: "text/html",
            body: "<html>failed</html>".to_owned(),
            broken: None,
        };
        Ok(match fault {
            Fault::Status => status(500, None),
            Fault::Busy => status(503, Some(20)),
            Fault::LongBusy => status(503, Some(7200)),
            Fault::WebPage => status(200, None),
            Fault::Empty => Reply { body: String::new(), content_type: "text/xml", ..status(200, None) },
            Fault::NoRecords => self.reply("<error code=\"noRecordsMatch\"/>"),
            Fault::Unknown => self.reply("<error code=\"internalError\"/>"),
            Fault::CutShort => {
                let mut whole = self.reply("<ListRecords>");
                whole.body.truncate(150);
                whole.broken = Some(FetchError::CutShort { url, received: 150, source: None });
                whole
            }
            Fault::Timeout => {
                self.clock.pass(std::time::Duration::from_secs(300));
                return Err(FetchError::TimedOut { what: Wait::FirstByte, url });
            }
            Fault::Refused => return Err(FetchError::Connect { host, url, source: "connection refused".into() }),
        })
    }

    fn now(&self) -> i64 {
        self.clock.unix() + i64::from(self.case.skew)
    }

    fn answer(&mut self, url: &Url) -> Answer {
        let argument = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        let name = argument("verb").unwrap_or_default();
        let verb = Verb::ALL.iter().copied().find(|verb| format!("{verb:?}") == name);
        let verb = verb.ok_or(Refusal::Code("badVerb"))?;
        if self.case.fails.contains(&verb) {
            return Err(Refusal::Fault(self.case.failure));
        }
        let content = match verb {
            Verb::Identify => self.identify(),
            Verb::ListMetadataFormats => {
                let dc = "http://www.openarchives.org/OAI/2.0/oai_dc";
                format!(
                    "<metadataFormat><metadataPrefix>oai_dc</metadataPrefix><schema>{dc}.xsd</schema>\
                     <metadataNamespace>{dc}/</metadataNamespace></metadataFormat>"
                )
            }
            Verb::ListSets if !self.case.sets => return Err(Refusal::Code("noSetHierarchy")),
            Verb::ListSets => "<set><setSpec>a</setSpec><setName>A</setName></set>\
                               <set><setSpec>b</setSpec><setName>B</setName></set>"
                .to_owned(),
            Verb::GetRecord => {
                let identifier = argument("identifier").unwrap_or_default();
                let now = self.clock.unix();
                let found = self.truth.items.iter().find(|item| item.identifier() == identifier);
                let found =
                    found.filter(|item| self.truth.is_listed(item, now)).ok_or(Refusal::Code("idDoesNotExist"))?;
                if self.case.bad_alone && self.is_bad(found) {
                    return Err(Refusal::Fault(Fault::Status));
                }
                self.record(found)
            }
            Verb::ListIdentifiers | Verb::ListRecords => {
                let headers = verb == Verb::ListIdentifiers;
                let list = match argument("resumptionToken") {
                    Some(token) => self.resume(&token, headers)?,
                    None => {
                        let part = |name| argument(name).unwrap_or_default();
                        let (from, until, set) = (part("from"), part("until"), part("set"));
                        if part("metadataPrefix") != "oai_dc" {
                            return Err(Refusal::Code("badArgument"));
                        }
                        let began = self.clock.unix();
                        List { headers, from, until, set, began, ..List::default() }
                    }
                };
                self.list(list)?
            }
        };
        Ok(format!("<{name}>{content}</{name}>"))
    }

    /// True if this record makes its page fail.
    pub(crate) fn is_bad(&self, item: &Item) -> bool {
        self.case.bad == u8::try_from(item.number).ok()
    }
}
