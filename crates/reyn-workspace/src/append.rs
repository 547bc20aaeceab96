//! Adding lines to the end of a file.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;

use reyn_core::permission::Target;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::Workspace;
use crate::error::FileError;

impl Workspace {
    /// Adds whole lines to the end of a file, which is made, with the folders above it, where there is none. A last
    /// line that has no end, as a write that was cut short leaves it, gets one first. The disk confirms the lines
    /// before this returns.
    ///
    /// # Errors
    /// When the place cannot be written; the file is then as long as before.
    pub fn append(&self, target: &Target, lines: &str) -> Result<(), FileError> {
        let (Some(folder), Some(name)) = (target.path.parent(), target.path.file_name()) else {
            return Err(FileError::failed("cannot write `/`: it is a folder"));
        };
        let fail = |errno| self.open_error(target, errno, "write");
        let folder = self.open_or_make(folder).map_err(fail)?;
        match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.check_writable(target, &stat, &folder)?,
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(fail(errno)),
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o666)).map_err(fail)?;
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        self.check_writable(target, &stat, &folder)?;
        let mut file = File::from(file);
        let failed =
            |error: std::io::Error| FileError::failed(format!("cannot write `{}`: {error}", target.asked));
        let before = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut last = [b'\n'];
        if let Some(at) = before.checked_sub(1) {
            file.read_exact_at(&mut last, at).map_err(failed)?;
        }
        let written = if last == [b'\n'] { Ok(()) } else { file.write_all(b"\n") }
            .and_then(|()| file.write_all(lines.as_bytes()))
            .and_then(|()| file.sync_data());
        written.map_err(|error| {
            // What is half there would be taken for a row.
            let _ = file.set_len(before);
            failed(error)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use reyn_core::permission::FileAxis;

    use crate::tests::Place;

    #[test]
    fn lines_are_added_and_one_cut_short_is_ended_first() {
        let place = Place::new();
        let target = place.resolve("sub/rows.jsonl", FileAxis::Write).unwrap();
        let content = || std::fs::read_to_string(&target.path).unwrap();
        place.append(&target, "a\n").unwrap();
        place.append(&target, "b\nc\n").unwrap();
        assert_eq!(content(), "a\nb\nc\n");
        std::fs::write(&target.path, "a\n{\"cut").unwrap();
        place.append(&target, "d\n").unwrap();
        assert_eq!(content(), "a\n{\"cut\nd\n");
    }

    #[test]
    fn what_is_no_file_is_not_written() {
        let place = Place::new();
        place.put("file", "x");
        let target = place.resolve("rows", FileAxis::Write).unwrap();
        symlink("file", &target.path).unwrap();
        place.append(&target, "a\n").unwrap_err();
        std::fs::remove_file(&target.path).unwrap();
        std::fs::create_dir(&target.path).unwrap();
        place.append(&target, "a\n").unwrap_err();
        assert_eq!(std::fs::read_to_string(place.root().join("file")).unwrap(), "x");
    }
}
