//! How far a word is from another in typing errors: a letter too many, too few, another one, or two swapped.

/// Letters of a word from which on one error is taken for one, and from which on two are.
const ONE_FROM: usize = 5;
const TWO_FROM: usize = 8;
/// Letters of a word that nobody mistypes, since it is data.
const LETTERS_MAX: usize = 32;

/// Whether a word is one that a typing error can be looked for in: Latin letters alone, not too few.
pub(crate) fn may_be_one(word: &str) -> bool {
    (ONE_FROM..=LETTERS_MAX).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The number of errors between two words, when it is one that a word of that length has by accident.
pub(crate) fn distance(word: &str, other: &str) -> Option<usize> {
    let errors_max = if word.len() < TWO_FROM { 1 } else { 2 };
    if other.len().abs_diff(word.len()) > errors_max || !other.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let (a, b) = (word.as_bytes(), other.as_bytes());
    let mut before: Vec<usize> = vec![];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let changed = last[column] + usize::from(letter != other);
            let mut least = changed.min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && *letter == b[column - 1] && a[row - 1] == *other {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        if next.iter().all(|errors| *errors > errors_max) {
            return None;
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().filter(|errors| *errors <= errors_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_up_to_what_a_word_of_that_length_has() {
        for (word, other, errors) in [
            ("wehbook", "webhook", Some(1)),
            ("signatrue", "signature", Some(1)),
            ("verifiy", "verify", Some(1)),
            ("pasword", "password", Some(1)),
            ("retry", "retry", Some(0)),
            ("timoeuts", "timeout", Some(2)),
            ("server", "cursor", None),
            ("refunds", "funds", None),
        ] {
            assert_eq!(distance(word, other), errors, "{word} {other}");
        }
        assert!(!may_be_one("abcd"));
        assert!(!may_be_one("err12"));
    }
}
