//! Text without the differences that are easily overlooked: quotes, dashes, blanks and the like.
//!
//! Folding is for finding what may have been meant, never for changing anything. It never crosses a line, so
//! a folded text has the lines of the text.

use std::ops::Range;

use memchr::{memchr_iter, memmem};
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

/// Places that are looked for at most.
const PLACES_MAX: usize = 11;
/// Bytes that are looked at again where something was found.
const LOOKED_AT_AGAIN_BYTES_MAX: usize = 32 << 20;

/// A difference that is easily overlooked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Quotes of all shapes, single and double ones apart.
    Quotes,
    /// Hyphens, dashes and minus signs.
    Dashes,
    /// Blanks of all widths and how many, and blanks at the ends of lines.
    Blanks,
    /// Characters of no width.
    Invisible,
    /// Characters as wide as an ideograph, which Unicode or an encoding also has in another form.
    FullWidth,
    /// Characters composed of one code point or several.
    Composition,
    /// CR LF or LF.
    LineEndings,
    /// Line numbers that a tool wrote before each line.
    LineNumbers,
}

/// The kinds that [`fold`] does.
const FOLDED: [Kind; 6] =
    [Kind::Quotes, Kind::Dashes, Kind::Blanks, Kind::Invisible, Kind::FullWidth, Kind::Composition];

impl Kind {
    /// Its name in a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::Dashes => "dashes",
            Self::Blanks => "blanks",
            Self::Invisible => "zero-width characters",
            Self::FullWidth => "full-width characters",
            Self::Composition => "composed characters",
            Self::LineEndings => "line endings",
            Self::LineNumbers => "line numbers",
        }
    }
}

/// Where folded text was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Bytes of the text; whole characters.
    pub range: Range<usize>,
    /// The line where it begins, from 1.
    pub line: u64,
}

/// `text` with all kinds of differences folded. Line endings are LF.
#[must_use]
pub fn fold(text: &str) -> String {
    fold_kinds(text, &FOLDED)
}

/// The kinds of differences between two texts that fold to the same.
#[must_use]
pub fn differences(left: &str, right: &str) -> Vec<Kind> {
    if left == right {
        return vec![];
    }
    let without =
        |left_out: Kind| -> Vec<Kind> { FOLDED.into_iter().filter(|kind| *kind != left_out).collect() };
    let needed = |kind: &Kind| fold_kinds(left, &without(*kind)) != fold_kinds(right, &without(*kind));
    let kinds: Vec<Kind> = FOLDED.into_iter().filter(needed).collect();
    if !kinds.is_empty() {
        return kinds;
    }
    // Two kinds can hide one difference; then both are named.
    let changes = |kind: &Kind| fold_kinds(left, &[*kind]) != left || fold_kinds(right, &[*kind]) != right;
    FOLDED.into_iter().filter(changes).collect()
}

/// Where `wanted` is in `text` when both are folded; at most 11 places, those that overlap included.
///
/// Nothing is found for what folds to blanks, nor where it would take too long to know whether one place is
/// the only one. A place never begins or ends within a character of `text`.
#[must_use]
pub fn find(text: &str, wanted: &str) -> Vec<Place> {
    let wanted = fold(wanted);
    if wanted.trim().is_empty() {
        return vec![];
    }
    let folded = fold(text);
    let finder = memmem::Finder::new(&wanted);
    let mut lines = Lines { text, folded: &folded, text_at: 0, folded_at: 0, line: 1, read: 0 };
    let mut places = vec![];
    let (mut from, mut again) = (0, 0);
    while let Some(at) = finder.find(&folded.as_bytes()[from..]).map(|at| from + at) {
        if places.len() == PLACES_MAX || again > LOOKED_AT_AGAIN_BYTES_MAX {
            return if places.len() > 1 { places } else { vec![] };
        }
        if let Some(place) = lines.place(at, wanted.len()) {
            places.push(place);
        }
        again += wanted.len() + lines.read;
        from = at + 1;
    }
    places
}

/// Walks a text and its folded form line by line.
struct Lines<'a> {
    text: &'a str,
    folded: &'a str,
    text_at: usize,
    folded_at: usize,
    line: u64,
    /// Bytes of the text that the last place took to find.
    read: usize,
}

impl Lines<'_> {
    /// What the folded bytes from `at` on are in the text; asked in ascending order.
    fn place(&mut self, at: usize, len: usize) -> Option<Place> {
        let feeds = memchr_iter(b'\n', &self.folded.as_bytes()[self.folded_at..at]).count();
        for _ in 0..feeds {
            self.text_at += self.text[self.text_at..].find('\n')? + 1;
            self.line += 1;
        }
        self.folded_at = self.folded[..at].rfind('\n').map_or(0, |feed| feed + 1);
        let first = at - self.folded_at;
        let mut wanted = Wanted { first, last: first + len, ..Wanted::default() };
        let mut base = self.text_at;
        self.read = 0;
        // What follows the place is looked at too: it tells whether a character is cut.
        for line in self.text[self.text_at..].split_inclusive('\n') {
            let (content, feed) = line.strip_suffix('\n').map_or((line, 0), |content| (content, 1));
            fold_line(content, &FOLDED, |character, range| {
                wanted.pass(character.len_utf8(), base + range.start..base + range.end);
            });
            if feed > 0 {
                wanted.pass(feed, base + content.len()..base + line.len());
            }
            self.read += line.len();
            base += line.len();
            if wanted.offset > wanted.last {
                break;
            }
        }
        Some(Place { range: wanted.begins?..wanted.ends?, line: self.line })
    }
}

/// A range of folded bytes, while the characters pass by that they were made of.
#[derive(Default)]
struct Wanted {
    first: usize,
    last: usize,
    /// Folded bytes that have passed.
    offset: usize,
    before: Range<usize>,
    begins: Option<usize>,
    ends: Option<usize>,
}

impl Wanted {
    /// A folded character of `len` bytes, made of the bytes `range` of the text.
    fn pass(&mut self, len: usize, range: Range<usize>) {
        let is_cut = self.offset > 0 && self.before == range;
        if self.offset == self.first && !is_cut {
            self.begins = Some(range.start);
        }
        if self.offset == self.last && is_cut {
            self.ends = None;
        }
        self.offset += len;
        if self.offset == self.last {
            self.ends = Some(range.end);
        }
        self.before = range;
    }
}

fn fold_kinds(text: &str, kinds: &[Kind]) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, feed) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        fold_line(content, kinds, |character, _| folded.push(character));
        folded.push_str(feed);
    }
    folded
}

/// Folds one line: each character of the result with the bytes of `line` it stands for.
fn fold_line(line: &str, kinds: &[Kind], mut emit: impl FnMut(char, Range<usize>)) {
    let folds = FOLDED.map(|kind| kinds.contains(&kind));
    let [quotes, dashes, blanks, invisible, full_width, composition] = folds;
    let mut blank: Option<Range<usize>> = None;
    let mut marks = Marks::default();
    for (at, character) in line.char_indices() {
        let range = at..at + character.len_utf8();
        let is_invisible = !character.is_ascii() && is_invisible(character);
        if is_invisible && invisible {
            continue;
        }
        if blanks && is_blank(character) {
            blank = Some(blank.map_or(range.start, |before| before.start)..range.end);
            continue;
        }
        if let Some(range) = blank.take() {
            marks.flush(&mut emit);
            emit(' ', range);
        }
        if character.is_ascii() && !matches!(character, '`' | '\'' | '"') {
            marks.flush(&mut emit);
            emit(character, range);
            continue;
        }
        let folded = match character {
            _ if quotes && quote(character).is_some() => quote(character).unwrap_or(character),
            _ if dashes && is_dash(character) => '-',
            '\u{FF01}'..='\u{FF5E}' if full_width => {
                char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character)
            }
            _ if full_width => full_width_sign(character),
            _ => character,
        };
        if composition && !folded.is_ascii() {
            decompose_canonical(folded, |part| marks.add(part, range.clone(), &mut emit));
        } else {
            marks.flush(&mut emit);
            emit(folded, range);
        }
    }
    marks.flush(&mut emit);
}

/// Combining marks that wait for their order.
#[derive(Default)]
struct Marks(Vec<(u8, char, Range<usize>)>);

impl Marks {
    fn add(&mut self, part: char, range: Range<usize>, emit: &mut impl FnMut(char, Range<usize>)) {
        match canonical_combining_class(part) {
            0 => {
                self.flush(emit);
                emit(part, range);
            }
            class => self.0.push((class, part, range)),
        }
    }

    fn flush(&mut self, emit: &mut impl FnMut(char, Range<usize>)) {
        if self.0.is_empty() {
            return;
        }
        self.0.sort_by_key(|(class, ..)| *class);
        for (_, part, range) in self.0.drain(..) {
            emit(part, range);
        }
    }
}

const fn quote(character: char) -> Option<char> {
    match character {
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '´' | '`' | '′' | '\u{FF07}' | '\u{FF40}' => {
            Some('\'')
        }
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '\u{FF02}' => Some('"'),
        _ => None,
    }
}

/// The narrow form of a wide sign outside ASCII. Of the Japanese signs that encodings mix up, both become one.
const fn full_width_sign(character: char) -> char {
    match character {
        '\u{301C}' => '~',
        '\u{2225}' => '\u{2016}',
        '\u{203E}' | '\u{FFE3}' => '\u{AF}',
        '\u{FFE0}' => '\u{A2}',
        '\u{FFE1}' => '\u{A3}',
        '\u{FFE2}' => '\u{AC}',
        '\u{FFE4}' => '\u{A6}',
        '\u{FFE5}' => '\u{A5}',
        '\u{FFE6}' => '\u{20A9}',
        _ => character,
    }
}

const fn is_dash(character: char) -> bool {
    matches!(
        character,
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' | '\u{2043}'
    )
}

const fn is_blank(character: char) -> bool {
    matches!(
        character,
        ' ' | '\t' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}'
    )
}

const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{2069}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
    )
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
