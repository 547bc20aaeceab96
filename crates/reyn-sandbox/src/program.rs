//! From a program's name to its file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::launch::LaunchError;

/// How many near names an error tells.
const NEAREST_MAX: usize = 5;
/// How many entries of PATH's folders are looked at for near names.
const ENTRIES_MAX: usize = 20_000;

/// Finds the file of a program: a name with `/` from `cwd`, any other on `path`, whose parts are parted by `:`.
///
/// Relative parts of `path` are passed over: what a working folder holds is run only when it is named.
///
/// # Errors
/// [`LaunchError::ProgramUnknown`] with up to five near names, [`LaunchError::ProgramUnusable`] when a named
/// file is missing or cannot be executed.
pub fn find(name: &OsStr, path: &OsStr, cwd: &Path) -> Result<PathBuf, LaunchError> {
    if name.as_bytes().contains(&b'/') {
        let program = cwd.join(name);
        return match std::fs::metadata(&program) {
            Ok(found) if found.is_dir() => {
                Err(LaunchError::ProgramUnusable { program, why: std::io::ErrorKind::IsADirectory.into() })
            }
            Ok(_) if is_executable(&program) => Ok(program),
            Ok(_) => Err(LaunchError::ProgramUnusable {
                program,
                why: std::io::ErrorKind::PermissionDenied.into(),
            }),
            Err(why) => Err(LaunchError::ProgramUnusable { program, why }),
        };
    }
    let folders: Vec<PathBuf> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    let found = folders.iter().map(|folder| folder.join(name)).find(|file| is_executable(file));
    match found {
        Some(program) if !name.is_empty() => Ok(program),
        Some(_) | None => {
            Err(LaunchError::ProgramUnknown { name: name.to_owned(), nearest: nearest(name, &folders) })
        }
    }
}

fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

fn nearest(name: &OsStr, folders: &[PathBuf]) -> Vec<String> {
    let Some(name) = name.to_str() else { return vec![] };
    let mut near: Vec<(usize, String)> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten())
        .take(ENTRIES_MAX)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|entry| (strsim::damerau_levenshtein(name, &entry), entry))
        .filter(|(distance, _)| *distance <= (name.chars().count() / 3).max(1))
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().map(|(_, entry)| entry).take(NEAREST_MAX).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [("cargo", 0o755), ("carto", 0o755), ("notes", 0o644)] {
            let file = folder.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        folder
    }

    #[test]
    fn a_name_is_looked_up_on_path_alone() {
        let folder = folder();
        let at = folder.path();
        assert_eq!(find(OsStr::new("cargo"), at.as_os_str(), Path::new("/")).unwrap(), at.join("cargo"));
        find(OsStr::new("cargo"), OsStr::new("."), at).unwrap_err();
        assert_eq!(find(OsStr::new("./cargo"), OsStr::new(""), at).unwrap(), at.join("./cargo"));
    }

    #[test]
    fn a_wrong_name_tells_the_near_ones() {
        let folder = folder();
        let error = find(OsStr::new("carg"), folder.path().as_os_str(), Path::new("/")).unwrap_err();
        assert_eq!(error.to_string(), "no program `carg` on PATH; there are `cargo`");
    }

    #[test]
    fn a_file_that_may_not_be_executed_is_no_program() {
        let folder = folder();
        let error = find(OsStr::new("./notes"), OsStr::new(""), folder.path()).unwrap_err();
        assert!(matches!(error, LaunchError::ProgramUnusable { .. }), "{error}");
    }
}
