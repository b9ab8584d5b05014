//! Creates the stored data of a document from its record.

use std::io;
use std::path::Path;
use std::sync::Arc;

use modoai_repository::catalogue::stored::{Packed, Packer, StoredFormat};
use xxhash_rust::xxh3::xxh3_128;

use crate::crosswalk::CrosswalkError;
use crate::dossier;
use crate::offer;
use crate::record::Record;
use crate::source::Given;
use crate::terms::Archive;

/// A format that a record does not have.
pub(super) struct Lack {
    pub(super) prefix: String,
    /// The fields that the format requires and the record does not have.
    pub(super) fields: Vec<String>,
}

/// The data to be stored of a document.
pub(super) struct Draft {
    pub(super) dossier: dossier::Draft,
    /// The formats of this document that not every document has.
    pub(super) forms: Vec<(Arc<StoredFormat>, Option<Packed>)>,
    /// Formats without a crosswalk, with the content as received.
    pub(super) as_they_came: Vec<(Arc<StoredFormat>, Vec<u8>)>,
    /// The formats of the archive that this document does not have.
    pub(super) lacking: Vec<Lack>,
}

impl Archive {
    /// Creates all data to be stored of a document.
    pub(super) fn draft(&self, name: &str, record: Record, given: &[Given]) -> Result<Draft, CrosswalkError> {
        let json = serde_json::to_vec(&record).expect("a record is texts and numbers");
        let record = Arc::new(record);
        let described = self.crosswalks.describe(Arc::clone(&record), name);
        let (mut dossier, mut forms, mut lacking) = (dossier::Draft::of(&json), Vec::new(), Vec::new());
        let mut tried = Vec::new();
        for crosswalk in self.crosswalks.all() {
            let definition = crosswalk.definition();
            match given.iter().find(|given| given.format.prefix == definition.prefix) {
                Some(given) if given.format.namespace != definition.namespace => {
                    let came = &given.format.namespace;
                    let what = format!("its namespace is {came}, which is not that of this format");
                    return Err(CrosswalkError { file: definition.prefix.clone(), line: None, what });
                }
                Some(given) => dossier.give(&definition.prefix, &given.xml),
                None if !crosswalk.suits(&record) && definition.always => {
                    let lacking: Vec<_> = crosswalk.lacks(&record).collect();
                    let what = format!("missing {}, which every record must have", lacking.join(" and "));
                    return Err(CrosswalkError { file: definition.prefix.clone(), line: None, what });
                }
                None if !crosswalk.suits(&record) => {
                    let fields = crosswalk.lacks(&record).map(str::to_owned).collect();
                    lacking.push(Lack { prefix: definition.prefix.clone(), fields });
                    continue;
                }
                None if definition.keep => {
                    dossier.keep(&definition.prefix, |out| crosswalk.write(&described, out))?;
                }
                None if crosswalk.is_proven(json.len()) => {}
                // A record on which a template fails is rejected now: later it would break the lists of the format.
                None => {
                    tried.clear();
                    crosswalk.write(&described, &mut tried)?;
                }
            }
            if !definition.is_for_all() {
                forms.push((Arc::new(definition.format()), None));
            }
        }
        if self.packages.is_some() && !record.files.is_empty() {
            forms.push((Arc::new(offer::packages()), None));
        }
        let mut about = Vec::new();
        self.crosswalks.write_about(&described, &mut about)?;
        dossier.about(&about);
        let unmade = given.iter().filter(|given| self.crosswalks.get(&given.format.prefix).is_none());
        let as_they_came = unmade.map(|Given { format, xml }| {
            (Arc::clone(format), [b"<metadata>", xml.as_slice(), b"</metadata>", &about].concat())
        });
        Ok(Draft { dossier, forms, as_they_came: as_they_came.collect(), lacking })
    }
}

/// Compresses the data to be stored.
pub(super) struct Packing(Packer);

impl Packing {
    /// Creates a compressor. Large documents are kept in a directory until they are stored.
    pub(super) fn new(spool: &Path) -> io::Result<Self> {
        Packer::of_dossiers(spool).map(Self)
    }

    pub(super) fn pack(&mut self, bytes: &[u8]) -> io::Result<Packed> {
        self.0.clear();
        self.0.write(bytes)?;
        self.0.finish(xxh3_128(bytes).to_le_bytes())
    }
}
