//! The program behind a version manager's shim (pyenv, rbenv), found by reading files and never by running the manager.
//!
//! A shim is a script that starts the manager, which starts the program: more processes and more files than the
//! program itself needs. What cannot be found here is left to the shim.

use std::io::Read;
use std::path::{Path, PathBuf};

/// Longest version file that is read, in bytes.
const VERSION_FILE_BYTES_MAX: u64 = 4096;
/// Folders that are looked at for a version file, from the working folder upwards.
const FOLDERS_MAX: usize = 64;

/// A version manager.
struct Manager {
    /// The variable that names its folder.
    root: &'static str,
    /// Its folder in a home folder.
    folder: &'static str,
    /// The variable that names a version.
    version: &'static str,
    /// The file that names one for a folder and all below.
    file: &'static str,
}

const MANAGERS: [Manager; 2] = [
    Manager { root: "PYENV_ROOT", folder: ".pyenv", version: "PYENV_VERSION", file: ".python-version" },
    Manager { root: "RBENV_ROOT", folder: ".rbenv", version: "RBENV_VERSION", file: ".ruby-version" },
];

/// The real program, when `program` is a shim and the chosen version has it. `variable` gives the environment.
pub fn behind(
    program: &Path,
    cwd: &Path,
    home: &Path,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<PathBuf> {
    let name = program.file_name()?;
    MANAGERS.iter().find_map(|manager| {
        let root = variable(manager.root).map_or_else(|| home.join(manager.folder), PathBuf::from);
        (program.parent()? == root.join("shims")).then_some(())?;
        let version = variable(manager.version).or_else(|| chosen(manager, cwd, &root))?;
        // Several versions may be named; the first is the one that answers.
        let version =
            version.split([':', '\n']).map(str::trim).find(|version| !version.is_empty())?.to_owned();
        is_version(&version).then_some(())?;
        let versions = root.join("versions").canonicalize().ok()?;
        let real = versions.join(version).join("bin").join(name);
        let found = real.canonicalize().ok().filter(|found| found.starts_with(&versions))?;
        let may_run = rustix::fs::access(&found, rustix::fs::Access::EXEC_OK).is_ok() && found.is_file();
        may_run.then_some(real)
    })
}

/// What a version file says, the nearest one, or the manager's own choice.
fn chosen(manager: &Manager, cwd: &Path, root: &Path) -> Option<String> {
    let near = cwd.ancestors().take(FOLDERS_MAX).map(|folder| folder.join(manager.file));
    near.chain([root.join("version")]).find_map(|file| read(&file))
}

fn read(file: &Path) -> Option<String> {
    let found = file.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    (found.len() <= VERSION_FILE_BYTES_MAX).then_some(())?;
    let mut text = String::new();
    std::fs::File::open(file).ok()?.take(VERSION_FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Whether a text is a version's name and no path.
fn is_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-'))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_shim_leads_to_the_program_of_the_chosen_version_or_stays_itself() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let root = home.join(".pyenv");
        for version in ["3.11.7", "3.12.1"] {
            program(&root.join("versions").join(version).join("bin/python3"));
        }
        let shim = root.join("shims/python3");
        program(&shim);
        program(&home.join("evil/bin/python3"));
        std::os::unix::fs::symlink(home.join("evil"), root.join("versions/linked")).unwrap();
        let project = home.join("project/deep");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(root.join("version"), "3.11.7\n").unwrap();
        let of = |version: &str| Some(root.join("versions").join(version).join("bin/python3"));
        let found = |program: &Path, variable: Option<&str>| {
            behind(program, &project, &home, |name| {
                variable.filter(|_| name == "PYENV_VERSION").map(str::to_owned)
            })
        };
        assert_eq!(found(&shim, None), of("3.11.7"));
        assert_eq!(found(&shim, Some("3.12.1")), of("3.12.1"));
        assert_eq!(found(&shim, Some("3.12.1:3.11.7")), of("3.12.1"));
        std::fs::write(home.join("project/.python-version"), "3.12.1\n").unwrap();
        assert_eq!(found(&shim, None), of("3.12.1"));
        for version in ["9.9", "../../evil", "system", "linked", "", "a b"] {
            assert_eq!(found(&shim, Some(version)), None, "{version}");
        }
        assert_eq!(found(&home.join("evil/bin/python3"), None), None);
    }
}
