//! Line feeds and carriage returns in bytes, by the units of an encoding.
//!
//! A line feed directly after a carriage return is one ending with it. Positions are those of whole files,
//! so a unit of two bytes stands at even ones.

use memchr::{memchr, memchr_iter, memrchr};

use crate::encoding::Encoding;

/// How line endings are written in one encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// One byte: all encodings but UTF-16.
    Byte,
    /// UTF-16, low byte first.
    Low,
    /// UTF-16, high byte first.
    High,
}

impl LineEnds {
    pub(crate) fn of(encoding: Option<Encoding>) -> Self {
        match encoding {
            Some(known) if known == Encoding::UTF_16LE => Self::Low,
            Some(known) if known == Encoding::UTF_16BE => Self::High,
            _ => Self::Byte,
        }
    }

    /// Bytes of a unit.
    pub(crate) const fn unit(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Low | Self::High => 2,
        }
    }

    /// The bytes of a line feed, after those of a carriage return when `is_crlf`.
    pub(crate) const fn ending(self, is_crlf: bool) -> &'static [u8] {
        match (self, is_crlf) {
            (Self::Byte, false) => b"\n",
            (Self::Byte, true) => b"\r\n",
            (Self::Low, false) => b"\n\0",
            (Self::Low, true) => b"\r\0\n\0",
            (Self::High, false) => b"\0\n",
            (Self::High, true) => b"\0\r\0\n",
        }
    }

    /// Whether the unit at `at` is the ASCII character `wanted`.
    pub(crate) fn is_at(self, bytes: &[u8], at: usize, wanted: u8) -> bool {
        match self {
            Self::Byte => bytes.get(at) == Some(&wanted),
            Self::Low => bytes.get(at) == Some(&wanted) && bytes.get(at + 1) == Some(&0),
            Self::High => bytes.get(at) == Some(&0) && bytes.get(at + 1) == Some(&wanted),
        }
    }

    /// Where the first line feed at or after `from` is.
    pub(crate) fn next(self, bytes: &[u8], from: usize) -> Option<usize> {
        if self == Self::Byte {
            return memchr(b'\n', bytes.get(from..)?).map(|at| from + at);
        }
        let from = from.next_multiple_of(2);
        memchr_iter(b'\n', bytes.get(from..)?)
            .map(|at| (from + at) & !1)
            .find(|at| self.is_at(bytes, *at, b'\n'))
    }

    /// Where the last line feed is that ends at or before `before`.
    pub(crate) fn previous(self, bytes: &[u8], before: usize) -> Option<usize> {
        if self == Self::Byte {
            return memrchr(b'\n', &bytes[..before]);
        }
        memchr::memrchr_iter(b'\n', &bytes[..before & !1])
            .map(|at| at & !1)
            .find(|at| self.is_at(bytes, *at, b'\n'))
    }

    /// Whether a line begins at `at`: at the beginning, and after each line feed.
    pub(crate) fn is_line_start(self, bytes: &[u8], at: usize) -> bool {
        at.checked_sub(self.unit()).map_or(at == 0, |feed| self.is_at(bytes, feed, b'\n'))
    }

    /// Where the line that holds `at` begins.
    pub(crate) fn line_start(self, bytes: &[u8], at: usize) -> usize {
        self.previous(bytes, at).map_or(0, |feed| feed + self.unit())
    }

    /// Where the line that holds `at` ends, after its ending.
    pub(crate) fn line_end(self, bytes: &[u8], at: usize) -> usize {
        self.next(bytes, at).map_or(bytes.len(), |feed| feed + self.unit())
    }

    /// Line feeds in `bytes`, which begin at a unit.
    pub(crate) fn count(self, bytes: &[u8]) -> usize {
        match self {
            Self::Byte => memchr_iter(b'\n', bytes).count(),
            Self::Low => bytes.chunks_exact(2).filter(|unit| unit == b"\n\0").count(),
            Self::High => bytes.chunks_exact(2).filter(|unit| unit == b"\0\n").count(),
        }
    }

    /// Whether the line feed at `feed` has a carriage return before it.
    pub(crate) fn is_crlf(self, bytes: &[u8], feed: usize) -> bool {
        feed.checked_sub(self.unit()).is_some_and(|before| self.is_at(bytes, before, b'\r'))
    }

    /// Whether most lines end with CR LF; nothing when no line ends.
    pub(crate) fn is_mostly_crlf(self, bytes: &[u8]) -> Option<bool> {
        let feeds = self.count(bytes);
        let pairs = match self {
            Self::Byte => memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) == Some(&b'\n')).count(),
            Self::Low | Self::High => (2..bytes.len())
                .step_by(2)
                .filter(|at| self.is_at(bytes, *at, b'\n') && self.is_crlf(bytes, *at))
                .count(),
        };
        (feeds > 0).then_some(pairs * 2 > feeds)
    }

    /// The lines of `bytes`, each with its ending.
    pub(crate) fn lines(self, bytes: &[u8]) -> Vec<&[u8]> {
        let mut lines = vec![];
        let mut at = 0;
        while at < bytes.len() {
            let end = self.line_end(bytes, at);
            lines.push(&bytes[at..end]);
            at = end;
        }
        lines
    }
}
