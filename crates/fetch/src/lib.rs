//! The polite HTTP client. Harvester and spider ask through it, so politeness is decided in one place.
//!
//! Its manners, on one page:
//!
//! - *It says who it is.* `User-Agent` names the program, and the person behind it if there is one to name; `From` gives
//!   the address.
//! - *It stays out where it is not wanted.* [`Gate`] tells what robots.txt forbids, to whoever follows links; how far apart
//!   requests are to be is kept for every caller.
//! - *It waits its turn.* One request at a time and host unless told otherwise, and a least pause between two. Redirects
//!   wait like everybody else. A host is a name, whatever the port: it is one machine that has to bear the work.
//! - *It goes away when asked to.* 429 and 503 with Retry-After put the whole host on hold, for every caller. Nothing is
//!   sent before the time is up; a hold too long to sit through is told ([`FetchError::Held`]) and can be remembered.
//! - *It keeps secrets.* Credentials go to the origin they were given for and nowhere else, whatever a redirect says. No
//!   message, log line or `Debug` text holds them.
//! - *It is not led home.* Where strangers write the URLs, it connects to public addresses and to the hosts that the user
//!   named ([`Client::restricted_to`]), or to public addresses alone ([`Manners::public_only`]).
//! - *It believes no label.* Bodies are decoded by what they are. What was labelled wrongly is decoded all the same, and
//!   told ([`Surprise`]).
//! - *It never calls a part the whole.* A body that ends before its time is [`FetchError::CutShort`], not an end.
//! - *It takes what it can carry.* Bodies come in bounded pieces, also out of a decompression bomb; every wait has a limit.
//!
//! Trying again is the caller's decision, since only the caller knows what an answer means; [`Patience`] says how long to
//! wait. Nothing here knows OAI-PMH.
//!
//! | module | what it owns |
//! |---|---|
//! | [`manners`](Manners) | the settings, with their reasons |
//! | [`credentials`](Credential) | origins, and what is told to them only |
//! | [`exchange`](Ask) | what is asked for, and what the headers of an answer tell |
//! | [`client`](Client) | one attempt: turn, request, redirects, answer |
//! | `redirect` | where a redirect leads, and what may go along |
//! | `host` | places, pauses and holds of hosts |
//! | [`reach`](Start) | which addresses may be connected to, and a resolver that leaves out all others |
//! | [`room`](room_for_connections) | how many connections there are files for |
//! | `tls` | whom we trust |
//! | `cookies` | sessions, kept small |
//! | [`body`](Body) | pieces, limits, time-outs, ends |
//! | [`decode`](Surprise) | what a body is, whatever its label says |
//! | `engine` | gzip, deflate, br and zstd, under one handle |
//! | [`retry`](Patience) | how long to wait before the next attempt; pure |
//! | [`robots`](Robots) | robots.txt by RFC 9309: rules, paths, and a copy of each origin's |
//! | [`error`](FetchError) | what can go wrong |
//! | [`foreign`](is_invisible) | characters in foreign text that must not be shown |
//! | [`kind`](Kind) | of what sort that is, and whether it is ours |
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
