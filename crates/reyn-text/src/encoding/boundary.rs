//! Where characters begin inside a line of bytes.
//!
//! Each walk starts close before the place in question, at a byte that ends a character whatever stands
//! before it, so a long line costs no more than a short one.

use super::Encoding;

/// Whether byte `at` of `line` begins a character; see [`Encoding::is_char_start`].
pub(super) fn is_char_start(encoding: Encoding, line: &[u8], at: usize) -> bool {
    if at == 0 {
        return true;
    }
    if at > line.len() {
        return false;
    }
    match Family::of(encoding) {
        Family::SingleByte => true,
        Family::Utf8 => utf8(line, at),
        Family::Utf16 { high_byte } => utf16(line, at, high_byte),
        Family::Escapes => escapes(line, at),
        Family::Pairs(pairs) => {
            let is_open = |byte: &u8| pairs.may_lead(*byte) || pairs == Pairs::Gb && byte.is_ascii_digit();
            let mut start = line[..at].iter().rposition(|byte| !is_open(byte)).map_or(0, |end| end + 1);
            while start < at {
                start += pairs.char_len(encoding, &line[start..]).max(1);
            }
            start == at
        }
    }
}

enum Family {
    SingleByte,
    Utf8,
    Utf16 { high_byte: usize },
    Escapes,
    Pairs(Pairs),
}

impl Family {
    fn of(encoding: Encoding) -> Self {
        if encoding.is_utf8() {
            Self::Utf8
        } else if encoding.is_utf16() {
            Self::Utf16 { high_byte: usize::from(encoding == Encoding::UTF_16LE) }
        } else if encoding.is_stateful() {
            Self::Escapes
        } else if encoding == Encoding::SHIFT_JIS {
            Self::Pairs(Pairs::ShiftJis)
        } else if encoding == Encoding::EUC_JP {
            Self::Pairs(Pairs::EucJp)
        } else if encoding == Encoding::GBK || encoding == Encoding::GB18030 {
            Self::Pairs(Pairs::Gb)
        } else if encoding == Encoding::BIG5 || encoding == Encoding::EUC_KR {
            Self::Pairs(Pairs::Other)
        } else {
            Self::SingleByte
        }
    }
}

/// The encodings of mostly two bytes a character, a lead and a trail.
#[derive(Clone, Copy, PartialEq)]
enum Pairs {
    ShiftJis,
    EucJp,
    Gb,
    Other,
}

impl Pairs {
    /// A byte that cannot lead ends a character: its own, or the one whose trail it is.
    fn may_lead(self, byte: u8) -> bool {
        match self {
            Self::ShiftJis => matches!(byte, 0x81..=0x9F | 0xE0..=0xFC),
            Self::EucJp => matches!(byte, 0x8E | 0x8F | 0xA1..=0xFE),
            Self::Gb | Self::Other => matches!(byte, 0x81..=0xFE),
        }
    }

    /// How many bytes the decoder takes for the first character or the first undecodable sequence.
    fn char_len(self, encoding: Encoding, bytes: &[u8]) -> usize {
        let (lead, trail) = match bytes {
            [] | [_] => return 1,
            [lead, trail, ..] => (*lead, *trail),
        };
        if !self.may_lead(lead) {
            return 1;
        }
        if self == Self::Gb && trail.is_ascii_digit() {
            return match bytes {
                [_, _, third, ..] if !self.may_lead(*third) => 1,
                [_, _, _, fourth, ..] => {
                    if fourth.is_ascii_digit() {
                        4
                    } else {
                        1
                    }
                }
                _ => bytes.len(),
            };
        }
        if !trail.is_ascii() {
            let has_third = self == Self::EucJp && lead == 0x8F && matches!(trail, 0xA1..=0xFE);
            return match bytes.get(2) {
                Some(third) if has_third && !third.is_ascii() => 3,
                _ => 2,
            };
        }
        // An ASCII byte is a trail only in a pair that means something; else it stands for itself.
        let is_pair = self != Self::EucJp && encoding.undecodable_at(&[lead, trail], true).is_none();
        if is_pair { 2 } else { 1 }
    }
}

fn utf8(line: &[u8], at: usize) -> bool {
    let is_continuation = |byte: u8| byte & 0xC0 == 0x80;
    if !line.get(at).copied().is_some_and(is_continuation) {
        return true;
    }
    let lead_at = line[..at].iter().rposition(|byte| !is_continuation(*byte));
    let Some(lead_at) = lead_at.filter(|lead_at| at - lead_at < 4) else {
        return true;
    };
    let sequence = &line[lead_at..line.len().min(lead_at + 4)];
    let len = match std::str::from_utf8(sequence) {
        Ok(text) => text.chars().next().map_or(1, char::len_utf8),
        Err(error) if error.valid_up_to() > 0 => match sequence[0] {
            0xF0.. => 4,
            0xE0.. => 3,
            0xC0.. => 2,
            _ => 1,
        },
        Err(error) => error.error_len().unwrap_or(sequence.len()),
    };
    at >= lead_at + len
}

fn utf16(line: &[u8], at: usize, high_byte: usize) -> bool {
    if !at.is_multiple_of(2) {
        return false;
    }
    let kind = |unit_at: usize| line.get(unit_at..unit_at + 2).map(|unit| unit[high_byte] & 0xFC);
    !(kind(at) == Some(0xDC) && kind(at - 2) == Some(0xD8))
}

fn escapes(line: &[u8], at: usize) -> bool {
    let (mut start, mut unit) = (0, 1);
    while start < at {
        start += match &line[start..] {
            [0x1B, b'$', b'@' | b'B', ..] => {
                unit = 2;
                3
            }
            [0x1B, b'(', b'B' | b'J' | b'I', ..] => {
                unit = 1;
                3
            }
            [0x21..=0x7E, 0x21..=0x7E, ..] => unit,
            _ => 1,
        };
    }
    start == at
}
