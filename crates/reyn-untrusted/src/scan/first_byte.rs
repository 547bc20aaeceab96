//! Which bytes an expression may begin with: most words that could begin a pattern are told from it by six of them.

use regex_syntax::hir::{Class, Hir, HirKind};

/// How many bytes are looked at.
const LOOKED_AT: usize = 6;

/// A set of bytes.
#[derive(Clone, Copy)]
struct Bytes([u64; 4]);

impl Bytes {
    const NONE: Self = Self([0; 4]);
    const ALL: Self = Self([u64::MAX; 4]);

    fn of(bytes: impl IntoIterator<Item = u8>) -> Self {
        let mut set = Self::NONE;
        bytes.into_iter().for_each(|byte| set.0[usize::from(byte >> 6)] |= 1 << (byte & 63));
        set
    }

    fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    fn with(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }
}

/// The bytes that a match may begin with, place by place; all of them where it may have ended or looks around.
pub(super) struct FirstBytes([Bytes; LOOKED_AT]);

impl FirstBytes {
    /// Of an expression that is matched against bytes.
    pub(super) fn of(expression: &Hir) -> Self {
        let Begins { mut bytes, may_end } = begins(expression);
        let mut has_ended = false;
        for (bytes, may_end) in bytes.iter_mut().zip(may_end) {
            has_ended |= may_end;
            if has_ended {
                *bytes = Bytes::ALL;
            }
        }
        Self(bytes)
    }

    /// Whether a match may begin where `rest` does.
    pub(super) fn may_begin(&self, rest: &[u8]) -> bool {
        // Nothing can follow the end of a text but what matches nothing.
        self.0.iter().zip(rest).all(|(bytes, byte)| bytes.has(*byte))
    }
}

/// How the matches of an expression begin.
#[derive(Clone, Copy)]
struct Begins {
    /// What may stand at each place.
    bytes: [Bytes; LOOKED_AT],
    /// Whether a match may end before each place.
    may_end: [bool; LOOKED_AT],
}

impl Begins {
    /// Of what matches nothing at all.
    const NEVER: Self = Self { bytes: [Bytes::NONE; LOOKED_AT], may_end: [false; LOOKED_AT] };
    /// Of what matches the empty text.
    const EMPTY: Self = {
        let mut empty = Self::NEVER;
        empty.may_end[0] = true;
        empty
    };

    fn one(byte: Bytes) -> Self {
        let mut begins = Self::NEVER;
        begins.bytes[0] = byte;
        begins.may_end[1] = true;
        begins
    }

    /// Either of two.
    fn or(mut self, other: &Self) -> Self {
        for at in 0..LOOKED_AT {
            self.bytes[at] = self.bytes[at].with(other.bytes[at]);
            self.may_end[at] |= other.may_end[at];
        }
        self
    }

    /// One behind the other.
    fn then(self, next: &Self) -> Self {
        let mut both = Self { bytes: self.bytes, ..Self::NEVER };
        for length in (0..LOOKED_AT).filter(|length| self.may_end[*length]) {
            for at in 0..LOOKED_AT - length {
                both.bytes[length + at] = both.bytes[length + at].with(next.bytes[at]);
                both.may_end[length + at] |= next.may_end[at];
            }
        }
        both
    }
}

fn begins(expression: &Hir) -> Begins {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => Begins::EMPTY,
        HirKind::Literal(literal) => literal
            .0
            .iter()
            .take(LOOKED_AT)
            .fold(Begins::EMPTY, |begins, byte| begins.then(&Begins::one(Bytes::of([*byte])))),
        HirKind::Class(Class::Bytes(class)) => {
            Begins::one(Bytes::of(class.iter().flat_map(|range| range.start()..=range.end())))
        }
        HirKind::Class(Class::Unicode(class)) => class
            .iter()
            .fold(Begins::NEVER, |any, range| any.or(&begins_of_characters(range.start(), range.end()))),
        HirKind::Repetition(repeated) => {
            let part = begins(&repeated.sub);
            let bound = |times: u32| usize::try_from(times).unwrap_or(LOOKED_AT).min(LOOKED_AT);
            let least = bound(repeated.min);
            let mut times = (0..least).fold(Begins::EMPTY, |all, _| all.then(&part));
            let mut any = times;
            for _ in least..repeated.max.map_or(LOOKED_AT, bound) {
                times = times.then(&part);
                any = any.or(&times);
            }
            any
        }
        HirKind::Capture(capture) => begins(&capture.sub),
        HirKind::Concat(parts) => parts.iter().fold(Begins::EMPTY, |all, part| all.then(&begins(part))),
        HirKind::Alternation(parts) => parts.iter().fold(Begins::NEVER, |any, part| any.or(&begins(part))),
    }
}

/// Of a range of characters: what it has in ASCII, and for the others the bytes that their first may be.
fn begins_of_characters(first: char, last: char) -> Begins {
    let lead = |c: char| c.encode_utf8(&mut [0; 4]).as_bytes()[0];
    let ascii = (first..=last).take_while(char::is_ascii).map(lead);
    let ascii = Begins::one(Bytes::of(ascii));
    if last.is_ascii() {
        return ascii;
    }
    let leads = Bytes::of(lead(first.max('\u{80}'))..=lead(last));
    let mut others = Begins { bytes: [Bytes::ALL; LOOKED_AT], may_end: [true; LOOKED_AT] };
    others.bytes[0] = leads;
    others.may_end[..2].fill(false);
    ascii.or(&others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_that_may_begin_a_match_are_known() {
        for (expression, begins, other) in [
            ("abc", "a", "b"),
            ("(?:a|b)c", "ab", "c"),
            (r"\s+a", " \n", "a"),
            ("a?b", "ab", "c"),
            (r"\A\ba{0,3}?b", "ab", "c"),
            ("[^\n]{0,4}?x", "xyz", "\n"),
            ("a*", "abc\n", ""),
        ] {
            let parsed =
                regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(expression);
            let first = FirstBytes::of(&parsed.unwrap());
            assert!(begins.bytes().all(|byte| first.may_begin(&[byte])), "{expression}");
            assert!(other.bytes().all(|byte| !first.may_begin(&[byte])), "{expression}");
        }
    }

    #[test]
    fn the_second_byte_of_a_match_is_known_where_it_cannot_have_ended() {
        for (expression, begins, other) in [
            ("abc", &["ab"][..], &["aa", "ac"][..]),
            (r"\s+(?:all|the)", &[" a", " t", "  ", "\ta"], &[" x", " \u{1}"]),
            (r"(?:\s+all)?\s+prior", &[" a", " p"], &[" x"]),
            ("a{1,3}b", &["aa", "ab"], &["ac"]),
            ("ab?", &["ax", "ab"], &["ba"]),
            ("a{2}b", &["aa"], &["ab"]),
            ("[^\n]{0,4}?xy", &["xy", "ax", "ab"], &["\nx"]),
            (r"a\b", &["a ", "ax"], &["b"]),
        ] {
            let parsed =
                regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(expression);
            let first = FirstBytes::of(&parsed.unwrap());
            assert!(begins.iter().all(|text| first.may_begin(text.as_bytes())), "{expression}");
            assert!(other.iter().all(|text| !first.may_begin(text.as_bytes())), "{expression}");
        }
    }
}
