//! An archive: catalogued documents as an OAI-PMH repository.
//!
//! A [`source`] is read entry by entry into the [`record`] model; [`sets`] are derived from its fields; each
//! [`crosswalk`] converts it to one metadata format.
//!
//! | module | content |
//! |---|---|
//! | [`record`] | one catalogued document, from any source |
//! | [`source`] | files of records: JSON lines, CSV, XML, static repositories, arXiv's own formats |
//! | [`crosswalk`] | conversion of a record to a metadata format, by a template |
//! | [`tex`] | TeX accents and symbols as characters |
//! | [`didl`] | a document's files, wrapped with its description |
//! | [`sets`] | the sets of a record, by rules over its fields |
//! | [`config`], [`preset`] | the configuration file of an archive, and shipped ones |
//! | [`terms`] | the configuration as the catalogue stores it |
//! | [`import`] | importing a source into a catalogue, and updating it |
//! | [`watch`] | waiting until a source changes |
//! | [`offer`] | the formats that the archive offers to harvesters |
//! | [`holdings`] | the content of a catalogue, and its repository |

pub mod config;
pub mod crosswalk;
pub mod didl;
mod dossier;
mod flaw;
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
