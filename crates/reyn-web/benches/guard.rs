//! What the guard costs a fetch, and the memory that a body of 10 MB takes.
//!
//! A fetch is measured beside the same request by a bare client that is made once, and by one that is made for
//! every call as the guarded one is. The memory is the peak of a child process over three fetches, above its peak
//! after a first, empty one.
#![expect(clippy::print_stdout, reason = "numbers are its output")]

use std::hint::black_box;
use std::io::Write as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use reyn_web::{AddressPolicy, GetRequest, HostPort, Target, WebClient, WebClientOptions};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use zstd_safe::{CCtx, CParameter};

const BODY_BYTES: usize = 10_000_000;
const EMPTY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const CHILD: &str = "--child";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if let Some(at) = arguments.iter().position(|argument| argument == CHILD) {
        runtime.block_on(child(&arguments[at + 1]));
        return;
    }
    pure();
    // The HTTP library wants a provider to be there, also where no TLS is spoken.
    let _ = rustls::crypto::ring::default_provider().install_default();
    runtime.block_on(over_http());
    runtime.block_on(over_https());
    runtime.block_on(memory());
}

/// The median time of one call, in nanoseconds.
fn median_ns(mut call: impl FnMut()) -> u128 {
    let mut times: Vec<u128> = (0..201)
        .map(|_| {
            let started = Instant::now();
            for _ in 0..100 {
                call();
            }
            started.elapsed().as_nanos() / 100
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn pure() {
    let addresses: Vec<IpAddr> = (1..=4_u8)
        .flat_map(|at| [format!("93.184.216.{at}"), format!("2606:4700::{at}")])
        .map(|text| text.parse().expect("an address"))
        .collect();
    let allow_hosts = (0..8).map(|at| HostPort::new(&format!("h{at}.example"), 8080)).collect();
    let policy = AddressPolicy { allow_private: false, allow_hosts };
    let url = "https://www.example.com/a/long/path/to/a/page.html?with=a&query=of&some=fields";
    let check = median_ns(|| {
        black_box(Target::parse(black_box(url), &policy).is_ok());
    });
    let target = Target::parse(url, &policy).expect("a public name");
    let judge = median_ns(|| {
        black_box(target.judge_all(black_box(&addresses), &policy).is_ok());
    });
    println!("checking a URL: {check} ns; judging a name with 8 addresses: {judge} ns");
}

async fn serve(head: String, body: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 4096];
            let Ok(count) = stream.read(&mut buffer).await else { continue };
            let is_first = buffer[..count].starts_with(b"GET /empty ");
            let _ = if is_first {
                stream.write_all(EMPTY.as_bytes()).await
            } else {
                let _ = stream.write_all(head.as_bytes()).await;
                stream.write_all(&body).await
            };
            let _ = stream.shutdown().await;
        }
    });
    port
}

fn client(port: u16, ca_bundle: Option<PathBuf>) -> WebClient {
    let allow_hosts = vec![HostPort::new("127.0.0.1", port)];
    let policy = AddressPolicy { allow_private: false, allow_hosts };
    WebClient::new(WebClientOptions { policy, ca_bundle, ..Default::default() }).expect("a client")
}

/// The bare client: the same HTTP library with the same settings, and no guard.
fn bare(tls: &ClientConfig) -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .http1_only()
        .pool_max_idle_per_host(0)
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_secs(10))
        .tls_backend_preconfigured(tls.clone())
        .build()
        .expect("a client")
}

fn trusting(certificate: Option<&rcgen::Certificate>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    if let Some(certificate) = certificate {
        roots.add(certificate.der().clone()).expect("a certificate");
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("the usual versions");
    builder.with_root_certificates(roots).with_no_client_auth()
}

/// Whole fetches of nothing from this machine, three ways in turn.
async fn fetches(name: &str, url: &str, guarded: &WebClient, tls: ClientConfig) {
    let once = bare(&tls);
    let request = GetRequest::new(url);
    let cancel = CancellationToken::new();
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..1001 {
        let started = Instant::now();
        once.get(url).send().await.expect("an answer").bytes().await.expect("a body");
        times[0].push(started.elapsed());
        let started = Instant::now();
        bare(&tls).get(url).send().await.expect("an answer").bytes().await.expect("a body");
        times[1].push(started.elapsed());
        let started = Instant::now();
        guarded.get(&request, &cancel).await.expect("an answer");
        times[2].push(started.elapsed());
    }
    let added = |than: usize| {
        let pairs = times[2].iter().zip(&times[than]);
        let mut added: Vec<f64> = pairs.map(|(with, without)| micros(*with) - micros(*without)).collect();
        added.sort_by(f64::total_cmp);
        added[added.len() / 2]
    };
    let (to_once, to_each) = (added(0), added(1));
    let [once, each, with] = times.map(|mut times| {
        times.sort_unstable();
        micros(times[times.len() / 2])
    });
    println!(
        "a fetch of nothing over {name}: guarded {with:.1} us, bare made once {once:.1} us, bare made each time \
         {each:.1} us; added {to_once:.1} us and {to_each:.1} us"
    );
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

async fn over_http() {
    let port = serve(String::new(), vec![]).await;
    fetches("HTTP", &format!("http://127.0.0.1:{port}/empty"), &client(port, None), trusting(None)).await;
}

async fn over_https() {
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the usual versions")
        .with_no_client_auth()
        .with_single_cert(vec![issued.cert.der().clone()], key)
        .expect("a certificate with its key");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(EMPTY.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    let mut bundle = tempfile::NamedTempFile::new().expect("a file");
    bundle.write_all(issued.cert.pem().as_bytes()).expect("a file takes it");
    let guarded = client(port, Some(bundle.path().to_owned()));
    fetches("HTTPS", &format!("https://127.0.0.1:{port}/"), &guarded, trusting(Some(&issued.cert))).await;
}

/// Bodies of 10 MB with their encodings: of text, and of bytes that nothing makes smaller.
fn bodies() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let text: Vec<u8> = b"a page of 10 MB, line by line\n".iter().copied().cycle().take(BODY_BYTES).collect();
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let noise: Vec<u8> = (0..BODY_BYTES).map(|_| random()).collect();
    let words = words();
    vec![
        ("gzip", "gzip", gzip(&text)),
        ("gzip, noise", "gzip", gzip(&noise)),
        ("deflate", "deflate", zlib(&text)),
        ("deflate, noise", "deflate", zlib(&noise)),
        ("brotli, window of 4 MiB", "br", brotli(&text, 22)),
        ("brotli, window of 8 MiB", "br", brotli(&text, 23)),
        ("brotli, window of 4 MiB, words at random", "br", brotli(&words, 22)),
        ("brotli, window of 8 MiB, words at random", "br", brotli(&words, 23)),
        ("brotli, window of 16 MiB", "br", brotli(&text, 24)),
        ("brotli, window of 16 MiB, noise", "br", brotli(&noise, 24)),
        ("zstd, window of 512 KiB", "zstd", zstd(&text, 19)),
        ("zstd, window of 8 MiB", "zstd", zstd(&text, 23)),
        ("zstd, window of 8 MiB, one byte", "zstd", zstd_blocks(&[b'a'; BODY_BYTES], true)),
        ("zstd, window of 8 MiB, noise", "zstd", zstd_blocks(&noise, false)),
        ("zstd, window of 8 MiB, words at random", "zstd", zstd(&words, 23)),
        ("no encoding", "identity", text),
    ]
}

/// Words at random, which make many short sequences.
fn words() -> Vec<u8> {
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % below).unwrap_or(0)
    };
    let known: Vec<Vec<u8>> = (0..3000)
        .map(|_| {
            (0..2 + random(8)).map(|_| b'a' + u8::try_from(random(26)).unwrap_or(0)).chain([b' ']).collect()
        })
        .collect();
    let mut words: Vec<u8> = vec![];
    while words.len() < BODY_BYTES {
        words.extend_from_slice(&known[random(3000)]);
    }
    words.truncate(BODY_BYTES);
    words
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn brotli(bytes: &[u8], window_bits: u32) -> Vec<u8> {
    let mut encoder = brotli::CompressorWriter::new(vec![], 65536, 5, window_bits);
    encoder.write_all(bytes).expect("memory takes it");
    encoder.into_inner()
}

fn zstd(bytes: &[u8], window_bits: u32) -> Vec<u8> {
    let mut encoder = CCtx::create();
    for parameter in [CParameter::WindowLog(window_bits), CParameter::ContentSizeFlag(false)] {
        encoder.set_parameter(parameter).expect("the library has it");
    }
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    encoder.compress2(&mut frame, bytes).expect("memory takes it");
    frame
}

/// A frame with the largest window, of blocks that say one byte often, or that are as they are.
fn zstd_blocks(bytes: &[u8], is_one_byte: bool) -> Vec<u8> {
    let mut frame = b"\x28\xb5\x2f\xfd\x00\x68".to_vec();
    for block in bytes.chunks(128 * 1024) {
        let kind = if is_one_byte { 2 } else { 0 };
        let head = u32::try_from(block.len()).expect("a block is small") << 3 | kind;
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.extend_from_slice(if is_one_byte { &block[..1] } else { block });
    }
    // An empty last block.
    frame.extend_from_slice(&[1, 0, 0]);
    frame
}

async fn memory() {
    for (name, encoding, body) in bodies() {
        let length = format!("content-length: {}\r\n", body.len());
        for (form, length) in [("with its length", length.as_str()), ("to the connection's end", "")] {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\n{length}\r\n");
            let port = serve(head, body.clone()).await;
            let program = std::env::current_exe().expect("this program");
            let output = tokio::task::spawn_blocking(move || {
                std::process::Command::new(program).args([CHILD, &port.to_string()]).output()
            });
            let output = output.await.expect("it runs").expect("it starts");
            println!("10 MB, {name}, {form}: {}", String::from_utf8_lossy(&output.stdout).trim());
        }
    }
}

async fn child(port: &str) {
    let client = client(port.parse().expect("a port"), None);
    let cancel = CancellationToken::new();
    let get = |path: &str| GetRequest::new(format!("http://127.0.0.1:{port}{path}"));
    client.get(&get("/empty"), &cancel).await.expect("an answer");
    let before = peak_kib();
    let mut peaks = vec![];
    for _ in 0..3 {
        let answer = client.get(&get("/"), &cancel).await.expect("an answer");
        assert_eq!(answer.body.len(), BODY_BYTES, "the whole body came");
        let taken = u32::try_from((peak_kib() - before) * 1024).unwrap_or(u32::MAX);
        peaks.push(format!("{:.2}", f64::from(taken) / f64::from(u32::try_from(BODY_BYTES).unwrap_or(1))));
    }
    println!("{} times the body at the peak of one, two and three fetches", peaks.join(", "));
}

/// The most memory that this process has had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}
