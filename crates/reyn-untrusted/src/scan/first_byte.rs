//! Which two bytes an expression may begin with: most words that could begin a pattern are told from it by them.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A set of bytes.
type Bytes = [bool; 256];
const NONE: Bytes = [false; 256];
const ALL: Bytes = [true; 256];

/// The bytes that a match may begin and go on with; all of them where it may have ended or looks around.
pub(super) struct FirstBytes {
    first: Box<Bytes>,
    second: Box<Bytes>,
}

impl FirstBytes {
    /// Of an expression that is matched against bytes.
    pub(super) fn of(expression: &Hir) -> Self {
        let begins = begins(expression);
        let first = if begins.may_be_empty { ALL } else { begins.first };
        let second = if begins.may_be_empty || begins.may_be_one { ALL } else { begins.second };
        Self { first: Box::new(first), second: Box::new(second) }
    }

    /// Whether a match may begin where `rest` does.
    pub(super) fn may_begin(&self, rest: &[u8]) -> bool {
        // Nothing can follow the end of a text but what matches nothing.
        rest.first().is_none_or(|byte| self.first[usize::from(*byte)])
            && rest.get(1).is_none_or(|byte| self.second[usize::from(*byte)])
    }
}

/// How the matches of an expression begin.
struct Begins {
    first: Bytes,
    second: Bytes,
    may_be_empty: bool,
    /// Whether a match may be one byte long.
    may_be_one: bool,
}

impl Begins {
    const EMPTY: Self = Self { first: NONE, second: NONE, may_be_empty: true, may_be_one: false };

    fn one(first: Bytes) -> Self {
        Self { first, second: NONE, may_be_empty: false, may_be_one: true }
    }

    /// Either of two.
    fn or(self, other: &Self) -> Self {
        Self {
            first: both(&self.first, &other.first),
            second: both(&self.second, &other.second),
            may_be_empty: self.may_be_empty || other.may_be_empty,
            may_be_one: self.may_be_one || other.may_be_one,
        }
    }

    /// One behind the other.
    fn then(self, next: &Self) -> Self {
        let first = if self.may_be_empty { both(&self.first, &next.first) } else { self.first };
        let mut second = self.second;
        if self.may_be_one {
            second = both(&second, &next.first);
        }
        if self.may_be_empty {
            second = both(&second, &next.second);
        }
        Self {
            first,
            second,
            may_be_empty: self.may_be_empty && next.may_be_empty,
            may_be_one: self.may_be_one && next.may_be_empty || self.may_be_empty && next.may_be_one,
        }
    }
}

fn both(left: &Bytes, right: &Bytes) -> Bytes {
    std::array::from_fn(|byte| left[byte] || right[byte])
}

fn begins(expression: &Hir) -> Begins {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => Begins::EMPTY,
        HirKind::Literal(literal) => literal
            .0
            .iter()
            .take(2)
            .fold(Begins::EMPTY, |begins, byte| begins.then(&Begins::one(set([*byte])))),
        HirKind::Class(Class::Bytes(class)) => {
            Begins::one(set(class.iter().flat_map(|range| range.start()..=range.end())))
        }
        // Expressions are over bytes; one over characters would say nothing here.
        HirKind::Class(Class::Unicode(_)) => {
            Begins { first: ALL, second: ALL, may_be_empty: false, may_be_one: true }
        }
        HirKind::Repetition(repeated) => {
            let once = begins(&repeated.sub);
            let twice = begins(&repeated.sub).then(&once);
            let most = if repeated.max == Some(1) { once } else { twice.or(&once) };
            let may_be_empty = most.may_be_empty || repeated.min == 0;
            let may_be_one = most.may_be_one && repeated.min <= 1 || may_be_empty && most.may_be_one;
            Begins { may_be_empty, may_be_one, ..most }
        }
        HirKind::Capture(capture) => begins(&capture.sub),
        HirKind::Concat(parts) => parts.iter().fold(Begins::EMPTY, |all, part| all.then(&begins(part))),
        HirKind::Alternation(parts) => {
            let none = Begins { may_be_empty: false, ..Begins::EMPTY };
            parts.iter().fold(none, |any, part| any.or(&begins(part)))
        }
    }
}

fn set(bytes: impl IntoIterator<Item = u8>) -> Bytes {
    let mut set = NONE;
    bytes.into_iter().for_each(|byte| set[usize::from(byte)] = true);
    set
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
