//! From a text to pieces that can be embedded: by its structure, none above a limit.
//!
//! A Markdown text is cut at headings, then at blank lines, then at sentences, then at words, and only what is
//! longer than the limit is cut on. A code fence stays whole where it fits. Short neighbours under the same
//! headings become one piece up to the target. Code is cut at blank lines. A piece is a stretch of the text, so its
//! place is known, and every letter that is neither white space nor a heading's is in exactly one.
//!
//! A heading is no piece: it says what is below it, and alone it would be found before any answer. It stands at the
//! beginning of what follows where both fit, and in its headings anyway. One that nothing follows is left out,
//! unless the text consists of headings alone.

mod block;
mod sentence;

use std::ops::Range;

pub use block::TextKind;

use self::block::Block;

/// How long pieces are.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Counts the tokens of a text as the embedding model does. A longer text must not count less.
    pub tokens: &'a dyn Fn(&str) -> usize,
    /// Tokens that no piece is above, unless a single letter is.
    pub tokens_max: usize,
    /// Characters that neighbours are put together up to, and that longer paragraphs are cut near. 300 to 500
    /// suit the local model, whose cost grows with length.
    pub characters_target: usize,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it is in the text, in bytes, on letters' bounds.
    pub bytes: Range<usize>,
    /// The headings above it, outermost first, joined by ` > `; nothing when there is none.
    pub parent_context: Option<String>,
    /// Its tokens.
    pub tokens: usize,
}

/// Cuts a text into pieces, in order. Time grows with the text's length alone, given a counter that is linear.
#[must_use]
pub fn split(text: &str, kind: TextKind, limits: &Limits<'_>) -> Vec<Piece> {
    let mut pieces = vec![];
    let mut open: Option<Piece> = None;
    for block in block::blocks(text, kind) {
        for range in fitting(text, &block, limits) {
            let tokens = (limits.tokens)(&text[range.clone()]);
            let piece = Piece { bytes: range, parent_context: block.headings.clone(), tokens };
            open = match open.take() {
                None => Some(piece),
                Some(before) => match joined(text, &before, &piece, limits) {
                    Some(joined) => Some(joined),
                    None => {
                        pieces.push(before);
                        Some(piece)
                    }
                },
            };
        }
    }
    pieces.extend(open);
    pieces
}

/// Two neighbours as one, when both are under the same headings and the whole is short.
fn joined(text: &str, before: &Piece, piece: &Piece, limits: &Limits<'_>) -> Option<Piece> {
    if before.parent_context != piece.parent_context {
        return None;
    }
    let bytes = before.bytes.start..piece.bytes.end;
    let whole = text.get(bytes.clone())?;
    // No text has more characters than bytes: the first test spares counting what is far too long.
    if whole.len() > limits.characters_target.saturating_mul(4)
        || whole.chars().count() > limits.characters_target
    {
        return None;
    }
    let tokens = (limits.tokens)(whole);
    (tokens <= limits.tokens_max).then(|| Piece {
        bytes,
        parent_context: before.parent_context.clone(),
        tokens,
    })
}

/// The parts of a block that are within the limits, the first one with the headings right above it as far as they fit.
fn fitting(text: &str, block: &Block, limits: &Limits<'_>) -> Vec<Range<usize>> {
    let mut parts = body(text, block, limits);
    if let Some(first) = parts.first_mut() {
        let is_fitting = |start: &&usize| {
            is_within_target(&text[**start..first.start], limits) && fits(&text[**start..first.end], limits)
        };
        if let Some(start) = block.leads.iter().find(is_fitting) {
            first.start = *start;
        }
    }
    parts
}

/// The same without headings; the block itself when it is within the limits.
fn body(text: &str, block: &Block, limits: &Limits<'_>) -> Vec<Range<usize>> {
    let Some(range) = trimmed(text, block.bytes.clone()) else { return vec![] };
    let stretch = &text[range.clone()];
    // A fence or a table means something as a whole only; prose does in sentences.
    let is_short = block.is_whole || is_within_target(stretch, limits);
    if is_short && fits(stretch, limits) {
        return vec![range];
    }
    let units = if block.is_whole { lines(text, range) } else { sentence::sentences(text, range) };
    let mut parts = vec![];
    for unit in units {
        cut(text, unit, limits, &mut parts);
    }
    packed(text, parts, limits)
}

fn is_within_target(stretch: &str, limits: &Limits<'_>) -> bool {
    stretch.len() <= limits.characters_target
        || (stretch.len() <= limits.characters_target.saturating_mul(4)
            && stretch.chars().count() <= limits.characters_target)
}

/// Whether a stretch is within the limit. A text has at least a token for each so many bytes, so one that is
/// very long is not counted at all, which keeps the cost of cutting it linear.
fn fits(stretch: &str, limits: &Limits<'_>) -> bool {
    const BYTES_PER_TOKEN_MAX: usize = 128;
    stretch.len() <= limits.tokens_max.saturating_mul(BYTES_PER_TOKEN_MAX)
        && (limits.tokens)(stretch) <= limits.tokens_max
}

/// Cuts what is above the limit at a space near its middle, else between two letters, until it is not.
fn cut(text: &str, range: Range<usize>, limits: &Limits<'_>, parts: &mut Vec<Range<usize>>) {
    let mut left = vec![range];
    while let Some(range) = left.pop() {
        let Some(range) = trimmed(text, range) else { continue };
        let stretch = &text[range.clone()];
        if fits(stretch, limits) {
            parts.push(range);
            continue;
        }
        let middle = (0..=stretch.len() / 2).rev().find(|at| stretch.is_char_boundary(*at)).unwrap_or(0);
        let near = stretch[..middle].rfind(char::is_whitespace).filter(|at| *at > stretch.len() / 4);
        let first = stretch.chars().next().map_or(1, char::len_utf8);
        let at = range.start + near.unwrap_or(middle).max(first);
        if at >= range.end {
            // A single letter above the limit: it is kept, and counted as what it is.
            parts.push(range);
            continue;
        }
        left.push(at..range.end);
        left.push(range.start..at);
    }
}

/// Puts neighbours together up to the target.
fn packed(text: &str, parts: Vec<Range<usize>>, limits: &Limits<'_>) -> Vec<Range<usize>> {
    let mut packed: Vec<Range<usize>> = vec![];
    for part in parts {
        if let Some(last) = packed.last_mut() {
            let stretch = &text[last.start..part.end];
            if is_within_target(stretch, limits) && fits(stretch, limits) {
                last.end = part.end;
                continue;
            }
        }
        packed.push(part);
    }
    packed
}

fn lines(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut from = range.start;
    text[range]
        .split_inclusive('\n')
        .map(|line| {
            let line = from..from + line.len();
            from = line.end;
            line
        })
        .collect()
}

/// A range without the white space around it; nothing when there is nothing else.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let stretch = &text[range.clone()];
    let end = range.start + stretch.trim_end().len();
    let start = end - text[range.start..end].trim_start().len();
    (start < end).then_some(start..end)
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
