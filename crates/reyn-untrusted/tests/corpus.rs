//! What the scanner finds in hostile and in benign texts written for it, per class and language.
//!
//! The hostile texts were split by a hash of each before a pattern was written; the patterns answer to the seen
//! half, the bars to the other. The texts of `second_author` were written without a look at the patterns, and
//! measured before a pattern was changed for them. Held against scope `context`: texts as pages and results of tools
//! have; `strict`: texts as memory has; `exec`: command lines.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests; its table is its output")]

use std::collections::BTreeMap;

use reyn_untrusted::{ScanOptions, Scanner, Scope, Severity};
use serde::Deserialize;

#[derive(Deserialize)]
struct Text {
    #[serde(alias = "kind")]
    class: String,
    language: String,
    scope: Scope,
    text: String,
    /// Given where one file holds both.
    verdict: Option<Verdict>,
}

#[derive(Deserialize, PartialEq, Eq, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Hostile,
    Benign,
}

fn texts(name: &str) -> Vec<Text> {
    let path = format!("{}/corpus/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The heaviest match.
fn weight(scanner: &Scanner, text: &Text) -> Option<Severity> {
    scanner.scan(&text.text, text.scope).iter().map(|found| found.severity).max()
}

#[derive(Default, Clone, Copy)]
struct Figures {
    all: u32,
    warned: u32,
    blocked: u32,
}

impl Figures {
    fn count(&mut self, weight: Option<Severity>) {
        self.all += 1;
        self.warned += u32::from(weight.is_some());
        self.blocked += u32::from(weight == Some(Severity::Block));
    }

    fn recall(self) -> (f64, f64) {
        let share = |count: u32| f64::from(count) / f64::from(self.all);
        (share(self.warned), share(self.blocked))
    }
}

/// The texts of the corpus that was written by someone who had not seen the patterns.
fn second(verdict: Verdict) -> Vec<Text> {
    texts("second_author").into_iter().filter(|text| text.verdict == Some(verdict)).collect()
}

/// Prints a table and returns the sum of its rows.
fn table(name: &str, texts: Vec<Text>) -> Figures {
    let scanner = Scanner::new(&ScanOptions::default()).unwrap();
    let mut rows: BTreeMap<(String, String), Figures> = BTreeMap::new();
    let mut sum = Figures::default();
    for text in texts {
        let weight = weight(&scanner, &text);
        rows.entry((text.class, text.language)).or_default().count(weight);
        sum.count(weight);
    }
    for ((class, language), Figures { all, warned, blocked }) in &rows {
        println!(
            "{name:16} {class:20} {language} {all:3} texts, {warned:3} found, {blocked:3} of them block"
        );
    }
    let (warn, block) = sum.recall();
    println!("{name:16} all {:3}: {warn:.3} found, {block:.3} block", sum.all);
    sum
}

fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn the_hostile_texts_are_split_by_their_hash() {
    for (name, half) in [("hostile_seen", 0), ("hostile_held_out", 1)] {
        for text in texts(name) {
            assert_eq!((hash(&text.text) >> 32) % 2, half, "{}", text.text);
        }
    }
}

#[test]
fn most_hostile_texts_are_found_also_of_those_that_no_pattern_was_written_for() {
    table("hostile_seen", texts("hostile_seen"));
    let (warn, block) = table("hostile_held_out", texts("hostile_held_out")).recall();
    assert!(warn >= 0.85, "{warn:.3} found");
    assert!(block >= 0.6, "{block:.3} block");
}

/// What blocks that should not, a line each.
fn blocked(texts: &[Text]) -> String {
    let scanner = Scanner::new(&ScanOptions::default()).unwrap();
    let lines = texts.iter().flat_map(|text| {
        let found = scanner.scan(&text.text, text.scope).into_iter();
        let blocking = found.filter(|found| found.severity == Severity::Block);
        blocking.map(|found| format!("\n{}: `{}` in `{}`", found.id, found.excerpt, text.text))
    });
    lines.collect()
}

#[test]
fn texts_of_a_second_author_are_found_and_none_of_the_benign_is_blocked() {
    let (warn, block) = table("second_hostile", second(Verdict::Hostile)).recall();
    assert!(warn >= 0.85, "{warn:.3} found");
    assert!(block >= 0.6, "{block:.3} block");
    table("second_benign", second(Verdict::Benign));
    assert_eq!(blocked(&second(Verdict::Benign)), "");
}

#[test]
fn no_benign_text_is_blocked() {
    table("benign", texts("benign"));
    assert_eq!(blocked(&texts("benign")), "");
    // Documentation of attacks is not told from attacks where texts are kept; this figure is reported, not barred.
    let strict = texts("benign").into_iter().filter(|text| text.scope == Scope::Context);
    let strict: Vec<Text> = strict.map(|text| Text { scope: Scope::Strict, ..text }).collect();
    let scanner = Scanner::new(&ScanOptions::default()).unwrap();
    let blocked = strict.iter().filter(|text| weight(&scanner, text) == Some(Severity::Block)).count();
    println!("benign pages in scope strict: {blocked} of {} block", strict.len());
}
