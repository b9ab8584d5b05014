//! Gzip members, one for each record.
//!
//! One compressor serves all records, because a new one clears a quarter of a megabyte. Within a member, pieces that
//! cannot become smaller are stored uncompressed: payloads of types that are compressed already, and pieces of any
//! other type whose bytes look random, such as images in old office files. Deflate would spend most of its time on them
//! and save nothing.

use std::io::{self, Write};

use flate2::{Compress, Compression, Crc, FlushCompress};

/// The number of bytes that are compressed or stored at a time. A stored block has at most 65,535 bytes.
const PIECE: usize = 32 * 1024;

/// Shorter pieces are compressed in any case: the heads of records, and pieces too short for a separate block.
const SMALL: usize = 1024;

/// No flags, no time, no name.
const HEADER: &[u8; 10] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// An empty last block (RFC 1951, 3.2.6: fixed codes).
const EMPTY_BLOCK: &[u8; 2] = &[3, 0];

/// The compression of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Not at all.
    Store,
    /// At this level of zlib, except pieces that look random.
    Deflate(u32),
}

/// Writes gzip members.
pub(super) struct Compressor {
    deflate: Compress,
    buffer: Vec<u8>,
    crc: Crc,
    effort: Effort,
    /// True if bytes were compressed since the last stored block.
    is_open: bool,
    written: u64,
}

impl Compressor {
    pub(super) fn new() -> Self {
        let deflate = Compress::new(Compression::fast(), false);
        let buffer = Vec::with_capacity(PIECE);
        Self { deflate, buffer, crc: Crc::new(), effort: Effort::Store, is_open: false, written: 0 }
    }

    /// Begins a member. An unfinished one is forgotten.
    pub(super) fn begin(&mut self, effort: Effort, file: &mut impl Write) -> io::Result<()> {
        let level = match effort {
            Effort::Store => Compression::fast(),
            Effort::Deflate(level) => Compression::new(level),
        };
        self.deflate.reset();
        self.deflate.set_level(level)?;
        self.crc.reset();
        (self.effort, self.is_open, self.written) = (effort, false, 0);
        self.write(HEADER, file)
    }

    /// Adds bytes to the member.
    pub(super) fn push(&mut self, bytes: &[u8], file: &mut impl Write) -> io::Result<()> {
        self.crc.update(bytes);
        bytes.chunks(PIECE).try_for_each(|piece| {
            let is_stored = piece.len() >= SMALL && (self.effort == Effort::Store || looks_random(piece));
            if is_stored { self.store(piece, file) } else { self.deflate(piece, FlushCompress::None, file) }
        })
    }

    /// Ends the member. Returns its length.
    pub(super) fn finish(&mut self, file: &mut impl Write) -> io::Result<u64> {
        if self.is_open {
            self.deflate(&[], FlushCompress::Finish, file)?;
        } else {
            self.write(EMPTY_BLOCK, file)?;
        }
        self.write(&self.crc.sum().to_le_bytes(), file)?;
        // The length modulo 2^32, by RFC 1952.
        self.write(&self.crc.amount().to_le_bytes(), file)?;
        Ok(self.written)
    }

    fn store(&mut self, piece: &[u8], file: &mut impl Write) -> io::Result<()> {
        if self.is_open {
            // What is compressed later refers to nothing before this, so that blocks can be written in between.
            self.deflate(&[], FlushCompress::Full, file)?;
            self.is_open = false;
        }
        let length = u16::try_from(piece.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let [low, high] = length.to_le_bytes();
        self.write(&[0, low, high, !low, !high], file)?;
        self.write(piece, file)
    }

    fn deflate(&mut self, mut bytes: &[u8], flush: FlushCompress, file: &mut impl Write) -> io::Result<()> {
        self.is_open = true;
        loop {
            self.buffer.clear();
            let before = self.deflate.total_in();
            self.deflate.compress_vec(bytes, &mut self.buffer, flush)?;
            let taken = usize::try_from(self.deflate.total_in() - before).unwrap_or(bytes.len());
            bytes = &bytes[taken..];
            file.write_all(&self.buffer)?;
            self.written += self.buffer.len() as u64;
            // With room left in the buffer, all is out that is due.
            if bytes.is_empty() && self.buffer.len() < self.buffer.capacity() {
                return Ok(());
            }
        }
    }

    fn write(&mut self, bytes: &[u8], file: &mut impl Write) -> io::Result<()> {
        self.written += bytes.len() as u64;
        file.write_all(bytes)
    }
}

/// Returns true if all values of a byte are about equally frequent, as in compressed, encrypted and random data.
///
/// The sum of the squared frequencies is `n²/256` at least, and about `n` more for random bytes. Deflate finds repetitions in
/// such data rarely, and they are not worth searching for.
fn looks_random(piece: &[u8]) -> bool {
    let mut counts = [[0_u32; 256]; 4];
    for four in piece.chunks(4) {
        for (counts, byte) in counts.iter_mut().zip(four) {
            counts[usize::from(*byte)] += 1;
        }
    }
    let [first, others @ ..] = counts;
    let count = |value: usize| others.iter().fold(u64::from(first[value]), |sum, more| sum + u64::from(more[value]));
    let squares: u64 = (0..256).map(|value| count(value).pow(2)).sum();
    let length = piece.len() as u64;
    // At most 5 % more than evenly distributed, which is 7.9 bits of information in a byte.
    squares * 256 * 20 <= length * length * 21 + length * 256 * 25
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::bufread::GzDecoder;
    use proptest::prelude::*;

    use super::*;

    fn member(compressor: &mut Compressor, effort: Effort, pieces: &[Vec<u8>]) -> Vec<u8> {
        let mut file = Vec::new();
        compressor.begin(effort, &mut file).expect("no disk is needed");
        for piece in pieces {
            compressor.push(piece, &mut file).expect("no disk is needed");
        }
        let length = compressor.finish(&mut file).expect("no disk is needed");
        assert_eq!(length, file.len() as u64);
        file
    }

    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        fastrand::Rng::with_seed(seed).fill(&mut bytes);
        bytes
    }

    proptest! {
        /// Text and noise in any order and length: the decoder checks CRC and length.
        #[test]
        fn whatever_is_written_is_read(
            members in proptest::collection::vec(
                (0_u32..10, proptest::collection::vec((any::<bool>(), 0_usize..100_000, any::<u64>()), 0..6)),
                1..4,
            ),
        ) {
            let mut compressor = Compressor::new();
            for (level, pieces) in members {
                let effort = if level == 0 { Effort::Store } else { Effort::Deflate(level) };
                let piece = |(is_noise, length, seed): &(bool, usize, u64)| {
                    let text = b"words and other words ".iter().copied().cycle();
                    if *is_noise { noise(*seed, *length) } else { text.take(*length).collect() }
                };
                let pieces: Vec<Vec<u8>> = pieces.iter().map(piece).collect();
                let file = member(&mut compressor, effort, &pieces);
                let (mut rest, mut read) = (&file[..], Vec::new());
                GzDecoder::new(&mut rest).read_to_end(&mut read).expect("a member");
                prop_assert!(rest.is_empty());
                prop_assert_eq!(read, pieces.concat());
            }
        }
    }

    #[test]
    fn noise_is_stored_and_the_rest_is_compressed() {
        let mut compressor = Compressor::new();
        let text: Vec<u8> = b"every word is here again. ".repeat(4_000);
        let mixed = [text.clone(), noise(1, 100_000), text.clone()];
        let length = |file: Vec<u8>| file.len();
        let plain = length(member(&mut compressor, Effort::Deflate(4), &mixed));
        assert!((100_000..105_000).contains(&plain), "{plain}");
        let stored = length(member(&mut compressor, Effort::Store, &mixed));
        assert!(stored > 300_000, "{stored}");
        assert!(!looks_random(&text[..PIECE]) && looks_random(&noise(2, PIECE)) && looks_random(&noise(3, SMALL)));
    }
}
