//! The lines of a text that are most like some other lines.
//!
//! A cheap score over all lines (shared trigrams with the most telling of the lines looked for) leaves few
//! places, which are then compared line by line.

use std::fmt;

use memchr::memchr_iter;

use crate::shown::without_controls;

/// Places that are shown.
const PLACES_MAX: usize = 3;
/// Lines that are looked at.
const LINES_MAX: usize = 200_000;
/// Bytes of a line that are looked at: the 500 characters of most scripts.
const LINE_BYTES_MAX: usize = 1_500;
/// Characters of a line that are shown.
const SHOWN_CHARS_MAX: usize = 200;
/// Lines of a place that are shown.
const SHOWN_LINES_MAX: usize = 12;
/// Lines of a place that are compared.
const COMPARED_LINES_MAX: usize = 24;
/// Characters of a line that are compared one by one.
const COMPARED_CHARS_MAX: usize = 120;
/// Places that are compared line by line.
const WINDOWS_MAX: usize = 50;
/// The lines looked for by which all lines are scored.
const TELLING_MAX: usize = 3;
/// Shared trigrams, in thousands of all, below which a line is like nothing.
const SHARED_MIN: usize = 200;
/// Likeness below which a place is not shown.
const LIKENESS_MIN: f64 = 0.45;

/// Lines of a text that are like what was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The number of the first line, from 1.
    pub line: u64,
    /// The lines, each cut at 200 characters; at most 12.
    pub lines: Vec<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in (self.line..).zip(&self.lines) {
            if number > self.line {
                f.write_str("\n")?;
            }
            write!(f, "{number}: {}", without_controls(line))?;
        }
        Ok(())
    }
}

/// The places of `text` that are most like `wanted`, best first, at most 3; none when nothing is like it.
///
/// Looks at 200,000 lines and the first 1,500 bytes of each. Lines end with LF.
#[must_use]
pub fn places(text: &str, wanted: &str) -> Vec<Place> {
    let wanted: Vec<&str> = wanted.strip_suffix('\n').unwrap_or(wanted).split('\n').map(cut).collect();
    let telling = telling(&wanted);
    if telling.is_empty() {
        return vec![];
    }
    let lines = lines(text);
    let mut scored: Vec<(f64, usize)> = candidates(&lines, &wanted, &telling)
        .into_iter()
        .map(|first| (likeness(&lines, first, &wanted), first))
        .filter(|(score, _)| *score >= LIKENESS_MIN)
        .collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let mut chosen: Vec<usize> = vec![];
    for (score, first) in scored {
        let is_apart = chosen.iter().all(|other| other.abs_diff(first) >= wanted.len());
        if is_apart && score >= best * 0.75 && chosen.len() < PLACES_MAX {
            chosen.push(first);
        }
    }
    chosen.into_iter().map(|first| place(&lines, first, &wanted)).collect()
}

/// The lines looked for that have most to compare, best first.
fn telling(wanted: &[&str]) -> Vec<usize> {
    let weight = |index: &usize| wanted[*index].chars().filter(|c| c.is_alphanumeric()).count();
    let mut indices: Vec<usize> = (0..wanted.len()).filter(|index| weight(index) > 1).collect();
    indices.sort_by_key(|index| std::cmp::Reverse(weight(index)));
    indices.truncate(TELLING_MAX);
    indices
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines = vec![];
    let mut from = 0;
    for feed in memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
        if lines.len() == LINES_MAX || from == text.len() {
            break;
        }
        lines.push(cut(&text[from..feed]));
        from = feed + 1;
    }
    lines
}

fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES_MAX)]
}

/// First lines of the places that share most with the telling lines; best first.
fn candidates(lines: &[&str], wanted: &[&str], telling: &[usize]) -> Vec<usize> {
    let mut masks = vec![0_u8; 1 << 16];
    let mut totals = [0_usize; TELLING_MAX];
    for (bit, index) in telling.iter().enumerate() {
        let line = wanted[*index].trim();
        for trigram in trigrams(line.as_bytes()) {
            masks[trigram] |= 1 << bit;
            totals[bit] += 1;
        }
    }
    let mut scored: Vec<(usize, usize)> = vec![];
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim();
        let mut shared = [0_usize; TELLING_MAX];
        for trigram in trigrams(line.as_bytes()) {
            let mask = masks[trigram];
            if mask != 0 {
                for (bit, count) in shared.iter_mut().enumerate() {
                    *count += usize::from(mask >> bit & 1);
                }
            }
        }
        for (bit, index) in telling.iter().enumerate() {
            let of = totals[bit].max(line.len().saturating_sub(2)).max(1);
            let score = shared[bit].min(totals[bit]) * 1000 / of;
            if score >= SHARED_MIN {
                scored.push((score, number.saturating_sub(*index)));
            }
        }
    }
    // A place that several telling lines point to counts once, by its best.
    scored.sort_unstable_by(|left, right| left.1.cmp(&right.1).then(right.0.cmp(&left.0)));
    scored.dedup_by_key(|(_, first)| *first);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().take(WINDOWS_MAX).map(|(_, first)| first).collect()
}

/// Three bytes as one of 65,536 numbers, so that a character of three bytes counts as a whole.
fn trigrams(line: &[u8]) -> impl Iterator<Item = usize> {
    line.windows(3).map(|three| {
        let number = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        (number.wrapping_mul(0x9E37_79B1) >> 16) as usize
    })
}

/// How like the lines from `first` on are to `wanted`, from 0 to 1; long lines weigh more.
fn likeness(lines: &[&str], first: usize, wanted: &[&str]) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (index, line) in wanted.iter().take(COMPARED_LINES_MAX).enumerate() {
        let line = line.trim();
        #[expect(clippy::cast_precision_loss, reason = "a line is cut at 1,500 bytes")]
        let weight = line.len() as f64;
        let other = lines.get(first + index).map_or("", |other| other.trim());
        sum += weight * alike(line, other);
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

fn alike(left: &str, right: &str) -> f64 {
    if left == right {
        return 1.0;
    }
    let begin = |line: &str| -> String { line.chars().take(COMPARED_CHARS_MAX).collect() };
    strsim::normalized_levenshtein(&begin(left), &begin(right))
}

fn place(lines: &[&str], first: usize, wanted: &[&str]) -> Place {
    let height = wanted.len().min(lines.len() - first);
    // Of a long place, the part is shown where it begins to differ.
    let differing = (0..height).find(|index| lines[first + index] != wanted[*index]).unwrap_or(0);
    let skipped = if height > SHOWN_LINES_MAX { differing.saturating_sub(2) } else { 0 };
    let shown = &lines[first + skipped..first + height.min(skipped + SHOWN_LINES_MAX)];
    let lines = shown.iter().map(|line| shortened(line)).collect();
    Place { line: (first + skipped) as u64 + 1, lines }
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
#[path = "near_tests.rs"]
mod tests;
