//! A small correct repository in memory, and hooks that add defects.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Duration;

use modoai_protocol::query::{self, Arguments};
use modoai_protocol::{Bound, Datestamp, Listing, Request, Selection};

use super::super::exchange::{Question, Raw};
use super::super::transport::{NoAnswer, Transport};

pub(super) const BASE_URL: &str = "http://repository.example.org/oai";
/// The time of all requests.
pub(super) const NOW: i64 = 1_717_243_200; // 2024-06-01T12:00:00Z
const DC: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";
const OTHER: &str = "http://example.org/other/";

#[derive(Clone)]
pub(super) struct Item {
    pub(super) identifier: String,
    pub(super) datestamp: String,
    pub(super) sets: Vec<String>,
    pub(super) deleted: bool,
}

/// The repository, and its defects.
pub(super) struct Repository {
    pub(super) items: Vec<Item>,
    pub(super) sets: Vec<String>,
    /// The number of records per page; also that of sets.
    pub(super) page: usize,
    pub(super) by_day: bool,
    pub(super) deleted_record: &'static str,
    pub(super) about: &'static str,
    pub(super) set_description: &'static str,
    /// Changes a request before it is parsed.
    pub(super) on_request: fn(&mut Arguments),
    /// Changes a response before it is sent.
    pub(super) on_answer: fn(&Question, &mut String),
    /// Changes the bytes that are sent.
    pub(super) on_wire: fn(&Question, &mut Raw),
    /// Sends this status with this Retry-After to the first request for sets.
    pub(super) refuses: Option<(u16, Option<&'static str>)>,
    pub(super) asked: RefCell<Vec<Question>>,
    pub(super) slept: Cell<Duration>,
}

impl Repository {
    pub(super) fn new() -> Self {
        let item = |number: usize| Item {
            identifier: format!("oai:example.org:item/{number}"),
            datestamp: format!("2024-05-{:02}T0{}:30:00Z", 1 + number / 2, number % 10),
            sets: vec![["art:music", "art:film", "science"][number % 3].to_owned()],
            deleted: number == 4 || number == 9,
        };
        Self {
            items: (0..12).map(item).collect(),
            sets: ["art", "art:music", "art:film", "science"].map(str::to_owned).to_vec(),
            page: 5,
            by_day: false,
            deleted_record: "persistent",
            about: "",
            set_description: "",
            on_request: |_| {},
            on_answer: |_, _| {},
            on_wire: |_, _| {},
            refuses: None,
            asked: RefCell::default(),
            slept: Cell::default(),
        }
    }

    /// Returns the same with a granularity of days.
    pub(super) fn by_day() -> Self {
        let mut repository = Self::new();
        repository.by_day = true;
        repository.items.iter_mut().for_each(|item| item.datestamp.truncate(10));
        repository
    }

    /// Returns the same without sets.
    pub(super) fn without_sets() -> Self {
        let mut repository = Self::new();
        repository.sets.clear();
        repository.items.iter_mut().for_each(|item| item.sets.clear());
        repository
    }

    /// Responds to the arguments `understood`, and echoes `asked`.
    fn answer(&self, asked: &Arguments, understood: &Arguments) -> String {
        match Request::parse(understood) {
            Err(errors) => {
                let errors: Vec<_> = errors.iter().map(|it| (it.code.as_str(), it.message.clone())).collect();
                envelope(&[], &refusal(&errors))
            }
            Ok(request) => match self.content(&request) {
                Ok(content) => envelope(asked, &content),
                Err(code) => {
                    let echo: &[_] = if code == "badArgument" { &[] } else { asked };
                    envelope(echo, &refusal(&[(code, "that is not possible".to_owned())]))
                }
            },
        }
    }

    fn content(&self, request: &Request) -> Result<String, &'static str> {
        let find = |identifier: &str| self.items.iter().find(|item| item.identifier == identifier);
        match request {
            Request::Identify => Ok(self.identify()),
            Request::ListMetadataFormats { identifier } => {
                if identifier.as_ref().is_some_and(|identifier| find(identifier).is_none()) {
                    return Err("idDoesNotExist");
                }
                let format = |prefix: &str, schema: &str, namespace: &str| {
                    format!(
                        "<metadataFormat><metadataPrefix>{prefix}</metadataPrefix><schema>{schema}</schema>\
                         <metadataNamespace>{namespace}</metadataNamespace></metadataFormat>"
                    )
                };
                let dc = format("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc.xsd", DC);
                let other = format("other", "http://example.org/other.xsd", OTHER);
                Ok(format!("<ListMetadataFormats>{dc}{other}</ListMetadataFormats>"))
            }
            Request::GetRecord { identifier, prefix } => {
                let item = find(identifier).ok_or("idDoesNotExist")?;
                known_prefix(prefix.as_str())?;
                Ok(format!("<GetRecord>{}</GetRecord>", self.record(item, prefix.as_str())))
            }
            Request::ListSets { token } => {
                if self.sets.is_empty() {
                    return Err("noSetHierarchy");
                }
                let start = match token {
                    Some(token) => {
                        token.strip_prefix("sets:").and_then(|it| it.parse().ok()).ok_or("badResumptionToken")?
                    }
                    None => 0,
                };
                let set = |spec: &String| {
                    let description = self.set_description;
                    format!("<set><setSpec>{spec}</setSpec><setName>The {spec}</setName>{description}</set>")
                };
                let sets: Vec<_> = self.sets.iter().map(set).collect();
                Ok(format!("<ListSets>{}</ListSets>", self.page(&sets, start, "sets")))
            }
            Request::List { listing, .. } => {
                let verb = request.verb().as_str();
                let (selection, start) = match listing {
                    Listing::Select(selection) => (selection.clone(), 0),
                    Listing::Resume(token) => resumed(verb, token).ok_or("badResumptionToken")?,
                };
                let found = self.selected(&selection)?;
                let prefix = selection.prefix.as_str();
                let shown: Vec<_> = found
                    .iter()
                    .map(|item| if verb == "ListRecords" { self.record(item, prefix) } else { header(item) })
                    .collect();
                let arguments = Request::List {
                    verb: if verb == "ListRecords" {
                        modoai_protocol::ListVerb::Records
                    } else {
                        modoai_protocol::ListVerb::Identifiers
                    },
                    listing: Listing::Select(selection),
                }
                .arguments();
                let token = query::render(arguments.iter().map(|(name, value)| (name.as_str(), value.as_str())));
                Ok(format!("<{verb}>{}</{verb}>", self.page(&shown, start, &token.replace('&', ";"))))
            }
        }
    }

    fn selected(&self, selection: &Selection) -> Result<Vec<&Item>, &'static str> {
        let is_fine = |bound: &Bound| bound.to_string().len() > 10;
        if self.by_day && [selection.from, selection.until].iter().flatten().any(is_fine) {
            return Err("badArgument");
        }
        if selection.set.is_some() && self.sets.is_empty() {
            return Err("noSetHierarchy");
        }
        known_prefix(selection.prefix.as_str())?;
        let range = selection.range();
        let in_set = |item: &Item| {
            let within = |set: &String, wanted: &str| set == wanted || set.starts_with(&format!("{wanted}:"));
            selection.set.as_ref().is_none_or(|wanted| item.sets.iter().any(|set| within(set, wanted.as_str())))
        };
        let in_range = |item: &Item| {
            let moment = Bound::parse(&item.datestamp).map_or(Datestamp::MIN, Bound::first);
            (range.first..=range.last).contains(&moment)
        };
        let found: Vec<_> = self.items.iter().filter(|item| in_range(item) && in_set(item)).collect();
        if found.is_empty() { Err("noRecordsMatch") } else { Ok(found) }
    }

    fn page(&self, all: &[String], start: usize, token: &str) -> String {
        let end = (start + self.page).min(all.len());
        let size = all.len();
        let token = match (start, end == size) {
            (0, true) => String::new(),
            (_, true) => format!("<resumptionToken completeListSize=\"{size}\" cursor=\"{start}\"/>"),
            (_, false) => format!(
                "<resumptionToken expirationDate=\"2024-06-02T12:00:00Z\" completeListSize=\"{size}\" \
                 cursor=\"{start}\">{token}:{end}</resumptionToken>"
            ),
        };
        format!("{}{token}", all[start.min(end)..end].concat())
    }

    fn identify(&self) -> String {
        let (granularity, earliest) =
            if self.by_day { ("YYYY-MM-DD", "2024-01-01") } else { ("YYYY-MM-DDThh:mm:ssZ", "2024-01-01T00:00:00Z") };
        format!(
            "<Identify><repositoryName>Example</repositoryName><baseURL>{BASE_URL}</baseURL>\
             <protocolVersion>2.0</protocolVersion><adminEmail>someone@repository.example.org</adminEmail>\
             <earliestDatestamp>{earliest}</earliestDatestamp><deletedRecord>{}</deletedRecord>\
             <granularity>{granularity}</granularity><compression>gzip</compression>\
             <description><oai-identifier xmlns=\"http://www.openarchives.org/OAI/2.0/oai-identifier\">\
             <scheme>oai</scheme><repositoryIdentifier>example.org</repositoryIdentifier><delimiter>:</delimiter>\
             <sampleIdentifier>oai:example.org:item/1</sampleIdentifier></oai-identifier></description>\
             <description><friends xmlns=\"http://www.openarchives.org/OAI/2.0/friends/\">\
             <baseURL>http://friend.example.org/oai</baseURL></friends></description></Identify>",
            self.deleted_record
        )
    }

    fn record(&self, item: &Item, prefix: &str) -> String {
        let Item { identifier, .. } = item;
        let header = header(item);
        if item.deleted {
            return format!("<record>{header}</record>");
        }
        let metadata = if prefix == "oai_dc" {
            format!(
                "<oai_dc:dc xmlns:oai_dc=\"{DC}\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
                 xsi:schemaLocation=\"{DC} http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">\
                 <dc:title xml:lang=\"en\">The thing of {identifier}</dc:title><dc:type>Text</dc:type></oai_dc:dc>"
            )
        } else {
            format!(
                "<other xmlns=\"{OTHER}\" xsi:schemaLocation=\"{OTHER} http://example.org/other.xsd\">{identifier}</other>"
            )
        };
        format!("<record>{header}<metadata>{metadata}</metadata>{}</record>", self.about)
    }
}

fn known_prefix(prefix: &str) -> Result<(), &'static str> {
    if ["oai_dc", "other"].contains(&prefix) { Ok(()) } else { Err("cannotDisseminateFormat") }
}

fn header(item: &Item) -> String {
    let Item { identifier, datestamp, sets, deleted } = item;
    let sets: String = sets.iter().map(|set| format!("<setSpec>{set}</setSpec>")).collect();
    let status = if *deleted { " status=\"deleted\"" } else { "" };
    format!("<header{status}><identifier>{identifier}</identifier><datestamp>{datestamp}</datestamp>{sets}</header>")
}

/// Parses a token: the first request and a number.
fn resumed(verb: &str, token: &str) -> Option<(Selection, usize)> {
    let (first, start) = token.rsplit_once(':')?;
    let arguments = query::parse(first.replace(';', "&").as_bytes()).ok()?;
    match Request::parse(&arguments).ok()? {
        Request::List { verb: own, listing: Listing::Select(selection) }
            if modoai_protocol::Verb::from(own).as_str() == verb =>
        {
            Some((selection, start.parse().ok()?))
        }
        _ => None,
    }
}

fn refusal(errors: &[(&str, String)]) -> String {
    errors.iter().map(|(code, text)| format!("<error code=\"{code}\">{}</error>", text.replace('<', "&lt;"))).collect()
}

fn envelope(arguments: &[(String, String)], content: &str) -> String {
    let escape = |value: &str| value.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let mut arguments = arguments.to_vec();
    arguments.dedup();
    let attributes: String = arguments.iter().map(|(name, value)| format!(" {name}=\"{}\"", escape(value))).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\">\n\
         <responseDate>2024-06-01T12:00:00Z</responseDate><request{attributes}>{BASE_URL}</request>\n\
         {content}</OAI-PMH>\n"
    )
}

impl Transport for Repository {
    async fn send(&self, question: &Question, _: Duration) -> Result<Raw, NoAnswer> {
        let is_first = !self.asked.borrow().contains(question);
        self.asked.borrow_mut().push(question.clone());
        if let Some((status, retry_after)) = self.refuses.filter(|_| is_first && question.query == "verb=ListSets") {
            let headers = retry_after.map(|value| ("Retry-After".to_owned(), value.to_owned()));
            return Ok(Raw { status, headers: headers.into_iter().collect(), ..Raw::default() });
        }
        let asked = question.arguments();
        let mut understood = asked.clone();
        (self.on_request)(&mut understood);
        let mut text = self.answer(&asked, &understood);
        (self.on_answer)(question, &mut text);
        let mut raw = Raw {
            status: 200,
            headers: vec![("Content-Type".to_owned(), "text/xml; charset=UTF-8".to_owned())],
            hops: Vec::new(),
            body: text.into_bytes(),
        };
        if question.coding == "gzip" {
            raw.body = gzipped(&raw.body);
            raw.headers.push(("Content-Encoding".to_owned(), "gzip".to_owned()));
        }
        (self.on_wire)(question, &mut raw);
        if raw.status == 0 {
            return Err(NoAnswer { reason: "the line is dead".to_owned(), is_transient: true, is_held: false });
        }
        Ok(raw)
    }

    async fn pause(&self, time: Duration) {
        self.slept.set(self.slept.get() + time);
    }

    fn now(&self) -> i64 {
        NOW + i64::try_from(self.slept.get().as_secs()).expect("no test sleeps for ever")
    }
}

pub(super) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns the verbs of all requests.
pub(super) fn verbs_asked(repository: &Repository) -> BTreeSet<String> {
    repository.asked.borrow().iter().filter_map(|question| question.argument("verb")).collect()
}
