//! What the guard costs a fetch, and the memory that a body of 10 MB takes.
//!
//! The memory is the peak of a child process, above its peak after a first, empty fetch.
#![expect(clippy::print_stdout, reason = "numbers are its output")]

use std::hint::black_box;
use std::io::Write as _;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use reyn_web::{AddressPolicy, GetRequest, HostPort, Target, WebClient, WebClientOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const BODY_BYTES: usize = 10_000_000;
/// The text of the memory's measurement in Brotli, with its largest window.
const BROTLI: &str = "9f7f9698003c0e70733c70554b5ba3b0d4da0cfb222cd6833bcac5e1d718f6ac0b80600b80028109901082669c27f4ac41e\
    d26f3054000c0061c72048904f2c112610150133d568ec5dc1356c8bdd0cbe188a901";
const CHILD: &str = "--child";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if let Some(at) = arguments.iter().position(|argument| argument == CHILD) {
        runtime.block_on(child(&arguments[at + 1]));
        return;
    }
    pure();
    runtime.block_on(fetches());
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
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await
            } else {
                let _ = stream.write_all(head.as_bytes()).await;
                stream.write_all(&body).await
            };
            let _ = stream.shutdown().await;
        }
    });
    port
}

fn client(port: u16) -> WebClient {
    let allow_hosts = vec![HostPort::new("127.0.0.1", port)];
    let policy = AddressPolicy { allow_private: false, allow_hosts };
    WebClient::new(WebClientOptions { policy, ..Default::default() }).expect("a client")
}

/// A whole fetch of nothing, beside the same with a bare client that is made once.
async fn fetches() {
    let port = serve(String::new(), vec![]).await;
    let url = format!("http://127.0.0.1:{port}/empty");
    let guarded = client(port);
    // The HTTP library wants a provider to be there, also where no TLS is spoken.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bare = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().expect("a client");
    let request = GetRequest::new(url.clone());
    let cancel = CancellationToken::new();
    let (mut with, mut without) = (vec![], vec![]);
    for _ in 0..501 {
        let started = Instant::now();
        bare.get(&url).send().await.expect("an answer").bytes().await.expect("a body");
        without.push(started.elapsed());
        let started = Instant::now();
        guarded.get(&request, &cancel).await.expect("an answer");
        with.push(started.elapsed());
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (with, without) = (median(&mut with), median(&mut without));
    println!("a fetch of nothing from this machine: {with:?}; by a bare client: {without:?}");
}

async fn memory() {
    let text: Vec<u8> = b"a page of 10 MB, line by line\n".iter().copied().cycle().take(BODY_BYTES).collect();
    let mut gzip = GzEncoder::new(vec![], Compression::default());
    gzip.write_all(&text).expect("memory takes it");
    let gzip = gzip.finish().expect("memory takes it");
    let byte = |at| u8::from_str_radix(&BROTLI[2 * at..2 * at + 2], 16).expect("hexadecimal");
    let brotli = (0..BROTLI.len() / 2).map(byte).collect();
    let length = format!("HTTP/1.1 200 OK\r\ncontent-length: {BODY_BYTES}\r\n\r\n");
    let encoded =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", gzip.len());
    for (name, head, body) in [
        ("with its length", length, text.clone()),
        ("until the connection closes", "HTTP/1.1 200 OK\r\n\r\n".to_owned(), text),
        ("in gzip", encoded, gzip),
        ("in brotli", "HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n".to_owned(), brotli),
    ] {
        let port = serve(head, body).await;
        let program = std::env::current_exe().expect("this program");
        let output = tokio::task::spawn_blocking(move || {
            std::process::Command::new(program).args([CHILD, &port.to_string()]).output()
        });
        let output = output.await.expect("it runs").expect("it starts");
        println!("10 MB {name}: {}", String::from_utf8_lossy(&output.stdout).trim());
    }
}

async fn child(port: &str) {
    let client = client(port.parse().expect("a port"));
    let cancel = CancellationToken::new();
    let get = |path: &str| GetRequest::new(format!("http://127.0.0.1:{port}{path}"));
    client.get(&get("/empty"), &cancel).await.expect("an answer");
    let before = peak_kib();
    let answer = client.get(&get("/"), &cancel).await.expect("an answer");
    let taken = (peak_kib() - before) * 1024;
    let times = f64::from(u32::try_from(taken).unwrap_or(u32::MAX))
        / f64::from(u32::try_from(BODY_BYTES).unwrap_or(1));
    println!("{taken} bytes of memory at the peak, {times:.2} times the body of {}", answer.body.len());
}

/// The most memory that this process has had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}
