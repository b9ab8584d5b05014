//! Bodies as they are, whatever their labels say.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use modoai_fetch::{Ask, FetchError, Surprise};
use proptest::prelude::*;

use crate::responder::{Reply, Responder, client};

const TEXT: &str = "<?xml version=\"1.0\"?><OAI-PMH>records, records, records, records and yet more records</OAI-PMH>";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory")
}

fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory")
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut encoded, 4096, 5, 22);
    encoder.write_all(bytes).expect("memory");
    drop(encoder);
    encoded
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory")
}

/// The whole body and what was surprising about it, sent in two parts that meet at `split`.
async fn decoded(
    label: Option<&str>,
    kind: &str,
    wire: &[u8],
    split: usize,
) -> Result<(Vec<u8>, Vec<Surprise>), FetchError> {
    let length = wire.len().to_string();
    let mut headers = vec![("Content-Type", kind), ("Content-Length", &length)];
    headers.extend(label.map(|label| ("Content-Encoding", label)));
    let (first, rest) = wire.split_at(split.min(wire.len()));
    let pause = std::time::Duration::from_millis(20);
    let server = Responder::always(Reply::head(200, &headers).then(first).then_pause(pause).then(rest)).await;
    let mut body = client().get(Ask::new(server.url("/"))).await?.body;
    let mut all = Vec::new();
    while let Some(piece) = body.chunk().await? {
        assert!(!piece.is_empty() && piece.len() <= 256 * 1024);
        all.extend_from_slice(&piece);
    }
    assert_eq!(body.wire_bytes(), wire.len() as u64);
    Ok((all, body.surprises().to_vec()))
}

async fn expect(label: Option<&str>, wire: &[u8], surprises: &[Surprise]) {
    for split in [0, 1, 3, 17] {
        let (body, found) = decoded(label, "text/xml", wire, split).await.expect("a body");
        assert_eq!(String::from_utf8_lossy(&body), TEXT, "{label:?}");
        assert_eq!(found, surprises, "{label:?}");
    }
}

#[tokio::test]
async fn labelled_rightly() {
    let text = TEXT.as_bytes();
    for (label, wire) in [
        ("gzip", gzip(text)),
        ("X-GZIP", gzip(text)),
        ("deflate", zlib(text)),
        ("deflate", raw_deflate(text)),
        ("br", brotli(text)),
        ("zstd", zstd(text)),
        ("identity", text.to_vec()),
        ("gzip, identity", gzip(text)),
        ("gzip, gzip", gzip(text)),
        ("utf-8", text.to_vec()),
    ] {
        expect(Some(label), &wire, &[]).await;
    }
    expect(None, text, &[]).await;
}

#[tokio::test]
async fn not_labelled() {
    expect(None, &gzip(TEXT.as_bytes()), &[Surprise::UnlabelledGzip]).await;
    expect(None, &zstd(TEXT.as_bytes()), &[Surprise::UnlabelledZstd]).await;
}

#[tokio::test]
async fn labelled_but_plain() {
    for label in ["gzip", "deflate", "br", "zstd", "compress", "iso-8859-1"] {
        expect(Some(label), TEXT.as_bytes(), &[Surprise::LabelledButPlain]).await;
    }
    for label in ["deflate", "br"] {
        for text in ["ok", "not <xml> at all, but prose that goes on for a bit", "{\"json\": true}", "\u{feff}<a/>"] {
            let (body, surprises) = decoded(Some(label), "text/plain", text.as_bytes(), 1).await.expect("a body");
            assert_eq!((body, surprises), (text.into(), vec![Surprise::LabelledButPlain]), "{label} {text}");
        }
    }
    let long = TEXT.repeat(3000);
    let (body, surprises) = decoded(Some("br"), "text/xml", long.as_bytes(), 1).await.expect("a body");
    assert!(body == long.as_bytes() && surprises == [Surprise::LabelledButPlain]);
}

#[tokio::test]
async fn labelled_wrongly() {
    let text = TEXT.as_bytes();
    for (said, was, wire) in [
        ("compress", "gzip", gzip(text)),
        ("deflate", "gzip", gzip(text)),
        ("br", "gzip", gzip(text)),
        ("zstd", "gzip", gzip(text)),
        ("gzip", "zstd", zstd(text)),
        ("gzip", "deflate", zlib(text)),
        ("utf8mb4", "gzip", gzip(text)),
    ] {
        expect(Some(said), &wire, &[Surprise::WrongLabel { said: said.to_owned(), was }]).await;
    }
}

#[tokio::test]
async fn an_archive_is_left_alone() {
    let archive = gzip(TEXT.as_bytes());
    for kind in ["application/gzip", "application/octet-stream", "application/x-tar"] {
        let (body, surprises) = decoded(None, kind, &archive, 0).await.expect("a body");
        assert!(body == archive && surprises.is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn undecoded_on_request() {
    let wire = gzip(TEXT.as_bytes());
    let server = Responder::always(Reply::new(200, &[("Content-Encoding", "gzip")], &wire)).await;
    let ask = Ask { decode: false, ..Ask::new(server.url("/")) };
    let body = client().get(ask).await.expect("an answer").body.read_to_end(1000).await.expect("a body");
    assert_eq!(body, wire);
    assert_eq!(server.seen()[0].header("Accept-Encoding"), Some("identity"));
}

#[tokio::test]
async fn streams_in_a_row_and_rubbish_behind() {
    let (front, back) = TEXT.as_bytes().split_at(20);
    expect(Some("gzip"), &[gzip(front), gzip(back)].concat(), &[]).await;
    expect(Some("zstd"), &[zstd(front), zstd(back)].concat(), &[]).await;
    for (label, wire) in
        [("gzip", gzip(TEXT.as_bytes())), ("br", brotli(TEXT.as_bytes())), ("zstd", zstd(TEXT.as_bytes()))]
    {
        expect(Some(label), &[&wire[..], b"\n\n"].concat(), &[Surprise::BytesAfterEnd]).await;
    }
}

#[tokio::test]
async fn damage_is_told() {
    // The two that carry a checksum; zstd and br notice only what cannot be.
    let long: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    for (label, mut wire) in [("gzip", gzip(&long)), ("deflate", zlib(&long))] {
        let middle = wire.len() / 2;
        wire[middle..middle + 64].fill(0xff);
        let error = decoded(Some(label), "text/xml", &wire, 0).await.map(|_| ()).expect_err("damage");
        assert!(matches!(error, FetchError::Decoding { .. }), "{label}: {error:?}");
    }
    let mut checksum = gzip(TEXT.as_bytes());
    let place = checksum.len() - 6;
    checksum[place] ^= 1;
    assert!(matches!(decoded(Some("gzip"), "text/xml", &checksum, 0).await, Err(FetchError::Decoding { .. })));
    let twice = gzip(&brotli(TEXT.as_bytes()));
    assert!(matches!(decoded(Some("br, gzip"), "text/xml", &twice, 0).await, Err(FetchError::Decoding { .. })));
}

#[tokio::test]
async fn what_breaks_off_is_cut_short() {
    let text = TEXT.repeat(50);
    for (label, wire) in [
        ("gzip", gzip(text.as_bytes())),
        ("deflate", zlib(text.as_bytes())),
        ("deflate", raw_deflate(text.as_bytes())),
        ("br", brotli(text.as_bytes())),
        ("zstd", zstd(text.as_bytes())),
    ] {
        for length in [wire.len() - 1, wire.len() / 2] {
            let error = decoded(Some(label), "text/xml", &wire[..length], 0).await.expect_err("cut short");
            assert!(matches!(error, FetchError::CutShort { .. }) && error.is_transient(), "{label}: {error:?}");
        }
    }
    let error = decoded(Some("gzip"), "text/xml", &[0x1f, 0x8b], 0).await.expect_err("cut short");
    assert!(matches!(error, FetchError::CutShort { .. }), "{error:?}");
}

#[tokio::test]
async fn a_bomb_comes_in_pieces() {
    let member = gzip(&vec![0; 64 << 20]);
    let server = Responder::always(Reply::new(200, &[("Content-Encoding", "gzip")], member.repeat(16))).await;
    let mut body = client().get(Ask::new(server.url("/"))).await.expect("an answer").body;
    let mut total = 0_u64;
    while let Some(piece) = body.chunk().await.expect("a piece") {
        assert!(piece.len() <= 256 * 1024);
        total += piece.len() as u64;
    }
    assert_eq!(total, 1 << 30);
    let body = client().get(Ask::new(server.url("/"))).await.expect("an answer").body;
    assert!(matches!(body.read_to_end(1 << 20).await, Err(FetchError::TooLarge { limit: 0x10_0000, .. })));
}

#[tokio::test]
async fn a_window_too_large_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("memory");
    encoder.window_log(27).and_then(|()| encoder.write_all(&vec![7; 1 << 20])).expect("memory");
    let wire = encoder.finish().expect("memory");
    let outcome = decoded(Some("zstd"), "text/xml", &wire, 0).await;
    assert!(matches!(outcome, Err(FetchError::Decoding { .. })), "a server could claim 128 MB");
}

#[tokio::test]
async fn padding_has_an_end() {
    let nothing = gzip(b"").repeat((40 << 20) / 20);
    let error = decoded(Some("gzip"), "text/xml", &nothing, 0).await.expect_err("nothing but padding");
    assert!(matches!(error, FetchError::Decoding { .. }), "{error:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever comes under whatever label: an answer or an error, in bounded pieces, and no panic.
    #[test]
    fn any_bytes_under_any_label(
        wire in proptest::collection::vec(any::<u8>(), 0..600),
        label in proptest::sample::select(vec!["gzip", "deflate", "br", "zstd", "compress", "x"]),
        magic in proptest::sample::select(vec![&[][..], &[0x1f, 0x8b, 8], &[0x28, 0xb5, 0x2f, 0xfd], &[0x78, 0x9c]]),
        split in 0_usize..600,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let wire = [magic, &wire[..]].concat();
        let _ = runtime.block_on(decoded(Some(label), "text/xml", &wire, split));
    }
}
