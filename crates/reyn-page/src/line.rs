//! Text in one line.

/// Words in one line, one blank between them; cut at `chars_max` characters.
pub(crate) fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let is_blank = |character: char| character.is_whitespace() || character.is_control();
    for word in text.split(is_blank).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if let Some((end, _)) = line.char_indices().nth(chars_max) {
        line.truncate(end);
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    line
}
