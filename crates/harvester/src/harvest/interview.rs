//! Who the server is: Identify, the formats it has, and how much of that can be right.

use std::time::Duration;

use modoai_fetch::Url;
use modoai_protocol::xml::document::Part;
use modoai_protocol::xml::reader::fragment::{Fragment, Node};
use modoai_protocol::xml::reader::{Limits, ReadError};
use modoai_protocol::xml::{DATESTAMPS_NAMESPACE, Response};

use super::talk::Talk;
use super::{HarvestError, Trouble};
use crate::ask::Question;
use crate::clock;
use crate::quirks;
use crate::state::{Contract, Identity, State};
use crate::window::{Granularity, read_date};

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
    may_move: bool,
) -> Result<Identity, Interview> {
    let url = contract.base_url.as_str();
    let known = state.contract()?.filter(|known| known == contract);
    let known = if known.is_some() { state.identity()? } else { None };
    talk.gauge.say("asking who it is");
    let response = described(talk, url, &Question::Identify).await?;
    let said = |name: &str| response.identify(name).unwrap_or_default().trim().to_owned();
    let mut identity = Identity {
        name: said("repositoryName"),
        base_url: said("baseURL"),
        earliest: said("earliestDatestamp"),
        deleted_record: said("deletedRecord"),
        granularity: said("granularity"),
        prompt: response.descriptions.iter().any(promises_visibility),
        schema: String::new(),
        namespace: String::new(),
    };
    look_closely(talk, &identity, &response);
    match known {
        Some(known) => (identity.schema, identity.namespace) = (known.schema, known.namespace),
        None => {
            let offered = described(talk, url, &Question::Formats).await?.formats;
            let found = offered.iter().find(|format| format.prefix.trim() == contract.prefix);
            let Some(format) = found else {
                let offered: Vec<_> = offered.iter().map(|format| format.prefix.trim()).collect();
                let (url, prefix) = (url.to_owned(), contract.prefix.clone());
                return Err(HarvestError::Format { url, prefix, offered: offered.join(", ") }.into());
            };
            (identity.schema, identity.namespace) =
                (format.schema.trim().to_owned(), format.namespace.trim().to_owned());
        }
    }
    talk.granularity = Granularity::parse(&identity.granularity);
    state.agree(contract, may_move)?;
    state.set_identity(&identity)?;
    Ok(identity)
}

async fn described(talk: &mut Talk, url: &str, question: &Question) -> Result<Response, Interview> {
    let response = match talk.describe(question).await {
        Ok(response) => response,
        Err(Trouble::Postponed(wait)) => return Err(Interview::Postponed(wait)),
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
        let example = format!("it is {} there and {} here", there, clock::now());
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
        talk.repairs.note(quirks::BASE_URL_MOVED, &format!("Identify says {}", identity.base_url));
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
