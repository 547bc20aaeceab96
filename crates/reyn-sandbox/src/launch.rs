//! What is to be started, and every reason why it was not.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::policy::PathList;

/// A process to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program's file, absolute: [`crate::program::find`] finds it from a name.
    pub program: PathBuf,
    /// Its arguments, with its own name as the first.
    pub argv: Vec<OsString>,
    /// The folder that it starts in. It is not granted by being named here.
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited. `TMPDIR` is replaced where a private one is made.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads on its standard input; `None` is `/dev/null`. Unused by `spawn`.
    pub stdin: Option<Vec<u8>>,
    /// How long it may take, above zero. Unused by `spawn`.
    pub timeout: Duration,
    /// How many bytes of each stream are kept. Unused by `spawn`.
    pub output_bytes_max: usize,
}

impl Launch {
    /// Says what in this launch cannot be started, without asking the file system but for the folder.
    ///
    /// # Errors
    /// The first thing wrong.
    pub fn check(&self) -> Result<(), LaunchError> {
        if self.argv.is_empty() {
            return Err(LaunchError::EmptyArgv);
        }
        if !self.program.is_absolute() {
            return Err(LaunchError::ProgramNotAbsolute { program: self.program.clone() });
        }
        if self.program.as_os_str().as_bytes().contains(&0) {
            return Err(LaunchError::NulInProgram);
        }
        if let Some(index) = self.argv.iter().position(|one| one.as_bytes().contains(&0)) {
            return Err(LaunchError::NulInArgument { index });
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.as_bytes().contains(&0) || name.as_bytes().contains(&b'=') {
                return Err(LaunchError::EnvName { name: name.clone() });
            }
            if value.as_bytes().contains(&0) {
                return Err(LaunchError::NulInEnv { name: name.clone() });
            }
        }
        if self.timeout.is_zero() {
            return Err(LaunchError::ZeroTimeout);
        }
        match std::fs::metadata(&self.cwd) {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => Err(LaunchError::CwdNoFolder { cwd: self.cwd.clone() }),
            Err(why) => Err(LaunchError::CwdUnusable { cwd: self.cwd.clone(), why }),
        }
    }
}

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The first argument, the program's name, is missing.
    #[error("`argv` is empty; its first entry names the program")]
    EmptyArgv,
    /// The program was not resolved.
    #[error("`{}` is no absolute path; look the program up on PATH first", .program.display())]
    ProgramNotAbsolute {
        /// What was given.
        program: PathBuf,
    },
    /// A NUL ends a string for the system.
    #[error("the program's path holds a NUL character; remove it")]
    NulInProgram,
    /// A NUL ends a string for the system.
    #[error("`argv[{index}]` holds a NUL character; remove it")]
    NulInArgument {
        /// Which argument, from 0.
        index: usize,
    },
    /// Empty, or with `=` or NUL.
    #[error("`{}` cannot name an environment variable; use a name without `=` and NUL", .name.display())]
    EnvName {
        /// The name.
        name: OsString,
    },
    /// A NUL ends a string for the system.
    #[error("the environment variable `{}` holds a NUL character; remove it", .name.display())]
    NulInEnv {
        /// The variable.
        name: OsString,
    },
    /// Nothing can be done in no time.
    #[error("a timeout of 0 lets nothing run; give at least 1 second")]
    ZeroTimeout,
    /// The folder to start in is not there or closed.
    #[error("cannot start in `{}`: {why}", .cwd.display())]
    CwdUnusable {
        /// The folder.
        cwd: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// The folder to start in is a file.
    #[error("cannot start in `{}`: it is no folder", .cwd.display())]
    CwdNoFolder {
        /// The path.
        cwd: PathBuf,
    },
    /// No program of this name.
    #[error("no program `{}` on PATH{}", .name.display(), near(.nearest))]
    ProgramUnknown {
        /// The name that was looked for.
        name: OsString,
        /// Up to five names on PATH that are like it.
        nearest: Vec<String>,
    },
    /// The file is there but cannot be run.
    #[error("cannot run `{}`: {why}", .program.display())]
    ProgramUnusable {
        /// The file.
        program: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// A path of a policy is relative, or holds `..` or a NUL.
    #[error("`{}` in `{list}` is no absolute path without `..`", .path.display())]
    NoPlainPath {
        /// Where it stands.
        list: PathList,
        /// The path.
        path: PathBuf,
    },
    /// A path of a policy cannot be opened.
    #[error("cannot open `{}` of `{list}`: {why}", .path.display())]
    PathUnusable {
        /// Where it stands.
        list: PathList,
        /// The path.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// A limit of zero lets nothing run.
    #[error("`{limit}` is 0, which lets nothing run; leave it out or raise it")]
    ZeroLimit {
        /// The limit's name.
        limit: &'static str,
    },
    /// What is to be written is not to be written.
    #[error("`{}` may be written, but `{}` is protected; take one of them out", .write.display(), .protected.display())]
    WriteUnderProtected {
        /// The write path.
        write: PathBuf,
        /// The protected path.
        protected: PathBuf,
    },
    /// What is to be written is not to be read.
    #[error("`{}` may be written, but reading `{}` is denied; take one of them out", .write.display(), .denied.display())]
    WriteUnderDenied {
        /// The write path.
        write: PathBuf,
        /// The denied path.
        denied: PathBuf,
    },
    /// Another name of a protected file would stay writable.
    #[error("the protected file `{}` has {links} names, and the others would stay writable; remove the other hard links", .path.display())]
    ProtectedHasLinks {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        links: u64,
    },
    /// Without mount namespaces every entry beside a protected one is granted by itself.
    #[error("beside the protected entries of `{}` are more than {max} others, too many to grant one by one", .path.display())]
    TooManyEntries {
        /// The folder.
        path: PathBuf,
        /// How many may be.
        max: usize,
    },
    /// The program that confines could not be started.
    #[error("cannot start the sandbox's own process `{}`: {why}", .program.display())]
    HelperMissing {
        /// The program.
        program: PathBuf,
        /// Why not.
        why: String,
    },
    /// A step of confining failed, so nothing was run.
    #[error("cannot confine the process ({step}): {why}")]
    Setup {
        /// Which step.
        step: String,
        /// Why not.
        why: String,
    },
    /// The system refused what every start needs: a pipe, a folder for temporary files.
    #[error("cannot {what}: {why}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why not.
        why: io::Error,
    },
}

fn near(names: &[String]) -> String {
    if names.is_empty() {
        return "; name it with its path, or install it".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("; there are {}", names.join(", "))
}
