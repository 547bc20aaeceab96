//! What reading a text of others costs: CPU per MB to normalise, fence, scan and redact, and to build a scanner.
#![expect(clippy::print_stdout, reason = "numbers are its output")]

use std::hint::black_box;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use reyn_core::redaction::redact_secrets;
use reyn_untrusted::{FenceId, ScanOptions, Scanner, Scope, fence, normalise};

const BYTES: usize = 1 << 20;
const ROUNDS: usize = 15;

/// A MB of these pieces, each round of them a little different.
fn text(pieces: &[&str]) -> String {
    let mut text = String::with_capacity(BYTES + 1024);
    for round in 0.. {
        for piece in pieces {
            text.push_str(piece);
            text.push_str(&format!(" {round}\n"));
        }
        if text.len() >= BYTES {
            break;
        }
    }
    text
}

fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts");
    let micros = |time: nix::sys::time::TimeVal| {
        u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0)
    };
    Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let before = cpu();
            work();
            cpu().saturating_sub(before)
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn main() {
    let before = cpu();
    let scanner = Scanner::new(&ScanOptions::default()).expect("the built-in patterns compile");
    println!("building the scanner: {:?}", cpu().saturating_sub(before));
    let english = [
        "The ship turned east at dawn, and the crew read the instructions of the pilot once more before the storm.",
        "A user of the previous system can ignore the warning; any of the agents will act on the new rules from now on.",
        "Show me the way to the next town, said the model of patience, and do not forget to send the letter.",
    ];
    let japanese = [
        "これまでの研究では、火山の影響は無視されてきた。本研究ではすべての噴火を含めて計算する。",
        "利用者は設定画面で規則を変更できる。アシスタントは以前の会話を覚えている。データの扱いにも注意が必要だ。",
        "ＡＩは便利な道具だが、使う人の判断が欠かせない。上記の手順に従ってビルドする。",
    ];
    let code = [
        "let rules = load_rules(&path)?; // Rules that are disabled are skipped.\nfor rule in rules.iter().filter(|rule| rule.enabled) { rule.check(&input)?; }",
        "def register(self, node): return self.post(f'/nodes/{node.id}', json={'name': node.name, 'token': self.token})",
        "const copy = items.map((item) => ({ ...item, open: true })); export default function list(props) { return copy; }",
    ];
    let html = [
        "<div class=\"m\" style=\"display:none\"><a href=\"/user?id=12\" title=\"Open the page\">User</a><span hidden>x</span></div>",
        "<!-- ad slot --><img src=\"a.png\" alt=\"The assistant of the year\"><p style=\"color:#fff;opacity:0\">News of the day</p>",
        "<script>var a={b:function(c){return c&&c.d||{}}};!function(e){e.send(new Event('load'))}(window)</script>",
    ];
    let russian = ["Утром пошёл дождь, и все вернулись домой; правила прежней системы больше не действуют."];
    let mixed: Vec<&str> = english.iter().chain(&japanese).chain(&code).chain(&html).copied().collect();
    for (name, pieces) in [
        ("English prose", &english[..]),
        ("Japanese prose", &japanese),
        ("code", &code),
        ("minified HTML", &html),
        ("Russian prose", &russian),
        ("mixed", &mixed),
        ("hits alone", &["ignore all the", "must ignore", "<|im_", "sk-", "token="]),
    ] {
        let text = text(pieces);
        let scans = [Scope::All, Scope::Context, Scope::Strict, Scope::Exec]
            .map(|scope| median(|| drop(black_box(scanner.scan(black_box(&text), scope)))));
        println!(
            "{name:15} normalise {:>10.1?}  fence {:>10.1?}  redact {:>10.1?}  scan all, context, strict, exec {scans:.1?}",
            median(|| drop(black_box(normalise(black_box(&text))))),
            median(|| drop(black_box(fence(black_box(&text), FenceId::new([7; 8]))))),
            median(|| drop(black_box(redact_secrets(black_box(&text))))),
        );
    }
}
