//! What reading a page costs: CPU and memory of an article of 1 MB, and how the time grows with hostile pages.
//!
//! A ratio near 2 from one size to the next, which is twice as large, is linear; the bounds make it 1.
#![expect(clippy::print_stdout, reason = "numbers are its output")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use reyn_page::reading::{ReadOptions, read};

const ROUNDS: usize = 21;
const URL: &str = "https://e.example/articles/one.html";
const ARTICLE_CPU_MAX: Duration = Duration::from_millis(60);
const ARTICLE_MEMORY_MAX: u64 = 40_000_000;

fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts");
    let of = |time: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0))
    };
    of(usage.user_time()) + of(usage.system_time())
}

/// A line of `/proc/self/status` in bytes: `VmRSS` now, `VmHWM` at its peak.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn article(sentence: &str, words: &str) -> String {
    let mut page = String::from(
        "<!DOCTYPE html><html><head><meta charset=utf-8><title>An article | Site</title><style>body{margin:0}</style>",
    );
    let script = "function f(a,b){if(a<b){return '</div><p>'}return [1,2,3].map(x=>x*2)}\n".repeat(2000);
    write!(page, "<script>{script}</script></head><body><nav><ul>").expect("a string takes all");
    for n in 0..150 {
        write!(page, "<li class=nav-item><a href=\"/nav/{n}?a=1&amp;b=2\">{words} {n}</a>")
            .expect("a string");
    }
    page.push_str("</ul></nav><main><article><h1>An article</h1>");
    for n in 0..400 {
        let text = sentence.repeat(1700 / sentence.len());
        write!(page, "<p class=\"text p{n}\">{text}<a href=\"../x/{n}\">{words}</a> <b>{words}</b>, <i>{words}</i>.</p>")
            .expect("a string takes all");
        if n % 20 == 0 {
            write!(page, "<h2 id=s{n}>{words} {n}</h2><pre><code class=language-rust>fn f{n}() {{\n    g(&amp;1);\n}}\n</code></pre><ul><li>{words}<li>{words}</ul>").expect("a string");
        }
    }
    page.push_str("<table><tr><th>a<th>b<th>c");
    for n in 0..200 {
        write!(page, "<tr><td>{n}<td>{words}<td>{words}").expect("a string takes all");
    }
    page.push_str("</table></article></main><aside>");
    for n in 0..150 {
        write!(
            page,
            "<div class=related><a href=/r/{n}><img src=/i/{n}.png alt=\"{words}\">{words}</a></div>"
        )
        .expect("a string");
    }
    write!(page, "</aside><footer>{words}</footer><script>{script}</script></body></html>")
        .expect("a string");
    page
}

fn measured(page: &[u8]) -> Duration {
    let started = cpu();
    let _ = black_box(read(black_box(page), Some("text/html"), URL, &ReadOptions { chars_max: 50_000 }));
    cpu() - started
}

fn articles() {
    for name in ["English", "Japanese"] {
        // Each in a process of its own, so that memory freed by one is not taken for free by the next.
        let program = std::env::current_exe().expect("the bench has a path");
        let status = std::process::Command::new(program).env(ARTICLE, name).status().expect("it runs again");
        assert!(status.success(), "{name}: {status}");
    }
}

/// Which article a process measures.
const ARTICLE: &str = "REYN_BENCH_ARTICLE";

fn one_article(name: &str) {
    let page = match name {
        "English" => article("The quick brown fox, as they say, jumps over the lazy dog. ", "some words"),
        _ => article("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。", "日本語の語"),
    };
    let before = memory("VmRSS");
    // The peak begins anew.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    measured(page.as_bytes());
    let above = memory("VmHWM").saturating_sub(before);
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| measured(page.as_bytes())).collect();
    times.sort_unstable();
    let (median, worst) = (times[ROUNDS / 2], times[ROUNDS - 1]);
    let part = |of: f64, most: f64| of / most * 100.0;
    println!(
        "{name}: {} bytes, CPU {median:?}, at worst {worst:?}, {above} bytes above the input; \
         {:.0} % of the time and {:.0} % of the memory that it may take",
        page.len(),
        part(median.as_secs_f64(), ARTICLE_CPU_MAX.as_secs_f64()),
        part(above as f64, ARTICLE_MEMORY_MAX as f64),
    );
}

/// A shape of page by its size: what it is called, and what makes it.
type Shape = (&'static str, fn(usize) -> String);

const SHAPES: [Shape; 16] = [
    ("divs open", |n| "<div>".repeat(n * 20)),
    ("divs with text", |n| "<div>word, word ".repeat(n * 10)),
    ("divs closed", |n| "<div>a</div>".repeat(n * 10)),
    ("paragraphs", |n| "<p>one, two, three, four, five</p>".repeat(n * 3)),
    ("formatting open", |n| "<b><i><font size=1>x".repeat(n * 5)),
    ("formatting crossed", |n| "<p><b><i>x</b></p>y</i>".repeat(n * 4)),
    ("links open", |n| "<a href=/x>x".repeat(n * 8)),
    ("lists open", |n| "<ul><li>x".repeat(n * 10)),
    ("tables open", |n| "<table><tr><td>x".repeat(n * 6)),
    ("a row of cells", |n| format!("<table><tr>{}<tr><td>x", "<td>x".repeat(n * 20))),
    ("rows", |n| format!("<table>{}", "<tr><td>x<td>y".repeat(n * 7))),
    ("line breaks", |n| "x<br><br>".repeat(n * 10)),
    ("text of <", |n| "<".repeat(n * 100)),
    ("comments open", |n| "<!--".repeat(n * 25)),
    ("attributes", |n| format!("<p {}>x", "a=1 ".repeat(n * 25))),
    ("end tags", |n| format!("{}{}", "<b>".repeat(200), "</i></p></x>".repeat(n * 8))),
];

fn shapes() {
    println!("\nCPU of hostile pages of 1, 2 and 4 units; the ratios");
    for (name, made) in SHAPES {
        let times: Vec<f64> = [2_500, 5_000, 10_000]
            .into_iter()
            .map(|n| {
                let page = made(n);
                let least = (0..3).map(|_| measured(page.as_bytes())).min().unwrap_or_default();
                least.as_secs_f64() * 1000.0
            })
            .collect();
        let ratio = |at: usize| times[at + 1] / times[at].max(0.001);
        println!(
            "{name:>20}: {:8.2} {:8.2} {:8.2} ms, {:.1} {:.1}",
            times[0],
            times[1],
            times[2],
            ratio(0),
            ratio(1)
        );
    }
}

fn main() {
    if let Ok(name) = std::env::var(ARTICLE) {
        return one_article(&name);
    }
    articles();
    shapes();
}
