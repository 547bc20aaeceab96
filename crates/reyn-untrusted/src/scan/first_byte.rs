//! Which bytes an expression may begin with: most words that could begin a pattern are told from it by one byte.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The bytes that a match may begin with; all of them when it may be empty or looks around.
pub(super) struct FirstBytes([bool; 256]);

impl FirstBytes {
    /// Of an expression that is matched against bytes.
    pub(super) fn of(expression: &Hir) -> Self {
        let mut bytes = [false; 256];
        let may_be_empty = collect(expression, &mut bytes);
        Self(if may_be_empty { [true; 256] } else { bytes })
    }

    /// Whether a match may begin where `rest` does.
    pub(super) fn may_begin(&self, rest: &[u8]) -> bool {
        // Nothing can follow the end of a text but what matches nothing.
        rest.first().is_none_or(|byte| self.0[usize::from(*byte)])
    }
}

/// Adds the first bytes of an expression, and says whether it may match without a byte.
fn collect(expression: &Hir, bytes: &mut [bool; 256]) -> bool {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => {
            if let Some(byte) = literal.0.first() {
                bytes[usize::from(*byte)] = true;
            }
            literal.0.is_empty()
        }
        HirKind::Class(Class::Bytes(class)) => {
            for range in class.iter() {
                (range.start()..=range.end()).for_each(|byte| bytes[usize::from(byte)] = true);
            }
            false
        }
        HirKind::Class(Class::Unicode(class)) => {
            let first = |c: char| c.encode_utf8(&mut [0; 4]).as_bytes()[0];
            for range in class.iter() {
                (first(range.start())..=first(range.end())).for_each(|byte| bytes[usize::from(byte)] = true);
            }
            false
        }
        HirKind::Repetition(repeated) => collect(&repeated.sub, bytes) || repeated.min == 0,
        HirKind::Capture(capture) => collect(&capture.sub, bytes),
        HirKind::Concat(parts) => parts.iter().all(|part| collect(part, bytes)),
        // Every part is looked at, whatever the others may be.
        HirKind::Alternation(parts) => parts.iter().filter(|part| collect(part, bytes)).count() > 0,
    }
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
}
