//! A common interface to the decompressors: bytes go in as received, and out into a buffer that does not grow.

use std::io;

use brotli::writer::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, InBuffer, Operation, OutBuffer};

/// 8 MB, the largest window that zstd may have over HTTP (RFC 9659). Its default would let a server claim 128 MB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Zlib,
    RawDeflate,
    Brotli,
    Zstd,
}

impl Coding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zlib | Self::RawDeflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the encoding that the first bytes prove.
    pub(crate) fn of(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// A decompressor.
pub(crate) enum Engine {
    Deflate(Decompress),
    Brotli(Box<Brotli>),
    Zstd(zstd::stream::raw::Decoder<'static>),
}

/// The outcome of a run.
pub(crate) struct Ran {
    /// The number of bytes consumed.
    pub(crate) used: usize,
    /// True if the stream has ended.
    pub(crate) ended: bool,
}

impl Engine {
    pub(crate) fn new(coding: Coding) -> io::Result<Self> {
        Ok(match coding {
            Coding::Gzip => Self::Deflate(Decompress::new_gzip(15)),
            Coding::Zlib => Self::Deflate(Decompress::new(true)),
            Coding::RawDeflate => Self::Deflate(Decompress::new(false)),
            // Strict: the extension with windows of a gigabyte is not part of HTTP.
            Coding::Brotli => Self::Brotli(Box::new(Brotli::new_strict(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ))),
            Coding::Zstd => {
                let mut decoder = zstd::stream::raw::Decoder::new()?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))?;
                Self::Zstd(decoder)
            }
        })
    }

    /// Consumes as much input as it can, and fills `out` up to its capacity.
    pub(crate) fn run(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<Ran> {
        match self {
            Self::Deflate(inflate) => {
                let before = inflate.total_in();
                let status = inflate.decompress_vec(input, out, FlushDecompress::None)?;
                let used = usize::try_from(inflate.total_in() - before).expect("no more than was given");
                Ok(Ran { used, ended: status == Status::StreamEnd })
            }
            Self::Zstd(decoder) => {
                let mut source = InBuffer::around(input);
                let rest = decoder.run(&mut source, &mut OutBuffer::around(out))?;
                Ok(Ran { used: source.pos(), ended: rest == 0 })
            }
            Self::Brotli(state) => {
                out.resize(out.capacity(), 0);
                let (mut unused, mut used, mut room, mut written, mut total) = (input.len(), 0, out.len(), 0, 0);
                let result = BrotliDecompressStream(
                    &mut unused,
                    &mut used,
                    input,
                    &mut room,
                    &mut written,
                    out,
                    &mut total,
                    state,
                );
                out.truncate(written);
                match result {
                    BrotliResult::ResultFailure => Err(io::Error::other("damaged data")),
                    BrotliResult::ResultSuccess => Ok(Ran { used, ended: true }),
                    BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Ok(Ran { used, ended: false }),
                }
            }
        }
    }
}
