//! Stored records: records that were received as XML and are sent unchanged.
//!
//! The stored form of a record is the part of a response that follows the header: the `metadata` element and the
//! `about` containers. A list of a million records is therefore a copy of bytes, without any decision for each record.
//! The caller that stores a record guarantees that it is well-formed at that place in a response.
//!
//! Records are compressed with a dictionary of text that most records share. A record that is still large after
//! compression is stored in pieces, so that neither the writer nor a reader holds all of it in memory.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::DecoderDictionary;

use super::Catalogue;

/// The maximum size of a piece before compression.
const PIECE: usize = 256 * 1024;

/// The largest compressed record that is stored in its row. A list reads hundreds of these rows.
const INLINE: usize = 16 * 1024;

/// The compression level: records are read far more often than they are written, but millions of them are written.
const LEVEL: i32 = 3;

/// The compression level for the records of an archive. Sending a list of three million records spends most of its time
/// on decompression, and this level decompresses 1.5 times as fast as [`LEVEL`], with a quarter more space.
const DOSSIER_LEVEL: i32 = -1;

/// The first byte of a piece, which identifies its compression.
const PLAIN: u8 = 0;
const ZSTD_1: u8 = 1;
const ZSTD_2: u8 = 2;

/// The dictionary for records. It never changes: a new dictionary gets a new number.
const BOILERPLATE_1: &[u8] = include_bytes!("boilerplate-1.xml");

/// The dictionary for the records and pre-rendered formats of an archive, created by `tools/train-dictionary`. These
/// records are small and many. With the entropy tables of the dictionary, which need not be read from each record, they
/// are decompressed 1.5 times as fast.
const DOSSIER_1: &[u8] = include_bytes!("dossier-1.dict");

/// Prepared once, because each response has its own [`Unpacker`].
static RECORDS: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(BOILERPLATE_1));
static DOSSIERS: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(DOSSIER_1));

/// A format of stored records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFormat {
    /// The metadata prefix.
    pub prefix: String,
    /// The URL of its schema.
    pub schema: String,
    /// Its namespace.
    pub namespace: String,
}

impl StoredFormat {
    /// Returns the internal format of the records that the formats of an archive are generated from. Harvesters cannot
    /// request its prefix.
    pub fn record() -> Self {
        Self { prefix: "/record".to_owned(), schema: String::new(), namespace: String::new() }
    }

    /// Returns true if harvesters can request the format.
    pub fn is_offered(&self) -> bool {
        !self.prefix.starts_with('/')
    }
}

/// The format of a record that an item has, or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The format.
    pub format: Arc<StoredFormat>,
    /// True if the record is deleted.
    pub gone: bool,
}

/// A record as the catalogue stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The size in bytes after decompression.
    pub size: u64,
    /// The compressed bytes, or the number that identifies them.
    pub packed: Place,
}

/// The location of compressed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory.
    Here(Vec<u8>),
    /// In pieces, which are read one by one with this number.
    Pieces(i64),
}

/// A compressed record to be stored in the catalogue. Two records are equal if their digests are equal.
#[derive(Clone, Debug)]
pub struct Packed {
    /// The size in bytes after decompression.
    pub size: u64,
    /// The digest; records with the same digest are treated as equal.
    pub digest: [u8; 16],
    /// The compressed bytes.
    pub pieces: Pieces,
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Packed {}

/// The compressed bytes of a record to be stored in the catalogue.
#[derive(Clone, Debug)]
pub enum Pieces {
    /// One small piece.
    One(Vec<u8>),
    /// Consecutive pieces in a file without a name, which the kernel deletes when its last handle is closed.
    Spooled {
        /// The file.
        file: Arc<File>,
        /// The lengths of the pieces.
        lengths: Vec<u32>,
    },
}

impl Pieces {
    /// Passes each piece to `take`, in order.
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

/// Compresses records, one after the other.
pub struct Packer {
    compressor: Compressor<'static>,
    /// The first byte of each piece, which identifies the dictionary.
    mark: u8,
    /// The directory for temporary files of large records.
    folder: PathBuf,
    /// Bytes that are not compressed yet.
    buffer: Vec<u8>,
    size: u64,
    spool: Option<(File, Vec<u32>)>,
}

impl Packer {
    /// Creates a packer. It writes large records to files without names in this directory until they are stored. The
    /// directory should have as much space as the catalogue.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Self::against(BOILERPLATE_1, ZSTD_1, LEVEL, folder)
    }

    /// Creates a packer for the records of an archive.
    pub fn of_dossiers(folder: &Path) -> io::Result<Self> {
        Self::against(DOSSIER_1, ZSTD_2, DOSSIER_LEVEL, folder)
    }

    fn against(dictionary: &[u8], mark: u8, level: i32, folder: &Path) -> io::Result<Self> {
        let compressor = Compressor::with_dictionary(level, dictionary)?;
        Ok(Self { compressor, mark, folder: folder.to_owned(), buffer: Vec::new(), size: 0, spool: None })
    }

    /// Appends bytes to the record.
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

    /// Ends the record and returns it.
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

    /// Discards the unfinished record.
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
