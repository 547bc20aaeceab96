//! `cargo bench -p reyn-terminal --bench markdown`
//!
//! What a streamed answer costs to show: pieces of about 20 bytes, a look at the tail every 2 KB.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use reyn_terminal::{Highlighter, Look, MarkdownStream};

const PIECE_BYTES: usize = 20;
const TAIL_EVERY_BYTES: usize = 2_000;
const TEXT_BYTES: usize = 1_000_000;

const PROSE: &str = "\
## How the parts fit together

The **session** owns the loop; everything else is a *pure function* of the log. A call is `prepared`, judged, and only
then run, so that [the gate](https://example.com/docs/gate) is the only door. When a process dies, reading the log again
is all that recovery needs, and ~~nothing else~~ is kept.

ここでは**「設定」**の読み込みを説明します。設定ファイルは上から順に読まれ、後のものが前のものを上書きします。値が正しくない場合は、
ファイル名と行番号を付けて`エラー`を返します。

- First, the configuration is read, and every problem is reported with its file, line and column.
  - Nothing wrong is skipped.
  - [ ] A hint says what to write instead.
- Second, the model is chosen: by a flag, by the configuration, by the keys that are set.
1. Open the session.
2. Settle what a dead process left.

> A record is in the file before anything acts on it, and the file is synced before an effect.

| crate | what it is | lines |
|:------|:-----------|------:|
| core  | vocabulary and decisions, **no** input or output | 4,210 |
| llm   | talking to models | 3,877 |
| 端末  | 画面と入力 | 1,024 |

";

const CODE: [&str; 4] = [
    "\
```rust
/// Splits a document into chunks of at most `tokens_max` tokens.
pub fn split(text: &str, tokens_max: usize) -> Result<Vec<Chunk<'_>>, SplitError> {
    let mut chunks = Vec::with_capacity(text.len() / 256 + 1);
    for (at, line) in text.lines().enumerate() {
        if line.starts_with('#') && tokens_max > 0x10 {
            chunks.push(Chunk { text: line, at, name: format!(\"line {at}\") }); // a heading
        }
    }
    Ok(chunks)
}
```

",
    "\
```python
@dataclass
class Reader:
    \"\"\"Reads lines, and counts them.\"\"\"
    path: Path
    count: int = 0

    def lines(self) -> Iterator[str]:
        with open(self.path, encoding='utf-8') as file:
            for line in file:  # one after the other
                self.count += 1
                yield line.rstrip(\"\\n\")
```

",
    "\
```json
{
  \"name\": \"reyn\", \"version\": [0, 1, 2], \"private\": true,
  \"scripts\": { \"build\": \"cargo build --release\", \"test\": null }
}
```

",
    "\
```bash
set -euo pipefail
for file in \"$HOME\"/src/*.rs; do
  if grep -q 'fn main' \"$file\"; then echo \"found ${file}\" # say so
  fi
done
```

",
];

fn mixed() -> String {
    let mut text = String::new();
    while text.len() < TEXT_BYTES {
        text.push_str(PROSE);
        for code in CODE {
            let prose_bytes = code.find('\n').unwrap();
            text.push_str(&code[..prose_bytes]);
            text.push_str(&code[prose_bytes..]);
        }
    }
    text
}

fn repeated(part: &str) -> String {
    part.repeat(TEXT_BYTES / part.len() + 1)
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
}

fn status_kb(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Streams a text, and returns how many rows it has and how many its tails had.
fn stream(text: &str, columns: usize) -> (usize, usize) {
    let mut markdown = MarkdownStream::new(columns);
    let mut sent = String::new();
    let (mut rows, mut tail_rows, mut since_tail) = (0, 0, 0);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(PIECE_BYTES));
        for line in markdown.push(piece) {
            line.write(Look::Coloured, &mut sent);
            rows += 1;
        }
        sent.clear();
        since_tail += piece.len();
        if since_tail >= TAIL_EVERY_BYTES {
            since_tail = 0;
            tail_rows += std::hint::black_box(markdown.tail()).len();
        }
        rest = behind;
    }
    (rows + markdown.finish().len(), tail_rows)
}

fn main() {
    let start = Instant::now();
    let _ = Highlighter::new("rust").line("fn main() {}");
    println!("first line of code: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let mut lists = String::new();
    for at in 1..TEXT_BYTES / 60 {
        let _ = writeln!(lists, "{at}. An item, with `code` and **bold** words in it, about so long");
    }
    let mut table = String::from("| a | b | c |\n|---|---|---|\n");
    for at in 0..TEXT_BYTES / 40 {
        let _ = writeln!(table, "| {at} | some words in a cell | 日本語 |");
    }
    let texts = [
        ("mix of prose, lists, tables and code", mixed()),
        ("code", repeated(CODE[0])),
        ("Japanese", repeated("これは**「重要」**な文章です。設定ファイルを読み込み、値を確認します。\n\n")),
        ("one list", lists),
        ("one table", table),
        ("one line without an end", repeated("words and words, ")),
        ("one line without a space", "a".repeat(TEXT_BYTES)),
        ("one paragraph of emphasis that never closes", repeated("**a *b _c `d [e ")),
        ("brackets", "[".repeat(TEXT_BYTES)),
        ("quotes in quotes", repeated("> > > > > > > > a\n")),
    ];
    for (name, text) in texts {
        let (before, kb_before) = (cpu(), status_kb("VmHWM"));
        let (rows, tail_rows) = stream(&text, 100);
        let ms = (cpu() - before).as_secs_f64() * 1e3;
        let kb = status_kb("VmHWM") - kb_before;
        #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
        let speed = text.len() as f64 / 1e3 / ms;
        println!(
            "{name}: {} KB, {ms:.1} ms of CPU, {speed:.1} MB/s, {rows} rows, {tail_rows} rows of tails, {kb} KB more memory",
            text.len() / 1000
        );
    }
}
