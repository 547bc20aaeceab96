//! Puts a small file in its place whole: the old content or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use rustix::io::Errno;

/// Writes beside the place, syncs, and renames. The folder has to be there.
///
/// # Errors
/// When the system says no; then the old file is there as it was.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let scratch = folder.join(format!(".{name}.{}.new", std::process::id()));
    // One of a process that died with this number is taken over.
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&scratch)?;
    let written =
        file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&scratch, path));
    if written.is_err() {
        let _ = fs::remove_file(&scratch);
        return written;
    }
    match rustix::fs::fsync(File::open(folder)?) {
        // Some file systems cannot sync a folder.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
