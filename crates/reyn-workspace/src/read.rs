//! Reading files in pages: bounded memory whatever the file, and the encoding by name.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::permission::{FileAxis, Target};
use reyn_core::text::{nearest, shown_path};
use reyn_text::encoding::{Detected, Encoding, NotText, detect};
use reyn_text::reader::DecodingReader;
use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use crate::bounds::{ENCODING_SAMPLE_BYTES, NEAR_NAMES_MAX, PAGE_READ_BYTES};
use crate::error::FileError;
use crate::open::{FOLDER_FLAGS, words};
use crate::{Workspace, tail};

/// Which part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// Lines to skip; below 0, how many lines before the end to begin.
    pub offset: i64,
    /// Lines at most.
    pub limit: Option<u64>,
    /// Characters to skip after that, for very long lines.
    pub char_offset: u64,
    /// The encoding, when the caller knows it.
    pub encoding: Option<Encoding>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The text, at most [`RESULT_BYTES_MAX`] bytes.
    pub text: String,
    /// Where the next page begins, when there is more.
    pub next: Option<Next>,
    /// How many lines there are, when the page begins behind the last one.
    pub lines_if_behind: Option<u64>,
    /// What the bytes were decoded with. ASCII counts as UTF-8.
    pub encoding: Encoding,
    /// Whether that is more than a guess.
    pub is_sure: bool,
    /// Whether some bytes could not be decoded; U+FFFD stands for them.
    pub is_damaged: bool,
}

/// Where the next page begins, in the terms of [`PageRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// The line; below 0 when the request counted from the end.
    pub offset: i64,
    /// Characters to skip from there.
    pub char_offset: u64,
}

impl Workspace {
    /// Reads a page of a text file.
    ///
    /// # Errors
    /// When it is missing, not a regular file, not text, or the call is cancelled.
    pub fn read_page(
        &self,
        target: &Target,
        request: PageRequest,
        cancel: &CancellationToken,
    ) -> Result<Page, FileError> {
        // A page of no lines would lead nowhere.
        let request = PageRequest { limit: request.limit.map(|limit| limit.max(1)), ..request };
        let mut file = self.open_to_read(target, "read")?;
        let source = Source { name: &target.asked, cancel };
        let sample = source.sample(&mut file)?;
        let detected = source.detect(&sample, request.encoding)?;
        let page = if detected.encoding.is_utf8() && detected.is_sure {
            source.page_of_utf8(&mut file, &sample, detected, request)?
        } else {
            Some(source.page_decoded(&mut file, &sample, detected, request)?)
        };
        match page {
            Some(page) => Ok(page),
            // The beginning is UTF-8 and this part is not.
            None => {
                let detected =
                    Detected { is_sure: false, ..source.detect_inside(&mut file, &sample, request)? };
                source.page_decoded(&mut file, &sample, detected, request)
            }
        }
    }

    /// Opens a regular file for reading. Never waits, and never opens a device: opening some of them does
    /// something already.
    pub(crate) fn open_to_read(&self, target: &Target, verb: &str) -> Result<File, FileError> {
        let fail = |errno| self.open_error(target, errno, verb);
        let stat = self.lstat(&target.path).map_err(fail)?;
        self.check_regular(target, &stat, verb)?;
        let file = self.open_real(&target.path, OFlags::RDONLY | OFlags::NONBLOCK).map_err(fail)?;
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        self.check_regular(target, &stat, verb)?;
        self.check_twin(target, FileAxis::Read, &stat, verb)?;
        if is_process_memory(&target.path, &file) {
            return Err(FileError::failed(format!(
                "cannot {verb} `{}`: it shows the memory or the environment of a process",
                target.asked
            )));
        }
        Ok(File::from(file))
    }

    fn check_regular(&self, target: &Target, stat: &Stat, verb: &str) -> Result<(), FileError> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(()),
            FileType::Directory => {
                Err(FileError::failed(format!("cannot {verb} `{}`: it is a folder", target.asked))
                    .hint("`list_directory` shows what is in it"))
            }
            FileType::Symlink => Err(self.open_error(target, Errno::LOOP, verb)),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Err(FileError::failed(format!(
                "cannot {verb} `{}`: it is a pipe, a socket or a device, not a file",
                target.asked
            ))),
        }
    }

    /// Refuses a file that has become another name of a guarded one since it was judged.
    pub(crate) fn check_twin(
        &self,
        target: &Target,
        axis: FileAxis,
        stat: &Stat,
        verb: &str,
    ) -> Result<(), FileError> {
        let twin = self.guarded_twin(axis, &target.path, stat);
        if twin.is_none() || twin == target.same_as {
            return Ok(());
        }
        Err(FileError::failed(format!(
            "cannot {verb} `{}`: it turned into another file while the call was judged",
            target.asked
        ))
        .hint("call again to have it judged as what it is now"))
    }

    /// The error for an open that failed, with near names when the name is wrong.
    pub(crate) fn open_error(&self, target: &Target, errno: Errno, verb: &str) -> FileError {
        let asked = &target.asked;
        match errno {
            Errno::NOENT if self.is_root_moved() => FileError::failed(format!(
                "cannot {verb} `{asked}`: the workspace folder was moved, deleted or replaced since the session began"
            ))
            .hint("the person starts a new session in the folder that is there now"),
            Errno::NOENT => {
                FileError::failed(format!("cannot {verb} `{asked}`: there is no such file or folder"))
                    .suggest(self.near_paths(&target.path))
                    .hint("`list_directory` shows what is there")
            }
            Errno::NOTDIR => FileError::failed(format!(
                "cannot {verb} `{asked}`: a part of the path is a file or a symbolic link, not a folder"
            )),
            Errno::LOOP => FileError::failed(format!(
                "cannot {verb} `{asked}`: a part of the path turned into a symbolic link while the call was judged"
            )),
            Errno::ACCESS | Errno::PERM => {
                FileError::failed(format!("cannot {verb} `{asked}`: the system denies it to this user"))
            }
            Errno::BUSY => FileError::failed(format!(
                "cannot {verb} `{asked}`: it is a mount point, and only what is in it can be changed"
            )),
            other => FileError::failed(format!("cannot {verb} `{asked}`: {}", words(other))),
        }
    }

    /// Paths that are near a missing one: beside it, or where a folder on the way to it is missing, in one whose
    /// name is near, and only that folder where the file is in none of them.
    fn near_paths(&self, missing: &Path) -> Vec<String> {
        let mut at = missing;
        let mut rest = vec![];
        // The first folder on the way up that is there.
        while let (Some(folder), Some(name)) = (at.parent(), at.file_name()) {
            if folder == Path::new("/") || self.open_real(folder, FOLDER_FLAGS).is_ok() {
                break;
            }
            rest.push(name);
            at = folder;
        }
        let rest: PathBuf = rest.into_iter().rev().collect();
        let near = self.near_entries(at);
        if rest.as_os_str().is_empty() {
            return near.into_iter().map(|(shown, _)| shown).collect();
        }
        let is_there = |path: &Path| {
            let folder = path.parent().and_then(|folder| self.open_real(folder, FOLDER_FLAGS).ok());
            let name = path.file_name();
            folder.zip(name).is_some_and(|(folder, name)| {
                rustix::fs::statat(&folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok()
            })
        };
        let is_told = |path: &Path| self.zones.is_inside(path) && !self.zones.is_guarded_from_reading(path);
        let whole: Vec<String> = near
            .iter()
            .map(|(_, path)| path.join(&rest))
            .filter(|path| is_told(path) && is_there(path))
            .map(|path| self.display(&path))
            .collect();
        if whole.is_empty() { near.into_iter().map(|(shown, _)| shown).collect() } else { whole }
    }

    /// Entries of a folder whose names are near a missing one, as they are shown and where they are.
    fn near_entries(&self, missing: &Path) -> Vec<(String, PathBuf)> {
        use std::os::unix::ffi::OsStrExt as _;
        let (Some(folder), Some(name)) = (missing.parent(), missing.file_name()) else { return vec![] };
        // A permission for one path is none for the names beside it, and none to hear of keys.
        let is_told = |path: &Path| self.zones.is_inside(path) && !self.zones.is_guarded_from_reading(path);
        if !is_told(folder) {
            return vec![];
        }
        let Ok(opened) = self.open_real(folder, FOLDER_FLAGS) else { return vec![] };
        let Ok(entries) = rustix::fs::Dir::read_from(&opened) else { return vec![] };
        let names: Vec<String> = entries
            .filter_map(Result::ok)
            .map(|entry| std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned())
            .filter(|name| name != "." && name != ".." && is_told(&folder.join(name)))
            .map(|name| shown_path(Path::new(&name)))
            .take(NEAR_NAMES_MAX)
            .collect();
        let shown = self.display(folder);
        nearest(&name.to_string_lossy(), names.iter().map(String::as_str))
            .into_iter()
            .map(|near| {
                let path = folder.join(&near);
                match shown.as_str() {
                    "." => (near, path),
                    "/" => (format!("/{near}"), path),
                    shown => (format!("{shown}/{near}"), path),
                }
            })
            .collect()
    }
}

/// The beginning of a file.
struct Sample {
    bytes: Vec<u8>,
    is_whole: bool,
}

/// A file that is read for one page.
struct Source<'a> {
    name: &'a str,
    cancel: &'a CancellationToken,
}

impl Source<'_> {
    fn sample(&self, file: &mut File) -> Result<Sample, FileError> {
        let mut bytes = vec![];
        let mut limited = file.take(ENCODING_SAMPLE_BYTES as u64 + 1);
        limited.read_to_end(&mut bytes).map_err(|error| self.failed(&error))?;
        let is_whole = bytes.len() <= ENCODING_SAMPLE_BYTES;
        bytes.truncate(ENCODING_SAMPLE_BYTES);
        Ok(Sample { bytes, is_whole })
    }

    fn failed(&self, error: &std::io::Error) -> FileError {
        FileError::failed(format!("cannot read `{}`: {error}", self.name))
    }

    fn detect(&self, sample: &Sample, declared: Option<Encoding>) -> Result<Detected, FileError> {
        detect(&sample.bytes, sample.is_whole, declared).map_err(|why| not_text(self.name, why))
    }

    /// The encoding of a part of the file, when its beginning did not show it.
    fn detect_inside(
        &self,
        file: &mut File,
        sample: &Sample,
        request: PageRequest,
    ) -> Result<Detected, FileError> {
        if !sample.bytes.is_ascii() {
            return Ok(Detected { encoding: Encoding::UTF_8, mark_len: 0, is_sure: false });
        }
        let (mut reader, offset) = self.at(file, sample, 0, request.offset, 1)?;
        let request = PageRequest { offset, ..request };
        self.skip(&mut reader, request)?;
        let mut bytes = vec![];
        reader.take(RESULT_BYTES_MAX as u64).read_to_end(&mut bytes).map_err(|error| self.failed(&error))?;
        let cut = Sample { bytes, is_whole: false };
        Ok(Detected { mark_len: 0, ..self.detect(&cut, None)? })
    }

    /// A reader at the beginning, or at the line counted from the end; and the offset it stands at, which is
    /// 0 when there are no more lines than were asked for.
    fn at<'f>(
        &self,
        file: &'f mut File,
        sample: &'f Sample,
        mark_len: usize,
        offset: i64,
        unit: usize,
    ) -> Result<(Reader<'f>, i64), FileError> {
        let failed = |error: std::io::Error| self.failed(&error);
        let mut offset = offset;
        if offset < 0 {
            let lines = offset.unsigned_abs();
            let start = tail::start_of_last_lines(file, lines, unit, mark_len as u64, self.cancel)
                .map_err(failed)?
                .ok_or(FileError::Cancelled)?;
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
            if start <= mark_len as u64 {
                offset = 0;
            }
        } else if sample.is_whole {
            let text = &sample.bytes[mark_len.min(sample.bytes.len())..];
            return Ok((Reader::Sample(Cursor::new(text)), offset));
        } else {
            file.seek(SeekFrom::Start(mark_len as u64)).map_err(failed)?;
        }
        Ok((Reader::File(BufReader::with_capacity(PAGE_READ_BYTES, file)), offset))
    }

    /// Skips what the request does not want. Returns the lines there are when it is behind them all.
    fn skip(&self, reader: &mut impl BufRead, request: PageRequest) -> Result<Option<u64>, FileError> {
        let lines = u64::try_from(request.offset).unwrap_or(0);
        let skipped = self.skip_lines(reader, lines)?;
        if skipped < lines {
            return Ok(Some(skipped));
        }
        self.skip_chars(reader, request.char_offset)?;
        Ok(None)
    }

    /// `None` when the page is not UTF-8.
    fn page_of_utf8(
        &self,
        file: &mut File,
        sample: &Sample,
        detected: Detected,
        request: PageRequest,
    ) -> Result<Option<Page>, FileError> {
        let (mut reader, offset) = self.at(file, sample, detected.mark_len, request.offset, 1)?;
        let request = PageRequest { offset, ..request };
        let behind = self.skip(&mut reader, request)?;
        let (bytes, next) = self.take_page(&mut reader, request)?;
        if bytes.contains(&0) {
            return Err(not_text(self.name, NotText::Binary));
        }
        Ok(String::from_utf8(bytes).ok().map(|text| Page {
            text,
            next,
            lines_if_behind: behind,
            encoding: detected.encoding,
            is_sure: true,
            is_damaged: false,
        }))
    }

    fn page_decoded(
        &self,
        file: &mut File,
        sample: &Sample,
        detected: Detected,
        request: PageRequest,
    ) -> Result<Page, FileError> {
        let Detected { encoding, mark_len, is_sure } = detected;
        let (raw, offset) = self.at(file, sample, mark_len, request.offset, encoding.unit_len())?;
        let request = PageRequest { offset, ..request };
        let mut reader = DecodingReader::new(raw, encoding, 0);
        let behind = self.skip(&mut reader, request)?;
        let (bytes, next) = self.take_page(&mut reader, request)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_damaged = text.contains('\u{FFFD}') && reader.undecodable();
        Ok(Page { text, next, lines_if_behind: behind, encoding, is_sure, is_damaged })
    }

    /// Skips lines; returns how many there were to skip.
    fn skip_lines(&self, reader: &mut impl BufRead, lines: u64) -> Result<u64, FileError> {
        let mut skipped = 0;
        let mut is_inside = false;
        while skipped < lines {
            self.check()?;
            let buffer = reader.fill_buf().map_err(|error| self.failed(&error))?;
            if buffer.is_empty() {
                break;
            }
            let wanted = usize::try_from(lines - skipped).unwrap_or(usize::MAX);
            let inside = memchr::memchr_iter(b'\n', buffer).count();
            let taken = if inside < wanted {
                skipped += inside as u64;
                is_inside = buffer.last() != Some(&b'\n');
                buffer.len()
            } else {
                skipped = lines;
                memchr::memchr_iter(b'\n', buffer).nth(wanted - 1).map_or(buffer.len(), |at| at + 1)
            };
            reader.consume(taken);
        }
        // A last line without an end is a line too.
        Ok(if skipped < lines { skipped + u64::from(is_inside) } else { skipped })
    }

    fn skip_chars(&self, reader: &mut impl BufRead, chars: u64) -> Result<(), FileError> {
        if chars == 0 {
            return Ok(());
        }
        let mut left = chars;
        loop {
            self.check()?;
            let buffer = reader.fill_buf().map_err(|error| self.failed(&error))?;
            if buffer.is_empty() {
                return Ok(());
            }
            // Beyond the end of the line there is nothing of it: its end is left.
            let line_end = memchr::memchr(b'\n', buffer);
            let buffer = line_end.map_or(buffer, |at| &buffer[..at]);
            let begun = buffer.iter().filter(|byte| !is_continuation(**byte)).count() as u64;
            if begun <= left {
                // The last skipped character may reach into the next buffer, where it does not begin.
                left -= begun;
                let taken = buffer.len();
                reader.consume(taken);
                if line_end.is_some() {
                    return Ok(());
                }
                continue;
            }
            let wanted = usize::try_from(left).unwrap_or(usize::MAX);
            let mut begins = buffer.iter().enumerate().filter(|(_, byte)| !is_continuation(**byte));
            let taken = begins.nth(wanted).map_or(buffer.len(), |(at, _)| at);
            reader.consume(taken);
            return Ok(());
        }
    }

    /// Takes lines up to the limit and the size of a page.
    fn take_page(
        &self,
        reader: &mut impl BufRead,
        request: PageRequest,
    ) -> Result<(Vec<u8>, Option<Next>), FileError> {
        let mut bytes: Vec<u8> = vec![];
        let mut lines = 0_u64;
        let at = |lines: u64| Next {
            offset: request.offset.saturating_add(i64::try_from(lines).unwrap_or(i64::MAX)),
            char_offset: 0,
        };
        loop {
            if request.limit.is_some_and(|limit| lines >= limit) {
                let rest = reader.fill_buf().map_err(|error| self.failed(&error))?;
                return Ok((bytes, (!rest.is_empty()).then(|| at(lines))));
            }
            let start = bytes.len();
            let room = RESULT_BYTES_MAX - start;
            let mut limited = reader.take(room as u64 + 1);
            let taken = limited.read_until(b'\n', &mut bytes).map_err(|error| self.failed(&error))?;
            if taken == 0 {
                return Ok((bytes, None));
            }
            if bytes.len() <= RESULT_BYTES_MAX {
                lines += 1;
                continue;
            }
            if lines > 0 {
                bytes.truncate(start);
                return Ok((bytes, Some(at(lines))));
            }
            // The first line does not fit: a part of it is all that can be shown.
            let chars = cut_at_character(&mut bytes, RESULT_BYTES_MAX);
            let next = Next { offset: request.offset, char_offset: request.char_offset + chars };
            return Ok((bytes, Some(next)));
        }
    }

    fn check(&self) -> Result<(), FileError> {
        if self.cancel.is_cancelled() { Err(FileError::Cancelled) } else { Ok(()) }
    }
}

/// What a page is read from: the sample when that is all of the file.
enum Reader<'a> {
    Sample(Cursor<&'a [u8]>),
    File(BufReader<&'a mut File>),
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Sample(sample) => sample.read(buffer),
            Self::File(file) => file.read(buffer),
        }
    }
}

impl BufRead for Reader<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        match self {
            Self::Sample(sample) => sample.fill_buf(),
            Self::File(file) => file.fill_buf(),
        }
    }
    fn consume(&mut self, taken: usize) {
        match self {
            Self::Sample(sample) => sample.consume(taken),
            Self::File(file) => file.consume(taken),
        }
    }
}

/// Whether this is what [`reyn_core::permission::Zones`] seals below `/proc`, mounted in another place.
fn is_process_memory(path: &Path, file: &impl std::os::fd::AsFd) -> bool {
    let has_name =
        path.file_name().is_some_and(|name| ["environ", "mem", "kcore"].iter().any(|one| name == *one));
    #[cfg(target_os = "linux")]
    let is_proc = || rustix::fs::fstatfs(file).is_ok_and(|stat| stat.f_type == rustix::fs::PROC_SUPER_MAGIC);
    #[cfg(not(target_os = "linux"))]
    let is_proc = || false;
    has_name && is_proc()
}

/// The error for a file that is no text.
pub(crate) fn not_text(name: &str, why: NotText) -> FileError {
    let what = match why {
        NotText::Binary => "it is a binary file, not text",
        NotText::Utf32 => "it is UTF-32 text, which is not supported",
    };
    FileError::failed(format!("cannot read `{name}`: {what}"))
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Cuts `bytes` to at most `bytes_max`, at the beginning of a character; returns how many are left.
fn cut_at_character(bytes: &mut Vec<u8>, bytes_max: usize) -> u64 {
    let mut end = bytes_max.min(bytes.len());
    // Four bytes at most: what is no UTF-8 has no beginning to look for.
    for _ in 0..4 {
        if bytes.get(end).is_some_and(|byte| is_continuation(*byte)) {
            end -= 1;
        }
    }
    bytes.truncate(end);
    bytes.iter().filter(|byte| !is_continuation(**byte)).count() as u64
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
