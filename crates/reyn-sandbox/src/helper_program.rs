//! The program that is started to confine another.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The program that is started to confine: it calls [`crate::supervise`] when it is called like this.
#[derive(Debug, Clone)]
pub struct HelperProgram {
    /// Its file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    carried: Option<Arc<Carried>>,
}

/// A program whose bytes are a part of this one.
#[derive(Debug)]
struct Carried {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux starts a program from memory")
    )]
    bytes: &'static [u8],
    #[cfg(target_os = "linux")]
    file: std::sync::OnceLock<Option<std::os::fd::OwnedFd>>,
}

impl HelperProgram {
    /// A program in a file.
    pub fn new(program: impl Into<PathBuf>, arguments: Vec<String>) -> Self {
        Self { program: program.into(), arguments, carried: None }
    }

    /// The running program, also when its file was replaced or removed meanwhile.
    pub fn this_program() -> Self {
        #[cfg(target_os = "linux")]
        let program = PathBuf::from("/proc/self/exe");
        #[cfg(not(target_os = "linux"))]
        let program = std::env::current_exe().unwrap_or_default();
        Self::new(program, vec![crate::SUPERVISE.to_owned()])
    }

    /// A small program, given by its bytes, that does nothing but [`crate::supervise`]; it is kept in memory from
    /// its first start on. Where the system starts no program from memory, [`HelperProgram::this_program`] does it.
    pub fn carried(bytes: &'static [u8]) -> Self {
        let carried = Carried {
            bytes,
            #[cfg(target_os = "linux")]
            file: std::sync::OnceLock::new(),
        };
        Self { carried: Some(Arc::new(carried)), ..Self::this_program() }
    }

    /// Starts it with `start`, which gets the file and the arguments, and may be asked twice.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux confines by a helper"))]
    pub(crate) fn start<T>(&self, start: impl Fn(&Path, &[String]) -> io::Result<T>) -> io::Result<T> {
        #[cfg(target_os = "linux")]
        if let Some(file) = self.carried.as_deref().and_then(Carried::file)
            && let Ok(started) = start(&file, &self.arguments)
        {
            return Ok(started);
        }
        start(&self.program, &self.arguments)
    }
}

#[cfg(target_os = "linux")]
impl Carried {
    /// The path of the program in memory, good for this process and for a child before it executes.
    fn file(&self) -> Option<PathBuf> {
        use std::os::fd::AsRawFd as _;
        let file = self.file.get_or_init(|| in_memory(self.bytes).ok()).as_ref()?;
        Some(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())))
    }
}

/// The bytes in a file without a name that nobody can change any more.
#[cfg(target_os = "linux")]
fn in_memory(bytes: &[u8]) -> io::Result<std::os::fd::OwnedFd> {
    use std::io::Write as _;

    use rustix::fs::{MemfdFlags, SealFlags};

    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels that do not know the word make every such file executable.
    let made = rustix::fs::memfd_create("reyn-supervisor", flags | MemfdFlags::EXEC)
        .or_else(|_| rustix::fs::memfd_create("reyn-supervisor", flags))?;
    let mut file = std::fs::File::from(made);
    file.write_all(bytes)?;
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(file.into())
}
