//! Reading files in pages and listing folders, in bounded memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::permission::Target;
use reyn_core::text::nearest;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::open::open_real;
use crate::tool::ToolError;

/// Names of one folder that are looked at.
const ENTRIES_MAX: usize = 200_000;
/// Names of a folder that are compared with one that does not exist.
const NEAR_NAMES_MAX: usize = 2_000;

/// Which part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// Lines to skip.
    pub offset: u64,
    /// Lines at most.
    pub limit: Option<u64>,
    /// Characters to skip instead of lines, for files of few long lines.
    pub char_offset: Option<u64>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The text, at most [`RESULT_BYTES_MAX`] bytes.
    pub text: String,
    /// Where the next page begins, when there is more.
    pub next: Option<Next>,
}

/// Where the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At this line, counted from 0.
    Line(u64),
    /// At this character, counted from 0.
    Char(u64),
}

/// The names in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Sorted by name, at most as many as were asked for.
    pub entries: Vec<ListedEntry>,
    /// How many there are in all.
    pub total: usize,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedEntry {
    /// The name; bytes that are not UTF-8 are shown as U+FFFD.
    pub name: String,
    /// `/` for a folder, `@` for a link, nothing for a file.
    pub mark: &'static str,
}

impl Workspace {
    /// Reads a page of a UTF-8 text file.
    ///
    /// # Errors
    /// When it is missing, not a regular file, not text, or the turn is cancelled.
    pub fn read_page(
        &self,
        target: &Target,
        request: PageRequest,
        cancel: &CancellationToken,
    ) -> Result<Page, ToolError> {
        let file = self.open_regular(target)?;
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        let name = &target.asked;
        match request.char_offset {
            Some(skip) => read_chars(&mut reader, skip, name, cancel),
            None => read_lines(&mut reader, request, name, cancel),
        }
    }

    /// Lists a folder.
    ///
    /// # Errors
    /// When it is missing, not a folder, or the turn is cancelled.
    pub fn list(
        &self,
        target: &Target,
        entries_max: usize,
        cancel: &CancellationToken,
    ) -> Result<Listing, ToolError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let folder = open_real(&target.path, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::NOTDIR if target.path.is_file() => {
                ToolError::failed(format!("cannot list `{}`: it is a file, not a folder", target.asked))
                    .hint("`read_file` reads it")
            }
            other => self.open_error(target, other, "list"),
        })?;
        let unreadable =
            |error: Errno| ToolError::failed(format!("cannot list `{}`: {}", target.asked, words(error)));
        let mut entries = vec![];
        for entry in rustix::fs::Dir::read_from(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "." || name == ".." {
                continue;
            }
            let mark = match entry.file_type() {
                rustix::fs::FileType::Directory => "/",
                rustix::fs::FileType::Symlink => "@",
                rustix::fs::FileType::RegularFile
                | rustix::fs::FileType::Fifo
                | rustix::fs::FileType::Socket
                | rustix::fs::FileType::CharacterDevice
                | rustix::fs::FileType::BlockDevice
                | rustix::fs::FileType::Unknown => "",
            };
            entries.push(ListedEntry { name, mark });
            if cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            if entries.len() >= ENTRIES_MAX {
                return Err(ToolError::failed(format!(
                    "cannot list `{}`: it holds more than {ENTRIES_MAX} names",
                    target.asked
                ))
                .hint("name a folder below it"));
            }
        }
        let total = entries.len();
        entries.sort();
        entries.truncate(entries_max);
        Ok(Listing { entries, total })
    }

    /// Opens a regular file for reading. Never waits: a pipe without a writer is refused, not opened.
    fn open_regular(&self, target: &Target) -> Result<File, ToolError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = open_real(&target.path, flags, Mode::empty())
            .map_err(|errno| self.open_error(target, errno, "read"))?;
        let file = File::from(file);
        let meta = file
            .metadata()
            .map_err(|error| ToolError::failed(format!("cannot read `{}`: {error}", target.asked)))?;
        if meta.is_dir() {
            return Err(ToolError::failed(format!("cannot read `{}`: it is a folder", target.asked))
                .hint("`list_directory` shows what is in it"));
        }
        if !meta.is_file() {
            return Err(ToolError::failed(format!(
                "cannot read `{}`: it is a pipe, a socket or a device, not a file",
                target.asked
            )));
        }
        Ok(file)
    }

    /// The error for an open that failed, with near names when the name is wrong.
    pub(super) fn open_error(&self, target: &Target, errno: Errno, verb: &str) -> ToolError {
        let asked = &target.asked;
        match errno {
            Errno::NOENT => {
                ToolError::failed(format!("cannot {verb} `{asked}`: there is no such file or folder"))
                    .suggest(self.near_paths(&target.path))
                    .hint("`list_directory` shows what is there")
            }
            Errno::NOTDIR => ToolError::failed(format!(
                "cannot {verb} `{asked}`: a part of the path is a file or a symbolic link, not a folder"
            )),
            Errno::LOOP => ToolError::failed(format!(
                "cannot {verb} `{asked}`: a part of the path turned into a symbolic link while the call was judged"
            )),
            Errno::ACCESS | Errno::PERM => {
                ToolError::failed(format!("cannot {verb} `{asked}`: the system denies it to this user"))
            }
            other => ToolError::failed(format!("cannot {verb} `{asked}`: {}", words(other))),
        }
    }

    /// Paths in the same folder whose names are near a missing one.
    fn near_paths(&self, missing: &Path) -> Vec<String> {
        let (Some(folder), Some(name)) = (missing.parent(), missing.file_name()) else { return vec![] };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let Ok(opened) = open_real(folder, flags, Mode::empty()) else { return vec![] };
        let Ok(entries) = rustix::fs::Dir::read_from(&opened) else { return vec![] };
        let names: Vec<String> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name != "." && name != "..")
            .take(NEAR_NAMES_MAX)
            .collect();
        nearest(&name.to_string_lossy(), names.iter().map(String::as_str))
            .into_iter()
            .map(|near| match folder.strip_prefix(&self.root) {
                Ok(inside) => inside.join(&near).display().to_string(),
                Err(_) => folder.join(&near).display().to_string(),
            })
            .collect()
    }
}

/// The system's words for an error.
pub(super) fn words(errno: Errno) -> String {
    std::io::Error::from(errno).to_string()
}

fn not_text(name: &str) -> ToolError {
    ToolError::failed(format!("cannot read `{name}`: it is not UTF-8 text"))
        .hint("it may be a binary file, or text in another encoding")
}

fn read_error(name: &str, error: &std::io::Error) -> ToolError {
    ToolError::failed(format!("cannot read `{name}`: {error}"))
}

/// Takes bytes up to and including the next newline, at most `bytes_max` of them. Returns what was taken.
fn take_line(
    reader: &mut impl BufRead,
    line: &mut Vec<u8>,
    bytes_max: usize,
    name: &str,
) -> Result<usize, ToolError> {
    let mut limited = reader.take(bytes_max as u64);
    limited.read_until(b'\n', line).map_err(|error| read_error(name, &error))
}

/// Skips a line; returns its length in characters, or `None` at the end of the file.
fn skip_line(
    reader: &mut impl BufRead,
    name: &str,
    cancel: &CancellationToken,
) -> Result<Option<u64>, ToolError> {
    let mut chars = 0;
    loop {
        if cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let buffer = reader.fill_buf().map_err(|error| read_error(name, &error))?;
        if buffer.is_empty() {
            return Ok((chars > 0).then_some(chars));
        }
        let end = buffer.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let taken = end.unwrap_or(buffer.len());
        chars += buffer[..taken].iter().filter(|byte| !is_continuation(**byte)).count() as u64;
        reader.consume(taken);
        if end.is_some() {
            return Ok(Some(chars));
        }
    }
}

fn read_lines(
    reader: &mut impl BufRead,
    request: PageRequest,
    name: &str,
    cancel: &CancellationToken,
) -> Result<Page, ToolError> {
    let mut skipped = 0;
    for _ in 0..request.offset {
        match skip_line(reader, name, cancel)? {
            Some(chars) => skipped += chars,
            None => return Ok(Page::default()),
        }
    }
    let mut bytes: Vec<u8> = vec![];
    let mut lines = 0_u64;
    let mut next = None;
    loop {
        if request.limit.is_some_and(|limit| lines >= limit) {
            next = has_more(reader, name)?.then_some(Next::Line(request.offset + lines));
            break;
        }
        let start = bytes.len();
        let room = RESULT_BYTES_MAX.saturating_sub(start);
        let taken = take_line(reader, &mut bytes, room + 1, name)?;
        if taken == 0 {
            break;
        }
        if bytes.len() <= RESULT_BYTES_MAX {
            lines += 1;
            continue;
        }
        // The line does not fit. If it is the first one, a part of it is all that can be shown.
        if lines == 0 {
            let shown = whole_characters(&mut bytes, RESULT_BYTES_MAX, name)?;
            return page(bytes, Some(Next::Char(skipped + shown)), name);
        }
        bytes.truncate(start);
        next = Some(Next::Line(request.offset + lines));
        break;
    }
    page(bytes, next, name)
}

fn has_more(reader: &mut impl BufRead, name: &str) -> Result<bool, ToolError> {
    reader.fill_buf().map(|rest| !rest.is_empty()).map_err(|error| read_error(name, &error))
}

fn read_chars(
    reader: &mut impl BufRead,
    skip: u64,
    name: &str,
    cancel: &CancellationToken,
) -> Result<Page, ToolError> {
    let mut left = skip;
    while left > 0 {
        if cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let buffer = reader.fill_buf().map_err(|error| read_error(name, &error))?;
        if buffer.is_empty() {
            return Ok(Page::default());
        }
        let mut taken = 0;
        for byte in buffer {
            if left == 0 && !is_continuation(*byte) {
                break;
            }
            if !is_continuation(*byte) {
                left -= 1;
            }
            taken += 1;
        }
        reader.consume(taken);
    }
    // The last skipped character may reach into the next buffer.
    loop {
        let buffer = reader.fill_buf().map_err(|error| read_error(name, &error))?;
        let tail = buffer.iter().take_while(|byte| skip > 0 && is_continuation(**byte)).count();
        if tail == 0 {
            break;
        }
        reader.consume(tail);
    }
    let mut bytes = vec![];
    reader
        .take(RESULT_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| read_error(name, &error))?;
    if bytes.len() <= RESULT_BYTES_MAX {
        return page(bytes, None, name);
    }
    let shown = whole_characters(&mut bytes, RESULT_BYTES_MAX, name)?;
    page(bytes, Some(Next::Char(skip + shown)), name)
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Cuts `bytes` to at most `bytes_max`, at a character; returns how many characters are left.
fn whole_characters(bytes: &mut Vec<u8>, bytes_max: usize, name: &str) -> Result<u64, ToolError> {
    bytes.truncate(bytes_max);
    let end = match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => return Err(not_text(name)),
    };
    bytes.truncate(end);
    Ok(String::from_utf8_lossy(bytes).chars().count() as u64)
}

fn page(bytes: Vec<u8>, next: Option<Next>, name: &str) -> Result<Page, ToolError> {
    if bytes.contains(&0) {
        return Err(not_text(name));
    }
    String::from_utf8(bytes).map(|text| Page { text, next }).map_err(|_| not_text(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8], request: PageRequest) -> Result<Page, ToolError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), content).unwrap();
        let workspace = Workspace::open(dir.path(), None).unwrap();
        workspace.read_page(&workspace.resolve("f").unwrap(), request, &CancellationToken::new())
    }

    fn lines(offset: u64, limit: Option<u64>) -> PageRequest {
        PageRequest { offset, limit, char_offset: None }
    }

    #[test]
    fn cancelling_stops_inside_a_line_without_an_end() {
        let mut endless = BufReader::new(std::io::repeat(b'x'));
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(skip_line(&mut endless, "f", &cancel), Err(ToolError::Cancelled));
    }

    #[test]
    fn pages_by_line_are_the_whole_file_together() {
        let content = "one\ntwo\nthree";
        assert_eq!(
            read(content.as_bytes(), lines(0, None)).unwrap(),
            Page { text: content.into(), next: None }
        );
        let first = read(content.as_bytes(), lines(0, Some(2))).unwrap();
        assert_eq!(first, Page { text: "one\ntwo\n".into(), next: Some(Next::Line(2)) });
        assert_eq!(
            read(content.as_bytes(), lines(2, Some(2))).unwrap(),
            Page { text: "three".into(), next: None }
        );
        assert_eq!(read(content.as_bytes(), lines(9, None)).unwrap(), Page::default());
    }

    #[test]
    fn a_file_larger_than_a_page_goes_on_where_the_page_ended() {
        let content = "日本語のテキスト\n".repeat(10_000);
        let (mut text, mut offset, mut pages) = (String::new(), 0, 0);
        loop {
            let page = read(content.as_bytes(), lines(offset, None)).unwrap();
            assert!(page.text.len() <= RESULT_BYTES_MAX);
            text.push_str(&page.text);
            pages += 1;
            match page.next {
                Some(Next::Line(line)) => offset = line,
                Some(Next::Char(_)) => panic!("short lines page by line"),
                None => break,
            }
        }
        assert_eq!((text == content, pages), (true, 6));
    }

    #[test]
    fn one_long_line_is_read_by_characters() {
        let content = "あ".repeat(60_000);
        let first = read(content.as_bytes(), lines(0, None)).unwrap();
        let Some(Next::Char(mut at)) = first.next else { panic!("{:?}", first.next) };
        let mut text = first.text;
        loop {
            let request = PageRequest { char_offset: Some(at), ..PageRequest::default() };
            let page = read(content.as_bytes(), request).unwrap();
            text.push_str(&page.text);
            match page.next {
                Some(Next::Char(next)) => at = next,
                Some(Next::Line(_)) => panic!("by characters"),
                None => break,
            }
        }
        assert!(text == content);
    }

    #[test]
    fn a_long_line_after_short_ones_goes_on_at_its_own_characters() {
        let content = format!("ab\nあ\n{}", "x".repeat(60_000));
        let first = read(content.as_bytes(), lines(2, None)).unwrap();
        let Some(Next::Char(at)) = first.next else { panic!("{:?}", first.next) };
        let request = PageRequest { char_offset: Some(at), ..PageRequest::default() };
        let rest = read(content.as_bytes(), request).unwrap();
        assert_eq!((first.text.len() + rest.text.len(), rest.next), (60_000, None));
    }

    #[test]
    fn what_is_not_text_is_refused() {
        for content in [&b"a\x00b"[..], b"caf\xe9\n", b"\xff\xfe"] {
            let error = read(content, lines(0, None)).unwrap_err();
            assert!(error.to_string().contains("not UTF-8 text"), "{error}");
        }
    }

    #[test]
    fn a_pipe_and_a_folder_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path(), None).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, dir.path().join("pipe"), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
        for (path, says) in [("pipe", "a pipe"), (".", "it is a folder"), ("no", "no such file")] {
            let target = workspace.resolve(path).unwrap();
            let error =
                workspace.read_page(&target, PageRequest::default(), &CancellationToken::new()).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn listing_a_file_says_that_it_is_one_and_how_to_read_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), "x").unwrap();
        let workspace = Workspace::open(dir.path(), None).unwrap();
        let target = workspace.resolve("a.txt").unwrap();
        let error = workspace.list(&target, 9, &CancellationToken::new()).unwrap_err().into_call_error();
        assert_eq!(error.message, "cannot list `a.txt`: it is a file, not a folder");
        assert_eq!(error.hint.as_deref(), Some("`read_file` reads it"));
    }

    #[test]
    fn a_missing_file_names_what_is_near() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("docs")).unwrap();
        std::fs::write(dir.path().join("docs/README.md"), "x").unwrap();
        let workspace = Workspace::open(dir.path(), None).unwrap();
        let target = workspace.resolve("docs/REDAME.md").unwrap();
        let error = workspace.read_page(&target, PageRequest::default(), &CancellationToken::new());
        assert_eq!(error.unwrap_err().into_call_error().suggestions, ["docs/README.md"]);
    }

    #[test]
    fn a_folder_is_listed_in_order_with_marks_and_a_total() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("b.txt"), "").unwrap();
        std::fs::write(dir.path().join(".hidden"), "").unwrap();
        std::os::unix::fs::symlink("b.txt", dir.path().join("link")).unwrap();
        let workspace = Workspace::open(dir.path(), None).unwrap();
        let target = workspace.resolve(".").unwrap();
        let listing = workspace.list(&target, 3, &CancellationToken::new()).unwrap();
        let shown: Vec<String> =
            listing.entries.iter().map(|entry| format!("{}{}", entry.name, entry.mark)).collect();
        assert_eq!((shown, listing.total), (vec![".hidden".to_owned(), "b.txt".into(), "link@".into()], 4));
    }
}
