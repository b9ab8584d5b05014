//! The HTTP client. An attempt consists of a place at the host, a request, its redirects, and the response headers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{NoProxy, Proxy, RequestBuilder, redirect::Policy};
use rustls::ClientConfig;
use url::Url;

use crate::body::Body;
use crate::cookies::Cookies;
use crate::credentials::{Credential, Origin, Secret, without_userinfo};
use crate::decode::{ACCEPTED, Decoder};
use crate::error::{FetchError, Wait};
use crate::exchange::{Ask, Fetched, Method, asked_to_wait, expects_text, media_type};
use crate::host::{Hosts, Lane, OnHold, Place};
use crate::manners::Manners;
use crate::reach::{Guard, Guarded, Start, is_this_machine};
use crate::redirect::{self, Hop};
use crate::robots::product;
use crate::room::room_for_connections;
use crate::tls;

/// The largest body of a redirect that is read so that its connection can be reused.
const WORTH_READING: u64 = 64 * 1024;
/// The longest time that reading it may take.
const WORTH_WAITING: Duration = Duration::from_secs(2);
/// The idle connections to one host that are kept. A client that briefly needed hundreds of them rarely needs all of
/// them again, and each is an open file.
const MOST_IDLE: usize = 64;
/// The HTTP/2 flow-control window: the bytes that a connection may have in transit before the client has read them.
const WINDOW: u32 = 1024 * 1024;

/// The HTTP client. Clones share everything: connections, cookies, places at hosts, holds and counts.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
    lane: Lane,
    /// Set if only some addresses may be connected to.
    restriction: Option<Arc<Restriction>>,
    /// Counts the requests of this clone and its clones.
    sent: Option<Arc<AtomicU64>>,
}

struct Inner {
    http: reqwest::Client,
    cookies: Arc<Cookies>,
    hosts: Hosts,
    manners: Manners,
    counters: Arc<Counters>,
    tls: ClientConfig,
}

/// Connections to allowed addresses only.
struct Restriction {
    guard: Arc<Guard>,
    /// Connections without a proxy.
    http: reqwest::Client,
    /// The URLs that are requested through a proxy, and therefore through the ordinary connections.
    proxied: Matcher,
}

#[derive(Default)]
pub(crate) struct Counters {
    requests: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// The traffic of a client so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of requests that were sent, redirects included.
    pub requests: u64,
    /// The number of bytes of bodies that were received, as sent.
    pub bytes: u64,
    /// The time that all requests have waited for their turns at hosts.
    pub waited: Duration,
}

impl Client {
    /// Creates a client with these settings.
    pub fn new(manners: Manners) -> Result<Self, FetchError> {
        if manners.public_only && manners.proxy.is_some() {
            let what = "a proxy cannot be used if only public addresses are allowed".to_owned();
            return Err(FetchError::Setup { what, source: None });
        }
        let cookies = Arc::new(Cookies::default());
        let tls = tls::config(&manners.trust)?;
        let http = connections(&manners, &cookies, &tls, None)?;
        let in_all = manners.at_once.map(|places| places.min(room_for_connections()));
        let hosts = Hosts::new(manners.per_host, in_all, manners.delay);
        let public_only = manners.public_only;
        let inner = Inner { http, cookies, hosts, manners, counters: Arc::default(), tls };
        let client = Self { inner: Arc::new(inner), lane: Lane::First, restriction: None, sent: None };
        if public_only { client.guarded_by(Guard::default()) } else { Ok(client) }
    }

    /// Returns the same client, restricted to public addresses and to those of `starts`, the URLs that the user named.
    /// The address of each connection decides, regardless of URLs, redirects and names.
    ///
    /// A start whose host has no public address may be connected to, and no other private host. A client that is
    /// [`public_only`](Manners::public_only) stays so. Names that are resolved by a proxy cannot be checked here.
    pub fn restricted_to(&self, starts: impl IntoIterator<Item = Start>) -> Result<Self, FetchError> {
        if self.inner.manners.public_only { Ok(self.clone()) } else { self.guarded_by(Guard::of(starts)) }
    }

    fn guarded_by(&self, guard: Guard) -> Result<Self, FetchError> {
        let Inner { manners, cookies, tls, .. } = &*self.inner;
        let guard = Arc::new(guard);
        let http = connections(manners, cookies, tls, Some(&guard))?;
        let restriction = Restriction { guard, http, proxied: proxied(manners) };
        Ok(Self { restriction: Some(Arc::new(restriction)), ..self.clone() })
    }

    /// Returns the host names of the starts that were found to have a public address, for [`Start::was_public`].
    pub fn public_starts(&self) -> Vec<String> {
        self.restriction.as_ref().map(|restriction| restriction.guard.public_starts()).unwrap_or_default()
    }

    /// Returns the same client, which also counts the requests that it sends, redirects included, in this counter. Attempts without
    /// a connection are not requests.
    pub fn counting(&self, sent: Arc<AtomicU64>) -> Self {
        Self { sent: Some(sent), ..self.clone() }
    }

    /// Returns the same client with separate places at hosts. A caller that requests from a host while it reads another
    /// response of the same host would otherwise wait for itself. Pauses and holds are shared.
    pub fn beside(&self) -> Self {
        Self { lane: Lane::Beside, ..self.clone() }
    }

    /// Makes one attempt: waits for its turn at the host, sends the request, follows redirects (each waits for its
    /// turn), and returns when the headers were received. Any status is a response. The place at the host is held until
    /// the body is dropped or read completely.
    ///
    /// If the host is on hold, this waits for up to five minutes; a longer hold is [`FetchError::Held`]. Dropping the
    /// future frees the place.
    pub async fn get(&self, ask: Ask) -> Result<Fetched, FetchError> {
        let mut url = ask.url;
        let own = Credential::from_url(&mut url);
        url.set_fragment(None);
        let Some(first) = Origin::of(&url) else {
            return Err(FetchError::InvalidUrl { url: url.into(), reason: "not an HTTP URL with a host" });
        };
        let method = match (&ask.form, ask.method) {
            (Some(_), _) => reqwest::Method::POST,
            (None, Method::Get) => reqwest::Method::GET,
            (None, Method::Head) => reqwest::Method::HEAD,
        };
        let mut hops: Vec<Hop> = Vec::new();
        let mut was_safe = false;
        loop {
            if self.restriction.as_ref().is_some_and(|restriction| !restriction.guard.allows_url(&url)) {
                let host = url.host_str().unwrap_or_default().to_owned();
                return Err(FetchError::PrivateAddress { host, url: url.into() });
            }
            let origin = Origin::of(&url).filter(|_| !(was_safe && url.scheme() == "http"));
            was_safe |= url.scheme() == "https";
            let mut headers = HeaderMap::with_capacity(ask.headers.len() + 4);
            for (name, value) in &ask.headers {
                if origin.as_ref() == Some(&first) || redirect::is_harmless(name) {
                    headers.append(name, value.clone());
                }
            }
            let compressed = self.inner.manners.compressed_at_home || !is_this_machine(&url);
            let accepted = if ask.decode && compressed { ACCEPTED } else { "identity" };
            headers.entry(header::ACCEPT_ENCODING).or_insert(HeaderValue::from_static(accepted));
            // The last ones are those in the URL, which apply to this request only. An `Authorization` header that the
            // caller sets has precedence over both.
            let mut known = self.inner.manners.credentials.iter().chain(&own);
            let secret = known
                .rfind(|credential| origin.as_ref() == Some(&credential.origin))
                .filter(|_| !headers.contains_key(header::AUTHORIZATION))
                .map(|credential| &credential.secret);

            let place = self.turn(&url).await?;
            let response = self.send(method.clone(), &url, headers, secret, ask.form.as_deref()).await?;
            let status = response.status().as_u16();
            if (status == 429 || status == 503 && self.inner.manners.holds_on_503)
                && let Some(wait) = asked_to_wait(response.headers())
            {
                tracing::info!(
                    "{} sent HTTP {status} with Retry-After: no request for {} s",
                    url.host_str().unwrap_or_default(),
                    wait.as_secs()
                );
                self.hold(url.host_str().unwrap_or_default(), SystemTime::now() + wait);
            }
            let to = if ask.follow { redirect::target(status, response.headers(), &url)? } else { None };
            let Some(to) = to else {
                let is_head = method == reqwest::Method::HEAD;
                let mut fetched = self.fetched(response, url, hops, ask.decode && !is_head, place);
                if is_head {
                    fetched.body = fetched.body.none();
                }
                return Ok(fetched);
            };
            if hops.len() >= self.inner.manners.redirects {
                return Err(FetchError::TooManyRedirects { url: url.into(), limit: hops.len() });
            }
            tracing::debug!(status, from = %url, %to, "redirected");
            keep_connection(response).await;
            drop(place);
            hops.push(Hop { status, from: url, to: to.clone() });
            url = to;
        }
    }

    /// Sends nothing to this host before `until`. [`get`](Self::get) calls this on 429 and 503; callers use it for
    /// holds that they have stored. A hold is never shortened.
    pub fn hold(&self, host: &str, until: SystemTime) {
        self.inner.hosts.hold(host, until);
    }

    /// Increases the pause between requests to this host, as the host requires. Repeated calls cost nothing. A host
    /// without requests is forgotten after some time, and its pause with it.
    pub fn slow_down(&self, host: &str, pause: Duration) {
        self.inner.hosts.slow_down(host, pause);
    }

    /// Returns the product token that rules in robots.txt apply to: the first word of the agent, without its version.
    pub fn product(&self) -> &str {
        product(&self.inner.manners.agent)
    }

    /// Returns the `User-Agent` header of every request.
    pub fn user_agent(&self) -> String {
        self.inner.manners.user_agent()
    }

    /// Returns the `From` header of every request, if the contact is an email address.
    pub fn from(&self) -> Option<&str> {
        self.inner.manners.from()
    }

    /// Returns the contact of the operator, as configured.
    pub fn contact(&self) -> Option<&str> {
        self.inner.manners.contact.as_deref().map(str::trim).filter(|contact| !contact.is_empty())
    }

    /// Returns the end of the hold of this host, if it is on hold.
    pub fn held_until(&self, host: &str) -> Option<SystemTime> {
        self.inner.hosts.held_until(host)
    }

    /// Returns the traffic so far of this client and all its clones.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.inner.counters.requests.load(Ordering::Relaxed),
            bytes: self.inner.counters.bytes.load(Ordering::Relaxed),
            waited: self.inner.hosts.waited(),
        }
    }

    async fn turn(&self, url: &Url) -> Result<Place, FetchError> {
        let host = url.host_str().unwrap_or_default();
        let turn = self.inner.hosts.turn(host, self.lane).await;
        turn.map_err(|OnHold(until)| FetchError::Held { host: host.to_owned(), url: url.to_string(), until })
    }

    /// Returns the connections for requests to a URL.
    fn connections(&self, url: &Url) -> &reqwest::Client {
        let is_proxied = |restriction: &&Arc<Restriction>| {
            url.as_str().parse().is_ok_and(|target| restriction.proxied.intercept(&target).is_some())
        };
        let direct = self.restriction.as_ref().filter(|restriction| !is_proxied(restriction));
        direct.map_or(&self.inner.http, |restriction| &restriction.http)
    }

    async fn send(
        &self,
        method: reqwest::Method,
        url: &Url,
        headers: HeaderMap,
        secret: Option<&Secret>,
        form: Option<&str>,
    ) -> Result<reqwest::Response, FetchError> {
        const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
        let mut request = reqwest::Request::new(method, url.clone());
        *request.headers_mut() = headers;
        let mut request = RequestBuilder::from_parts(self.connections(url).clone(), request);
        if let Some(form) = form {
            request = request.header(header::CONTENT_TYPE, FORM).body(form.to_owned());
        }
        request = match secret {
            Some(Secret::Basic { user, password }) => request.basic_auth(user, Some(password)),
            Some(Secret::Bearer(token)) => request.bearer_auth(token),
            None => request,
        };
        tracing::debug!(%url, "asking");
        self.inner.counters.requests.fetch_add(1, Ordering::Relaxed);
        let answer = match tokio::time::timeout(self.inner.manners.first_byte_timeout, request.send()).await {
            Ok(answer) => answer.map_err(|error| FetchError::before_the_answer(error, url)),
            Err(_) => Err(FetchError::TimedOut { what: Wait::FirstByte, url: url.to_string() }),
        };
        if let Some(sent) = self.sent.as_ref().filter(|_| answer.as_ref().err().is_none_or(FetchError::is_connected)) {
            sent.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    fn fetched(
        &self,
        mut response: reqwest::Response,
        url: Url,
        hops: Vec<Hop>,
        decode: bool,
        place: Place,
    ) -> Fetched {
        let headers = std::mem::take(response.headers_mut());
        let decoder = if decode {
            let labels = headers.get_all(header::CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
            Decoder::new(labels, expects_text(media_type(&headers), &url))
        } else {
            Decoder::plain()
        };
        let status = response.status().as_u16();
        let body =
            Body::new(response, url.clone(), decoder, &self.inner.manners, Arc::clone(&self.inner.counters), place);
        Fetched { status, headers, url, hops, body }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("manners", &self.inner.manners).finish_non_exhaustive()
    }
}

/// Creates connections with these settings. With a guard they use no proxy, and connect to allowed addresses only.
fn connections(
    manners: &Manners,
    cookies: &Arc<Cookies>,
    tls: &ClientConfig,
    guard: Option<&Arc<Guard>>,
) -> Result<reqwest::Client, FetchError> {
    let setup = |what: &str, error: reqwest::Error| FetchError::Setup {
        what: what.to_owned(),
        source: Some(error.without_url().into()),
    };
    let mut own = HeaderMap::new();
    let header = |what: &str, text: &str| {
        HeaderValue::from_str(text)
            .map_err(|error| FetchError::Setup { what: format!("{what} {text:?}"), source: Some(error.into()) })
    };
    own.insert(header::USER_AGENT, header("invalid user agent", &manners.user_agent())?);
    if let Some(from) = manners.from() {
        own.insert(header::FROM, header("invalid contact address", from)?);
    }
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .default_headers(own)
        .redirect(Policy::none())
        .referer(false)
        .cookie_provider(Arc::clone(cookies))
        .connect_timeout(manners.connect_timeout)
        .pool_max_idle_per_host(manners.per_host.clamp(1, MOST_IDLE))
        .pool_idle_timeout(manners.keep_alive)
        .tcp_nodelay(true)
        .http2_initial_stream_window_size(WINDOW)
        .http2_initial_connection_window_size(WINDOW)
        // Accept invalid headers that other clients accept.
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true);
    if let Some(guard) = guard {
        builder = builder.no_proxy().dns_resolver(Arc::new(Guarded(Arc::clone(guard))));
    } else if let Some(proxy) = &manners.proxy {
        let what = format!("invalid proxy {}", without_userinfo(proxy));
        let proxy = Proxy::all(proxy.clone()).map_err(|error| setup(&what, error))?;
        builder = builder.proxy(proxy.no_proxy(NoProxy::from_env()));
    }
    builder.build().map_err(|error| setup("the settings", error))
}

/// Matches the URLs that [`connections`] requests through a proxy.
fn proxied(manners: &Manners) -> Matcher {
    let Some(proxy) = manners.proxy.as_ref().filter(|_| !manners.public_only) else {
        return if manners.public_only { Matcher::builder().build() } else { Matcher::from_env() };
    };
    let exempt = ["NO_PROXY", "no_proxy"].iter().find_map(|name| std::env::var(name).ok());
    Matcher::builder().all(proxy.as_str()).no(exempt.unwrap_or_default()).build()
}

/// Reads the rest of a redirect's body if it is short, so that its connection can be reused.
async fn keep_connection(mut response: reqwest::Response) {
    let little = async {
        let mut read = 0;
        while let Ok(Some(bytes)) = response.chunk().await {
            read += bytes.len() as u64;
            if read > WORTH_READING {
                break;
            }
        }
    };
    // If this fails, the connection is lost; the redirect itself is known.
    let _ = tokio::time::timeout(WORTH_WAITING, little).await;
}
