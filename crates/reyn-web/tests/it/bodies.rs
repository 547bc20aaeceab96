//! Bodies: every encoding, and none beyond its limit.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use reyn_web::{GetError, WebClientOptions};
use tokio::io::AsyncWriteExt as _;

use crate::server::{Server, answer};
use crate::{get, reaching};

/// "Hello, 日本語! " 40 times, by the reference encoder at its best.
const BROTLI: &str = "1bcf02f81d89712cca46b54b25480852b19415db5bdd525985808c27773c01";

/// 200,000,000 zeros in Brotli, with its largest window.
const BROTLI_BOMB: &str = "cfffff7f002400e2b14072effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800b\
    af7fffcffff074002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bffcfffff7f00\
    2400e2b00074effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffcfffe075001200715800bab9eb";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut frame, bytes, 1).unwrap();
    frame
}

async fn fetched(encoding: &str, body: &[u8]) -> Result<Vec<u8>, GetError> {
    fetched_within(encoding, body, 1_000_000).await
}

async fn fetched_within(encoding: &str, body: &[u8], limit_bytes: usize) -> Result<Vec<u8>, GetError> {
    let server = Server::saying(answer("200 OK", &[&format!("content-encoding: {encoding}")], body)).await;
    let options = WebClientOptions { download_bytes_max: limit_bytes, ..reaching(&[server.address]) };
    get(options, &server.url("/")).await.map(|answer| answer.body)
}

#[tokio::test]
async fn every_encoding_that_servers_use_is_decoded() {
    let text = "日本語 ".repeat(5000).into_bytes();
    for (encoding, body) in [
        ("gzip", gzip(&text)),
        ("GZIP", gzip(&text)),
        ("x-gzip", gzip(&text)),
        ("identity, gzip", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", deflate(&text)),
        ("zstd", zstd(&text)),
        ("identity", text.clone()),
        ("utf-8", text.clone()),
        ("none", text.clone()),
    ] {
        assert_eq!(fetched(encoding, &body).await.unwrap(), text, "{encoding}");
    }
    let greeting = "Hello, 日本語! ".repeat(40).into_bytes();
    assert_eq!(fetched("br", &unhex(BROTLI)).await.unwrap(), greeting);
    let two_members = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(fetched("gzip", &two_members).await.unwrap(), b"one two");
    let two_frames = [zstd(b"one "), zstd(b"two")].concat();
    assert_eq!(fetched("zstd", &two_frames).await.unwrap(), b"one two");
}

#[tokio::test]
async fn an_encoding_in_pieces_of_one_byte_is_decoded() {
    let text = b"piece by piece";
    for (encoding, body) in [("gzip", gzip(text)), ("deflate", zlib(text)), ("zstd", zstd(text))] {
        let server = Server::new(move |_, _, mut stream| {
            let body = body.clone();
            async move {
                let _ = stream.set_nodelay(true);
                let head = format!(
                    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-encoding: {encoding}\r\n\r\n"
                );
                let _ = stream.write_all(head.as_bytes()).await;
                for byte in body {
                    let _ = stream.write_all(&[b'1', b'\r', b'\n', byte, b'\r', b'\n']).await;
                    tokio::task::yield_now().await;
                }
                let _ = stream.write_all(b"0\r\n\r\n").await;
            }
        })
        .await;
        let body = get(reaching(&[server.address]), &server.url("/")).await.unwrap().body;
        assert_eq!(body, b"piece by piece");
    }
}

#[tokio::test]
async fn a_body_that_is_not_in_its_encoding_or_ends_too_early_is_a_decode_error() {
    let whole = gzip(&b"text ".repeat(1000));
    let mut wrong_sum = whole.clone();
    let at = wrong_sum.len() - 8;
    wrong_sum[at] ^= 1;
    for (encoding, body) in [
        ("gzip", b"<html>plain</html>".to_vec()),
        ("gzip", whole[..whole.len() - 3].to_vec()),
        ("gzip", whole[..whole.len() / 2].to_vec()),
        ("gzip", wrong_sum),
        ("deflate", b"\x78".to_vec()),
        ("deflate", zlib(&b"text ".repeat(1000))[..20].to_vec()),
        ("br", b"<html>plain</html>".to_vec()),
        ("br", unhex(BROTLI)[..8].to_vec()),
        // A window of a gigabyte.
        ("br", b"\x11\x1e\x00\x00\x00\x00".to_vec()),
        ("zstd", b"<html>plain</html>".to_vec()),
        ("zstd", zstd(&b"text ".repeat(1000))[..20].to_vec()),
        // A window of 9 MiB.
        ("zstd", b"\x28\xb5\x2f\xfd\x00\x69\x01\x00\x00".to_vec()),
        ("compress", b"x".to_vec()),
        ("gzip, br", whole.clone()),
    ] {
        let error = fetched(encoding, &body).await.unwrap_err();
        assert_eq!(error.kind(), "decode", "{encoding}: {error:?}");
    }
}

#[tokio::test]
async fn an_encoding_without_a_body_is_an_empty_body() {
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        assert_eq!(fetched(encoding, b"").await, Ok(vec![]), "{encoding}");
    }
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_passes_and_one_byte_more_does_not() {
    let text = vec![b'a'; 100_000];
    for (encoding, body) in
        [("identity", text.clone()), ("gzip", gzip(&text)), ("deflate", zlib(&text)), ("zstd", zstd(&text))]
    {
        assert_eq!(fetched_within(encoding, &body, 100_000).await.unwrap().len(), 100_000, "{encoding}");
        let error = fetched_within(encoding, &body, 99_999).await.unwrap_err();
        let GetError::TooLarge { limit_bytes: 99_999, .. } = error else { panic!("{encoding}: {error:?}") };
    }
}

#[tokio::test]
async fn a_bomb_ends_at_the_limit_in_every_encoding() {
    let zeros = vec![0; 50_000_000];
    for (encoding, body) in
        [("gzip", gzip(&zeros)), ("deflate", zlib(&zeros)), ("br", unhex(BROTLI_BOMB)), ("zstd", zstd_bomb())]
    {
        let error = fetched(encoding, &body).await.unwrap_err();
        assert_eq!(error.kind(), "too_large", "{encoding}");
    }
}

#[tokio::test]
async fn a_stream_that_decodes_to_nothing_ends_at_the_limit_as_well() {
    // A gzip head, then stored blocks of no bytes without end.
    let mut body = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    body.extend_from_slice(&b"\0\0\0\xff\xff".repeat(300_000));
    assert_eq!(fetched("gzip", &body).await.unwrap_err().kind(), "too_large");
    // A frame without blocks of any bytes, and frames of none, without end.
    let blocks = [b"\x28\xb5\x2f\xfd\x00\x68".to_vec(), b"\0\0\0".repeat(400_000)].concat();
    let frames = b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00".repeat(130_000);
    for body in [blocks, frames] {
        assert_eq!(fetched("zstd", &body).await.unwrap_err().kind(), "too_large");
    }
}

#[tokio::test]
async fn a_body_without_end_is_read_up_to_the_limit_and_no_further() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let server = Server::new(move |_, _, mut stream| {
        let counted = Arc::clone(&counted);
        async move {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while stream.write_all(&[b'a'; 10_000]).await.is_ok() {
                counted.fetch_add(10_000, Ordering::SeqCst);
            }
        }
    })
    .await;
    let options = WebClientOptions { download_bytes_max: 1_000_000, ..reaching(&[server.address]) };
    let error = get(options, &server.url("/")).await.unwrap_err();
    assert_eq!(error, GetError::TooLarge { url: server.url("/"), limit_bytes: 1_000_000 });
    // What stands in the buffers of the sockets was sent too.
    assert!(sent.load(Ordering::SeqCst) < 20_000_000);
}

#[tokio::test]
async fn a_length_over_the_limit_is_refused_before_the_body() {
    let server = Server::new(|_, _, mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999\r\n\r\n").await;
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(get(reaching(&[server.address]), &server.url("/")).await.unwrap_err().kind(), "too_large");
}

/// A frame of a window of 8 MiB, then 800 blocks of one byte that is repeated 128 Ki times.
fn zstd_bomb() -> Vec<u8> {
    [b"\x28\xb5\x2f\xfd\x00\x68".to_vec(), b"\x02\x00\x10a".repeat(800)].concat()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}
