//! As much of HTTP/1.1 as a test server needs.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::response::{END_CHECK, Head, Piece, Response};

const REQUEST_BYTES_MAX: usize = 64 << 20;

/// One request as it was sent.
#[derive(Debug, Default)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// The value of a header, named in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A connection and the bytes of it that belong to the next request.
pub(crate) struct Connection<'a> {
    stream: TcpStream,
    unread: Vec<u8>,
    has_ended: &'a AtomicBool,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(stream: TcpStream, has_ended: &'a AtomicBool) -> std::io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(END_CHECK))?;
        Ok(Self { stream, unread: vec![], has_ended })
    }

    /// The next request; `None` when the client has closed or the server ends.
    pub(crate) fn request(&mut self) -> Option<HttpRequest> {
        let head_end = loop {
            if let Some(at) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                break at;
            }
            self.fill()?;
        };
        let head = String::from_utf8_lossy(&self.unread[..head_end]).into_owned();
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let mut request = HttpRequest {
            method: first.next().unwrap_or_default().to_owned(),
            path: first.next().unwrap_or_default().to_owned(),
            ..HttpRequest::default()
        };
        let pairs = lines.filter_map(|line| line.split_once(':'));
        request.headers =
            pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
        let body_bytes: usize =
            request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let end = head_end + 4 + body_bytes;
        while self.unread.len() < end {
            self.fill()?;
        }
        request.body = self.unread[head_end + 4..end].to_vec();
        self.unread.drain(..end);
        Some(request)
    }

    /// Sends a response. Returns whether the connection can be used again.
    pub(crate) fn respond(&mut self, response: &Response) -> bool {
        self.send(response).unwrap_or(false) && !response.closes
    }

    fn fill(&mut self) -> Option<()> {
        let mut buffer = [0; 64 * 1024];
        while !self.has_ended.load(Ordering::Relaxed) && self.unread.len() < REQUEST_BYTES_MAX {
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => {
                    self.unread.extend_from_slice(&buffer[..count]);
                    return Some(());
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => return None,
            }
        }
        None
    }

    fn send(&mut self, response: &Response) -> std::io::Result<bool> {
        let whole = match response.body.as_slice() {
            [] => Some(&[][..]),
            [Piece::Bytes(bytes)] => Some(bytes.as_slice()),
            _ => None,
        };
        if let (Some(head), Some(body)) = (&response.head, whole) {
            let mut bytes = head_text(head, &format!("content-length: {}", body.len())).into_bytes();
            bytes.extend_from_slice(body);
            self.stream.write_all(&bytes)?;
            return Ok(true);
        }
        if let Some(head) = &response.head {
            self.stream.write_all(head_text(head, "transfer-encoding: chunked").as_bytes())?;
        }
        for piece in &response.body {
            match piece {
                Piece::Bytes(bytes) => {
                    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                    chunk.extend_from_slice(bytes);
                    chunk.extend_from_slice(b"\r\n");
                    self.stream.write_all(&chunk)?;
                }
                Piece::Wait(gate) => gate.wait(self.has_ended),
                Piece::Hang => {
                    self.wait_for_the_client();
                    return Ok(false);
                }
                Piece::Reset => {
                    // Closing with no time to linger makes the kernel send a reset.
                    socket2::SockRef::from(&self.stream).set_linger(Some(std::time::Duration::ZERO))?;
                    return Ok(false);
                }
            }
        }
        self.stream.write_all(b"0\r\n\r\n")?;
        Ok(true)
    }

    /// Waits until the client gives up or the server ends.
    fn wait_for_the_client(&mut self) {
        while self.fill().is_some() {}
    }
}

fn head_text(head: &Head, length: &str) -> String {
    let headers: String = head.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {} Fake\r\n{headers}{length}\r\n\r\n", head.status)
}
