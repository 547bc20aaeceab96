//! The table of normal forms in a model file: a double array (darts-clone) over the bytes of characters, whose values
//! are places in a list of texts that each end with a zero byte.

use super::vocabulary::VocabularyError;

/// The longest key and the longest normal form in bytes; a table of Unicode's has 33 at most. A damaged one may have
/// cycles, or a text without an end.
const BYTES_MAX: usize = 64;

const HAS_VALUE: u32 = 1 << 8;
/// The bits of a unit that hold its label; the highest one marks a value instead.
const LABEL: u32 = 0x8000_00ff;
const VALUE: u32 = 0x7fff_ffff;

/// A readable table.
#[derive(Debug)]
pub(super) struct Charsmap {
    units: Vec<u32>,
    forms: String,
}

impl Charsmap {
    /// Takes the table apart; what its units say is only looked at where a text leads.
    pub(super) fn read(table: &[u8]) -> Result<Self, VocabularyError> {
        let (length, rest) = table.split_first_chunk::<4>().ok_or(VocabularyError::Charsmap)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| VocabularyError::Charsmap)?;
        let (units, forms) = rest.split_at_checked(length).ok_or(VocabularyError::Charsmap)?;
        let (units, odd) = units.as_chunks();
        if units.is_empty() || !odd.is_empty() {
            return Err(VocabularyError::Charsmap);
        }
        let forms = std::str::from_utf8(forms).map_err(|_| VocabularyError::Charsmap)?;
        Ok(Self {
            units: units.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
            forms: forms.to_owned(),
        })
    }

    /// The normal form of the longest beginning of a text that has one, and what follows it.
    ///
    /// Where there is none it is the first character itself. Of an empty text both are empty.
    pub(super) fn next<'a>(&'a self, text: &'a str) -> (&'a str, &'a str) {
        let (form, length) = self.longest(text).unwrap_or_else(|| {
            let length = text.chars().next().map_or(0, char::len_utf8);
            (&text[..length], length)
        });
        (form, &text[length..])
    }

    fn longest(&self, text: &str) -> Option<(&str, usize)> {
        let mut found = None;
        let mut node = offset(*self.units.first()?);
        for (at, byte) in text.bytes().enumerate().take(BYTES_MAX) {
            node ^= usize::from(byte);
            let Some(unit) = self.units.get(node).copied().filter(|unit| unit & LABEL == u32::from(byte))
            else {
                break;
            };
            node ^= offset(unit);
            if unit & HAS_VALUE != 0 {
                found = self.units.get(node).map(|unit| (unit & VALUE, at + 1));
            }
        }
        let (value, length) = found?;
        let form = self.forms.get(usize::try_from(value).ok()?..)?;
        let ends = form.bytes().take(BYTES_MAX).position(|byte| byte == 0)?;
        text.is_char_boundary(length).then_some((&form[..ends], length))
    }
}

/// How far the children of a unit are from it.
fn offset(unit: u32) -> usize {
    let shift = (unit & (1 << 9)) >> 6;
    // At most 21 bits shifted by 8.
    ((unit >> 10) << shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::charsmap;

    #[test]
    fn the_longest_key_decides() {
        let table = charsmap(&[("ｶ", "カ"), ("ｶﾞ", "ガ"), ("ﬀ", "ff"), ("\u{1}", "")]);
        let map = Charsmap::read(&table).unwrap();
        assert_eq!(map.next("ｶﾞx"), ("ガ", "x"));
        assert_eq!(map.next("ｶx"), ("カ", "x"));
        assert_eq!(map.next("ﬀx"), ("ff", "x"));
        assert_eq!(map.next("\u{1}x"), ("", "x"));
        assert_eq!(map.next("猫x"), ("猫", "x"));
        assert_eq!(map.next(""), ("", ""));
    }

    #[test]
    fn a_table_whose_lengths_do_not_fit_is_refused() {
        for table in [&b""[..], b"\0\0\0\0", b"\x04\0\0\0", b"\x03\0\0\0abc", b"\x04\0\0\0abcd\xff\0"] {
            assert_eq!(Charsmap::read(table).unwrap_err(), VocabularyError::Charsmap, "{table:?}");
        }
    }

    #[test]
    fn a_table_that_leads_nowhere_or_in_circles_changes_nothing() {
        for unit in [0_u32, u32::MAX, 0x161, 0x361, 0xffff_fd61, 0x0000_0161] {
            let units = unit.to_le_bytes().repeat(256);
            let table = [&1024_u32.to_le_bytes()[..], &units, "xyz".as_bytes()].concat();
            let map = Charsmap::read(&table).unwrap();
            for text in ["a".repeat(1000), "猫".repeat(1000)] {
                let first = text.chars().next().unwrap().len_utf8();
                assert_eq!(map.next(&text), (&text[..first], &text[first..]), "{unit:x}");
            }
        }
    }
}
