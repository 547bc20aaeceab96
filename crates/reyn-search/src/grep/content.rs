//! Reads a file and finds out what text it is.

use std::io::{self, Read};
use std::os::fd::OwnedFd;

use reyn_text::encoding::{Detected, NotText, detect};
use rustix::io::Errno;

use crate::bounds::{BINARY_SAMPLE_BYTES, ENCODING_SAMPLE_BYTES};
use crate::watch::{Stop, Watch};

/// What a file holds, as far as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// All of it was read: so many bytes.
    Whole(usize),
    /// More than is read whole; so many bytes of it were read.
    Beginning(usize),
    /// It is no text.
    Binary,
}

/// The text of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// UTF-8 that is searched as it is, behind a mark of so many bytes.
    Utf8 {
        mark_len: usize,
    },
    /// In another encoding.
    Encoded(Detected),
    Binary,
    Undecodable,
}

/// Reads a file into `buffer`, from the beginning, as a whole unless it has more than `whole_max` bytes.
///
/// `size` is what the system says; files of `/proc` have more than that.
pub(crate) fn read(
    file: &OwnedFd,
    size: usize,
    whole_max: usize,
    buffer: &mut Vec<u8>,
) -> Result<Content, Errno> {
    let mut len = 0;
    let mut wanted = if size == 0 { ENCODING_SAMPLE_BYTES } else { (size + 1).min(ENCODING_SAMPLE_BYTES) };
    loop {
        let is_at_end = fill(file, size, wanted, buffer, &mut len)?;
        if is_binary(&buffer[..len]) {
            return Ok(Content::Binary);
        }
        if len > whole_max || size > whole_max && !is_at_end {
            return Ok(Content::Beginning(len));
        }
        if is_at_end {
            return Ok(Content::Whole(len));
        }
        wanted = (size + 1).max(2 * len).min(whole_max + 1);
    }
}

/// Reads until `buffer` has `wanted` bytes, or to the end.
fn fill(
    file: &OwnedFd,
    size: usize,
    wanted: usize,
    buffer: &mut Vec<u8>,
    len: &mut usize,
) -> Result<bool, Errno> {
    // The buffer keeps its length from file to file, so that it is cleared only once.
    if buffer.len() < wanted {
        buffer.resize(wanted, 0);
    }
    while *len < wanted {
        match rustix::io::read(file, &mut buffer[*len..wanted]) {
            Ok(0) => return Ok(true),
            Ok(count) => *len += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        // Asking again to hear that there is no more would cost as much as reading a small file.
        if *len == size {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_binary(bytes: &[u8]) -> bool {
    let sample = beginning(bytes);
    let is_marked_utf16 = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
    let is_marked_utf32 = bytes.starts_with(b"\x00\x00\xFE\xFF");
    // NUL bytes are half of the text in UTF-16, also without a mark.
    let is_whole = sample.len() == bytes.len();
    let is_utf16 = || detect(sample, is_whole, None).is_ok_and(|found| found.encoding.is_utf16());
    !is_marked_utf16 && !is_marked_utf32 && memchr::memchr(0, sample).is_some() && !is_utf16()
}

fn beginning(bytes: &[u8]) -> &[u8] {
    bytes.get(..BINARY_SAMPLE_BYTES).unwrap_or(bytes)
}

/// Finds the encoding of `bytes`, which are a whole file or the beginning of one.
pub(crate) fn text_of(bytes: &[u8], is_whole: bool) -> Text {
    // Text with NUL bytes near its beginning is UTF-16, whose bytes may all be ASCII.
    let has_nul = memchr::memchr(0, beginning(bytes)).is_some();
    let is_utf8 = !has_nul
        && match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) => !is_whole && error.error_len().is_none(),
        };
    if is_utf8 {
        return Text::Utf8 { mark_len: if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 } };
    }
    match detect(bytes, is_whole, None) {
        Ok(detected) if detected.encoding.is_utf8() => Text::Utf8 { mark_len: detected.mark_len },
        Ok(detected) => Text::Encoded(detected),
        Err(NotText::Binary) => Text::Binary,
        Err(NotText::Utf32) => Text::Undecodable,
    }
}

/// A reader that fails when the search has to end, and remembers why it failed.
#[derive(Debug)]
pub(crate) struct Watched<'a, R> {
    reader: R,
    watch: &'a Watch<'a>,
    pub(crate) stop: Option<Stop>,
    pub(crate) has_failed: bool,
}

impl<'a, R> Watched<'a, R> {
    pub(crate) fn new(reader: R, watch: &'a Watch<'a>) -> Self {
        Self { reader, watch, stop: None, has_failed: false }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Err(stop) = self.watch.check() {
            self.stop = Some(stop);
            return Err(io::Error::other("the search ends"));
        }
        self.reader.read(buffer).inspect_err(|error| {
            self.has_failed = error.kind() != io::ErrorKind::Interrupted;
        })
    }
}
