//! Searches one file.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::fd::{AsFd, OwnedFd};

use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use reyn_text::encoding::Encoding;
use reyn_text::reader::DecodingReader;
use rustix::fs::Stat;

use crate::bounds::{Bounds, ENCODING_SAMPLE_BYTES, SLICE_BYTES_MAX};
use crate::folder::{file_id, is_out_of_descriptors, open_file, reason};
use crate::grep::across::search_across;
use crate::grep::content::{Content, Text, Watched, read, text_of};
use crate::grep::matcher::Matching;
use crate::grep::rows::{Row, Rows, Window};
use crate::grep::{GrepMode, GrepRequest, Job};
use crate::root::Gatekeeper;
use crate::skipped::Skipped;
use crate::watch::{Stop, Watch};

/// What the search of a file came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The lines of the results in `window`, and their context.
    pub(crate) rows: Vec<Row>,
    /// Not longer than the one that was asked for.
    pub(crate) window: Window,
    /// Results in the file, as far as they can matter.
    pub(crate) results: usize,
    /// The encoding, when it is not UTF-8.
    pub(crate) encoding: Option<&'static str>,
    pub(crate) ending: Ending,
}

/// How the search of a file ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    Searched,
    NotPermitted,
    Binary,
    TooLarge,
    Unreadable,
    /// At a line that is too long.
    LongLine,
    Undecodable,
    Stopped(Stop),
    /// No file can be opened any more; says why.
    OutOfDescriptors(String),
}

impl Ending {
    pub(crate) fn skipped(&self) -> Skipped {
        let mut skipped = Skipped::default();
        match self {
            Self::NotPermitted => skipped.not_permitted = 1,
            Self::Binary => skipped.binary = 1,
            Self::TooLarge => skipped.too_large = 1,
            Self::Unreadable => skipped.unreadable = 1,
            Self::LongLine => skipped.long_lines = 1,
            Self::Undecodable => skipped.undecodable = 1,
            Self::Searched | Self::Stopped(_) | Self::OutOfDescriptors(_) => {}
        }
        skipped
    }
}

/// Searches files one after another; each thread has its own.
pub(crate) struct FileSearch<'a> {
    request: &'a GrepRequest,
    matching: Matching,
    gatekeeper: Gatekeeper<'a>,
    watch: Watch<'a>,
    bounds: &'a Bounds,
    searcher: Searcher,
    buffer: Vec<u8>,
}

impl<'a> FileSearch<'a> {
    pub(crate) fn new(
        request: &'a GrepRequest,
        matching: &Matching,
        gatekeeper: Gatekeeper<'a>,
        watch: Watch<'a>,
        bounds: &'a Bounds,
    ) -> Self {
        let is_content = request.mode == GrepMode::Content;
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(is_content)
            .before_context(if is_content { request.before } else { 0 })
            .after_context(if is_content { request.after } else { 0 })
            .heap_limit(Some(bounds.line_bytes_max))
            .memory_map(MmapChoice::never())
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .build();
        Self { request, matching: matching.clone(), gatekeeper, watch, bounds, searcher, buffer: vec![] }
    }

    /// Searches a file for the results in `window`.
    pub(crate) fn search(&mut self, job: &Job, window: Window) -> Outcome {
        let mut outcome =
            Outcome { rows: vec![], window, results: 0, encoding: None, ending: Ending::Searched };
        outcome.ending = match self.open(job) {
            Err(ending) => ending,
            Ok((file, stat)) => {
                let mut buffer = std::mem::take(&mut self.buffer);
                let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX - 1);
                let ending = self.search_file(file, size, &mut buffer, &mut outcome);
                self.buffer = buffer;
                ending
            }
        };
        outcome
    }

    fn open(&mut self, job: &Job) -> Result<(OwnedFd, Stat), Ending> {
        self.watch.check().map_err(Ending::Stopped)?;
        let name = job.path.get(job.name_begin..).unwrap_or_default();
        let (file, stat) = match open_file(job.folder.as_fd(), name) {
            Ok(Some(opened)) => opened,
            Err(error) if is_out_of_descriptors(error) => {
                return Err(Ending::OutOfDescriptors(reason(error)));
            }
            Ok(None) | Err(_) => return Err(Ending::Unreadable),
        };
        if !self.gatekeeper.admits(&job.path, Some(file_id(&stat))) {
            return Err(Ending::NotPermitted);
        }
        Ok((file, stat))
    }

    fn search_file(
        &mut self,
        file: OwnedFd,
        size: usize,
        buffer: &mut Vec<u8>,
        outcome: &mut Outcome,
    ) -> Ending {
        let whole_max = if self.matching.is_multi_line {
            self.bounds.multi_line_file_bytes_max
        } else {
            self.bounds.whole_file_bytes_max
        };
        let (bytes, is_whole) = match read(&file, size, whole_max, buffer) {
            Err(_) => return Ending::Unreadable,
            Ok(Content::Binary) => return Ending::Binary,
            Ok(Content::Beginning(_)) if self.matching.is_multi_line => return Ending::TooLarge,
            Ok(Content::Whole(len)) => (&buffer[..len], true),
            Ok(Content::Beginning(len)) => (&buffer[..len], false),
        };
        let sample = if is_whole { bytes } else { bytes.get(..ENCODING_SAMPLE_BYTES).unwrap_or(bytes) };
        let (encoding, mark_len) = match text_of(sample, is_whole) {
            Text::Binary => return Ending::Binary,
            Text::Undecodable => return Ending::Undecodable,
            Text::Utf8 { mark_len } => (Encoding::UTF_8, mark_len),
            Text::Encoded(detected) => (detected.encoding, detected.mark_len),
        };
        let bytes = bytes.get(mark_len..).unwrap_or_default();
        outcome.encoding = (!encoding.is_utf8()).then(|| encoding.name());
        match (is_whole, encoding.is_utf8()) {
            (true, true) => self.search_text(bytes, outcome),
            (true, false) => self.search_text(encoding.decode(bytes).text.as_bytes(), outcome),
            (false, true) => self.search_reader(bytes.chain(File::from(file)), outcome),
            (false, false) => {
                let rest = bytes.chain(BufReader::new(File::from(file)));
                self.search_reader(DecodingReader::new(rest, encoding, 0), outcome)
            }
        }
    }

    fn search_text(&mut self, text: &[u8], outcome: &mut Outcome) -> Ending {
        if !self.matching.is_multi_line && text.len() > SLICE_BYTES_MAX {
            return self.search_reader(text, outcome);
        }
        let without_cr =
            (self.matching.is_multi_line && !self.matching.does_see_cr).then(|| without_cr(text)).flatten();
        let text = without_cr.as_deref().unwrap_or(text);
        let mut rows = Rows::new(self.request, &self.matching.matcher, &self.watch, outcome.window);
        let searched = if self.matching.is_multi_line {
            search_across(&self.matching.matcher, text, &mut rows)
        } else {
            self.searcher.search_slice(&self.matching.matcher, text, &mut rows)
        };
        let ending = match (rows.stop, searched) {
            (Some(stop), _) => Ending::Stopped(stop),
            (None, Ok(())) => Ending::Searched,
            (None, Err(_)) => Ending::LongLine,
        };
        rows.finish(outcome);
        ending
    }

    fn search_reader(&mut self, reader: impl Read, outcome: &mut Outcome) -> Ending {
        let mut reader = Watched::new(reader, &self.watch);
        let mut rows = Rows::new(self.request, &self.matching.matcher, &self.watch, outcome.window);
        let searched = self.searcher.search_reader(&self.matching.matcher, &mut reader, &mut rows);
        let ending = match (rows.stop.or(reader.stop), searched) {
            (Some(stop), _) => Ending::Stopped(stop),
            (None, Ok(())) => Ending::Searched,
            (None, Err(_)) if reader.has_failed => Ending::Unreadable,
            // What else can fail is the line buffer, which would have to grow beyond its bound.
            (None, Err(_)) => Ending::LongLine,
        };
        rows.finish(outcome);
        ending
    }
}

/// `text` with `\n` for `\r\n`; None when it has none of these.
fn without_cr(text: &[u8]) -> Option<Vec<u8>> {
    let mut kept = vec![];
    let mut begin = 0;
    for at in memchr::memmem::find_iter(text, b"\r\n") {
        kept.extend_from_slice(&text[begin..at]);
        begin = at + 1;
    }
    if begin == 0 {
        return None;
    }
    kept.extend_from_slice(&text[begin..]);
    Some(kept)
}
