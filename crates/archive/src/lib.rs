//! An archive: catalogued documents as an OAI-PMH repository.
//!
//! A [`source`] is read entry by entry into the [`record`] model; [`sets`] follow from its fields; each [`crosswalk`]
//! makes one metadata format of it.
//!
//! | module | what it is about |
//! |---|---|
//! | [`record`] | one catalogued document, whatever it came from |
//! | [`source`] | files of records: JSON lines, CSV, XML, static repositories, arXiv's own shapes |
//! | [`crosswalk`] | a record in a metadata format, by a template |
//! | [`tex`] | TeX accents and symbols as characters |
//! | [`didl`] | a document's files, wrapped with its description |
//! | [`sets`] | the sets a record belongs to, by rules over its fields |
//! | [`config`], [`preset`] | an archive as its operator writes it down, and such files that are shipped |
//! | [`terms`] | the same as the catalogue remembers it |
//! | [`import`] | filling a catalogue from a source, and keeping it equal to it |
//! | [`watch`] | waiting until a source changes |
//! | [`offer`] | the formats that harvesters are offered |
//! | [`holdings`] | what a catalogue holds, and the repository of it |

pub mod config;
pub mod crosswalk;
pub mod didl;
mod dossier;
pub mod holdings;
pub mod import;
pub mod offer;
pub mod preset;
pub mod record;
pub mod sets;
pub mod source;
pub mod terms;
pub mod tex;
pub mod watch;
