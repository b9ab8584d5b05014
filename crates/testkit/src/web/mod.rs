//! Webs for spiders: pages and whatever else a server may answer, by path, on a port of this machine.
//!
//! ```
//! use modoai_testkit::http::Client;
//! use modoai_testkit::web::Web;
//!
//! let host = Web::default().page("/", r#"<a href="/gone">gone</a>"#).status("/gone", 410).start();
//! let mut client = Client::new(host.url());
//! assert_eq!(client.get("/").expect("an answer").status, 200);
//! assert_eq!(client.head("/gone").expect("an answer").status, 410);
//! assert_eq!(host.times("/gone"), 1);
//! ```
//!
//! What has an ETag or a Last-Modified is answered with 304 if the request says so. What is not there is answered with 404;
//! that goes for robots.txt, too.
//!
//! | file | what it knows |
//! |---|---|
//! | `repertoire` | links, what is behind them, and what a spider must say about each |
//! | `references` | every way to refer to something, each to a path of its own |
//! | `probes` | robots.txt, and what it allows |
//! | `traps` | what spiders drown in |

pub mod probes;
pub mod references;
pub mod repertoire;
pub mod traps;

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::endpoint::server::Server;
pub use crate::endpoint::{Asked, Delivery, Reply, Request};

type Answer = Arc<dyn Fn(&Visit<'_>) -> Reply + Send + Sync>;

/// What there is, by path.
#[derive(Clone, Default)]
pub struct Web {
    answers: HashMap<String, Answer>,
    below: Vec<(String, Answer)>,
}

/// One request, as answers see it.
pub struct Visit<'a> {
    /// The request.
    pub request: &'a Request,
    /// How often the same was asked before, by any method.
    pub times: usize,
    /// Where the host is, without a slash at the end.
    pub here: &'a str,
}

impl Visit<'_> {
    /// Whether only the head of the answer is asked for.
    pub fn is_head(&self) -> bool {
        self.request.method == "HEAD"
    }
}

impl Web {
    /// An answer to requests for a path, or for a path with a query.
    #[must_use]
    pub fn on(mut self, target: &str, answer: impl Fn(&Visit<'_>) -> Reply + Send + Sync + 'static) -> Self {
        self.answers.insert(target.to_owned(), Arc::new(answer));
        self
    }

    /// An answer to requests for whatever begins so and has no answer of its own.
    #[must_use]
    pub fn below(mut self, prefix: &str, answer: impl Fn(&Visit<'_>) -> Reply + Send + Sync + 'static) -> Self {
        self.below.push((prefix.to_owned(), Arc::new(answer)));
        self
    }

    /// A page with this body. In it, `{here}` is where the host is.
    #[must_use]
    pub fn page(self, target: &str, body: &str) -> Self {
        let body = body.to_owned();
        self.on(target, move |visit| html(&body.replace("{here}", visit.here)))
    }

    /// A file as it is, of any type.
    #[must_use]
    pub fn file(self, target: &str, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let reply = Reply::of(200, media_type, body.into());
        self.on(target, move |_| reply.clone())
    }

    /// Nothing but a status.
    #[must_use]
    pub fn status(self, target: &str, status: u16) -> Self {
        self.on(target, move |_| Reply::html(status, "Said"))
    }

    /// A redirect. In where it leads, `{here}` is where the host is.
    #[must_use]
    pub fn redirect(self, target: &str, status: u16, to: &str) -> Self {
        let to = to.to_owned();
        self.on(target, move |visit| Reply::html(status, "Moved").with("Location", &to.replace("{here}", visit.here)))
    }

    /// The rules for spiders.
    #[must_use]
    pub fn robots(self, text: &str) -> Self {
        self.file("/robots.txt", "text/plain", text)
    }

    /// Nothing is there any more.
    #[must_use]
    pub fn without(mut self, target: &str) -> Self {
        self.answers.remove(target);
        self
    }

    /// Starts to answer on a free port of this machine.
    pub fn start(self) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let world = Arc::new(World {
            url,
            web: Mutex::new(self),
            started: Instant::now(),
            log: Mutex::default(),
            times: Mutex::default(),
        });
        let answering = world.clone();
        Host { world, _server: Server::start(listener, move |request| answering.answer(request)) }
    }
}

/// A page in HTML with this body.
pub fn html(body: &str) -> Reply {
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>A page</title></head>\n<body>\n{body}\n</body></html>\n"
    );
    Reply::of(200, "text/html; charset=utf-8", page)
}

/// A running host. It ends when it is dropped.
pub struct Host {
    world: Arc<World>,
    // Only kept: it answers until it is dropped.
    _server: Server,
}

impl Host {
    /// Where it is, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.world.url
    }

    /// The URL of a path.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.world.url)
    }

    /// Something happens to what is there.
    pub fn change(&self, change: impl FnOnce(Web) -> Web) {
        let mut web = lock(&self.world.web);
        *web = change(std::mem::take(&mut web));
    }

    /// What it was asked so far.
    pub fn log(&self) -> Vec<Asked> {
        lock(&self.world.log).clone()
    }

    /// The same, and from now on nothing was asked.
    pub fn take_log(&self) -> Vec<Asked> {
        lock(&self.world.times).clear();
        std::mem::take(&mut lock(&self.world.log))
    }

    /// How often something was asked for, by any method.
    pub fn times(&self, target: &str) -> usize {
        lock(&self.world.log).iter().filter(|asked| asked.request.target == target).count()
    }

    /// What was asked for more than once, and how often.
    pub fn repeated(&self) -> Vec<(String, usize)> {
        let mut times: HashMap<String, usize> = HashMap::new();
        for asked in self.log() {
            *times.entry(asked.request.target).or_default() += 1;
        }
        let mut repeated: Vec<_> = times.into_iter().filter(|(_, times)| *times > 1).collect();
        repeated.sort();
        repeated
    }
}

/// All that the answers of a host depend on.
struct World {
    url: String,
    web: Mutex<Web>,
    started: Instant,
    log: Mutex<Vec<Asked>>,
    times: Mutex<HashMap<String, usize>>,
}

impl World {
    fn answer(&self, request: Request) -> Reply {
        let times = {
            let mut times = lock(&self.times);
            let count = times.entry(request.target.clone()).or_default();
            *count += 1;
            *count - 1
        };
        let answer = {
            let web = lock(&self.web);
            let below = || web.below.iter().find(|(prefix, _)| request.target.starts_with(&**prefix));
            web.answers.get(&request.target).or_else(|| Some(&below()?.1)).cloned()
        };
        let visit = Visit { request: &request, times, here: &self.url };
        let mut reply = answer.map_or_else(|| Reply::html(404, "Not found"), |answer| answer(&visit));
        if reply.status == 200 && is_unchanged(&request, &reply) {
            reply.status = 304;
            reply.body.clear();
        }
        let length = if request.method == "HEAD" { 0 } else { reply.body.len() };
        lock(&self.log).push(Asked { at: self.started.elapsed(), request, status: reply.status, length });
        reply
    }
}

/// Whether the request says that it has this very answer already. Dates are compared as text: they were given out as such.
fn is_unchanged(request: &Request, reply: &Reply) -> bool {
    let same = |asked: &str, given: &str| match (request.header(asked), reply.header(given)) {
        (Some(asked), Some(given)) => asked.split(',').any(|one| one.trim() == given) || asked == given,
        _ => false,
    };
    match request.header("If-None-Match") {
        Some(_) => same("If-None-Match", "ETag"),
        None => same("If-Modified-Since", "Last-Modified"),
    }
}

/// What one thread left behind in panic is still a log.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Client;

    #[test]
    fn what_is_unchanged_is_not_sent_again() {
        let host = Web::default()
            .on("/tag", |_| html("tagged").with("ETag", "\"1\""))
            .on("/date", |_| html("dated").with("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"))
            .start();
        let mut client = Client::new(host.url());
        for (path, header, value, status) in [
            ("/tag", "If-None-Match", "\"1\"", 304),
            ("/tag", "If-None-Match", "\"2\"", 200),
            ("/date", "If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT", 304),
            ("/date", "If-Modified-Since", "Sat, 05 Nov 1994 08:49:37 GMT", 200),
            ("/nowhere", "If-None-Match", "\"1\"", 404),
        ] {
            assert_eq!(client.get_with(path, &[(header, value)]).expect("an answer").status, status, "{path} {value}");
        }
        assert_eq!(host.repeated(), [("/date".to_owned(), 2), ("/tag".to_owned(), 2)]);
        host.change(|web| web.without("/tag"));
        assert_eq!(client.get("/tag").expect("an answer").status, 404);
    }

    #[test]
    fn answers_may_be_no_answers() {
        let host = Web::default()
            .on("/bare", |_| Reply::of(200, "", "this is not HTTP\r\n\r\n").delivered(Delivery::Bare))
            .on("/large", |_| Reply::of(200, "text/plain", "0123456789").delivered(Delivery::Repeated(1_000)))
            .below("/deep/", |visit| html(visit.request.path()))
            .start();
        let mut client = Client::new(host.url());
        assert_eq!(client.get("/large").expect("an answer").body.len(), 10_000);
        assert!(client.get("/deep/down?x").expect("an answer").text().contains("/deep/down"));
        client.get("/bare").expect_err("not HTTP");
    }
}
