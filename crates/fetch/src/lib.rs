//! The polite HTTP client. Harvester and spider send all requests through it, so politeness is decided in one place.
//!
//! Its behaviour:
//!
//! - *It identifies itself.* `User-Agent` contains the program, and the operator's contact if one is configured; `From`
//!   contains the email address.
//! - *It obeys robots.txt.* [`Gate`] reports the rules to callers that follow links; the pause between requests is
//!   enforced for every caller.
//! - *It limits its load.* By default it sends one request at a time to a host, and a minimum pause between two can be
//!   set. Redirects count as requests. A host is a name, regardless of the port: all ports share the load of one
//!   machine.
//! - *It obeys Retry-After.* 429 and 503 with Retry-After put the whole host on hold, for every caller. Nothing is sent
//!   before that time; a hold that is too long to wait for is reported ([`FetchError::Held`]) and can be stored.
//! - *It keeps secrets.* Credentials are sent to the origin they were given for and to no other, regardless of
//!   redirects. No message, log line or `Debug` text contains them.
//! - *It prevents server-side request forgery.* Where untrusted parties write the URLs, it connects to public addresses
//!   and to the hosts that the user named ([`Client::restricted_to`]), or to public addresses alone
//!   ([`Manners::public_only`]).
//! - *It ignores wrong labels.* Bodies are decoded by their actual encoding. A difference from Content-Encoding is
//!   reported ([`Surprise`]).
//! - *It detects truncated bodies.* A body that ends early is [`FetchError::CutShort`], not an end.
//! - *It bounds its resources.* Bodies are returned in bounded pieces, also from a decompression bomb; every wait has a
//!   limit.
//!
//! Retries are the caller's decision, because only the caller knows the meaning of a response; [`Patience`] computes
//! the delay. Nothing in this crate depends on OAI-PMH.
//!
//! | module | content |
//! |---|---|
//! | [`manners`](Manners) | the settings, with their reasons |
//! | [`credentials`](Credential) | origins, and the secrets for each |
//! | [`exchange`](Ask) | requests, and the headers of responses |
//! | [`client`](Client) | one attempt: turn, request, redirects, response |
//! | `redirect` | the target of a redirect, and the headers that may be sent to it |
//! | `host` | places, pauses and holds of hosts |
//! | [`reach`](Start) | the addresses that may be connected to, and a resolver that leaves out all others |
//! | [`room`](room_for_connections) | the number of connections for which this process has open files |
//! | `tls` | trusted certificates |
//! | `cookies` | cookies of limited number and size |
//! | [`body`](Body) | pieces, limits, timeouts, ends |
//! | [`decode`](Surprise) | the actual encoding of a body, regardless of its label |
//! | `engine` | a common interface to gzip, deflate, br and zstd |
//! | [`retry`](Patience) | the delay before the next attempt; without I/O |
//! | [`robots`](Robots) | robots.txt by RFC 9309: rules, paths, and a cached copy per origin |
//! | [`error`](FetchError) | errors |
//! | [`foreign`](is_invisible) | characters in foreign text that must not be displayed |
//! | [`kind`](Kind) | classes of errors, local or remote |
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use modoai_fetch::{Ask, Client, Manners, Url};
//!
//! let manners = Manners { contact: Some("librarian@example.org".into()), ..Manners::default() };
//! let client = Client::new(manners)?;
//! let mut answer = client.get(Ask::new(Url::parse("https://example.org/oai?verb=Identify")?)).await?;
//! while let Some(piece) = answer.body.chunk().await? {
//!     println!("{} bytes", piece.len());
//! }
//! # Ok(())
//! # }
//! ```

mod body;
mod client;
mod cookies;
mod credentials;
mod decode;
mod engine;
mod error;
mod exchange;
mod foreign;
mod host;
mod kind;
mod manners;
mod reach;
mod redirect;
mod retry;
mod robots;
mod room;
mod tls;

pub use body::{Body, ReadTo};
pub use bytes::Bytes;
pub use client::{Client, Traffic};
pub use credentials::{Credential, Origin, Secret};
pub use decode::Surprise;
pub use error::{FetchError, Wait};
pub use exchange::{Ask, Fetched, Method};
pub use foreign::{is_invisible, is_joiner, is_senseless};
pub use kind::Kind;
pub use manners::{Manners, Trust};
pub use reach::Start;
pub use redirect::Hop;
pub use reqwest::StatusCode;
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use retry::{Next, Patience, retry_after};
pub use robots::{Gate, Permission, Remembered, Robots, Unknown};
pub use room::{make_room_for_connections, room_for_connections};
pub use url::Url;
