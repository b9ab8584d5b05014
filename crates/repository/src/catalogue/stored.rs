//! Records that came as XML and go out as they came.
//!
//! What is stored of a record is what stands behind its header in an answer: the `metadata` element and the `about`
//! containers, ready to be sent. So a list of a million records copies bytes and decides nothing about them. Whoever
//! stores a record vouches that it is well-formed where an answer of ours puts it.
//!
//! Bytes are packed: compressed, against a text that most records share much with. A record that is still large then is
//! packed in pieces, so that neither side ever holds the whole.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::DecoderDictionary;

use super::Catalogue;

/// What a piece holds at most when unpacked.
const PIECE: usize = 256 * 1024;

/// A record that is not larger than this when packed is kept with its row. Hundreds are read at once.
const INLINE: usize = 16 * 1024;

/// How well to compress: records are read far more often than they are written, but written by the million.
const LEVEL: i32 = 3;

/// The same for an archive's records. Sending a list of three million spends more time on unpacking than on anything else,
/// and this level unpacks half as fast again as the other, at a quarter more room.
const DOSSIER_LEVEL: i32 = -1;

/// The first byte of what is packed tells how.
const PLAIN: u8 = 0;
const ZSTD_1: u8 = 1;
const ZSTD_2: u8 = 2;

/// What records have in common. Never changed: another one gets another number.
const BOILERPLATE_1: &[u8] = include_bytes!("boilerplate-1.xml");

/// The same for an archive's records with what is kept ready beside them, as `tools/train-dictionary` found it. Being
/// small and many, they are unpacked half as fast again with tables that need not be read from each.
const DOSSIER_1: &[u8] = include_bytes!("dossier-1.dict");

/// Prepared once: there is an unpacker for every answer.
static RECORDS: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(BOILERPLATE_1));
static DOSSIERS: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(DOSSIER_1));

/// A format there are stored records in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFormat {
    /// Its short name: a legal metadata prefix.
    pub prefix: String,
    /// Where its schema is.
    pub schema: String,
    /// Its namespace.
    pub namespace: String,
}

impl StoredFormat {
    /// Stands for the record that an archive's formats are made of. Its prefix is none that a harvester can ask for.
    pub fn record() -> Self {
        Self { prefix: "/record".to_owned(), schema: String::new(), namespace: String::new() }
    }

    /// Whether harvesters can ask for it.
    pub fn is_offered(&self) -> bool {
        !self.prefix.starts_with('/')
    }
}

/// That an item has, or had, a record in a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Which format.
    pub format: Arc<StoredFormat>,
    /// Whether the record is gone.
    pub gone: bool,
}

/// What the catalogue holds of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Bytes when unpacked.
    pub size: u64,
    /// Where they are.
    pub packed: Place,
}

/// Where packed bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Here.
    Here(Vec<u8>),
    /// In pieces, to be asked for one by one under this number.
    Pieces(i64),
}

/// A record on its way into the catalogue. Two are equal if their digests are.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Bytes when unpacked.
    pub size: u64,
    /// Equal for records that need not be told apart.
    pub digest: [u8; 16],
    /// The bytes.
    pub pieces: Pieces,
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Packed {}

/// The bytes of a record on its way into the catalogue.
#[derive(Clone, Debug)]
pub enum Pieces {
    /// One small piece.
    One(Vec<u8>),
    /// Pieces one after the other in a file that vanishes with its last handle.
    Spooled {
        /// The file.
        file: Arc<File>,
        /// Their lengths.
        lengths: Vec<u32>,
    },
}

impl Pieces {
    /// Hands over every piece of a spooled record, in order.
    pub fn each<E: From<io::Error>>(&self, mut take: impl FnMut(i64, &[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::One(bytes) => take(0, bytes),
            Self::Spooled { file, lengths } => {
                let mut bytes = Vec::new();
                let mut at = 0;
                for (place, length) in (0..).zip(lengths) {
                    bytes.resize(*length as usize, 0);
                    file.read_exact_at(&mut bytes, at)?;
                    at += u64::from(*length);
                    take(place, &bytes)?;
                }
                Ok(())
            }
        }
    }
}

/// Packs one record after the other.
pub struct Packer {
    compressor: Compressor<'static>,
    /// What tells which text it compresses against.
    mark: u8,
    /// Where large records wait.
    folder: PathBuf,
    /// What was written and not packed yet.
    buffer: Vec<u8>,
    size: u64,
    spool: Option<(File, Vec<u32>)>,
}

impl Packer {
    /// A packer with nothing in it. Large records wait in files without names in this folder, until they are stored: it
    /// should have as much room as the catalogue.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Self::against(BOILERPLATE_1, ZSTD_1, LEVEL, folder)
    }

    /// The same for an archive's records.
    pub fn of_dossiers(folder: &Path) -> io::Result<Self> {
        Self::against(DOSSIER_1, ZSTD_2, DOSSIER_LEVEL, folder)
    }

    fn against(dictionary: &[u8], mark: u8, level: i32, folder: &Path) -> io::Result<Self> {
        let compressor = Compressor::with_dictionary(level, dictionary)?;
        Ok(Self { compressor, mark, folder: folder.to_owned(), buffer: Vec::new(), size: 0, spool: None })
    }

    /// Takes more of the record.
    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.size += bytes.len() as u64;
        while self.buffer.len() + bytes.len() >= PIECE {
            let (now, later) = bytes.split_at(PIECE - self.buffer.len());
            self.buffer.extend_from_slice(now);
            let piece = self.pack()?;
            self.spool(&piece)?;
            bytes = later;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// The record is whole.
    pub fn finish(&mut self, digest: [u8; 16]) -> io::Result<Packed> {
        let last = self.pack()?;
        let size = std::mem::take(&mut self.size);
        if self.spool.is_none() && last.len() <= INLINE {
            return Ok(Packed { size, digest, pieces: Pieces::One(last) });
        }
        self.spool(&last)?;
        let (file, lengths) = self.spool.take().expect("spooled just now");
        Ok(Packed { size, digest, pieces: Pieces::Spooled { file: Arc::new(file), lengths } })
    }

    /// Forgets what was written since the last record.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.size = 0;
        self.spool = None;
    }

    fn pack(&mut self) -> io::Result<Vec<u8>> {
        let mut packed = self.compressor.compress(&self.buffer)?;
        if packed.len() < self.buffer.len() {
            packed.insert(0, self.mark);
        } else {
            packed.clear();
            packed.push(PLAIN);
            packed.extend_from_slice(&self.buffer);
        }
        self.buffer.clear();
        Ok(packed)
    }

    fn spool(&mut self, piece: &[u8]) -> io::Result<()> {
        let (file, lengths) = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert((tempfile::tempfile_in(&self.folder)?, Vec::new())),
        };
        file.write_all(piece)?;
        lengths.push(u32::try_from(piece.len()).map_err(io::Error::other)?);
        Ok(())
    }
}

/// Unpacks pieces.
pub struct Unpacker {
    records: Decompressor<'static>,
    dossiers: Decompressor<'static>,
    buffer: Vec<u8>,
}

impl Unpacker {
    /// An unpacker.
    pub fn new() -> io::Result<Self> {
        let records = Decompressor::with_prepared_dictionary(&RECORDS)?;
        let dossiers = Decompressor::with_prepared_dictionary(&DOSSIERS)?;
        Ok(Self { records, dossiers, buffer: Vec::new() })
    }

    /// The bytes of a piece.
    pub fn unpack<'a>(&'a mut self, packed: &'a [u8]) -> io::Result<&'a [u8]> {
        let (decompressor, bytes) = match packed.split_first() {
            Some((&PLAIN, bytes)) => return Ok(bytes),
            Some((&ZSTD_1, bytes)) => (&mut self.records, bytes),
            Some((&ZSTD_2, bytes)) => (&mut self.dossiers, bytes),
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "a stored record has an unknown compression")),
        };
        self.buffer.clear();
        self.buffer.reserve(PIECE);
        decompressor.decompress_to_buffer(bytes, &mut self.buffer)?;
        Ok(&self.buffer)
    }

    /// Hands over the bytes of a record, piece by piece.
    pub fn each(
        &mut self,
        body: &Body,
        catalogue: &dyn Catalogue,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let pieces = match &body.packed {
            Place::Here(bytes) => return take(self.unpack(bytes)?),
            Place::Pieces(pieces) => *pieces,
        };
        let (mut taken, mut place) = (0, 0);
        while taken < body.size {
            // If it was replaced meanwhile, what was taken of it has no end.
            let piece = catalogue.piece(pieces, place).map_err(io::Error::other)?;
            let piece = piece.ok_or_else(|| io::Error::other("a record changed while it was read"))?;
            let bytes = self.unpack(&piece)?;
            taken += bytes.len() as u64;
            take(bytes)?;
            place += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: &Packed) -> Vec<u8> {
        let mut unpacker = Unpacker::new().expect("an unpacker");
        let mut whole = Vec::new();
        let each = packed.pieces.each(|_, piece| {
            assert!(piece.len() <= PIECE + 1);
            whole.extend_from_slice(unpacker.unpack(piece)?);
            Ok::<_, io::Error>(())
        });
        each.expect("pieces unpack");
        assert_eq!(whole.len() as u64, packed.size);
        whole
    }

    #[test]
    fn what_was_packed_is_unpacked_whatever_its_size() {
        for packer in [Packer::new, Packer::of_dossiers] {
            packs_and_unpacks(packer(&std::env::temp_dir()).expect("a packer"));
        }
    }

    fn packs_and_unpacks(mut packer: Packer) {
        // Text that compresses, and bytes that do not.
        let mut state = 7_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(3 * PIECE + 5)
        .collect();
        let text = b"<dc:title>A title</dc:title>".repeat(40_000);
        for bytes in [&b""[..], b"<a/>", &noise[..100], &noise[..INLINE + 1], &noise[..PIECE], &noise, &text] {
            for cut in [1 << 20, 777] {
                bytes.chunks(cut).for_each(|chunk| packer.write(chunk).expect("room"));
                let packed = packer.finish([1; 16]).expect("packed");
                assert!(unpacked(&packed) == bytes);
                assert_eq!(matches!(packed.pieces, Pieces::One(_)), bytes.len() <= INLINE, "{}", bytes.len());
            }
        }
        packer.write(b"never to be finished").expect("room");
        packer.clear();
        assert_eq!(packer.finish([0; 16]).expect("packed").size, 0);
    }

    #[test]
    fn a_usual_record_shrinks_to_what_is_its_own() {
        let mut packer = Packer::new(&std::env::temp_dir()).expect("a packer");
        let record = "<metadata><oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
            xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
            xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
            http://www.openarchives.org/OAI/2.0/oai_dc.xsd\"><dc:title>Cats</dc:title></oai_dc:dc></metadata>";
        packer.write(record.as_bytes()).expect("room");
        let Pieces::One(bytes) = packer.finish([0; 16]).expect("packed").pieces else { panic!("it is small") };
        assert!(bytes.len() < 64, "{} bytes", bytes.len());
    }
}
