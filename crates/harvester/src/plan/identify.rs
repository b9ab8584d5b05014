//! Reads the server's description of itself, which is Identify and the formats, and checks how much of it can be right.

use std::sync::Arc;

use modoai_fetch::{FetchError, Url};
use modoai_protocol::xml::document::Part;
use modoai_protocol::xml::reader::fragment::{Fragment, Node};
use modoai_protocol::xml::reader::{Limits, ReadError};
use modoai_protocol::xml::{DATESTAMPS_NAMESPACE, Response};

use super::facts::{Facts, Lacking, Need, Pause, is_no_records_match};
use super::{Attempts, DocumentRequest};
use crate::ask::Question;
use crate::harvest::{HarvestError, Trouble};
use crate::quirks;
use crate::state::Identity;
use crate::window::{Granularity, Window, read_date};

/// A server whose clock differs by more seconds does not report UTC.
const MAX_CLOCK_SKEW: i64 = 600;

/// Prefix, schema and namespace of formats that need not be requested.
const WELL_KNOWN: [[&str; 3]; 2] = [
    ["oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc.xsd", "http://www.openarchives.org/OAI/2.0/oai_dc/"],
    [
        "oai_didl",
        "http://standards.iso.org/ittf/PubliclyAvailableStandards/MPEG-21_schema_files/did/didl.xsd",
        "urn:mpeg:mpeg21:2002:02-DIDL-NS",
    ],
];

/// Paths of repositories, the most common first: those of DSpace, EPrints, OJS, Invenio, Dataverse and modoai.
const USUAL_PATHS: [&str; 10] = [
    "oai",
    "oai/request",
    "server/oai/request",
    "cgi/oai2",
    "oai2d",
    "index.php/index/oai",
    "modoai",
    "oai2",
    "oai-pmh",
    "OAIHandler",
];

type Document = Arc<Result<Response, Trouble>>;

impl Facts {
    /// Requests Identify. A server that fails to answer it may still deliver lists.
    pub(super) fn identify(&mut self) -> Lacking<()> {
        let document = self.introduction()?;
        let identity = match &*document {
            Ok(response) if response.errors.is_empty() => self.introduced(response),
            _ => {
                let Some(reason) = self.failed_but_lists(&document)? else {
                    let found = if self.options.proposes { self.elsewhere(&document)? } else { None };
                    let url = self.contract.base_url.clone();
                    return Err(found.map_or_else(
                        || self.failure(document),
                        |found| HarvestError::Elsewhere { url, found }.into(),
                    ));
                };
                self.repairs.note(quirks::NO_IDENTIFY, &reason);
                // Without a granularity, dates are days: every repository understands them.
                let unknown = Identity { name: self.contract.base_url.clone(), ..Identity::default() };
                self.known.clone().unwrap_or(unknown)
            }
        };
        self.granularity = Granularity::parse(&identity.granularity);
        self.identity = identity;
        Ok(())
    }

    /// If a new base URL returns a web page, the repository is searched for before the request is repeated: most likely, the
    /// URL is that of the site.
    fn introduction(&mut self) -> Lacking<Document> {
        let is_page = |document: &Document| matches!(**document, Err(Trouble::WebPage(_)));
        if self.known.is_none() && self.options.proposes {
            let (question, attempts) = (Question::Identify, Some(Attempts::UntilPage));
            let first = self.document(DocumentRequest { question, at: None, dates: None, attempts })?;
            if !is_page(&first) {
                return Ok(first);
            }
            // A single page may be an accident of the right server.
            if let Some(found) = self.elsewhere(&first)?
                && is_page(&self.probe(Question::Identify)?)
            {
                return Err(HarvestError::Elsewhere { url: self.contract.base_url.clone(), found }.into());
            }
        }
        self.describe(Question::Identify)
    }

    /// Finds schema and namespace of the format that is harvested, unless an earlier run did. If the server does not list its
    /// formats, a list of records shows whether it has the format.
    pub(super) fn find_format(&mut self) -> Lacking<()> {
        if let Some(known) = self.known.as_ref().filter(|known| !known.namespace.is_empty()) {
            (self.identity.schema, self.identity.namespace) = (known.schema.clone(), known.namespace.clone());
            return Ok(());
        }
        let document = self.describe(Question::Formats)?;
        let prefix = &self.contract.prefix;
        if let Ok(response) = &*document
            && response.errors.is_empty()
        {
            if let Some(format) = response.formats.iter().find(|format| format.prefix.trim() == prefix) {
                self.identity.schema = format.schema.trim().to_owned();
                self.identity.namespace = format.namespace.trim().to_owned();
                return Ok(());
            }
            if !response.formats.is_empty() {
                return Err(self.failure(document));
            }
        }
        let known = WELL_KNOWN.iter().find(|[known, ..]| known == prefix);
        // Without a schema and a namespace, the format of a catalogue's records is unknown.
        let reason =
            if known.is_none() && self.contract.sink == "catalogue" { None } else { self.failed_but_lists(&document)? };
        let Some(reason) = reason else { return Err(self.failure(document)) };
        self.repairs.note(quirks::NO_FORMATS, &reason);
        let [_, schema, namespace] = known.copied().unwrap_or_default().map(str::to_owned);
        (self.identity.schema, self.identity.namespace) = (schema, namespace);
        Ok(())
    }

    /// The reason that the server failed to describe itself, if it nevertheless delivers lists in the format that is harvested.
    fn failed_but_lists(&self, document: &Document) -> Lacking<Option<String>> {
        let reason = match &**document {
            Ok(response) => match response.errors.first() {
                Some((code, message)) => format!("{code}: {message}"),
                None => "ListMetadataFormats lists no format".to_owned(),
            },
            Err(trouble) if trouble.calls_for_less() => trouble.to_string(),
            Err(_) => return Ok(None),
        };
        for headers_only in [true, false] {
            let list = self.probe(self.first_page(headers_only, "", Window::ALL))?;
            let lists = |response: &Response| match response.errors.first() {
                None => !response.records.is_empty(),
                Some((code, _)) => is_no_records_match(code),
            };
            if list.as_ref().as_ref().is_ok_and(lists) {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Returns another URL of the host that is a repository, if the base URL returned something else.
    fn elsewhere(&self, document: &Document) -> Lacking<Option<String>> {
        let is_other = |trouble: &Trouble| {
            matches!(
                trouble,
                Trouble::WebPage(_) | Trouble::Unreadable(_) | Trouble::Status(400..=499) | Trouble::CutShort(_)
            )
        };
        if !document.as_ref().as_ref().is_err_and(is_other) {
            return Ok(None);
        }
        let usual = USUAL_PATHS.iter().filter_map(|path| self.options.base_url.join(&format!("/{path}")).ok());
        let candidates: Vec<Url> = self.known(Need::Links)?.links()?.iter().cloned().chain(usual).collect();
        for at in candidates.into_iter().filter(|at| *at != self.options.base_url) {
            let (found, question) = (at.to_string(), Question::Identify);
            let document =
                self.document(DocumentRequest { question, at: Some(at), dates: None, attempts: Some(Attempts::Once) })?;
            if document.as_ref().as_ref().is_ok_and(|response| response.identify("baseURL").is_some()) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Ends the run, because the server does not describe itself and does not deliver lists.
    fn failure(&mut self, document: Document) -> Pause {
        self.answers.clear();
        let url = self.contract.base_url.clone();
        match Arc::into_inner(document) {
            Some(Err(Trouble::Postponed(wait))) => self.stop(Trouble::Postponed(wait)),
            Some(Err(Trouble::Unreachable(FetchError::Resolve { host, no_such_name: true, .. }))) => {
                HarvestError::NoSuchHost { host }.into()
            }
            Some(Err(source)) => HarvestError::NoRepository { url, source }.into(),
            Some(Ok(response)) => match response.errors.into_iter().next() {
                Some((code, message)) => HarvestError::Refused { url, code, message }.into(),
                None => {
                    let offered: Vec<_> = response.formats.iter().map(|format| format.prefix.trim()).collect();
                    let (prefix, offered) = (self.contract.prefix.clone(), offered.join(", "));
                    HarvestError::Format { url, prefix, offered }.into()
                }
            },
            None => Pause::internal("a document is in use"),
        }
    }

    /// Returns the properties in an Identify response, and checks them.
    fn introduced(&mut self, response: &Response) -> Identity {
        let said = |name: &str| response.identify(name).unwrap_or_default().trim().to_owned();
        let identity = Identity {
            name: said("repositoryName"),
            base_url: said("baseURL"),
            earliest: said("earliestDatestamp"),
            deleted_record: said("deletedRecord"),
            granularity: said("granularity"),
            prompt: response.descriptions.iter().any(promises_visibility),
            schema: String::new(),
            namespace: String::new(),
        };
        self.check(&identity, response);
        identity
    }

    /// Compares the values of Identify with plausible ones.
    fn check(&mut self, identity: &Identity, response: &Response) {
        let here = self.now.unix();
        if let Some(there) = read_date(&response.response_date)
            && (there.unix() - here).abs() > MAX_CLOCK_SKEW
        {
            self.repairs.note(quirks::LOCAL_TIME, &format!("server time {there}, local time {}", self.now));
        }
        // One that is only recent is found by the datestamps of the records.
        if read_date(&identity.earliest).is_none_or(|date| date.unix() - here > MAX_CLOCK_SKEW) {
            self.repairs.note(quirks::EARLIEST_WRONG, &identity.earliest);
        }
        if !["YYYY-MM-DD", "YYYY-MM-DDThh:mm:ssZ"].contains(&identity.granularity.as_str()) {
            self.repairs.note(quirks::GRANULARITY_MISSPELT, &identity.granularity);
        }
        let own = Url::parse(&identity.base_url);
        if !own.is_ok_and(|own| own == self.options.base_url) {
            self.repairs.note(quirks::BASE_URL_MOVED, &format!("Identify returns {}", identity.base_url));
        }
    }
}

/// Returns true if a description promises that datestamps are those of visibility: see the provider's `datestamps.xsd`.
fn promises_visibility(description: &Part) -> bool {
    let inherited: Vec<_> =
        description.namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str())).collect();
    let mut fragment = Fragment::new(Limits::default(), &inherited);
    let (mut promised, mut text) = (false, Vec::new());
    let read = fragment.push(&description.bytes, &mut |node| -> Result<(), ReadError> {
        match node {
            Node::Start(start) => promised = start.namespace == DATESTAMPS_NAMESPACE && start.name == "datestamps",
            Node::Text(piece) => text.extend_from_slice(piece),
            Node::End { .. } => {}
        }
        Ok(())
    });
    read.is_ok() && promised && text.trim_ascii() == b"visibility"
}
