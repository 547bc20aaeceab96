//! A file as a search sees it: every CR LF as one LF, with the way back to the bytes of the file.

use std::borrow::Cow;

use memchr::memchr_iter;

use super::line_ends::LineEnds;

/// Bytes without the carriage returns of line endings.
pub(super) struct View<'a> {
    /// What is searched.
    pub(super) bytes: Cow<'a, [u8]>,
    /// Where in `bytes` the line feeds are that follow a carriage return in the file; ascending.
    crlf_feeds: Vec<usize>,
    unit: usize,
}

impl<'a> View<'a> {
    /// The file as it is.
    pub(super) const fn plain(bytes: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), crlf_feeds: vec![], unit: 1 }
    }

    /// The file with one kind of line ending. Copies the bytes only where the file has CR LF.
    pub(super) fn without_returns(bytes: &'a [u8], ends: LineEnds) -> Self {
        let unit = ends.unit();
        let mut view = Vec::new();
        let mut crlf_feeds = vec![];
        let mut copied = 0;
        for at in memchr_iter(b'\r', bytes).map(|at| at - at % unit) {
            if ends.is_at(bytes, at, b'\r') && ends.is_at(bytes, at + unit, b'\n') {
                if copied == 0 {
                    view.reserve_exact(bytes.len());
                }
                view.extend_from_slice(&bytes[copied..at]);
                crlf_feeds.push(view.len());
                copied = at + unit;
            }
        }
        if crlf_feeds.is_empty() {
            return Self::plain(bytes);
        }
        view.extend_from_slice(&bytes[copied..]);
        Self { bytes: Cow::Owned(view), crlf_feeds, unit }
    }

    /// Whether these are the bytes of the file.
    pub(super) fn is_plain(&self) -> bool {
        self.crlf_feeds.is_empty()
    }

    /// The place in the file; for a line feed, the place before its carriage return.
    pub(super) fn in_file(&self, at: usize) -> usize {
        at + self.unit * self.crlf_feeds.partition_point(|feed| *feed < at)
    }

    /// Whether the line feed at `at` of the view follows a carriage return in the file.
    pub(super) fn is_crlf(&self, at: usize) -> bool {
        self.crlf_feeds.binary_search(&at).is_ok()
    }
}
