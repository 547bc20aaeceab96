//! A fake model server as a process, for benches: `fake-server ROUNDS PATH [LINES]`.
//!
//! Prints its port. Answers a conversation's first ROUNDS requests with a `read_file` call for PATH and the
//! next one with text, of LINES lines when it says so, without any delay, until standard input ends.

use std::io::{Read as _, Write as _};

use reyn_testkit::{FakeServer, Response, call, calls, says};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let rounds: usize = args.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let path = args.next().unwrap_or_else(|| "README.md".to_owned());
    let lines: usize = args.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let text = if lines == 0 { "done".to_owned() } else { markdown(lines) };
    let server = FakeServer::answering(move |request| answer(request, rounds, &path, &text));
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.port())?;
    out.flush()?;
    let mut ignored = vec![];
    std::io::stdin().read_to_end(&mut ignored)?;
    Ok(())
}

/// Markdown of so many lines, of the kinds that models write; the last one says that it is.
fn markdown(lines: usize) -> String {
    let kinds = [
        "## Part\n\n",
        "A sentence with **strong** words, `code` and 日本語の文章も少し。\n\n",
        "- an item\n",
        "- another item with a [link](https://example.org)\n\n",
        "```rust\n",
        "fn main() { let x = \"text\"; // a comment\n",
        "    println!(\"{x}\");\n",
        "}\n",
        "```\n\n",
    ];
    let mut text = String::new();
    let mut count = 0;
    for kind in kinds.iter().cycle() {
        // Only where no block is open.
        if count >= lines && kind.starts_with("##") {
            break;
        }
        count += kind.matches('\n').count();
        text.push_str(kind);
    }
    text + "The last line."
}

fn answer(request: &Value, rounds: usize, path: &str, text: &str) -> Response {
    let messages = request["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let turn = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    let round = messages[turn..].iter().filter(|message| message["role"] == "assistant").count();
    if round < rounds {
        calls([call(&format!("call_{round}"), "read_file", json!({"path": path}))]).into()
    } else {
        says(text).into()
    }
}
