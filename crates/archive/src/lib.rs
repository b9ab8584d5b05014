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
//! | [`sets`] | the sets a record belongs to, by rules over its fields |

pub mod crosswalk;
pub mod record;
pub mod sets;
pub mod source;
