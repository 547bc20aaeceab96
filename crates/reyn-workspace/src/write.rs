//! Writing a file whole.

use std::fs::File;
use std::io::Read as _;

use reyn_core::permission::{FileAxis, Target};
use reyn_text::diff::{self, Diff, Extent};
use reyn_text::encoding::{Encoding, Unmappable, detect};
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::Workspace;
use crate::bounds::COMPARED_BYTES_MAX;
use crate::error::FileError;
use crate::open::words;
use crate::replace::{Old, ReplaceError, put};

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// What was there before.
    pub before: Before,
    /// What changed, for people.
    pub diff: Diff,
}

/// What a person is shown before a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// The change.
    Change(ProposedChange),
    /// Why it is not shown.
    NotShown(&'static str),
    /// It cannot be made, and why. The reason may show lines of the file.
    Fails(FileError),
}

/// A change that is not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedChange {
    /// As it will be reported once it is made.
    pub excerpt: Diff,
    /// All of it; `None` when the excerpt is that.
    pub whole: Option<Diff>,
}

impl ProposedChange {
    pub(crate) fn new(diff: impl Fn(Extent) -> Diff) -> Self {
        let excerpt = diff(Extent::Excerpt);
        let whole = excerpt.is_cut.then(|| diff(Extent::Whole));
        Self { excerpt, whole }
    }
}

pub(crate) const HOLDS_KEYS: &str = "the file holds keys";
const TOO_LARGE: &str = "the file is too large to compare";

/// What was in the place of a written file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// A file.
    File {
        /// Its encoding, when that was another one.
        other_encoding: Option<Encoding>,
        /// Whether its lines ended in CR LF, and no line of the new one does.
        had_crlf: bool,
        /// Whether it began with a byte order mark, and the new one does not.
        had_mark: bool,
        /// Other names of it, which still have the old content.
        other_names: u64,
    },
}

impl Workspace {
    /// Creates or replaces a file, with the folders above it. Keeps mode, owner and access list of a file
    /// that was there. `encoding` is how the text is written; UTF-8 when it is `None`.
    ///
    /// # Errors
    /// When the place cannot be written or the encoding lacks a character; the old file is then untouched.
    /// Or when the disk does not confirm the new one, which is said.
    pub fn write_whole(
        &self,
        target: &Target,
        text: &str,
        encoding: Option<Encoding>,
    ) -> Result<Written, FileError> {
        let asked = &target.asked;
        let bytes;
        let content = match encoding {
            None => text.as_bytes(),
            Some(encoding) => {
                bytes = encoded(text, encoding).map_err(|lacking| lacks(asked, encoding, lacking.0))?;
                bytes.as_slice()
            }
        };
        let (Some(folder), Some(name)) = (target.path.parent(), target.path.file_name()) else {
            return Err(FileError::failed("cannot write `/`: it is a folder"));
        };
        let folder = self.open_or_make(folder).map_err(|errno| self.open_error(target, errno, "write"))?;
        let fail = |errno| self.open_error(target, errno, "write");
        // Again when the file came or went meanwhile.
        for is_last in [false, false, false, true] {
            let old = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Some(stat),
                Err(Errno::NOENT) => None,
                Err(errno) => return Err(fail(errno)),
            };
            let replaced = match &old {
                None => None,
                Some(stat) => {
                    self.check_writable(target, stat, &folder)?;
                    Some(OldContent::read(&folder, name, stat))
                }
            };
            let put = put(&folder, name, old.as_ref().map(|stat| Old { stat, is_read: false }), content);
            match put {
                Err(ReplaceError::System(Errno::EXIST | Errno::NOENT) | ReplaceError::Changed)
                    if !is_last => {}
                Err(error) => return Err(self.replace_error(target, &error)),
                Ok(()) => {
                    let bytes = content.len() as u64;
                    let diff = match &replaced {
                        _ if self.hides(target) => hidden_diff(),
                        None => diff::to_text(None, text, asked, Extent::Excerpt),
                        Some(OldContent(Some(old))) => diff::to_text(Some(old), text, asked, Extent::Excerpt),
                        Some(OldContent(None)) => hidden_diff(),
                    };
                    let before = old.map_or(Before::Nothing, |stat| before(&stat, replaced, text, encoding));
                    return Ok(Written { bytes, before, diff });
                }
            }
        }
        Err(self.replace_error(target, &ReplaceError::Changed))
    }

    /// What a write would change, for a person. The new text is shown as it was given, whatever its bytes
    /// would be taken for.
    #[must_use]
    pub fn preview_write(&self, target: &Target, text: &str, encoding: Option<Encoding>) -> Preview {
        if encoding.is_some_and(|encoding| encoded(text, encoding).is_err()) {
            return Preview::NotShown("it cannot be written in that encoding");
        }
        match self.old_content(target) {
            None => Preview::NotShown("what is there is no file that can be written"),
            Some(_) if self.hides(target) => Preview::NotShown(HOLDS_KEYS),
            Some(None) => Preview::Change(ProposedChange::new(|extent| {
                diff::to_text(None, text, &target.asked, extent)
            })),
            Some(Some(OldContent(Some(old)))) => Preview::Change(ProposedChange::new(|extent| {
                diff::to_text(Some(&old), text, &target.asked, extent)
            })),
            Some(Some(OldContent(None))) => Preview::NotShown(TOO_LARGE),
        }
    }

    /// What a deletion would take away, for a person.
    #[must_use]
    pub fn preview_delete(&self, target: &Target) -> Preview {
        match self.old_content(target) {
            None => Preview::NotShown("what is there is no file that can be shown"),
            Some(None) => Preview::NotShown("there is nothing"),
            Some(_) if self.hides(target) => Preview::NotShown(HOLDS_KEYS),
            Some(Some(OldContent(Some(old)))) => Preview::Change(ProposedChange::new(|extent| {
                diff::between(Some(&old), None, &target.asked, extent)
            })),
            Some(Some(OldContent(None))) => Preview::NotShown(TOO_LARGE),
        }
    }

    /// The regular file at a place; `None` inside when nothing is there, outside when something else is.
    fn old_content(&self, target: &Target) -> Option<Option<OldContent>> {
        let (folder, name) = self.open_folder_of(&target.path)?;
        let folder = match folder {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Some(None),
            Err(_) => return None,
        };
        match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Some(None),
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                Some(Some(OldContent::read(&folder, name, &stat)))
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// Refuses what is no file, what is marked as read-only, and what this user may not write.
    pub(crate) fn check_writable(
        &self,
        target: &Target,
        stat: &Stat,
        folder: &std::os::fd::OwnedFd,
    ) -> Result<(), FileError> {
        let asked = &target.asked;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => {
                return Err(FileError::failed(format!("cannot write `{asked}`: it is a folder")));
            }
            FileType::Symlink => return Err(self.open_error(target, Errno::LOOP, "write")),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => {
                return Err(FileError::failed(format!(
                    "cannot write `{asked}`: it is a pipe, a socket or a device"
                )));
            }
        }
        let name = target.path.file_name().unwrap_or_default();
        if stat.st_mode & 0o222 == 0 {
            return Err(FileError::failed(format!("cannot write `{asked}`: it is marked as read-only"))
                .hint("the person can make it writable"));
        }
        match rustix::fs::accessat(folder, name, Access::WRITE_OK, AtFlags::EACCESS) {
            // One that is gone by now is noticed where it is replaced.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(self.open_error(target, errno, "write")),
        }
        self.check_twin(target, FileAxis::Write, stat, "write")
    }

    /// Whether the content of a file is kept out of what a person reads over again: logs and exports.
    pub(crate) fn hides(&self, target: &Target) -> bool {
        let is_guarded = |path: &std::path::Path| self.zones.is_guarded_from_reading(path);
        is_guarded(&target.path) || target.same_as.as_deref().is_some_and(is_guarded)
    }

    pub(crate) fn replace_error(&self, target: &Target, error: &ReplaceError) -> FileError {
        let asked = &target.asked;
        match error {
            ReplaceError::System(errno) => self.open_error(target, *errno, "write"),
            ReplaceError::Ownership => FileError::failed(format!(
                "cannot write `{asked}`: it belongs to another user, and a new file in its place would not"
            ))
            .hint("the person changes the owner, or writes it"),
            ReplaceError::Attributes(what) => {
                FileError::failed(format!("cannot write `{asked}`: its attributes cannot be kept: {what}"))
            }
            ReplaceError::Changed => FileError::failed(format!(
                "cannot write `{asked}`: something else changed it at the same time"
            ))
            .hint("read it again, then repeat the change if it is still right"),
            ReplaceError::Unconfirmed(errno) => {
                FileError::failed(format!("`{asked}` is written, but may be lost: {}", words(*errno)))
            }
        }
    }
}

fn lacks(asked: &str, encoding: Encoding, character: char) -> FileError {
    let lookalike = encoding.lookalike(character);
    let character = if character.is_control() {
        format!("U+{:04X}", u32::from(character))
    } else {
        character.to_string()
    };
    let other = lookalike.map(|other| format!("; it has `{other}` for it"));
    let message = format!(
        "cannot write `{asked}`: `{}` has no `{character}`{}",
        encoding.name(),
        other.unwrap_or_default()
    );
    FileError::failed(message).hint("use another character, or leave `encoding` out to write UTF-8")
}

/// The diff of a change that is not shown: too large, or of a file that holds keys.
pub(crate) fn hidden_diff() -> Diff {
    Diff { text: String::new(), added: 0, removed: 0, is_cut: true }
}

/// The old content; `None` when it is too large, or cannot be read.
pub(crate) struct OldContent(pub(crate) Option<Vec<u8>>);

impl OldContent {
    pub(crate) fn read(folder: &std::os::fd::OwnedFd, name: &std::ffi::OsStr, stat: &Stat) -> Self {
        if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > COMPARED_BYTES_MAX {
            return Self(None);
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { return Self(None) };
        let mut bytes = vec![];
        let read = File::from(file).take(COMPARED_BYTES_MAX).read_to_end(&mut bytes);
        Self(read.is_ok().then_some(bytes))
    }
}

/// Names that a file has besides the one it was opened by.
pub(crate) fn other_names(stat: &Stat) -> u64 {
    #[expect(clippy::useless_conversion, reason = "narrower on other systems")]
    u64::from(stat.st_nlink).saturating_sub(1)
}

/// What the old file was besides its text, where the new one is not.
fn before(stat: &Stat, old: Option<OldContent>, text: &str, encoding: Option<Encoding>) -> Before {
    let other_names = other_names(stat);
    let unknown = Before::File { other_encoding: None, had_crlf: false, had_mark: false, other_names };
    let Some(old) = old.and_then(|old| old.0).filter(|old| !old.is_empty()) else { return unknown };
    let Ok(was) = detect(&old, true, None) else { return unknown };
    let written = encoding.unwrap_or(Encoding::UTF_8);
    let crlf = was.encoding.encode("\r\n").unwrap_or_default();
    Before::File {
        other_encoding: Some(was.encoding).filter(|was| *was != written),
        had_crlf: memchr::memmem::find(&old, &crlf).is_some() && !text.contains("\r\n"),
        had_mark: was.mark_len > 0 && !is_marked(text, encoding),
        other_names,
    }
}

/// Whether a text is written with a byte order mark.
fn is_marked(text: &str, encoding: Option<Encoding>) -> bool {
    text.starts_with('\u{FEFF}') || encoding.is_some_and(Encoding::is_utf16)
}

/// The bytes of a text in an encoding. UTF-16 begins with its byte order mark: without, few programs would
/// take it for text.
fn encoded(text: &str, encoding: Encoding) -> Result<Vec<u8>, Unmappable> {
    let mark = if encoding.is_utf16() && !text.starts_with('\u{FEFF}') { "\u{FEFF}" } else { "" };
    encoding.encode(&format!("{mark}{text}"))
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
