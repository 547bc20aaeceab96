//! An OpenAI-compatible server on this machine that follows a script and checks every request.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::http::{Connection, HttpRequest};
use crate::protocol::{check_embedding_request, check_request};
use crate::response::Response;

/// A server with a script, on threads of its own, so that other processes can use it as well.
///
/// A request that breaks the protocol, or is beyond the script, is answered 400 with the reason, and the test
/// fails when the server is dropped.
#[derive(Debug)]
pub struct FakeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    requests: Mutex<Vec<Value>>,
    violations: Mutex<Vec<String>>,
    key: Mutex<Option<String>>,
    models: Mutex<Vec<String>>,
    connections: AtomicUsize,
    has_ended: AtomicBool,
}

enum Script {
    Queue(VecDeque<Response>),
    Function(Box<dyn FnMut(&Value) -> Response + Send>),
}

impl std::fmt::Debug for Script {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Queue(queue) => write!(out, "Queue({} left)", queue.len()),
            Self::Function(_) => out.write_str("Function"),
        }
    }
}

impl FakeServer {
    /// Starts a server that gives these answers, in order.
    #[must_use]
    pub fn script<R: Into<Response>>(responses: impl IntoIterator<Item = R>) -> Self {
        Self::start(Script::Queue(responses.into_iter().map(Into::into).collect()))
    }

    /// Starts a server that answers each request by a function of its body, without end.
    #[must_use]
    pub fn answering(answer: impl FnMut(&Value) -> Response + Send + 'static) -> Self {
        Self::start(Script::Function(Box::new(answer)))
    }

    fn start(script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("this machine has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            requests: Mutex::default(),
            violations: Mutex::default(),
            key: Mutex::default(),
            models: Mutex::new(vec!["fake".to_owned()]),
            connections: AtomicUsize::new(0),
            has_ended: AtomicBool::new(false),
        });
        let acceptor = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self { address, shared, acceptor: Some(acceptor) }
    }

    /// The address to configure, up to and including `/v1`.
    #[must_use]
    pub fn api_base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// From now on every request must carry this key.
    pub fn require_key(&self, key: &str) {
        *locked(&self.shared.key) = Some(key.to_owned());
    }

    /// What `/models` lists from now on.
    pub fn offer_models(&self, names: &[&str]) {
        *locked(&self.shared.models) = names.iter().map(|name| (*name).to_owned()).collect();
    }

    /// The bodies of the requests that were answered by the script, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        locked(&self.shared.requests).clone()
    }

    /// How many connections were opened.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// The faults of requests so far. Taking them keeps [`Self::finish`] from failing the test.
    #[must_use]
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.shared.violations))
    }

    /// Ends the server and checks that no request broke the protocol.
    ///
    /// # Panics
    /// When one did. Dropping the server does the same.
    pub fn finish(self) {
        drop(self);
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::Relaxed);
        // The acceptor waits for a connection; this one makes it look whether to end.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let violations = self.take_violations();
        if !std::thread::panicking() {
            assert!(violations.is_empty(), "requests broke the protocol:\n{}", violations.join("\n"));
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = vec![];
    for stream in listener.incoming() {
        if shared.has_ended.load(Ordering::Relaxed) {
            break;
        }
        let Ok(stream) = stream else { continue };
        shared.connections.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(shared);
        threads.push(std::thread::spawn(move || serve(stream, &shared)));
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn serve(stream: TcpStream, shared: &Shared) {
    let Ok(mut connection) = Connection::new(stream, &shared.has_ended) else { return };
    while let Some(request) = connection.request() {
        let response = shared.answer(&request);
        if !connection.respond(&response) {
            return;
        }
    }
}

impl Shared {
    fn answer(&self, request: &HttpRequest) -> Response {
        let path = request.path.split('?').next().unwrap_or_default();
        // Whoever takes this server for a proxy names the server that is meant before the path.
        let path = path
            .strip_prefix("http://")
            .and_then(|rest| rest.find('/').map(|at| &rest[at..]))
            .unwrap_or(path);
        match (request.method.as_str(), path) {
            ("GET", "/v1/models") if !self.has_right_key(request) => {
                error(401, "the key is wrong or missing")
            }
            ("GET", "/v1/models") => {
                let models = locked(&self.models).iter().map(|id| json!({"id": id})).collect::<Vec<_>>();
                Response::json(200, &json!({"object": "list", "data": models}))
            }
            ("POST", "/v1/chat/completions") => self.answer_post(request, check_request),
            ("POST", "/v1/embeddings" | "/api/embed") => self.answer_post(request, check_embedding_request),
            (method, path) => error(404, &format!("no such address: {method} {path}")),
        }
    }

    fn answer_post(&self, request: &HttpRequest, check: fn(&Value) -> Result<(), String>) -> Response {
        let body = match self.checked(request, check) {
            Ok(body) => body,
            Err(fault) => return self.violation(fault),
        };
        locked(&self.requests).push(body.clone());
        let next = match &mut *locked(&self.script) {
            Script::Queue(queue) => queue.pop_front(),
            Script::Function(answer) => Some(answer(&body)),
        };
        let last = body["messages"].as_array().and_then(|messages| messages.last());
        let beyond =
            || format!("a request beyond the script; its last message is {}", last.unwrap_or(&Value::Null));
        next.map_or_else(|| self.violation(beyond()), |response| response.rendered(&body))
    }

    fn checked(
        &self,
        request: &HttpRequest,
        check: fn(&Value) -> Result<(), String>,
    ) -> Result<Value, String> {
        let content_type = request.header("content-type").unwrap_or_default();
        if !content_type.starts_with("application/json") {
            return Err(format!("the content type is `{content_type}`"));
        }
        if !self.has_right_key(request) {
            return Err("the request carries the wrong key or none".to_owned());
        }
        let body = serde_json::from_slice(&request.body)
            .map_err(|error| format!("the body is not JSON: {error}"))?;
        check(&body)?;
        Ok(body)
    }

    fn has_right_key(&self, request: &HttpRequest) -> bool {
        let key = locked(&self.key);
        key.as_deref().is_none_or(|key| request.header("authorization") == Some(&format!("Bearer {key}")))
    }

    fn violation(&self, fault: String) -> Response {
        let response = error(400, &fault);
        locked(&self.violations).push(fault);
        response
    }
}

fn error(status: u16, message: &str) -> Response {
    Response::json(status, &json!({"error": {"message": message, "type": "invalid_request_error"}}))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
