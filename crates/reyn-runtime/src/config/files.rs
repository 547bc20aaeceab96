//! Reading files that a person may have made, and finding out what a path really is.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use reyn_core::limits::{CONFIG_FILE_BYTES_MAX, LINKS_MAX};
use rustix::fs::{Mode, OFlags};

use super::problem::ConfigProblem;

/// Reads a text file; `None` when there is none. `name` is how problems call it.
pub(super) fn read_text(path: &Path, name: &str) -> Result<Option<String>, ConfigProblem> {
    let Some(file) = open(path, name, OFlags::empty())? else { return Ok(None) };
    text_of(file, name).map(Some)
}

/// Opens a regular file for reading without waiting for anybody, as opening a pipe would.
pub(super) fn open(path: &Path, name: &str, more: OFlags) -> Result<Option<File>, ConfigProblem> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | more;
    let cannot = |error: io::Error| ConfigProblem::in_file(name, format!("cannot read it: {}", said(&error)));
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(cannot(error.into())),
    };
    if !file.metadata().map_err(cannot)?.is_file() {
        return Err(ConfigProblem::in_file(name, "not a regular file"));
    }
    Ok(Some(file))
}

/// The text of an open file, within the bound for configuration files.
pub(super) fn text_of(file: File, name: &str) -> Result<String, ConfigProblem> {
    let mut bytes = vec![];
    file.take(CONFIG_FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ConfigProblem::in_file(name, format!("cannot read it: {}", said(&error))))?;
    if bytes.len() as u64 > CONFIG_FILE_BYTES_MAX {
        let message = format!("larger than {} KiB", CONFIG_FILE_BYTES_MAX / 1024);
        return Err(ConfigProblem::in_file(name, message).hint("is it the right file?"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        let rest = String::from_utf8_lossy(&error.as_bytes()[at..]).into_owned();
        let text = format!("{before}{rest}");
        ConfigProblem {
            line: u32::try_from(line).ok(),
            column: u32::try_from(column).ok(),
            source_line: text.lines().nth(line - 1).map(str::to_owned),
            ..ConfigProblem::in_file(name, "not UTF-8 text").hint("save the file as UTF-8")
        }
    })
}

/// An error of the operating system without its number.
pub(super) fn said(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    let mut text = text[..end].to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}

/// Where an absolute path really is: links are followed as far as things exist, also a last link that
/// leads nowhere; the rest is taken as written.
pub(super) fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut real = PathBuf::from("/");
    let mut rest = path.to_owned();
    for _ in 0..LINKS_MAX {
        match walk(&mut real, &rest)? {
            None => return Ok(real),
            Some(next) => rest = next,
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Walks until the first link; returns what is left to walk from `real`, the link's target first.
fn walk(real: &mut PathBuf, path: &Path) -> io::Result<Option<PathBuf>> {
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        match part {
            Component::Prefix(_) | Component::RootDir => *real = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => {
                let next = real.join(name);
                match std::fs::symlink_metadata(&next) {
                    Ok(found) if found.is_symlink() => {
                        let target = std::fs::read_link(&next)?;
                        return Ok(Some(target.join(parts.as_path())));
                    }
                    Ok(_) => *real = next,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => *real = next,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(None)
}
