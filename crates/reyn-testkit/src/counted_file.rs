//! A file with two states, of different lengths, that share no line: a third state is told at once.

/// The file's text in one of its two states; some ten kilobytes, so that writing it takes a while.
#[must_use]
pub fn state(is_even: bool) -> String {
    let word = if is_even { "even" } else { "odd" };
    let mut text = String::new();
    for line in 0..2_000 {
        text.push_str(&format!("{word} {line} {word}\n"));
    }
    text
}
