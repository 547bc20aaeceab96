//! Small pure functions on text: nearest names, cutting, quoting.

use crate::limits::{NAME_BYTES_MAX, SUGGESTIONS_MAX};

/// The names most like `wanted`, best first, at most [`SUGGESTIONS_MAX`].
///
/// Likeness counts shared words (`list_files` is near `list_directory`) before edit distance, since a
/// model that invents a name rarely misspells it. Nothing is returned for a name like none of them, or
/// longer than [`NAME_BYTES_MAX`].
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    if wanted.len() > NAME_BYTES_MAX {
        return vec![];
    }
    let wanted = wanted.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (likeness(&wanted, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= 0.4)
        .collect();
    scored.sort_by(|(left, left_name), (right, right_name)| {
        right.total_cmp(left).then_with(|| left_name.cmp(right_name))
    });
    scored.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name.to_owned()).collect()
}

fn likeness(wanted: &str, name: &str) -> f64 {
    let spelling = strsim::normalized_damerau_levenshtein(wanted, name);
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (left, right) = (words(wanted), words(name));
    let shared = left.iter().filter(|word| right.contains(word)).count();
    let most = left.len().max(right.len()).max(1);
    #[expect(clippy::cast_precision_loss, reason = "a name has few words")]
    let by_word = shared as f64 / most as f64;
    spelling.max(by_word)
}

/// The first `chars_max` characters of `text`, with an ellipsis when something was cut.
#[must_use]
pub fn excerpt(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The longest prefix of `text` of at most `bytes_max` bytes that ends at a character.
#[must_use]
pub fn prefix(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// Joins words as a sentence does: `a`, `a or b`, `a, b or c`, each in backticks.
#[must_use]
pub fn alternatives(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// `text` as one word of a shell's command line.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invented_name_finds_the_tool_that_shares_its_words() {
        let names = ["read_file", "write_file", "list_directory", "exec"];
        assert_eq!(nearest("list_files", names).first().map(String::as_str), Some("list_directory"));
        assert_eq!(nearest("raed_file", names).first().map(String::as_str), Some("read_file"));
        assert_eq!(nearest("zzzz", names), Vec::<String>::new());
    }

    #[test]
    fn nothing_is_near_a_name_that_is_longer_than_any_name() {
        let long = "read_file".repeat(1 << 20);
        assert_eq!(nearest(&long, ["read_file"]), Vec::<String>::new());
    }

    #[test]
    fn cutting_never_splits_a_character() {
        assert_eq!(prefix("日本語", 4), "日");
        assert_eq!(prefix("日本語", 9), "日本語");
        assert_eq!(excerpt("日本語", 2), "日本…");
        assert_eq!(excerpt("日本", 2), "日本");
    }

    #[test]
    fn alternatives_read_as_a_sentence() {
        assert_eq!(alternatives(&["a"]), "`a`");
        assert_eq!(alternatives(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
