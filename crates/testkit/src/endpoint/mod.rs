//! An OAI-PMH endpoint that misbehaves as it is told to: what real servers get wrong, at hand in every test.
//!
//! Underneath is a small repository in memory that is right in everything; over it lies a [`Script`] that says what goes
//! wrong, and when. [`repertoire`] is the table of all that was ever seen to go wrong.
//!
//! ```
//! use modoai_testkit::endpoint::{Endpoint, Reply, Script};
//! use modoai_testkit::http::Client;
//!
//! let script = Script::default().instead(|visit| (visit.number == 0).then(|| Reply::html(502, "Bad gateway")));
//! let endpoint = Endpoint::start(script);
//! let mut client = Client::new(endpoint.url());
//! assert_eq!(client.get("/oai?verb=Identify").expect("an answer").status, 502);
//! assert_eq!(client.get("/oai?verb=Identify").expect("an answer").status, 200);
//! assert_eq!(endpoint.log().len(), 2);
//! ```
//!
//! | file | what it knows |
//! |---|---|
//! | `holdings` | what there is |
//! | `repository` | what OAI-PMH makes of a request |
//! | `page` | answers as data, and as XML |
//! | `script` | where defects take hold |
//! | `repertoire` | the defects |
//! | `request`, `reply`, `server` | HTTP, and how to break it |
//! | `calendar` | dates |

pub mod calendar;
mod holdings;
mod page;
pub mod repertoire;
mod reply;
mod repository;
mod request;
mod script;
pub(crate) mod server;

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub use holdings::{Holdings, Record, dublin_core};
pub use page::{Body, Entry, List, Page, Token};
pub use reply::{Delivery, Reply};
pub use repository::{Place, Selection};
pub use request::{Asked, Request, decode};
pub use script::{Script, Visit};

use script::Tokens;
use server::Server;

/// A running endpoint. It ends when it is dropped.
pub struct Endpoint {
    world: Arc<World>,
    // Only kept: it answers until it is dropped.
    _server: Server,
}

impl Endpoint {
    /// Starts to answer on a free port of this machine, on any path.
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/oai", listener.local_addr().expect("it is bound"));
        Self::answering(script, listener, url)
    }

    /// Starts to answer on port 80 of an address, where it is known by this name. For networks of a test's own.
    pub fn start_at(script: Script, address: &str, name: &str) -> Self {
        let listener = TcpListener::bind((address, 80)).expect("an address of this machine");
        Self::answering(script, listener, format!("http://{name}/oai"))
    }

    fn answering(script: Script, listener: TcpListener, url: String) -> Self {
        let world = Arc::new(World {
            url,
            holdings: Mutex::new(script.holdings.clone()),
            tokens: Tokens::new(script.token_form),
            script,
            started: Instant::now(),
            log: Mutex::default(),
            times: Mutex::default(),
        });
        let answering = world.clone();
        let server = Server::start(listener, move |request| answering.answer(request));
        Self { world, _server: server }
    }

    /// Where it is asked.
    pub fn url(&self) -> &str {
        &self.world.url
    }

    /// What it holds now.
    pub fn holdings(&self) -> Holdings {
        lock(&self.world.holdings).clone()
    }

    /// Something happens to what it holds.
    pub fn change(&self, change: impl FnOnce(&mut Holdings)) {
        change(&mut lock(&self.world.holdings));
    }

    /// What it was asked so far.
    pub fn log(&self) -> Vec<Asked> {
        lock(&self.world.log).clone()
    }

    /// The same as text, for those who wonder what went wrong; the middle of a long log is left out.
    pub fn story(&self) -> String {
        const MOST: usize = 60;
        let log = self.log();
        let lines = |log: &[Asked]| log.iter().map(|asked| format!("{asked}\n")).collect::<String>();
        match log.len().checked_sub(2 * MOST).filter(|left_out| *left_out > 0) {
            None => lines(&log),
            Some(count) => format!("{}… {count} more …\n{}", lines(&log[..MOST]), lines(&log[MOST + count..])),
        }
    }
}

/// All that the answers of an endpoint depend on.
struct World {
    url: String,
    script: Script,
    holdings: Mutex<Holdings>,
    tokens: Tokens,
    started: Instant,
    log: Mutex<Vec<Asked>>,
    times: Mutex<HashMap<String, usize>>,
}

impl World {
    fn answer(&self, asked: Request) -> Reply {
        let at = self.started.elapsed();
        let mut request = asked.clone();
        self.script.understand.iter().for_each(|hook| hook(&mut request));
        let holdings = lock(&self.holdings).clone();
        let (place, refusal) = match repository::place(&request, &holdings, |token| self.tokens.find(token)) {
            Ok(place) => (place, Ok(())),
            Err(refusal) => (None, Err(refusal)),
        };
        let mut matching = Vec::new();
        if let Some(place) = &place {
            if request.argument("resumptionToken").is_none() {
                self.tokens.begin(&place.selection, at);
            }
            matching = place.selection.of(&holdings);
            self.script.arrange.iter().for_each(|hook| hook(&place.selection, &mut matching));
        }
        let times = {
            let mut times = lock(&self.times);
            let count = times.entry(asked.target.clone()).or_default();
            *count += 1;
            *count - 1
        };
        let mut log = lock(&self.log);
        let number = log.len();
        log.push(Asked { at, request: asked, status: 0, length: 0 });
        drop(log);
        let visit = Visit {
            request: &request,
            number,
            times,
            at,
            place: place.as_ref(),
            matching: &matching,
            page_size: self.script.page_size,
            store: holdings.records.len(),
            granularity: holdings.granularity,
            tokens: &self.tokens,
        };
        let reply = self.reply(&visit, &holdings, refusal);
        let line = &mut lock(&self.log)[number];
        (line.status, line.length) = (reply.status, reply.body.len());
        reply
    }

    fn reply(&self, visit: &Visit<'_>, holdings: &Holdings, refusal: Result<(), repository::Refusal>) -> Reply {
        let instead = self.script.instead.iter().find_map(|hook| hook(visit));
        let mut reply = instead.unwrap_or_else(|| {
            let mut page = repository::page(visit, holdings, &self.url, refusal);
            self.script.page.iter().for_each(|hook| hook(visit, &mut page));
            let mut xml = page.write();
            self.script.xml.iter().for_each(|hook| hook(visit, &mut xml));
            Reply::xml(xml)
        });
        self.script.reply.iter().for_each(|hook| hook(visit, &mut reply));
        reply
    }
}

/// What one thread left behind in panic is still a log, and still holdings.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
