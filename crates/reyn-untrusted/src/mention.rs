//! Whether a text speaks about an attack rather than making one.
//!
//! A page about prompt injection quotes injections. What it quotes is reported, as a warning: a page can pretend
//! to be about attacks, so the fence and the report stay, and texts that are kept (scope `strict`) get no such
//! benefit of the doubt. A custom pattern is lowered the same way.

use std::ops::Range;

/// How far around a match its surroundings are looked at, in bytes.
const AROUND_BYTES: usize = 320;
/// How far a quotation mark may stand from a match, in bytes.
const QUOTE_BYTES: usize = 120;

/// Words of people who write about attacks, in English and Japanese.
const DISCUSSION: &[&str] = &[
    "attack",
    "injection",
    "jailbreak",
    "vulnerab",
    "payload",
    "malicious",
    "adversar",
    "detect",
    "scanner",
    "phrases like",
    "phrases such as",
    "such phrases",
    "security team",
    "for example, a",
    "typical example",
    "common sample",
    "exploit",
    "red team",
    "defend",
    "defence",
    "defense",
    "mitigat",
    "leakage",
    "攻撃",
    "インジェクション",
    "悪意",
    "脆弱",
    "検査",
    "検知",
    "検出",
    "漏えい",
    "漏洩",
    "ジェイルブレイク",
    "例えば「",
    "対策",
    "防御",
];
const QUOTES: &[(&str, &str)] =
    &[("\"", "\""), ("`", "`"), ("“", "”"), ("「", "」"), ("『", "』"), ("‘", "’"), ("«", "»"), ("'", "'")];

/// Whether the match at `range` is quoted where attacks are discussed, or stands amid two words of such a discussion.
pub(crate) fn is_mention(text: &str, range: &Range<usize>) -> bool {
    let around = &text[boundary(text, range.start.saturating_sub(AROUND_BYTES))
        ..boundary(text, range.end.saturating_add(AROUND_BYTES).min(text.len()))];
    let around = around.to_lowercase();
    let spoken = DISCUSSION.iter().filter(|word| around.contains(**word)).take(2).count();
    spoken == 2 || (spoken == 1 && is_quoted(text, range))
}

/// Whether the match at `range` stands between quotation marks of its line.
pub(crate) fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    let before = &text[boundary(text, range.start.saturating_sub(QUOTE_BYTES))..range.start];
    let after = &text[range.end..boundary(text, range.end.saturating_add(QUOTE_BYTES).min(text.len()))];
    let before = before.rsplit('\n').next().unwrap_or(before);
    let after = after.split('\n').next().unwrap_or(after);
    QUOTES.iter().any(|(open, close)| before.contains(open) && after.contains(close))
}

/// The nearest character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
