//! From bytes to their encoding: what is certain first, a guess last.

use super::{Encoding, guess};
use crate::declared;

/// What [`detect`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detected {
    /// The encoding. ASCII counts as UTF-8 unless the caller or the file says otherwise.
    pub encoding: Encoding,
    /// Bytes of the byte order mark at the beginning; 0 without one.
    pub mark_len: usize,
    /// Whether there is no doubt: declared by the caller or in the file, marked, valid UTF-8, or detected
    /// beyond doubt. Only then may characters outside ASCII be written.
    pub is_sure: bool,
}

/// Why bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotText {
    /// They hold NUL bytes and are not UTF-16.
    Binary,
    /// They are UTF-32, which no tool of today writes.
    Utf32,
}

/// Finds the encoding of `bytes`: a whole file, or its beginning when not `is_whole`.
///
/// In this order:
///
/// 1. A byte order mark.
/// 2. `declared`, the caller's word. The caller knows better than any statistics, so it is taken as it is,
///    and stays the answer where bytes do not decode in it: reading then shows where. It is not sure when
///    bytes do not decode, when they have the shape of UTF-16 and something else is declared, or when they
///    are ASCII and UTF-16 is declared.
/// 3. NUL bytes: UTF-16 without a mark, when at least half of its units are below U+0100; else
///    [`NotText::Binary`].
/// 4. The escape sequences of ISO-2022-JP.
/// 5. Valid UTF-8; for ASCII, what the file declares in its own text ([`declared::in_text`]).
/// 6. What the file declares, when all bytes decode in it.
/// 7. Damaged text: UTF-8, or the declared encoding, in which most characters decode. Never sure.
/// 8. A guess; it says when it is sure.
///
/// What is sure decodes without an undecodable byte. At the end of a beginning a character may be cut, and
/// nothing is known of what follows it.
pub fn detect(bytes: &[u8], is_whole: bool, declared: Option<Encoding>) -> Result<Detected, NotText> {
    let unmarked = |encoding, is_sure| Ok(Detected { encoding, mark_len: 0, is_sure });
    let decodes = |encoding: Encoding| encoding.undecodable_at(bytes, is_whole).is_none();
    if let Some(result) = by_mark(bytes, is_whole) {
        return result;
    }
    let has_nul = memchr::memchr(0, bytes).is_some();
    if let Some(declared) = declared {
        let is_contradicted = if declared.is_utf16() {
            !has_nul && !bytes.is_empty() && bytes.is_ascii()
        } else {
            has_nul && unmarked_utf16(bytes, is_whole).is_some()
        };
        return unmarked(declared, !is_contradicted && decodes(declared));
    }
    if has_nul {
        let encoding = unmarked_utf16(bytes, is_whole).ok_or(NotText::Binary)?;
        return unmarked(encoding, true);
    }
    if is_iso_2022_jp(bytes, is_whole) {
        return unmarked(Encoding::ISO_2022_JP, true);
    }
    let stated = declared::in_text(bytes);
    if decodes(Encoding::UTF_8) {
        let of_ascii = stated.filter(|stated| !stated.is_utf8() && bytes.is_ascii());
        return unmarked(of_ascii.unwrap_or(Encoding::UTF_8), true);
    }
    if let Some(stated) = stated.filter(|stated| decodes(*stated)) {
        return unmarked(stated, true);
    }
    if let Some(damaged) =
        [Some(Encoding::UTF_8), stated].into_iter().flatten().find(|it| is_mostly(*it, bytes))
    {
        return unmarked(damaged, false);
    }
    let (encoding, is_sure) = guess::guess(bytes, is_whole);
    unmarked(encoding, is_sure)
}

/// What the byte order mark says. Sure when the rest decodes.
///
/// The two bytes of UTF-16 begin binary formats as well, so a rest that neither decodes nor is without NUL
/// characters is no text.
fn by_mark(bytes: &[u8], is_whole: bool) -> Option<Result<Detected, NotText>> {
    let (encoding, mark_len) = match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Some(Err(NotText::Utf32)),
        [0xEF, 0xBB, 0xBF, ..] => (Encoding::UTF_8, 3),
        [0xFF, 0xFE, ..] => (Encoding::UTF_16LE, 2),
        [0xFE, 0xFF, ..] => (Encoding::UTF_16BE, 2),
        _ => return None,
    };
    let rest = &bytes[mark_len..];
    let is_sure = encoding.undecodable_at(rest, is_whole).is_none();
    let is_binary = !is_sure && encoding.is_utf16() && rest.chunks_exact(2).any(|unit| unit == [0, 0]);
    Some(if is_binary { Err(NotText::Binary) } else { Ok(Detected { encoding, mark_len, is_sure }) })
}

/// UTF-16 without a mark: an even length, no lone surrogate, no control character that text is without, and
/// at least half of the units below U+0100 in one byte order and not in the other.
///
/// Words of ASCII with NUL bytes between them can look like that. So when all bytes are ASCII, at least three
/// quarters.
fn unmarked_utf16(bytes: &[u8], is_whole: bool) -> Option<Encoding> {
    let units = bytes.len() / 2;
    if is_whole && !bytes.len().is_multiple_of(2) || units == 0 {
        return None;
    }
    let mut zeros = [0, 0];
    for unit in bytes.chunks_exact(2) {
        zeros[0] += usize::from(unit[0] == 0);
        zeros[1] += usize::from(unit[1] == 0);
    }
    let quarters = if bytes.is_ascii() { 3 } else { 2 };
    let encoding = match zeros.map(|zeros| zeros * 4 >= units * quarters) {
        [true, false] => Encoding::UTF_16BE,
        [false, true] => Encoding::UTF_16LE,
        [true, true] | [false, false] => return None,
    };
    let high_byte = usize::from(encoding == Encoding::UTF_16LE);
    let is_no_text = |unit: &[u8]| match (unit[high_byte], unit[1 - high_byte]) {
        (0, 0x09 | 0x0A | 0x0C | 0x0D | 0x1B) => false,
        (0, low) => low < 0x20,
        (high, low) => high == 0xFF && low >= 0xFE,
    };
    let is_text =
        !bytes.chunks_exact(2).any(is_no_text) && encoding.undecodable_at(bytes, is_whole).is_none();
    is_text.then_some(encoding)
}

/// Whether the bytes are ISO-2022-JP: 7 bits, at least one of its escape sequences (which terminals do not
/// share), and no error.
fn is_iso_2022_jp(bytes: &[u8], is_whole: bool) -> bool {
    let is_escape =
        |at: usize| matches!(bytes.get(at + 1..at + 3), Some([b'$', b'@' | b'B'] | [b'(', b'J' | b'I']));
    memchr::memchr(0x1B, bytes).is_some()
        && bytes.is_ascii()
        && [b"\x1B$", b"\x1B("].iter().any(|start| memchr::memmem::find_iter(bytes, start).any(is_escape))
        && Encoding::ISO_2022_JP.undecodable_at(bytes, is_whole).is_none()
}

/// Whether more characters outside ASCII decode in `encoding` than places do not.
fn is_mostly(encoding: Encoding, bytes: &[u8]) -> bool {
    let (mut characters, mut places) = (0_usize, 0_usize);
    if encoding.is_utf8() {
        for chunk in bytes.utf8_chunks() {
            characters += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
            places += usize::from(!chunk.invalid().is_empty());
        }
    } else {
        for character in encoding.decode(bytes).text.chars() {
            characters += usize::from(!character.is_ascii() && character != char::REPLACEMENT_CHARACTER);
            places += usize::from(character == char::REPLACEMENT_CHARACTER);
        }
    }
    characters > places
}
