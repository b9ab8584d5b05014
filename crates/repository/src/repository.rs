//! The repository: processes one request and returns one response.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use modoai_protocol::query::Arguments;
use modoai_protocol::{ErrorCode, Listing, Parsed, ProtocolError, Request, TokenKey, uri};

use crate::answer::{Answer, Body, SetsSeen, describe, list, record};
use crate::audience::Listing as Listed;
use crate::catalogue::{Catalogue, Learned, Standing};
use crate::error::Failure;
use crate::formats::{self, Format, Formats};
use crate::host::Host;
use crate::item::{Digests, Fingerprint, Item, Publicity};
use crate::settings::{Settings, is_local_identifier};

/// The value of Retry-After while the catalogue is filled for the first time.
const FILLING: Duration = Duration::from_secs(5);

/// The size above which stored records are not displayed in a browser.
const LARGEST_FOR_PEOPLE: u64 = 256 * 1024;

/// The available formats.
#[derive(Clone)]
enum Offer {
    /// The formats that files are described in.
    Files(Formats),
    /// The formats of stored records.
    Stored,
    /// The formats that are generated from the records of an archive.
    Archive(Arc<dyn ArchiveFormats>),
}

/// The formats of an archive, which can change while it is served.
pub trait ArchiveFormats: Send + Sync {
    /// Returns the formats for that state of the catalogue. Called for every request: values derived from a
    /// [`Memory::memo`](crate::catalogue::roles::Memory::memo) are valid until [`Standing::revision`] changes.
    fn as_of(&self, standing: &Standing, catalogue: &dyn Catalogue) -> Result<Formats, Failure>;
}

/// A site or a catalogue as an OAI-PMH repository. Cheap to clone.
#[derive(Clone)]
pub struct Repository {
    pub(crate) catalogue: Arc<dyn Catalogue>,
    offer: Offer,
    pub(crate) settings: Arc<Settings>,
    pub(crate) base_url: Arc<str>,
    pub(crate) site_url: Arc<str>,
    pub(crate) identifier_prefix: Arc<str>,
    /// A sample identifier without the namespace.
    pub(crate) sample: Option<Arc<str>>,
    pub(crate) compressions: &'static [&'static str],
    pub(crate) sets_seen: Arc<SetsSeen>,
    /// The size above which the content of stored records is omitted.
    pub(crate) largest_shown: u64,
}

impl Repository {
    /// Creates a repository at `base_url` whose items' names, appended to `site_url` (which ends with a slash), are
    /// their URLs.
    pub fn new(catalogue: Arc<dyn Catalogue>, settings: Settings, base_url: &str, site_url: &str) -> Self {
        let identifier_prefix = match &settings.repository_identifier {
            Some(namespace) => format!("oai:{namespace}:").into(),
            None => site_url.into(),
        };
        Self {
            catalogue,
            offer: Offer::Files(formats::all()),
            settings: Arc::new(settings),
            base_url: base_url.into(),
            site_url: site_url.into(),
            identifier_prefix,
            sample: None,
            compressions: &[],
            sets_seen: Arc::default(),
            largest_shown: u64::MAX,
        }
    }

    /// Creates a repository at `base_url` of the records that a catalogue stores. Their names are their identifiers.
    pub fn of_records(catalogue: Arc<dyn Catalogue>, settings: Settings, base_url: &str) -> Self {
        // The identifiers are those of other repositories, so Identify cannot describe their form.
        let settings = Settings { repository_identifier: None, ..settings };
        Self { offer: Offer::Stored, ..Self::new(catalogue, settings, base_url, "") }
    }

    /// Creates a repository at `base_url` of the documents of an archive, in the formats that are generated from their
    /// records. Their names are their identifiers, and follow the oai-identifier scheme if the settings have a
    /// namespace for it.
    pub fn of_archive(
        catalogue: Arc<dyn Catalogue>,
        settings: Settings,
        base_url: &str,
        formats: Arc<dyn ArchiveFormats>,
    ) -> Self {
        let repository = Self::new(catalogue, settings, base_url, "");
        Self { offer: Offer::Archive(formats), identifier_prefix: "".into(), ..repository }
    }

    /// Creates a repository at `base_url` of a site on another server. The names of its items are their URLs.
    pub fn of_urls(catalogue: Arc<dyn Catalogue>, settings: Settings, base_url: &str) -> Self {
        // The identifiers are the URLs of the site, so a scheme for other identifiers does not apply.
        let settings = Settings { repository_identifier: None, ..settings };
        Self::new(catalogue, settings, base_url, "")
    }

    /// Returns the same repository of records with a description in Identify: the identifiers follow the oai-identifier
    /// scheme and have this namespace, such as `arXiv.org`. The sample is the identifier of one of them.
    pub fn with_identifiers_in(self, namespace: &str, sample: Option<&str>) -> Self {
        let prefix = format!("oai:{namespace}:");
        let local = sample.and_then(|sample| sample.strip_prefix(&prefix)).filter(|local| is_local_identifier(local));
        let mut settings = (*self.settings).clone();
        settings.repository_identifier = Some(namespace.to_owned());
        Self { settings: Arc::new(settings), sample: local.map(Into::into), ..self }
    }

    /// Returns the same repository with these encodings, which its host supports, listed in Identify.
    pub fn with_compressions(self, compressions: &'static [&'static str]) -> Self {
        Self { compressions, ..self }
    }

    /// Returns the same repository without content for machines only: no resources, and no very large records.
    pub(crate) fn without_resources(&self) -> Self {
        let settings = Settings { by_value_limit: 0, ..(*self.settings).clone() };
        Self { settings: Arc::new(settings), largest_shown: LARGEST_FOR_PEOPLE, ..self.clone() }
    }

    /// Returns the same repository with this many records on a page.
    pub(crate) fn with_pages_of(&self, records: usize) -> Self {
        let settings = Settings { records_per_page: records, ..(*self.settings).clone() };
        Self { settings: Arc::new(settings), ..self.clone() }
    }

    /// Returns the same repository with at most this many records or headers on a page. Resumption tokens do not depend
    /// on the length of pages.
    pub fn with_pages_up_to(&self, most: usize) -> Self {
        let settings = Settings {
            records_per_page: self.settings.records_per_page.min(most),
            identifiers_per_page: self.settings.identifiers_per_page.min(most),
            ..(*self.settings).clone()
        };
        Self { settings: Arc::new(settings), ..self.clone() }
    }

    /// Returns true if the repository contains stored records, and not files.
    pub(crate) fn is_of_records(&self) -> bool {
        !matches!(self.offer, Offer::Files(_))
    }

    /// Returns the base URL.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the digests of a file of a document, and the state that they are of, if the catalogue has them.
    pub fn file_digests(&self, path: &str) -> io::Result<Option<(Fingerprint, Digests)>> {
        self.catalogue.file_digests(path).map_err(io::Error::other)
    }

    /// Read first, so that no change can occur between reading the data and the date of the response.
    /// answer then streams its body.
    pub fn answer<'a>(&'a self, request: Parsed, host: &'a dyn Host) -> Result<Answer<'a>, Failure> {
        // Read first, so that no change can occur between the data and the date of the response.
        let standing = self.standing(host)?;
        let formats = match &self.offer {
            Offer::Files(formats) => Arc::clone(formats),
            Offer::Stored => formats::of_records(self.catalogue.formats()?),
            Offer::Archive(formats) => formats.as_of(&standing, &*self.catalogue)?,
        };
        let visit = Visit { repository: self, host, standing, formats, listed: RefCell::default() };
        let request = match request {
            Ok(request) => request,
            Err(errors) => return Ok(visit.errors(Arguments::new(), errors)),
        };
        let mut echo = request.arguments();
        // The schema requires a URI in this attribute. The identifier of an aggregated record may not be a URI.
        let is_uri = |(name, value): &(String, String)| name != "identifier" || uri::is_any_uri(value);
        let is_legal = echo.iter().all(is_uri);
        echo.retain(is_uri);
        let body = match request {
            Request::Identify => Ok(Body::Identify),
            Request::ListMetadataFormats { identifier } => describe::formats(&visit, identifier.as_deref())?,
            Request::ListSets { token } => describe::sets(&visit, token.as_deref())?,
            Request::GetRecord { identifier, prefix } => record::get(&visit, &identifier, &prefix)?,
            Request::List { verb, listing: Listing::Select(selection) } => list::begin(&visit, verb, &selection)?,
            Request::List { verb, listing: Listing::Resume(token) } => list::resume(&visit, verb, &token)?,
        };
        Ok(match body {
            Ok(body) => Answer { visit, echo, body },
            Err(errors) if is_legal => visit.errors(echo, errors),
            Err(errors) => visit.errors(echo, errors.into_iter().map(not_a_uri).collect()),
        })
    }

    fn standing(&self, host: &dyn Host) -> Result<Standing, Failure> {
        host.ready().map_err(|cause| Failure::outage("the site is temporarily unavailable", Some(cause)))?;
        let standing = self.catalogue.standing()?;
        if standing.ready {
            return Ok(standing);
        }
        let reason = "the first indexing is in progress".to_owned();
        Err(Failure::Unavailable { reason, retry_after: FILLING, cause: None })
    }
}

/// The state of the repository for one request.
pub(crate) struct Visit<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) host: &'a dyn Host,
    pub(crate) standing: Standing,
    pub(crate) formats: Formats,
    /// Items of this response that are not yet recorded for any audience of this requester.
    listed: RefCell<Vec<Listed>>,
}

impl<'a> Visit<'a> {
    pub(crate) fn format(&self, prefix: &str) -> Option<Arc<dyn Format>> {
        self.formats.iter().find(|format| format.prefix() == prefix).map(Arc::clone)
    }

    pub(crate) fn token_key(&self) -> TokenKey {
        TokenKey::new(self.standing.secret)
    }

    /// Returns true if an item that is not public was listed for an audience of this requester. If the item is deleted and
    /// its audiences were not recorded, the host decides.
    pub(crate) fn was_listed(&self, item: &Item) -> Result<bool, Failure> {
        if !self.host.has_audiences() {
            return Ok(self.host.sees(item)?);
        }
        if self.host.belongs_to(item, &self.standing.secret)? {
            return Ok(true);
        }
        Ok(item.deleted && item.listed_for.and_others && self.host.sees(item)?)
    }

    /// Notes that an item is listed for this requester, unless the item is public: then its deletion is reported to every
    /// requester.
    pub(crate) fn note_listing(&self, item: &Item) -> Result<(), Failure> {
        let is_private = !item.deleted && item.publicity == Publicity::Untold;
        if is_private && self.host.has_audiences() && !self.was_listed(item)? {
            let audiences = self.host.audiences(item, &self.standing.secret)?;
            self.listed.borrow_mut().push(Listed { number: item.number, audiences });
        }
        Ok(())
    }

    /// Records the audiences that the items of this response are listed for.
    pub(crate) fn record_listings(&self) -> Result<(), Failure> {
        Ok(self.repository.catalogue.record_audiences(&self.listed.take())?)
    }

    /// Stores facts that were computed for the response. If this fails, the response is still valid.
    pub(crate) fn remember(&self, learned: &[Learned]) {
        if let Err(error) = self.repository.catalogue.learn(learned) {
            tracing::warn!(%error, "failed to store digests and titles");
        }
    }

    fn errors(self, echo: Arguments, errors: Vec<ProtocolError>) -> Answer<'a> {
        Answer { visit: self, echo, body: Body::Errors(errors) }
    }
}

/// Replaces `idDoesNotExist` by `badArgument`, for an identifier that is not a URI.
fn not_a_uri(error: ProtocolError) -> ProtocolError {
    match error.code {
        ErrorCode::IdDoesNotExist => ProtocolError::new(ErrorCode::BadArgument, "the identifier is not a URI"),
        _ => error,
    }
}

/// A result: the response, or the errors in the request.
pub(crate) type Decision<T> = Result<Result<T, Vec<ProtocolError>>, Failure>;

/// Rejects the request with one error.
#[expect(clippy::unnecessary_wraps, reason = "what decides returns decisions")]
pub(crate) fn refuse<T>(code: ErrorCode, message: impl Into<String>) -> Decision<T> {
    Ok(Err(vec![ProtocolError::new(code, message)]))
}
