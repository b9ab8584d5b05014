//! Who the server is: Identify, the formats it has, and how much of that can be right.

use std::time::Duration;

use modoai_fetch::{FetchError, Url};
use modoai_protocol::ErrorCode;
use modoai_protocol::xml::document::Part;
use modoai_protocol::xml::reader::fragment::{Fragment, Node};
use modoai_protocol::xml::reader::{Limits, ReadError};
use modoai_protocol::xml::{DATESTAMPS_NAMESPACE, Response};

use super::talk::Talk;
use super::{HarvestError, Options, Trouble};
use crate::ask::Question;
use crate::clock;
use crate::quirks;
use crate::state::{Contract, Identity, State};
use crate::window::{Granularity, Window, read_date};

/// A server whose clock differs by more is taken not to tell UTC.
const CLOCK_SKEW: i64 = 600;

/// How the conversation about the server itself can end early.
pub(super) enum Interview {
    Postponed(Duration),
    Failed(HarvestError),
}

impl<E: Into<HarvestError>> From<E> for Interview {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Asks who the server is, and, the first time, which formats it has.
pub(super) async fn identify(
    talk: &mut Talk,
    state: &mut State,
    contract: &Contract,
    options: &Options,
) -> Result<Identity, Interview> {
    let url = contract.base_url.as_str();
    let known = state.contract()?.filter(|known| known == contract);
    let known = if known.is_some() { state.identity()? } else { None };
    talk.gauge.say("requesting Identify");
    let is_trial = known.is_none() && options.proposes;
    let mut identity = match introduction(talk, url, is_trial).await {
        Ok(response) => introduced(talk, &response),
        Err(failure) => {
            let reason = match unless_it_lists(talk, contract, failure).await {
                Ok(reason) => reason,
                Err(failure) if options.proposes => return Err(elsewhere(talk, url, failure).await),
                Err(failure) => return Err(failure),
            };
            talk.repairs.note(quirks::NO_IDENTIFY, &reason);
            // Where no granularity is told, dates are days: every repository understands them.
            known.clone().unwrap_or_else(|| Identity { name: url.to_owned(), ..Identity::default() })
        }
    };
    (identity.schema, identity.namespace) = match known.filter(|known| !known.namespace.is_empty()) {
        Some(known) => (known.schema, known.namespace),
        None => format(talk, contract).await?,
    };
    talk.granularity = Granularity::parse(&identity.granularity);
    state.agree(contract, options.moved)?;
    state.set_identity(&identity)?;
    Ok(identity)
}

/// Requests Identify. If a new base URL returns a web page, the repository is searched for before the request is repeated:
/// most likely, the URL is that of the site.
async fn introduction(talk: &mut Talk, url: &str, is_trial: bool) -> Result<Response, Interview> {
    talk.returns_pages = is_trial;
    let first = described(talk, url, &Question::Identify).await;
    talk.returns_pages = false;
    let failure = match first {
        Err(failure @ Interview::Failed(HarvestError::NoRepository { source: Trouble::WebPage(_), .. }))
            if is_trial =>
        {
            failure
        }
        other => return other,
    };
    let proposed = elsewhere(talk, url, failure).await;
    // A single page may be an accident of the right server.
    if matches!(proposed, Interview::Failed(HarvestError::Elsewhere { .. }))
        && matches!(talk.probe(&Question::Identify).await, Err(Trouble::WebPage(_)))
    {
        return Err(proposed);
    }
    described(talk, url, &Question::Identify).await
}

/// What a server said about itself.
fn introduced(talk: &mut Talk, response: &Response) -> Identity {
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
    look_closely(talk, &identity, response);
    identity
}

/// Schema and namespace of formats that need not be asked for.
const WELL_KNOWN: [[&str; 3]; 2] = [
    ["oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc.xsd", "http://www.openarchives.org/OAI/2.0/oai_dc/"],
    [
        "oai_didl",
        "http://standards.iso.org/ittf/PubliclyAvailableStandards/MPEG-21_schema_files/did/didl.xsd",
        "urn:mpeg:mpeg21:2002:02-DIDL-NS",
    ],
];

/// Schema and namespace of the format that is harvested. If the server does not tell what it offers, a list decides
/// whether it has the format.
async fn format(talk: &mut Talk, contract: &Contract) -> Result<(String, String), Interview> {
    let (url, prefix) = (contract.base_url.as_str(), contract.prefix.clone());
    let failure = match described(talk, url, &Question::Formats).await {
        Ok(response) => {
            let offered: Vec<_> = response.formats.iter().map(|format| format.prefix.trim()).collect();
            if let Some(at) = offered.iter().position(|offered| *offered == prefix) {
                let format = &response.formats[at];
                return Ok((format.schema.trim().to_owned(), format.namespace.trim().to_owned()));
            }
            let is_empty = offered.is_empty();
            let missing = HarvestError::Format { url: url.to_owned(), prefix, offered: offered.join(", ") };
            if !is_empty {
                return Err(missing.into());
            }
            Interview::Failed(missing)
        }
        Err(failure) => failure,
    };
    let known = WELL_KNOWN.iter().find(|[known, ..]| *known == contract.prefix);
    // Nobody could say what the records of a catalogue are.
    if known.is_none() && contract.sink == "catalogue" {
        return Err(failure);
    }
    let reason = unless_it_lists(talk, contract, failure).await?;
    talk.repairs.note(quirks::NO_FORMATS, &reason);
    let [_, schema, namespace] = known.copied().unwrap_or_default();
    Ok((schema.to_owned(), namespace.to_owned()))
}

/// The server failed to describe itself. If it delivers lists in the format that is harvested, that is no obstacle, and why
/// it failed is returned; else it fails for good.
async fn unless_it_lists(talk: &mut Talk, contract: &Contract, failure: Interview) -> Result<String, Interview> {
    let reason = match &failure {
        Interview::Failed(HarvestError::NoRepository { source, .. }) if source.calls_for_less() => source.to_string(),
        Interview::Failed(HarvestError::Refused { code, message, .. }) => format!("{code}: {message}"),
        Interview::Failed(HarvestError::Format { .. }) => "ListMetadataFormats lists no format".to_owned(),
        _ => return Err(failure),
    };
    for headers_only in [true, false] {
        let (prefix, window) = (contract.prefix.clone(), Window::ALL);
        let list = Question::List { headers_only, prefix, set: None, window, loose: false, token: None };
        let none_match = |code: &str| ErrorCode::from_name(code) == Some(ErrorCode::NoRecordsMatch);
        let lists = |response: Response| match response.errors.first() {
            None => !response.records.is_empty(),
            Some((code, _)) => none_match(code),
        };
        if talk.probe(&list).await.is_ok_and(lists) {
            return Ok(reason);
        }
    }
    Err(failure)
}

/// Paths below which repositories are, by how common they are: those of DSpace, EPrints, OJS, Invenio, Dataverse and ours.
const USUAL: [&str; 10] = [
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

/// There is no repository at this URL. If something answers there and one is found on the same host, that is proposed.
async fn elsewhere(talk: &mut Talk, url: &str, failure: Interview) -> Interview {
    let is_answer = |source: &Trouble| {
        matches!(
            source,
            Trouble::WebPage(_) | Trouble::Unreadable(_) | Trouble::Status(400..=499) | Trouble::CutShort(_)
        )
    };
    if !matches!(&failure, Interview::Failed(HarvestError::NoRepository { source, .. }) if is_answer(source)) {
        return failure;
    }
    let asked = talk.base_url.clone();
    let usual = USUAL.iter().filter_map(|path| asked.join(&format!("/{path}")).ok());
    let candidates: Vec<Url> = talk.links().await.into_iter().chain(usual).filter(|it| *it != asked).collect();
    for candidate in candidates {
        talk.base_url = candidate;
        let found = talk.probe(&Question::Identify).await.is_ok_and(|response| response.identify("baseURL").is_some());
        if found {
            let found = std::mem::replace(&mut talk.base_url, asked).to_string();
            return HarvestError::Elsewhere { url: url.to_owned(), found }.into();
        }
    }
    talk.base_url = asked;
    failure
}

async fn described(talk: &mut Talk, url: &str, question: &Question) -> Result<Response, Interview> {
    let response = match talk.describe(question).await {
        Ok(response) => response,
        Err(Trouble::Postponed(wait)) => return Err(Interview::Postponed(wait)),
        Err(Trouble::Unreachable(FetchError::Resolve { host, no_such_name: true, .. })) => {
            return Err(HarvestError::NoSuchHost { host }.into());
        }
        Err(source) => return Err(HarvestError::NoRepository { url: url.to_owned(), source }.into()),
    };
    match response.errors.first() {
        Some((code, message)) => {
            let (url, code, message) = (url.to_owned(), code.clone(), message.clone());
            Err(HarvestError::Refused { url, code, message }.into())
        }
        None => Ok(response),
    }
}

/// What Identify says, compared with what can be right.
fn look_closely(talk: &mut Talk, identity: &Identity, response: &Response) {
    let here = clock::now().unix();
    if let Some(there) = read_date(&response.response_date)
        && (there.unix() - here).abs() > CLOCK_SKEW
    {
        let example = format!("server time {}, local time {}", there, clock::now());
        talk.repairs.note(quirks::LOCAL_TIME, &example);
    }
    // One that is merely recent is found out by the records.
    if read_date(&identity.earliest).is_none_or(|date| date.unix() - here > CLOCK_SKEW) {
        talk.repairs.note(quirks::EARLIEST_WRONG, &identity.earliest);
    }
    if !["YYYY-MM-DD", "YYYY-MM-DDThh:mm:ssZ"].contains(&identity.granularity.as_str()) {
        talk.repairs.note(quirks::GRANULARITY_MISSPELT, &identity.granularity);
    }
    let own = Url::parse(&identity.base_url);
    if !own.is_ok_and(|own| own == talk.base_url) {
        talk.repairs.note(quirks::BASE_URL_MOVED, &format!("Identify returns {}", identity.base_url));
    }
}

/// Whether a description promises that datestamps are those of visibility: see the provider's `datestamps.xsd`.
fn promises_visibility(description: &Part) -> bool {
    let inherited: Vec<_> =
        description.namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str())).collect();
    let mut fragment = Fragment::new(Limits::default(), &inherited);
    let (mut promised, mut text) = (false, Vec::new());
    let read = fragment.push(&description.bytes, &mut |node| -> Result<(), ReadError> {
        match node {
            Node::Start(start) => promised = start.namespace == DATESTAMPS_NAMESPACE && start.name == "datestamps",
            Node::Text(piece) => text.extend_from_slice(piece),
            Node::End => {}
        }
        Ok(())
    });
    read.is_ok() && promised && text.trim_ascii() == b"visibility"
}
