//! A fake model server as a process, for benches: `fake-server ROUNDS PATH`.
//!
//! Prints its port. Answers a conversation's first ROUNDS requests with a `read_file` call for PATH and the
//! next one with text, without any delay, until standard input ends.

use std::io::{Read as _, Write as _};

use reyn_testkit::{FakeServer, Response, call, calls, says};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let rounds: usize = args.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let path = args.next().unwrap_or_else(|| "README.md".to_owned());
    let server = FakeServer::answering(move |request| answer(request, rounds, &path));
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.port())?;
    out.flush()?;
    let mut ignored = vec![];
    std::io::stdin().read_to_end(&mut ignored)?;
    Ok(())
}

fn answer(request: &Value, rounds: usize, path: &str) -> Response {
    let messages = request["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let turn = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    let round = messages[turn..].iter().filter(|message| message["role"] == "assistant").count();
    if round < rounds {
        calls([call(&format!("call_{round}"), "read_file", json!({"path": path}))]).into()
    } else {
        says("done").into()
    }
}
