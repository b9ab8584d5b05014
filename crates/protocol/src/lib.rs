//! OAI-PMH 2.0 as plain data.
//!
//! A harvester sends one of six verbs with a few arguments; a repository responds with one XML document: a list of
//! errors, or one element named after the verb. Lists are split into pages, linked by resumption tokens. This crate
//! contains all parts of that exchange that need no I/O, no database and no clock, so that the provider, the harvester,
//! the validator and the fuzzers share one implementation:
//!
//! | module | content |
//! |---|---|
//! | [`query`] | query strings and form bodies as argument pairs |
//! | [`verb`] | the six verbs and their arguments |
//! | [`request`] | a legal request, parsed once; illegal ones become errors |
//! | [`error`] | the protocol's error codes |
//! | [`text`] | text for messages: shortened, and errors with their causes |
//! | [`datestamp`] | UTC datestamps, the two granularities, inclusive ranges |
//! | [`names`] | set specs and metadata prefixes |
//! | [`token`] | resumption tokens that need no server state and cannot be forged |
//! | [`uri`] | the identifiers that a response can repeat |
//! | [`xml`] | writing responses, and reading them without losing a byte |
//!
//! ```
//! use modoai_protocol::{Request, query};
//!
//! let arguments = query::parse(b"verb=GetRecord&identifier=http%3A%2F%2Fexample.org%2Fa&metadataPrefix=oai_dc")?;
//! let request = Request::parse(&arguments).expect("a legal request");
//! assert_eq!(request.arguments(), arguments);
//! # Ok::<(), query::QueryError>(())
//! ```

pub mod datestamp;
pub mod deletions;
pub mod error;
pub mod names;
pub mod query;
pub mod request;
pub mod text;
pub mod token;
pub mod uri;
pub mod verb;
pub mod xml;

pub use datestamp::{Bound, Datestamp, Range};
pub use deletions::MaxDeleted;
pub use error::{ErrorCode, ProtocolError};
pub use names::{MetadataPrefix, SetSpec};
pub use request::{Listing, Parsed, Request, Selection};
pub use text::with_causes;
pub use token::{Token, TokenKey};
pub use verb::{ListVerb, Verb};
