//! Writing OAI-PMH responses, and reading them back without losing a byte.
//!
//! Both directions are our own because both have needs that general XML libraries do not serve: the writer must make
//! ill-formed output impossible whatever a file is called, at millions of records a second; the reader must hand on
//! metadata as the exact bytes received, in bounded memory, even when one record is larger than memory.

pub mod document;
pub mod envelope;
pub mod reader;
pub mod writer;

pub use document::Response;
pub use reader::Reader;
pub use writer::XmlWriter;

/// Namespace of the protocol's own elements.
pub const OAI_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";
/// Where the protocol's schema is published.
pub const OAI_SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd";
/// Namespace of `xsi:schemaLocation`.
pub const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// Namespace of what a repository says about its datestamps: a promise that harvesters may rely on.
pub const DATESTAMPS_NAMESPACE: &str = "urn:modoai:datestamps:1";
