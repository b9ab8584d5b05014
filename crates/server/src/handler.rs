//! Routes one request to one response.
//!
//! 1. malformed requests: 400, 414, 405;
//! 2. `/healthz`;
//! 3. the repository, and the schemas published below it ([`crate::endpoint`]);
//! 4. everything else is the site ([`crate::site`]).

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, HOST, LOCATION};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};
use modoai_endpoint::Target;
use modoai_repository::site::{Found, Site, name};
use modoai_settings::Network;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::area::{Requester, Stranger};
use crate::body::Body;
use crate::lists::Lists;
use crate::log::{Entry, Logged, Logger};
use crate::settings::{ServerSettings, worker_count};
use crate::site::Visit;
use crate::{Health, Served, endpoint, origin, reply};

/// Longer request targets are refused; the repository accepts less, and no file system has such paths.
const MAX_TARGET: usize = 32 * 1024;

/// The maximum number of concurrent responses besides lists, including those that only wait for a slow client. Each
/// holds a thread.
const MAX_ANSWERS: usize = 256;

/// The state that all connections share.
pub(crate) struct Handler {
    pub(crate) served: Served,
    pub(crate) base_path: String,
    base: Vec<Vec<u8>>,
    public_path: String,
    log: Option<Arc<Logger>>,
    /// Pages of lists.
    pub(crate) lists: Lists,
    /// The permits to compute a response other than a list; each computation holds one.
    pub(crate) turns: Arc<Semaphore>,
    /// The permits for responses other than lists; each response in progress holds one.
    pub(crate) answers: Arc<Semaphore>,
    trusted_proxies: Vec<Network>,
    /// The timeout for receiving a form.
    pub(crate) form_timeout: Duration,
}

/// The confirmed user of a request, passed to the access log with the response.
#[derive(Clone)]
struct User(String);

impl Handler {
    pub(crate) fn new(served: Served, settings: &ServerSettings, site_url: &str) -> io::Result<Self> {
        let public_path = site_url.splitn(4, '/').nth(3).unwrap_or_default();
        Ok(Self {
            lists: Lists::new(worker_count())?,
            served,
            base_path: settings.base_path.clone(),
            base: name::decode(settings.base_path.trim_matches('/')).unwrap_or_default(),
            public_path: format!("/{public_path}"),
            log: Logger::new(&settings.access_log, settings.log_format),
            turns: Arc::new(Semaphore::new(worker_count())),
            answers: Arc::new(Semaphore::new(MAX_ANSWERS)),
            trusted_proxies: settings.trusted_proxies.clone(),
            form_timeout: settings.stall_timeout,
        })
    }

    /// Responds to a request and logs it.
    pub(crate) async fn handle(self: Arc<Self>, peer: IpAddr, request: Request<Incoming>) -> Response<Logged> {
        let address = origin::of(peer, request.headers(), &self.trusted_proxies);
        let line = self.log.clone().map(|log| (log, Entry::new(address, &request)));
        let is_head = request.method() == Method::HEAD;
        let mut response = self.respond(address, request).await;
        if is_head {
            response = reply::without_body(response);
        }
        let user = response.extensions_mut().remove::<User>();
        let status = response.status();
        let user = user.as_ref().map(|User(name)| name.as_str());
        response.map(|body| Logged::new(body, line.map(|(log, entry)| (log, entry.answered(status, user)))))
    }

    async fn respond(self: Arc<Self>, address: IpAddr, request: Request<Incoming>) -> Response<Body> {
        let uri = request.uri();
        if uri.path_and_query().is_some_and(|target| target.as_str().len() > MAX_TARGET) {
            return reply::text(StatusCode::URI_TOO_LONG, "The URL is too long.");
        }
        let hosts = request.headers().get_all(HOST).iter().count();
        let needs_host = match request.version() {
            Version::HTTP_11 => true,
            // HTTP/2 has the host in the URI.
            Version::HTTP_2 => uri.authority().is_none(),
            _ => false,
        };
        if hosts > 1 || (hosts == 0 && needs_host) {
            return reply::bad_request("The request must have exactly one Host header.");
        }
        let Some(path) = uri.path().strip_prefix('/') else {
            return reply::bad_request("The request has no path.");
        };
        let canonical = without_empty_segments(path);
        let inner = self.within_site(&canonical).await;
        if canonical != path || format!("/{canonical}/") == self.public_path && inner.is_empty() {
            return self.redirect(StatusCode::MOVED_PERMANENTLY, "See the canonical URL.", &inner, uri.query());
        }
        let path = inner;
        let place = Place::of(&path, &self.base);
        let methods = match &place {
            Place::Base(target) => target.methods(),
            Place::BaseWithSlash | Place::Site => &["GET", "HEAD"],
        };
        if !methods.contains(&request.method().as_str()) {
            return reply::not_allowed(&methods.join(", "));
        }
        let form = match &place {
            Place::Base(Target::Schema(text)) => return reply::schema(text),
            Place::Base(Target::Repository(form)) => Some(*form),
            Place::BaseWithSlash => return self.redirect_to_base(uri.query()),
            Place::Site if path == "healthz" => return self.health(),
            Place::Site => None,
        };
        let Some(form) = form else { return self.page(address, request, &path).await };
        let areas = self.served.areas.get();
        let requester = match areas.identify(&self.served.flow, address, request.headers()).await {
            Ok(requester) => requester,
            // A client with wrong credentials must not mistake a shortened list for the whole one.
            Err(Stranger::Wrong) => return reply::unauthorized(areas.challenge().unwrap_or_default()),
            Err(Stranger::Busy) => return too_many_logins(),
        };
        let user = requester.user().map(|user| User(user.to_owned()));
        let response = match areas.closed_to(&requester, &self.base) {
            Some(challenge) => reply::unauthorized(challenge),
            None => endpoint::respond(&self, address, request, requester, form).await,
        };
        logged_as(user, response)
    }

    /// Responds with something of the site.
    async fn page(self: Arc<Self>, address: IpAddr, request: Request<Incoming>, path: &str) -> Response<Body> {
        let Some(site) = &self.served.site else {
            return match path {
                "" => self.redirect_to_base(None),
                _ => reply::text(StatusCode::NOT_FOUND, "Not found. This server provides only an OAI-PMH repository."),
            };
        };
        self.served.flow.processors().reader_seen();
        let head = Arc::new(request.into_parts().0);
        let visit = |requester| self.clone().visit(site.clone(), head.clone(), requester, format!("/{path}"));
        // Files outside all areas are the same for every client: a request for one does not wait for a password check.
        let response = visit(Requester::anonymous()).await;
        if response.status() != StatusCode::UNAUTHORIZED {
            return response;
        }
        match self.served.areas.get().identify(&self.served.flow, address, &head.headers).await {
            Ok(requester) if requester == Requester::anonymous() => response,
            Ok(requester) => logged_as(requester.user().map(|user| User(user.to_owned())), visit(requester).await),
            Err(Stranger::Wrong) => response,
            Err(Stranger::Busy) => too_many_logins(),
        }
    }

    async fn visit(
        self: Arc<Self>,
        site: Arc<Site>,
        head: Arc<Parts>,
        requester: Requester,
        path: String,
    ) -> Response<Body> {
        let look = move || {
            let visit = Visit {
                site: &site,
                areas: &self.served.areas.get(),
                requester: &requester,
                public_path: &self.public_path,
                base_path: &self.base_path,
                path: &path,
                query: head.uri.query(),
                is_head: head.method == Method::HEAD,
                headers: &head.headers,
            };
            visit.respond()
        };
        spawn_blocking(look).await.unwrap_or_else(|_| reply::fault())
    }

    /// Returns the path within the site. A proxy may forward the path of the public URL, or remove it. A path that
    /// exists unchanged does not have it in front.
    async fn within_site(&self, path: &str) -> String {
        let prefix = self.public_path.trim_matches('/');
        let rest =
            path.strip_prefix(prefix).filter(|rest| !prefix.is_empty() && (rest.is_empty() || rest.starts_with('/')));
        let Some(rest) = rest.map(|rest| rest.trim_start_matches('/').to_owned()) else { return path.to_owned() };
        let site = self.served.site.clone();
        let whole = format!("/{path}");
        let exists = move || site.is_some_and(|site| !matches!(site.find(&whole), Ok(Found::Nothing)));
        match spawn_blocking(exists).await {
            Ok(true) => path.to_owned(),
            _ => rest,
        }
    }

    /// Returns a 302, the only redirect that harvesters follow without reporting it as a defect.
    fn redirect_to_base(&self, query: Option<&str>) -> Response<Body> {
        let base_path = self.base_path.trim_start_matches('/');
        self.redirect(StatusCode::FOUND, "The repository is at another URL.", base_path, query)
    }

    fn redirect(&self, status: StatusCode, sentence: &str, path: &str, query: Option<&str>) -> Response<Body> {
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        reply::with(reply::text(status, sentence), LOCATION, &format!("{}{path}{query}", self.public_path))
    }

    fn health(&self) -> Response<Body> {
        let response = match (self.served.health)() {
            Health::Current | Health::Behind => reply::text(StatusCode::OK, "ok"),
            Health::Filling => reply::come_back("the first indexing is in progress", 5),
            Health::Suspended(reason) => reply::come_back(&reason, 10),
        };
        reply::with(response, CACHE_CONTROL, "no-store")
    }
}

/// Adds the user for the access log.
fn logged_as(user: Option<User>, mut response: Response<Body>) -> Response<Body> {
    if let Some(user) = user {
        response.extensions_mut().insert(user);
    }
    response
}

fn too_many_logins() -> Response<Body> {
    reply::come_back("Too many logins in progress. Retry later.", 10)
}

/// A path without slashes that have no name between them: such a path means the same file in other web servers.
fn without_empty_segments(path: &str) -> String {
    path.split_inclusive('/').filter(|segment| *segment != "/").collect()
}

/// The part of the server that a path belongs to.
enum Place {
    /// The repository.
    Base(Target),
    BaseWithSlash,
    Site,
}

impl Place {
    fn of(path: &str, base: &[Vec<u8>]) -> Self {
        let (inner, slash) = path.strip_suffix('/').map_or((path, false), |inner| (inner, true));
        let segments = name::decode(inner).unwrap_or_default();
        let name = match (segments.strip_prefix(base), slash) {
            (Some([]), false) => &[][..],
            (Some([]), true) => return Self::BaseWithSlash,
            (Some([name]), false) => name,
            _ => return Self::Site,
        };
        Target::named(name).map_or(Self::Site, Self::Base)
    }
}
