//! Which encoding some bytes are in, and the way between them and text.
//!
//! Nothing here panics on any bytes. `windows-1252` stands for Latin-1 too, as on the web.

mod boundary;
mod detection;
mod guess;

use std::fmt;

pub use detection::{Detected, NotText, detect};

/// A character encoding that files are written in. The library's own type stops here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

/// A character that an encoding does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unmappable(pub char);

/// Text out of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text; U+FFFD stands where bytes could not be decoded.
    pub text: String,
    /// Where the first byte is that could not be decoded.
    pub undecodable_at: Option<usize>,
}

impl Encoding {
    /// UTF-8, which ASCII counts as.
    pub const UTF_8: Self = Self(encoding_rs::UTF_8);
    /// UTF-16, low byte first.
    pub const UTF_16LE: Self = Self(encoding_rs::UTF_16LE);
    /// UTF-16, high byte first.
    pub const UTF_16BE: Self = Self(encoding_rs::UTF_16BE);
    /// Shift_JIS with what Windows adds to it (code page 932).
    pub const SHIFT_JIS: Self = Self(encoding_rs::SHIFT_JIS);
    /// EUC-JP.
    pub const EUC_JP: Self = Self(encoding_rs::EUC_JP);
    /// ISO-2022-JP, 7 bits with escape sequences.
    pub const ISO_2022_JP: Self = Self(encoding_rs::ISO_2022_JP);
    /// GBK, simplified Chinese; also for GB 2312.
    pub const GBK: Self = Self(encoding_rs::GBK);
    /// GB 18030, GBK with four-byte sequences for all of Unicode.
    pub const GB18030: Self = Self(encoding_rs::GB18030);
    /// Big5, traditional Chinese.
    pub const BIG5: Self = Self(encoding_rs::BIG5);
    /// EUC-KR with what Windows adds to it (code page 949).
    pub const EUC_KR: Self = Self(encoding_rs::EUC_KR);
    /// Windows-1251, Cyrillic.
    pub const WINDOWS_1251: Self = Self(encoding_rs::WINDOWS_1251);
    /// Windows-1252, western European; also for Latin-1.
    pub const WINDOWS_1252: Self = Self(encoding_rs::WINDOWS_1252);

    /// The encoding that a label names: the labels of the WHATWG (`latin1`, `sjis`, `utf8`), and those of
    /// Python, vim and Emacs (`cp932`, `euc_jp`, `utf-8-unix`), in upper or lower case. `ascii` is UTF-8 here.
    ///
    /// None for an unknown label, and for what no file is written in (`replacement`, `x-user-defined`). None
    /// also for one that promises more than an encoding, which nothing here keeps: a byte order mark
    /// (`utf-8-sig`) or other line endings than the text has (`utf-8-dos`, `utf-8-mac`). UTF-16 by any label
    /// is written with its mark.
    #[must_use]
    pub fn by_label(label: &str) -> Option<Self> {
        if label.len() > LABEL_BYTES_MAX {
            return None;
        }
        let label = label.trim().to_ascii_lowercase();
        let label = label.strip_suffix("-unix").unwrap_or(&label);
        let dashed = label.replace('_', "-");
        let alias = ALIASES.iter().find(|(alias, _)| *alias == dashed).map(|(_, known)| *known);
        [alias, Some(label), Some(dashed.as_str())]
            .into_iter()
            .flatten()
            .find_map(|label| encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()))
            .filter(|encoding| *encoding != encoding_rs::X_USER_DEFINED)
            .map(Self)
    }

    /// Its name in lower case, `shift_jis`, which [`Encoding::by_label`] knows.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|name| name.eq_ignore_ascii_case(self.0.name())).unwrap_or(&"unknown")
    }

    /// Whether it is UTF-16 of either byte order.
    #[must_use]
    pub fn is_utf16(self) -> bool {
        self == Self::UTF_16LE || self == Self::UTF_16BE
    }

    /// Whether it is UTF-8.
    #[must_use]
    pub fn is_utf8(self) -> bool {
        self == Self::UTF_8
    }

    /// Whether what a byte means depends on escape sequences anywhere before it (ISO-2022-JP). Such text can
    /// only be changed as a whole.
    #[must_use]
    pub fn is_stateful(self) -> bool {
        self == Self::ISO_2022_JP
    }

    /// Bytes that the smallest unit has: 2 for UTF-16, else 1.
    #[must_use]
    pub fn unit_len(self) -> usize {
        if self.is_utf16() { 2 } else { 1 }
    }

    /// The bytes of `text`, without a byte order mark.
    ///
    /// Fails with a character that would not come back from [`Encoding::decode`] as it is. That
    /// includes the ones that encoders for the web replace silently, such as `¥` by a backslash in Shift_JIS.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, Unmappable> {
        if self.is_utf8() {
            return Ok(text.as_bytes().to_vec());
        }
        if self == Self::UTF_16LE {
            return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        }
        if self == Self::UTF_16BE {
            return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        }
        let is_control = |character: &char| matches!(character, '\u{E}' | '\u{F}' | '\u{1B}');
        if let Some(control) = text.chars().find(is_control).filter(|_| self.is_stateful()) {
            return Err(Unmappable(control));
        }
        let bytes = self.encode_as_the_web(text)?;
        let back = self.decode(&bytes).text;
        if back == text {
            return Ok(bytes);
        }
        let mut came_back = back.chars();
        let lost = text.chars().find(|character| came_back.next() != Some(*character));
        Err(Unmappable(lost.unwrap_or(char::REPLACEMENT_CHARACTER)))
    }

    fn encode_as_the_web(self, text: &str) -> Result<Vec<u8>, Unmappable> {
        let mut encoder = self.0.new_encoder();
        let mut bytes = Vec::with_capacity(text.len() + 16);
        let mut rest = text;
        loop {
            let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
            rest = rest.get(read..).unwrap_or_default();
            match result {
                encoding_rs::EncoderResult::InputEmpty => return Ok(bytes),
                encoding_rs::EncoderResult::OutputFull => bytes.reserve(rest.len() + 16),
                encoding_rs::EncoderResult::Unmappable(character) => return Err(Unmappable(character)),
            }
        }
    }

    /// The text of `bytes`, which are without a byte order mark: the caller cuts it. A mark that is there
    /// nevertheless becomes U+FEFF.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Decoded {
        let (text, has_errors) = self.0.decode_without_bom_handling(bytes);
        let undecodable_at = if has_errors { self.undecodable_at(bytes, true) } else { None };
        Decoded { text: text.into_owned(), undecodable_at }
    }

    /// Whether byte `at` of `line` begins a character, where `line` begins at a character.
    ///
    /// The end of `line` counts as a beginning, and so does each byte that belongs to no character, as far
    /// as [`Encoding::decode`] takes it on its own. Beyond the end nothing begins. In ISO-2022-JP an escape
    /// sequence counts as a character, and `line` begins in ASCII.
    #[must_use]
    pub fn is_char_start(self, line: &[u8], at: usize) -> bool {
        boundary::is_char_start(self, line, at)
    }

    /// The character that people take for `character` and that this encoding has, when it lacks that one.
    ///
    /// Unicode has two of some Japanese characters, and encodings have one of them: the wave dash `〜`
    /// (U+301C) is `～` (U+FF5E) in Shift_JIS.
    #[must_use]
    pub fn lookalike(self, character: char) -> Option<char> {
        let has = |character: char| self.encode(character.encode_utf8(&mut [0; 4])).is_ok();
        LOOKALIKES
            .iter()
            .flat_map(|(one, other)| [(*one, *other), (*other, *one)])
            .find(|(lacking, there)| *lacking == character && !has(*lacking) && has(*there))
            .map(|(_, there)| there)
    }

    pub(crate) fn decoder(self) -> encoding_rs::Decoder {
        self.0.new_decoder_without_bom_handling()
    }

    /// Where the first byte is that cannot be decoded. Without `is_whole`, a character may be cut at the end.
    fn undecodable_at(self, bytes: &[u8], is_whole: bool) -> Option<usize> {
        if self.is_utf8() {
            // Twice as fast as the standard library, which then says whether the rest is only cut.
            let valid = encoding_rs::Encoding::utf8_valid_up_to(bytes);
            let error = std::str::from_utf8(&bytes[valid..]).err()?;
            return (is_whole || error.error_len().is_some()).then_some(valid);
        }
        let mut decoder = self.decoder();
        let mut unused = [0; 8192];
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let (result, read, _) = decoder.decode_to_utf8_without_replacement(rest, &mut unused, is_whole);
            at += read;
            match result {
                encoding_rs::DecoderResult::InputEmpty => return None,
                encoding_rs::DecoderResult::OutputFull => {}
                encoding_rs::DecoderResult::Malformed(len, after) => {
                    return Some(at.saturating_sub(usize::from(len) + usize::from(after)));
                }
            }
        }
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Bytes of the longest label; the longest known ones have 19.
const LABEL_BYTES_MAX: usize = 64;

/// Labels that the web does not know, with `-` for `_`, and what it calls them; `ascii` it knows, but
/// as windows-1252.
const ALIASES: [(&str, &str); 39] = [
    ("ascii", "utf-8"),
    ("big5hkscs", "big5-hkscs"),
    ("cp20932", "euc-jp"),
    ("cp50220", "iso-2022-jp"),
    ("cp51932", "euc-jp"),
    ("cp65001", "utf-8"),
    ("cp874", "windows-874"),
    ("cp932", "shift_jis"),
    ("cp936", "gbk"),
    ("cp949", "euc-kr"),
    ("cp950", "big5"),
    ("euc-china", "gbk"),
    ("euc-cn", "gbk"),
    ("euc-japan", "euc-jp"),
    ("euc-korea", "euc-kr"),
    ("euccn", "gbk"),
    ("eucjis", "euc-jp"),
    ("eucjp", "euc-jp"),
    ("euckr", "euc-kr"),
    ("gb18030-2000", "gb18030"),
    ("iso2022-jp", "iso-2022-jp"),
    ("iso2022jp", "iso-2022-jp"),
    ("japanese-shift-jis", "shift_jis"),
    ("latin-1", "latin1"),
    ("latin-2", "latin2"),
    ("latin-5", "latin5"),
    ("latin-9", "l9"),
    ("latin9", "l9"),
    ("macroman", "macintosh"),
    ("shiftjis", "shift_jis"),
    ("tis620", "tis-620"),
    ("u8", "utf-8"),
    ("ujis", "euc-jp"),
    ("us-ascii", "utf-8"),
    ("utf-16-be", "utf-16be"),
    ("utf-16-le", "utf-16le"),
    ("utf16", "utf-16"),
    ("utf16be", "utf-16be"),
    ("utf16le", "utf-16le"),
];

/// Pairs of which an encoding has at most one.
pub(crate) const LOOKALIKES: [(char, char); 9] = [
    ('\u{301C}', '\u{FF5E}'),
    ('\u{2212}', '\u{FF0D}'),
    ('\u{2016}', '\u{2225}'),
    ('\u{2014}', '\u{2015}'),
    ('\u{00A2}', '\u{FFE0}'),
    ('\u{00A3}', '\u{FFE1}'),
    ('\u{00AC}', '\u{FFE2}'),
    ('\u{00A5}', '\u{FFE5}'),
    ('\u{203E}', '\u{FFE3}'),
];

const NAMES: [&str; 38] = [
    "big5",
    "euc-jp",
    "euc-kr",
    "gb18030",
    "gbk",
    "ibm866",
    "iso-2022-jp",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "shift_jis",
    "utf-16be",
    "utf-16le",
    "utf-8",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "windows-874",
    "x-mac-cyrillic",
];

#[cfg(test)]
#[path = "encoding_tests.rs"]
mod tests;
