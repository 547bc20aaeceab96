//! Cuts a long line around its match.

use std::ops::Range;

/// The text of a line, of at most `chars_max` characters around `focus`, a range of bytes that is only asked
/// for when the line is too long.
pub(crate) fn cut_around(line: &[u8], chars_max: usize, focus: impl FnOnce() -> Range<usize>) -> String {
    if line.len() <= chars_max {
        return String::from_utf8_lossy(line).into_owned();
    }
    if line.len() <= 4 * chars_max {
        let text = String::from_utf8_lossy(line);
        if text.chars().count() <= chars_max {
            return text.into_owned();
        }
    }
    let kept = chars_max.saturating_sub(2).max(1);
    let focus = focus();
    let begin = focus.start.min(line.len());
    let from = char_start(line, begin.saturating_sub(4 * kept));
    let to = char_start(line, (begin + 4 * kept).min(line.len()));
    let before: Vec<char> = String::from_utf8_lossy(&line[from..begin]).chars().collect();
    let after: Vec<char> = String::from_utf8_lossy(&line[begin..to]).chars().collect();
    let focus_chars =
        line.get(focus).map_or(0, |text| String::from_utf8_lossy(text).chars().take(kept).count());
    // As much before the match as after it, and more where the other side has less.
    let lead = ((kept - focus_chars) / 2).max(kept.saturating_sub(after.len())).min(before.len());
    let tail = (kept - lead).min(after.len());
    let is_begin_cut = from > 0 || lead < before.len();
    let is_end_cut = to < line.len() || tail < after.len();
    let mut text = String::with_capacity(kept * 2);
    text.extend(is_begin_cut.then_some('…'));
    text.extend(&before[before.len() - lead..]);
    text.extend(&after[..tail]);
    text.extend(is_end_cut.then_some('…'));
    text
}

/// The beginning of the UTF-8 character that byte `at` is in.
fn char_start(line: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| line.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|at| !is_inside(*at)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let cases = [
            ("0123456789", "0", "0123456789"),
            ("0123456789a", "0", "01234567…"),
            ("0123456789a", "a", "…3456789a"),
            ("0123456789abcdefghij", "a", "…789abcde…"),
            ("0123456789abcdefghij", "9abcdefghi", "…9abcdefg…"),
            ("一二三四五六七八九十", "一", "一二三四五六七八九十"),
            ("一二三四五六七八九十百千万億兆", "十", "…七八九十百千万億…"),
            ("一二三四五六七八九十百千万億兆京垓秭穣溝澗正載極", "垓", "…億兆京垓秭穣溝澗…"),
        ];
        for (line, focus, cut) in cases {
            let begin = line.find(focus).unwrap();
            let text = cut_around(line.as_bytes(), 10, || begin..begin + focus.len());
            assert_eq!(text, cut, "{line} {focus}");
            assert!(text.chars().count() <= 10);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_cut_too() {
        let line = [0xFF; 100];
        assert_eq!(cut_around(&line, 10, || 50..51), format!("…{}…", "\u{FFFD}".repeat(8)));
        assert_eq!(cut_around(&line[..3], 10, || 0..1), "\u{FFFD}".repeat(3));
    }
}
