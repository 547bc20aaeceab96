//! What a person typed in a project: `.reyn/state/input-history.jsonl`, a JSON text a line, oldest first.
//!
//! Several processes may add to it; each adds whole lines. Nothing depends on it: a line that is no JSON
//! text is passed over.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use reyn_core::limits::{INPUT_HISTORY_BYTES_MAX, INPUT_HISTORY_ENTRIES_MAX, INPUT_HISTORY_ENTRY_BYTES_MAX};
use rustix::fs::OFlags;

use crate::log::check_own_folders;

/// `.reyn` and `state`.
const OWN_FOLDERS: usize = 2;

/// The file.
#[derive(Debug, Clone)]
pub struct InputHistory {
    path: PathBuf,
}

impl InputHistory {
    /// The history in the project's `.reyn` folder; nothing is opened yet.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { path: state.join("state/input-history.jsonl") }
    }

    /// The latest entries, oldest first.
    ///
    /// # Errors
    /// When the file is there and cannot be read, or is not a file of its own.
    pub fn load(&self) -> io::Result<Vec<String>> {
        let file = match self.options().read(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            file => checked(file?)?,
        };
        let mut bytes = vec![];
        file.take(INPUT_HISTORY_BYTES_MAX * 2).read_to_end(&mut bytes)?;
        let mut entries: Vec<String> =
            bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        entries.drain(..entries.len().saturating_sub(INPUT_HISTORY_ENTRIES_MAX));
        Ok(entries)
    }

    /// Adds an entry. One that is very long is not kept; older entries make room when the file is full.
    ///
    /// # Errors
    /// When the file cannot be written, or is not a file of its own.
    pub fn add(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        check_own_folders(folder, OWN_FOLDERS)?;
        std::fs::create_dir_all(folder)?;
        if text.len() > INPUT_HISTORY_ENTRY_BYTES_MAX {
            return Ok(());
        }
        let mut line = serde_json::to_vec(text)?;
        line.push(b'\n');
        let mut file = checked(self.options().append(true).create(true).open(&self.path)?)?;
        file.write_all(&line)?;
        if file.metadata()?.len() > INPUT_HISTORY_BYTES_MAX { self.shorten() } else { Ok(()) }
    }

    /// Keeps the newer half. Lines that another process adds meanwhile may be lost, which harms nobody.
    fn shorten(&self) -> io::Result<()> {
        let entries = self.load()?;
        let mut text = vec![];
        for entry in &entries[entries.len() / 2..] {
            text.extend(serde_json::to_vec(entry)?);
            text.push(b'\n');
        }
        let scratch = self.path.with_extension("new");
        match std::fs::remove_file(&scratch) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        self.options().write(true).create_new(true).open(&scratch)?.write_all(&text)?;
        std::fs::rename(&scratch, &self.path)
    }

    /// Never through a link, and never waiting for the other end of a pipe.
    fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        options
    }
}

fn checked(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_there_in_the_next_process_line_ends_included() {
        let dir = tempfile::tempdir().unwrap();
        let history = InputHistory::new(dir.path());
        assert_eq!(history.load().unwrap(), Vec::<String>::new());
        for text in ["one", "two\nlines <\\n>", "日本語"] {
            history.add(text).unwrap();
        }
        assert_eq!(InputHistory::new(dir.path()).load().unwrap(), ["one", "two\nlines <\\n>", "日本語"]);
    }

    #[test]
    fn a_damaged_line_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let history = InputHistory::new(dir.path());
        history.add("one").unwrap();
        let path = dir.path().join("state/input-history.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}\"half\n\u{0}\n\"two\"\n")).unwrap();
        assert_eq!(history.load().unwrap(), ["one", "two"]);
    }

    #[test]
    fn a_full_file_keeps_what_is_newer() {
        let dir = tempfile::tempdir().unwrap();
        let history = InputHistory::new(dir.path());
        let long = "x".repeat(INPUT_HISTORY_ENTRY_BYTES_MAX - 8);
        let count = INPUT_HISTORY_BYTES_MAX / INPUT_HISTORY_ENTRY_BYTES_MAX as u64 + 2;
        for at in 0..count {
            history.add(&format!("{at}{long}")).unwrap();
        }
        let entries = history.load().unwrap();
        assert!(entries.last().unwrap().starts_with(&(count - 1).to_string()));
        let size = std::fs::metadata(dir.path().join("state/input-history.jsonl")).unwrap().len();
        assert!(size <= INPUT_HISTORY_BYTES_MAX, "{size}");
    }

    #[test]
    fn a_link_in_its_place_is_neither_read_nor_written() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        std::fs::write(&victim, "\"mine\"\n").unwrap();
        std::fs::create_dir(dir.path().join("state")).unwrap();
        std::os::unix::fs::symlink(&victim, dir.path().join("state/input-history.jsonl")).unwrap();
        let history = InputHistory::new(dir.path());
        assert!(history.load().is_err());
        assert!(history.add("theirs").is_err());
        assert_eq!(std::fs::read_to_string(victim).unwrap(), "\"mine\"\n");
    }
}
