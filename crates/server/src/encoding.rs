//! Content encodings of the repository's responses: gzip, br and zstd, each only for clients that accept it.
//!
//! Files of the site are never encoded: the repository promises a harvester their exact headers and bytes.

use std::io::{self, Write};

use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

use modoai_endpoint::quality::{self, Quality};

/// The encodings Identify announces; `identity` is never among them.
pub const ENCODINGS: &[&str] = &["gzip", "br", "zstd"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
}

impl Encoding {
    /// Returns the preferred encoding of an Accept-Encoding header. Among equals zstd is preferred: it costs the least
    /// for its size.
    pub(crate) fn asked_by(accepted: &str) -> Self {
        let asked = quality::list(accepted);
        let named = |name: &str| asked.iter().find(|(given, _)| given == name).map(|(_, quality)| *quality);
        let any = named("*");
        // `*` does not mean that the client supports the younger two.
        let candidates = [
            (Self::Zstd, named("zstd")),
            (Self::Brotli, named("br")),
            (Self::Gzip, named("gzip").or(named("x-gzip")).or(any)),
            // If identity is not mentioned, it is the last resort, not forbidden.
            (Self::Identity, named("identity").or(any).or(Some(Quality::LEAST))),
        ];
        let mut best = (Self::Identity, Quality::ZERO);
        for (encoding, quality) in candidates {
            if let Some(quality) = quality.filter(|quality| *quality > best.1) {
                best = (encoding, quality);
            }
        }
        // A client that forbids all encodings gets plain bytes: a response is more useful than 406.
        best.0
    }

    /// The value of Content-Encoding, if one is due.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Brotli => Some("br"),
            Self::Zstd => Some("zstd"),
        }
    }
}

/// Encodes what is written to it.
pub(crate) enum Encoder<W: Write> {
    Identity(W),
    Gzip(GzEncoder<W>),
    Brotli(Box<CompressorWriter<W>>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Encoder<W> {
    pub(crate) fn new(encoding: Encoding, out: W) -> io::Result<Self> {
        // Levels at which one core still fills a fast network connection; XML shrinks by a factor of ten at any of
        // them.
        const GZIP_LEVEL: u32 = 5;
        const BROTLI_QUALITY: u32 = 5;
        const BROTLI_WINDOW: u32 = 20;
        const ZSTD_LEVEL: i32 = 3;
        const BUFFER: usize = 16 * 1024;
        Ok(match encoding {
            Encoding::Identity => Self::Identity(out),
            Encoding::Gzip => Self::Gzip(GzEncoder::new(out, Compression::new(GZIP_LEVEL))),
            Encoding::Brotli => {
                Self::Brotli(Box::new(CompressorWriter::new(out, BUFFER, BROTLI_QUALITY, BROTLI_WINDOW)))
            }
            Encoding::Zstd => Self::Zstd(zstd::Encoder::new(out, ZSTD_LEVEL)?),
        })
    }

    /// Writes the remaining bytes and returns the writer.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self {
            Self::Identity(out) => Ok(out),
            Self::Gzip(encoder) => encoder.finish(),
            // This encoder ignores errors of the writer; a body's writer repeats them when it is finished itself.
            Self::Brotli(encoder) => Ok(encoder.into_inner()),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Identity(out) => out.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Brotli(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Identity(out) => out.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Brotli(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn an_encoding_is_used_only_if_asked_for() {
        for (value, encoding) in [
            ("", Encoding::Identity),
            ("identity", Encoding::Identity),
            ("deflate", Encoding::Identity),
            ("gzip", Encoding::Gzip),
            ("x-gzip", Encoding::Gzip),
            ("GZip;Q=0.5", Encoding::Gzip),
            ("gzip, deflate, br", Encoding::Brotli),
            ("gzip, deflate, br, zstd", Encoding::Zstd),
            ("gzip;q=1.0, br;q=0.9, zstd;q=0.8", Encoding::Gzip),
            ("gzip;q=0", Encoding::Identity),
            ("gzip;q=0.5, identity;q=0.8", Encoding::Identity),
            ("gzip;q=0.5, identity;q=0.5", Encoding::Gzip),
            ("*", Encoding::Gzip),
            ("*;q=0", Encoding::Identity),
            ("identity;q=0, gzip;q=0.001", Encoding::Gzip),
            ("gzip;q=junk", Encoding::Identity),
        ] {
            assert_eq!(Encoding::asked_by(value), encoding, "{value}");
        }
    }

    #[test]
    fn what_is_encoded_can_be_decoded() {
        let text = "<record>a record much like the last</record>\n".repeat(10_000);
        for encoding in [Encoding::Identity, Encoding::Gzip, Encoding::Brotli, Encoding::Zstd] {
            let mut encoder = Encoder::new(encoding, Vec::new()).expect("made");
            encoder.write_all(text.as_bytes()).expect("written");
            let bytes = encoder.finish().expect("finished");
            let mut decoded = String::new();
            match encoding {
                Encoding::Identity => decoded = String::from_utf8(bytes.clone()).expect("text"),
                Encoding::Gzip => {
                    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut decoded).map(drop).expect("gzip");
                }
                Encoding::Brotli => {
                    brotli::Decompressor::new(&bytes[..], 4096).read_to_string(&mut decoded).map(drop).expect("br");
                }
                Encoding::Zstd => {
                    decoded = String::from_utf8(zstd::decode_all(&bytes[..]).expect("zstd")).expect("text");
                }
            }
            assert!(decoded == text, "{encoding:?}");
            assert!(encoding == Encoding::Identity || bytes.len() < text.len() / 10, "{encoding:?}");
        }
        assert!(ENCODINGS.iter().all(|name| Encoding::asked_by(name).name() == Some(name)));
    }
}
