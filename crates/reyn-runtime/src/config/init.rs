//! `reyn init`: the files of a new project.
//!
//! Invariant: running it again changes nothing, and it never writes through a symbolic link.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use reyn_core::limits::CONFIG_FILE_BYTES_MAX;
use thiserror::Error;

use super::files::said;

/// `reyn.yaml`, with every key as a comment.
pub(super) const PROJECT: &str = include_str!("init/reyn.yaml");
/// `reyn.local.yaml`.
pub(super) const LOCAL: &str = include_str!("init/local.yaml");
/// `~/.reyn/config.yaml`.
pub(super) const USER: &str = include_str!("init/config.yaml");
const LOCAL_EXAMPLE: &str = include_str!("init/reyn.local.yaml.example");
/// Lines that git should ignore, each with other ways to write it.
const IGNORED: [(&str, [&str; 4]); 2] = [
    (".reyn/", [".reyn/", ".reyn", "/.reyn/", "/.reyn"]),
    ("reyn.local.yaml", ["reyn.local.yaml", "/reyn.local.yaml", "reyn.local.*", "/reyn.local.*"]),
];

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitLine {
    /// It is new.
    Created(String),
    /// Lines were added to it.
    Extended(String),
    /// It was there and is as it was.
    Exists(String),
}

impl fmt::Display for InitLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created(name) => write!(f, "Created {name}"),
            Self::Extended(name) => write!(f, "Extended {name}"),
            Self::Exists(name) => write!(f, "Exists {name}"),
        }
    }
}

/// Why a project could not be set up.
#[derive(Debug, Error)]
pub enum InitError {
    /// A file could not be made.
    #[error(
        "cannot write `{name}`: {}; look at the folder's owner and mode, or use another folder",
        said(cause)
    )]
    Write {
        /// The file.
        name: String,
        /// Why.
        cause: io::Error,
    },
    /// Something else stands in its place.
    #[error("`{name}` is {found}; move it away and try again")]
    InTheWay {
        /// The file or folder.
        name: String,
        /// What is there.
        found: &'static str,
    },
    /// It is not known whose files they are.
    #[error("there is no home folder; set `HOME` to it")]
    NoHome,
}

/// Sets up a project in `folder`; what exists is left as it is.
///
/// # Errors
/// When something cannot be written, or a link stands where a file of the project belongs.
pub fn init(folder: &Path) -> Result<Vec<InitLine>, InitError> {
    let mut lines = vec![create(folder, "reyn.yaml", PROJECT)?];
    let has_local = fs::symlink_metadata(folder.join("reyn.local.yaml")).is_ok();
    if !has_local {
        lines.push(create(folder, "reyn.local.yaml.example", LOCAL_EXAMPLE)?);
    }
    lines.push(create_folder(folder, ".reyn")?);
    lines.push(create(folder, ".reyn/.gitignore", "*\n")?);
    lines.push(ignore(folder)?);
    Ok(lines)
}

/// Makes the runtime's own folder in a project that has none, and keeps git from taking it in unless a
/// `.gitignore` in it says otherwise.
///
/// # Errors
/// When it cannot be made, or something else stands in its place.
pub fn make_state_folder(root: &Path) -> Result<(), InitError> {
    create_folder(root, ".reyn")?;
    create(root, ".reyn/.gitignore", "*\n").map(drop)
}

/// Writes a file that is not there; leaves what is.
pub(super) fn create(folder: &Path, name: &str, text: &str) -> Result<InitLine, InitError> {
    let path = folder.join(name);
    if fs::symlink_metadata(&path).is_ok() {
        return Ok(InitLine::Exists(name.to_owned()));
    }
    write(&path, text.as_bytes(), None).map_err(|cause| InitError::Write { name: name.to_owned(), cause })?;
    Ok(InitLine::Created(name.to_owned()))
}

/// Makes a folder that is not there.
pub(super) fn create_folder(folder: &Path, name: &str) -> Result<InitLine, InitError> {
    let path = folder.join(name);
    let in_the_way = |found| InitError::InTheWay { name: name.to_owned(), found };
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_symlink() => Err(in_the_way("a symbolic link")),
        Ok(found) if !found.is_dir() => Err(in_the_way("not a folder")),
        Ok(_) => Ok(InitLine::Exists(format!("{name}/"))),
        Err(_) => match fs::create_dir(&path) {
            Ok(()) => Ok(InitLine::Created(format!("{name}/"))),
            Err(cause) => Err(InitError::Write { name: name.to_owned(), cause }),
        },
    }
}

/// Adds to `.gitignore` the lines that it lacks.
pub(super) fn ignore(folder: &Path) -> Result<InitLine, InitError> {
    let name = ".gitignore";
    let path = folder.join(name);
    let failed = |cause| InitError::Write { name: name.to_owned(), cause };
    let present = match fs::symlink_metadata(&path) {
        Ok(found) if found.is_symlink() => {
            return Err(InitError::InTheWay { name: name.to_owned(), found: "a symbolic link" });
        }
        Ok(found) if !found.is_file() => {
            return Err(InitError::InTheWay { name: name.to_owned(), found: "not a file" });
        }
        Ok(found) => Some((read_bounded(&path).map_err(failed)?, found.permissions().mode())),
        Err(_) => None,
    };
    let is_new = present.is_none();
    let (mut bytes, mode) = present.map_or((vec![], None), |(bytes, mode)| (bytes, Some(mode)));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let is_listed = |forms: &[&str]| text.lines().any(|line| forms.contains(&line.trim()));
    let lacking: Vec<&str> =
        IGNORED.iter().filter(|(_, forms)| !is_listed(forms)).map(|(line, _)| *line).collect();
    if lacking.is_empty() {
        return Ok(InitLine::Exists(name.to_owned()));
    }
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    for line in lacking {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    write(&path, &bytes, mode).map_err(failed)?;
    Ok(if is_new { InitLine::Created(name.to_owned()) } else { InitLine::Extended(name.to_owned()) })
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    File::open(path)?.take(CONFIG_FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > CONFIG_FILE_BYTES_MAX {
        return Err(io::Error::other("it is too large to be the right file"));
    }
    Ok(bytes)
}

/// Writes a file whole or not at all.
fn write(path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let temporary = temporary_beside(path);
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&temporary)?;
        if let Some(mode) = mode {
            file.set_permissions(fs::Permissions::from_mode(mode & 0o777))?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // Best effort: the error that counts is the one above.
        drop(fs::remove_file(&temporary));
    }
    written
}

fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{}.{}.tmp", name.trim_start_matches('.'), std::process::id()))
}
