//! A text in its normal form: characters by the model's table, each run of spaces one mark, a mark at the beginning.

use super::charsmap::Charsmap;

/// What stands for a space in a piece.
const SPACE: char = '\u{2581}';

/// A table and the rules about spaces.
#[derive(Debug)]
pub(super) struct Normaliser {
    charsmap: Charsmap,
}

impl Normaliser {
    pub(super) fn new(charsmap: Charsmap) -> Self {
        Self { charsmap }
    }

    /// The normal form; empty when nothing but spaces is left.
    pub(super) fn normalise(&self, text: &str) -> String {
        let mut rest = text;
        loop {
            let (form, after) = self.charsmap.next(rest);
            if form != " " {
                break;
            }
            rest = after;
        }
        let mut normal = String::with_capacity(rest.len() + 8);
        normal.push(SPACE);
        let mut is_after_space = true;
        while !rest.is_empty() {
            let (mut form, after) = self.charsmap.next(rest);
            rest = after;
            if is_after_space {
                form = form.trim_start_matches(' ');
            }
            if !form.is_empty() {
                normal.extend(form.chars().map(|c| if c == ' ' { SPACE } else { c }));
                is_after_space = form.ends_with(' ');
            }
        }
        normal.truncate(normal.trim_end_matches(SPACE).len());
        normal
    }
}
