//! The web at its bounds: interrupted, one connection at a time, a large page, a recording.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use reyn_core::request::{ChatRequest, Message};
use reyn_core::tool::{Args, ToolCall};
use reyn_core::tool_use::Framing;
use reyn_llm::{ChatModel as _, Replaying};
use reyn_testkit::{FakeServer, call, calls, says};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::Place;
use crate::running::WAIT_MAX;

/// Time in which an interrupted run must be over. Far less than any time limit of a fetch.
const INTERRUPTED_MAX: Duration = Duration::from_secs(8);

/// What the model was told of its `at`-th call.
fn result(server: &FakeServer, at: usize) -> String {
    let request = server.requests().remove(at);
    request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

fn opened(port: u16) -> String {
    format!("web_fetch: {{allow_hosts: [\"127.0.0.1:{port}\"]}}\n")
}

fn listening() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Reads the head of a request; its path.
fn head(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut line) = (String::new(), String::new());
    let _ = reader.read_line(&mut first);
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        line.clear();
    }
    first.split_whitespace().nth(1).unwrap_or_default().to_owned()
}

/// A server that says `begun` and nothing more; the receiver is told when it was asked, and again when the
/// connection is gone.
fn hanging(begun: &'static str) -> (u16, Receiver<()>) {
    let (listener, port) = listening();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = head(&stream);
            let _ = stream.write_all(begun.as_bytes());
            let _ = tell.send(());
            // Ends when the other side is gone.
            let _ = stream.read(&mut [0]);
            let _ = tell.send(());
        }
    });
    (port, told)
}

fn kinds(place: &Place) -> Vec<String> {
    let kind = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    place.events().iter().map(kind).collect()
}

#[test]
fn an_interrupt_during_a_fetch_that_hangs_ends_the_turn_and_the_log_says_so() {
    for begun in ["", "HTTP/1.1 200 x\r\ncontent-type: text/html\r\ncontent-length: 9\r\n\r\n<p>"] {
        let (port, told) = hanging(begun);
        let url = format!("http://127.0.0.1:{port}/slow");
        let server = FakeServer::script([calls([call("a", "web_fetch", json!({"url": url}))]), says("on")]);
        let place = Place::with(&server).config(&opened(port));
        let running = place.start(["ask", "go", "--session", "s"]);
        told.recv_timeout(WAIT_MAX).unwrap();
        let interrupted = Instant::now();
        running.signal(Signal::INT);
        let done = running.finish().exits(130);
        assert!(interrupted.elapsed() < INTERRUPTED_MAX, "{:?}", interrupted.elapsed());
        assert!(done.stderr.contains("interrupted"), "{}", done.stderr);
        // The connection is not left open.
        told.recv_timeout(WAIT_MAX).unwrap();
        let kinds = kinds(&place);
        assert!(kinds.contains(&"turn_cancelled".to_owned()), "{kinds:?}");
        let of_web: Vec<&String> = kinds.iter().filter(|kind| kind.starts_with("web_")).collect();
        assert_eq!(of_web, ["web_fetch_started", "web_fetch_failed"], "{kinds:?}");
        let failed = place.events().into_iter().find(|event| event["type"] == "web_fetch_failed").unwrap();
        assert_eq!(failed["data"]["status"], "cancelled", "{failed}");
        let lines = place.run(["sessions", "export", "s", "--format", "jsonl"]).exits(0).lines_of_json();
        let ended = lines.iter().find(|line| line.to_string().contains("cancelled by the person"));
        assert!(ended.is_some(), "{lines:#?}");
        // The session goes on with a conversation that a server accepts.
        let done = place.run(["ask", "go on", "--session", "s"]).exits(0);
        assert_eq!(done.stdout, "on\n");
        let told = server.requests()[1]["messages"].to_string();
        assert!(told.contains("cancelled"), "{told}");
    }
}

/// What a server saw of connections that were open at once.
#[derive(Default)]
struct Seen {
    paths: Vec<String>,
    /// Paths of requests that were made while another connection was open.
    beside_another: Vec<String>,
}

/// Time that a connection is held for another one to come.
const HELD: Duration = Duration::from_millis(300);

/// Answers one connection at a time, holding each until another could have come, and asks of each that it is
/// closed before the next one comes.
fn watching() -> (u16, Arc<Mutex<Seen>>) {
    let (listener, port) = listening();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let (accepted, connections): (Sender<TcpStream>, Receiver<TcpStream>) = channel();
    std::thread::spawn(move || listener.incoming().flatten().try_for_each(|stream| accepted.send(stream)));
    let noted = Arc::clone(&seen);
    std::thread::spawn(move || {
        let mut early = None;
        while let Some(stream) = early.take().or_else(|| connections.recv().ok()) {
            early = serve_held(stream, &connections, &noted);
        }
    });
    (port, seen)
}

/// Answers a connection; the next one where that came while this one was open.
fn serve_held(mut stream: TcpStream, next: &Receiver<TcpStream>, seen: &Mutex<Seen>) -> Option<TcpStream> {
    let path = head(&stream);
    seen.lock().unwrap().paths.push(path.clone());
    let mut early = next.recv_timeout(HELD).ok();
    let answer = match path.as_str() {
        "/from" => "HTTP/1.1 302 x\r\nlocation: /to\r\ncontent-length: 100\r\n\r\nmore is to come",
        _ => "HTTP/1.1 200 x\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello",
    };
    let _ = stream.write_all(answer.as_bytes());
    // The server offers to keep the connection; it is the other side that closes it.
    stream.set_read_timeout(Some(HELD)).unwrap();
    let is_closed = |stream: &mut TcpStream| match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    };
    let deadline = Instant::now() + WAIT_MAX;
    while !is_closed(&mut stream) && Instant::now() < deadline {
        early = early.or_else(|| next.try_recv().ok());
        if early.is_some() {
            break;
        }
    }
    if early.is_some() {
        seen.lock().unwrap().beside_another.push(path);
    }
    early
}

#[test]
fn a_host_never_has_two_connections_of_one_turn_open() {
    let (port, seen) = watching();
    let url = |path: &str| json!({"url": format!("http://127.0.0.1:{port}{path}")});
    let server = FakeServer::script([
        calls([
            call("a", "web_fetch", url("/one")),
            call("b", "web_fetch", url("/from")),
            call("c", "web_fetch", url("/two")),
        ]),
        says("done"),
    ]);
    let place = Place::with(&server).config(&opened(port));
    let _ = place.run(["ask", "go"]).exits(0);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.paths, ["/one", "/from", "/to", "/two"]);
    assert_eq!(seen.beside_another, Vec::<String>::new());
    let told = server.requests()[1]["messages"].to_string();
    assert_eq!(told.matches("hello").count(), 3, "{told}");
}

#[test]
fn patterns_beyond_their_bounds_stop_the_start_whether_failures_block_or_not() {
    let many: Vec<String> = (0..101).map(|at| format!("[word{at}, mine_{at}]")).collect();
    for (patterns, why) in [
        (many.join(", "), "101 custom patterns are more than the 100 that may be"),
        (format!("[{}, mine]", "a".repeat(1001)), "its regex has 1001 bytes; 1000 are the limit"),
        ("[\"(a{1,200}){1,200}\", mine]".to_owned(), "bytes when compiled; use smaller repetitions"),
        ("[a*, mine]".to_owned(), "matches the empty text"),
    ] {
        for fail_open in ["true", "false"] {
            let server = FakeServer::script([says("done")]);
            let config = format!(
                "safety: {{threat_scan: {{fail_open: {fail_open}, custom_patterns: [{patterns}]}}}}\n"
            );
            let done = Place::with(&server).config(&config).run(["ask", "go"]).exits(2);
            let place = "reyn.yaml:1:";
            assert!(done.stderr.contains(why) && done.stderr.contains(place), "{}", done.stderr);
            assert_eq!(server.requests(), Vec::<Value>::new());
        }
    }
}

/// A page of `bytes` bytes or a few more, of which every paragraph is another one.
fn large_page(bytes: usize) -> String {
    let mut page = "<html><head><title>Large</title></head><body><article><h1>Large</h1>".to_owned();
    for number in 0.. {
        page.push_str(&format!(
            "<p>Paragraph {number} says that the larder keeps what slow programs print, and for how long.</p>\n"
        ));
        if page.len() + 200 > bytes {
            break;
        }
    }
    page + "</article></body></html>"
}

#[test]
fn a_page_of_10_mb_is_read_within_the_time_and_cut_as_documented() {
    const CHARS_MAX: usize = 50_000;
    let page = large_page(10_000_000);
    let (listener, port) = listening();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = head(&stream);
            let head =
                format!("HTTP/1.1 200 x\r\ncontent-type: text/html\r\ncontent-length: {}\r\n", page.len());
            let _ = stream.write_all(format!("{head}connection: close\r\n\r\n{page}").as_bytes());
        }
    });
    let url = format!("http://127.0.0.1:{port}/");
    let server = FakeServer::script([calls([call("a", "web_fetch", json!({"url": url}))]), says("done")]);
    let place = Place::with(&server).config(&opened(port));
    let begun = Instant::now();
    let _ = place.run(["ask", "go", "--session", "s"]).exits(0);
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
    let told = result(&server, 1);
    let start = told.find("Paragraph 0 ").unwrap();
    assert!(told.starts_with("<<<EXTERNAL_UNTRUSTED id="), "{}", &told[..200]);
    assert!(told[..start].contains("truncated: true"), "{}", &told[..start]);
    assert!(told[..start].contains("total_chars: "), "{}", &told[..start]);
    let end = told.rfind("\n<<<END_EXTERNAL_UNTRUSTED").unwrap();
    let chars = told[start..end].chars().count();
    assert!((CHARS_MAX - 100..=CHARS_MAX).contains(&chars), "{chars}");
    let log = std::fs::metadata(place.root.join(".reyn/state/sessions/s/log.jsonl")).unwrap().len();
    assert!(log < 2 * CHARS_MAX as u64, "{log}");
    let completed = place.events().into_iter().find(|event| event["type"] == "web_fetch_completed").unwrap();
    assert_eq!(completed["data"]["truncated"], true, "{completed}");
}

#[test]
fn a_recording_with_a_page_in_it_is_replayed_without_the_page_and_the_stamp_stays() {
    let (listener, port) = listening();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = head(&stream);
        let head = "HTTP/1.1 200 x\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n";
        let _ = stream.write_all(format!("{head}The larder opens at nine.").as_bytes());
        // One page, and nobody listens any more.
    });
    let args = json!({"url": format!("http://127.0.0.1:{port}/")});
    let server = FakeServer::script([calls([call("a", "web_fetch", args.clone())]), says("At nine.")]);
    let place = Place::with(&server).config(&opened(port)).env("REYN_RECORD", "1");
    let _ = place.run(["ask", "when?", "--session", "s"]).exits(0);
    let asked = server.requests().remove(1);
    drop(server);
    let path = place.root.join(".reyn/replay.jsonl");
    let replaying = Replaying::open("fake/test", Framing::default(), path).unwrap();
    let text = |at: usize| asked["messages"][at]["content"].as_str().unwrap().to_owned();
    let called =
        ToolCall { id: "a".into(), name: "web_fetch".into(), args: Args::parse(&args.to_string(), false) };
    let request = ChatRequest {
        messages: vec![
            Message::System(text(0).into()),
            Message::User(text(1).into()),
            Message::Assistant { text: "".into(), calls: vec![called].into() },
            Message::ToolResult { call_id: "a".into(), name: "web_fetch".into(), text: text(3).into() },
        ],
        static_messages: 1,
        tools: asked["tools"].as_array().unwrap().clone().into(),
        ..ChatRequest::default()
    };
    let reply = replaying.reply(&request, &mut |_| {}).now_or_never().unwrap().unwrap();
    assert_eq!(reply.text, "At nine.");
    // What was recorded is fenced, and the log has the stamp of the same fence.
    let lines = place.run(["sessions", "export", "s", "--format", "jsonl"]).exits(0).stdout;
    let id = text(3).split("<<<EXTERNAL_UNTRUSTED id=").nth(1).unwrap().split('>').next().unwrap().to_owned();
    let stamp = format!(r#""external_source":true,"external_tool":"web_fetch","fence_id":"{id}""#);
    assert!(lines.contains(&stamp), "{stamp}: {lines}");
    assert!(place.read(".reyn/replay.jsonl").unwrap().contains(&format!("EXTERNAL_UNTRUSTED id={id}")));
}
