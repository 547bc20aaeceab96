//! Servers that say what a test tells them, byte for byte.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server on this machine; it ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Gives every connection to `script`, which owns it.
    pub(crate) async fn new<F, S>(script: F) -> Self
    where
        F: Fn(usize, String, TcpStream) -> S + Send + Sync + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(vec![]));
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, counted) = (Arc::clone(&requests), Arc::clone(&connections));
        let script = Arc::new(script);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let index = counted.fetch_add(1, Ordering::SeqCst);
                let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
                tokio::spawn(async move {
                    let head = read_request(&mut stream).await;
                    seen.lock().unwrap().push(head.clone());
                    script(index, head, stream).await;
                });
            }
        });
        Self { address, requests, connections, task }
    }

    /// Answers every request with the same bytes and closes.
    pub(crate) async fn saying(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::new(move |_, _, mut stream| {
            let bytes = bytes.clone();
            async move {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
            }
        })
        .await
    }

    /// Answers a request by its path.
    pub(crate) async fn routing<F>(route: F) -> Self
    where
        F: Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    {
        Self::new(move |_, head, mut stream| {
            let bytes = route(head.split(' ').nth(1).unwrap_or_default());
            async move {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
            }
        })
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads a head and the body that its `content-length` says.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        // The beginning of a TLS handshake.
        if text.starts_with('\u{16}') {
            return text;
        }
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return text,
            Ok(count) => text.push_str(&String::from_utf8_lossy(&buffer[..count])),
        }
    }
}

/// An answer with these header lines and this body.
pub(crate) fn answer(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for header in headers {
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// A redirect.
pub(crate) fn redirect(status: &str, location: &str) -> Vec<u8> {
    answer(status, &[&format!("location: {location}")], b"")
}
