//! What a vector costs: loading and memory, CPU per text by its length, texts a second on one and two threads.
#![expect(clippy::print_stdout, reason = "numbers are its output")]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use reyn_embedding::SentenceEncoder;

const WEIGHTS: &str = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9";
const VOCABULARY: &str = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9";
const SHORT_CPU_MS_MAX: f64 = 6.0;
const LOAD_MS_MAX: f64 = 200.0;
const STEADY_MB_MAX: f64 = 100.0;
const PEAK_MB_MAX: f64 = 180.0;
const ROUNDS: usize = 15;

const ENGLISH: &str =
    "The server refused the connection after three attempts, so the client waits and tries again. ";
const JAPANESE: &str = "サーバーが三回接続を拒否したので、クライアントはしばらく待ってからもう一度試します。";
const WORDS: &str = "How do I read a long file line by line?";

fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts");
    let of = |time: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0))
    };
    of(usage.user_time()) + of(usage.system_time())
}

/// A line of `/proc/self/status` in MB: `VmRSS` now, `VmHWM` at its peak.
fn memory_mb(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok()).unwrap_or(0.0) / 1000.0
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// The CPU of one text, undisturbed: the least of some rounds, since what runs beside this only adds.
fn one(encoder: &SentenceEncoder, text: &str) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let begun = cpu();
            for _ in 0..4 {
                black_box(encoder.encode(black_box(text)));
            }
            ms(cpu() - begun) / 4.0
        })
        .fold(f64::INFINITY, f64::min)
}

fn texts_of(encoder: &SentenceEncoder) {
    let short = one(encoder, WORDS);
    println!(
        "short text, {} tokens: {short:.2} ms CPU, {:.0} % of what it may take",
        encoder.tokens(WORDS),
        short / SHORT_CPU_MS_MAX * 100.0
    );
    for (language, sentence) in [("English", ENGLISH), ("Japanese", JAPANESE)] {
        for characters in [300, 500, 900, 2_000, 100_000] {
            let text: String = sentence.chars().cycle().take(characters).collect();
            println!(
                "{language}, {characters} characters, {} tokens: {:.2} ms CPU",
                encoder.tokens(&text),
                one(encoder, &text)
            );
        }
    }
}

fn batches(encoder: &SentenceEncoder) {
    let short: Vec<String> = (0..2_000).map(|n| format!("{WORDS} {n}")).collect();
    let chunks: Vec<String> =
        (0..200).map(|n| format!("{n} {}", ENGLISH.chars().cycle().take(400).collect::<String>())).collect();
    for (name, texts) in [("short texts", short), ("chunks of 400 characters", chunks)] {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for threads in [1, 2] {
            let (begun, begun_cpu) = (Instant::now(), cpu());
            black_box(encoder.encode_batch(&texts, threads));
            let (wall, cpu) = (begun.elapsed(), cpu() - begun_cpu);
            println!(
                "{name} on {threads} threads: {:.0} a second, {:.2} ms CPU each",
                texts.len() as f64 / wall.as_secs_f64(),
                ms(cpu) / texts.len() as f64
            );
        }
    }
}

/// Measures encoding instead of loading.
const ENCODING: &str = "REYN_BENCH_ENCODING";

fn encoding(encoder: &SentenceEncoder) {
    texts_of(encoder);
    batches(encoder);
    println!("afterwards {:.0} MB, at the peak {:.0} MB", memory_mb("VmRSS"), memory_mb("VmHWM"));
}

fn loading(load: impl Fn() -> SentenceEncoder) {
    let encoder = load();
    let (steady, peak) = (memory_mb("VmRSS"), memory_mb("VmHWM"));
    drop(encoder);
    let (mut wall, mut least) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let (begun, begun_cpu) = (Instant::now(), cpu());
        black_box(load());
        wall = wall.min(ms(begun.elapsed()));
        least = least.min(ms(cpu() - begun_cpu));
    }
    let part = |of: f64, most: f64| of / most * 100.0;
    println!(
        "load: {wall:.0} ms ({least:.0} ms CPU), {:.0} % of what it may take; \
         {steady:.0} MB, {:.0} % of what it may hold; at the peak {peak:.0} MB, {:.0} %",
        part(wall, LOAD_MS_MAX),
        part(steady, STEADY_MB_MAX),
        part(peak, PEAK_MB_MAX)
    );
}

fn main() {
    let folder = std::env::var_os("REYN_TEST_MODEL_DIR").map_or_else(
        || std::env::home_dir().expect("a home folder").join(".cache/reyn/models"),
        PathBuf::from,
    );
    let [weights, vocabulary] = [WEIGHTS, VOCABULARY].map(|name| folder.join(name));
    if !weights.is_file() || !vocabulary.is_file() {
        println!("skipped: the model is not in `{}`", folder.display());
        return;
    }
    let load = || SentenceEncoder::load(&weights, &vocabulary).expect("the files are the model's");
    if std::env::var_os(ENCODING).is_some() {
        return encoding(&load());
    }
    loading(load);
    // In a process of its own, so that memory freed by loading is not taken for what encoding holds.
    let program = std::env::current_exe().expect("the bench has a path");
    let status = std::process::Command::new(program).env(ENCODING, "1").status().expect("it runs again");
    assert!(status.success(), "{status}");
}
