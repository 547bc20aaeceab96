//! Which files came from outside, known again by what is in them.
//!
//! Invariant: a file that was remembered is recognised wherever it is moved or copied to, as long as its bytes stay
//! the same. The memory only grows; what cannot be written down is known as long as the process runs.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use reyn_core::limits::{EXTERNAL_FILES_MAX, EXTERNAL_MEMORY_BYTES_MAX, EXTERNAL_SAMPLE_BYTES};
use reyn_core::permission::Target;
use reyn_workspace::Workspace;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Stands for the tool where the memory cannot be read.
const NOBODY_KNOWS: &str = "unknown";

/// Why a file cannot be remembered.
#[derive(Debug, Error)]
#[error("cannot remember in `{path}` that a file came from outside: {error}")]
pub struct ExternalFilesError {
    path: String,
    error: std::io::Error,
}

/// The memory, kept in one file of lines.
#[derive(Debug)]
pub struct ExternalFiles {
    path: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Length of the memory's file that was read; another process may append to it.
    read_bytes: u64,
    /// By length of the file, then by its mark: the tool that brought it.
    by_length: HashMap<u64, HashMap<String, String>>,
    count: usize,
}

/// One line of the memory.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    bytes: u64,
    sha256: String,
    tool: String,
}

impl Known {
    fn has(&self, one: &Remembered) -> bool {
        self.by_length.get(&one.bytes).is_some_and(|marks| marks.contains_key(&one.sha256))
    }

    fn add(&mut self, one: Remembered) {
        if !self.has(&one) {
            self.count += 1;
            self.by_length.entry(one.bytes).or_default().insert(one.sha256, one.tool);
        }
    }
}

impl ExternalFiles {
    /// The memory in this file, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, known: Mutex::default() }
    }

    /// The tool that brought a file with these bytes from outside, if one did.
    ///
    /// # Errors
    /// When the memory or the file cannot be read: whether it came from outside is then not known.
    pub fn brought_by(&self, file: &File) -> Result<Option<String>, ExternalFilesError> {
        let length = file.metadata().map_err(|error| self.fail(error))?.len();
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.refresh(&mut known)?;
        let Some(of_length) = known.by_length.get(&length) else { return Ok(None) };
        let mark = mark(file, length).map_err(|error| self.fail(error))?;
        Ok(of_length.get(&mark).cloned())
    }

    /// The tool that brought the file at this place from outside, if one did; of what cannot be told, nobody knows
    /// that it did not.
    #[must_use]
    pub fn origin(&self, target: &Target, workspace: &Workspace) -> Option<String> {
        let file = workspace.open_file(target).ok()?;
        self.brought_by(&file).unwrap_or_else(|_| Some(NOBODY_KNOWS.to_owned()))
    }

    /// The tool that brought any of these files.
    pub(crate) fn any_brought(
        &self,
        paths: impl Iterator<Item = PathBuf>,
        workspace: &Workspace,
    ) -> Option<String> {
        let targets = paths.map(|path| Target { asked: String::new(), path, same_as: None, link: None });
        targets.into_iter().find_map(|target| self.origin(&target, workspace))
    }

    /// Remembers that this tool brought these files from outside. An empty file says nothing and is passed over.
    ///
    /// # Errors
    /// When one cannot be read, or they cannot be written down. What could be read is then known as long as this
    /// process runs.
    pub fn remember(&self, files: impl Iterator<Item = File>, tool: &str) -> Result<(), ExternalFilesError> {
        let mut failure = None;
        let mut fresh = vec![];
        for file in files {
            match file.metadata().and_then(|found| Ok((found.len(), mark(&file, found.len())?))) {
                Ok((0, _)) => {}
                Ok((bytes, sha256)) => fresh.push(Remembered { bytes, sha256, tool: tool.to_owned() }),
                Err(error) => failure = Some(error),
            }
        }
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let refreshed = self.refresh(&mut known);
        let mut text = vec![];
        for one in fresh {
            if known.has(&one) {
                continue;
            }
            if known.count >= EXTERNAL_FILES_MAX {
                failure = Some(std::io::Error::other(format!("it holds {EXTERNAL_FILES_MAX} files already")));
                break;
            }
            serde_json::to_writer(&mut text, &one).map_err(|error| self.fail(error.into()))?;
            text.push(b'\n');
            known.add(one);
        }
        refreshed?;
        self.append(text).map_err(|error| self.fail(error))?;
        failure.map_or(Ok(()), |error| Err(self.fail(error)))
    }

    /// Writes lines in one go and in append mode, so that those of several processes do not mix.
    fn append(&self, mut lines: Vec<u8>) -> std::io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut memory = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
        let length = memory.metadata()?.len();
        if length > 0 {
            let mut last = [0];
            memory.seek(SeekFrom::Start(length - 1))?;
            memory.read_exact(&mut last)?;
            // After a line that a dead process left torn, this one would be part of it.
            if last != *b"\n" {
                lines.insert(0, b'\n');
            }
        }
        memory.write_all(&lines)?;
        memory.sync_data()
    }

    /// Reads what was appended since.
    fn refresh(&self, known: &mut Known) -> Result<(), ExternalFilesError> {
        // What came with a project may be a link to another file, or a pipe that nobody writes to.
        match std::fs::symlink_metadata(&self.path) {
            Ok(found) if !found.is_file() => {
                return Err(self.fail(std::io::Error::other("it is no regular file")));
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.fail(error)),
        }
        let mut memory = File::open(&self.path).map_err(|error| self.fail(error))?;
        let length = memory.metadata().map_err(|error| self.fail(error))?.len();
        if length > EXTERNAL_MEMORY_BYTES_MAX {
            let why = format!("it is longer than {EXTERNAL_MEMORY_BYTES_MAX} bytes; remove it to begin anew");
            return Err(self.fail(std::io::Error::other(why)));
        }
        if length == known.read_bytes {
            return Ok(());
        }
        if length < known.read_bytes {
            known.read_bytes = 0;
        }
        memory.seek(SeekFrom::Start(known.read_bytes)).map_err(|error| self.fail(error))?;
        let mut lines = BufReader::new(memory.take(length - known.read_bytes));
        let mut line = vec![];
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line).map_err(|error| self.fail(error))?;
            // A line that is still being written is read the next time.
            if read == 0 || line.last() != Some(&b'\n') {
                return Ok(());
            }
            known.read_bytes += read as u64;
            // A damaged line says nothing about any file.
            if let Ok(one) = serde_json::from_slice::<Remembered>(&line) {
                known.add(one);
            }
        }
    }

    fn fail(&self, error: std::io::Error) -> ExternalFilesError {
        ExternalFilesError { path: self.path.display().to_string(), error }
    }
}

/// A hash of the length, the beginning and the end, so that a large file costs no more than a small one.
fn mark(mut file: &File, length: u64) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(length.to_le_bytes());
    let mut sample = vec![];
    file.rewind()?;
    file.take(EXTERNAL_SAMPLE_BYTES).read_to_end(&mut sample)?;
    hash.update(&sample);
    if length > EXTERNAL_SAMPLE_BYTES {
        let rest = (length - EXTERNAL_SAMPLE_BYTES).min(EXTERNAL_SAMPLE_BYTES);
        file.seek(SeekFrom::Start(length - rest))?;
        sample.clear();
        file.take(rest).read_to_end(&mut sample)?;
        hash.update(&sample);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_again_under_another_name_and_by_another_process() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let open = |name: &str| File::open(at(name)).unwrap();
        let memory = || ExternalFiles::new(at("state/external_files.jsonl"));
        let (first, second) = (memory(), memory());
        std::fs::write(at("page.html"), "<p>hello").unwrap();
        assert_eq!(first.brought_by(&open("page.html")).unwrap(), None);
        first.remember([open("page.html")].into_iter(), "exec").unwrap();
        first.remember([open("page.html")].into_iter(), "exec").unwrap();
        std::fs::copy(at("page.html"), at("copy.md")).unwrap();
        assert_eq!(second.brought_by(&open("copy.md")).unwrap().as_deref(), Some("exec"));
        std::fs::write(at("copy.md"), "<p>hallo").unwrap();
        assert_eq!(second.brought_by(&open("copy.md")).unwrap(), None);
        assert_eq!(std::fs::read_to_string(at("state/external_files.jsonl")).unwrap().lines().count(), 1);
    }

    #[test]
    fn a_large_file_is_told_by_its_two_ends_and_a_torn_line_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let open = |name: &str| File::open(at(name)).unwrap();
        let memory = ExternalFiles::new(at("memory"));
        let size = usize::try_from(EXTERNAL_SAMPLE_BYTES).unwrap() * 3;
        let mut bytes = vec![b'x'; size];
        std::fs::write(at("large"), &bytes).unwrap();
        memory.remember([open("large")].into_iter(), "web_fetch").unwrap();
        std::fs::write(at("memory"), [std::fs::read(at("memory")).unwrap(), b"{torn".to_vec()].concat())
            .unwrap();
        let memory = ExternalFiles::new(at("memory"));
        assert_eq!(memory.brought_by(&open("large")).unwrap().as_deref(), Some("web_fetch"));
        *bytes.last_mut().unwrap() = b'y';
        std::fs::write(at("large"), &bytes).unwrap();
        assert_eq!(memory.brought_by(&open("large")).unwrap(), None);
    }

    #[test]
    fn what_is_remembered_after_a_torn_line_is_no_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("memory"), b"{\"bytes\":5,\"sha").unwrap();
        std::fs::write(at("page"), "<p>hello").unwrap();
        let open = || File::open(at("page")).unwrap();
        ExternalFiles::new(at("memory")).remember([open()].into_iter(), "exec").unwrap();
        let known = ExternalFiles::new(at("memory")).brought_by(&open()).unwrap();
        assert_eq!(known.as_deref(), Some("exec"));
    }

    #[test]
    fn what_cannot_be_written_down_is_an_error_and_is_known_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // A file stands where the folder of the memory would be.
        std::fs::write(at("state"), "").unwrap();
        std::fs::write(at("page"), "<p>hello").unwrap();
        let open = || File::open(at("page")).unwrap();
        let memory = ExternalFiles::new(at("state/memory"));
        memory.remember([open()].into_iter(), "exec").unwrap_err();
        let Known { by_length, .. } = &*memory.known.lock().unwrap();
        assert_eq!(by_length.values().map(HashMap::len).sum::<usize>(), 1);
    }

    #[test]
    fn a_memory_that_is_a_link_or_too_long_is_an_error_and_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("page"), "<p>hello").unwrap();
        std::fs::write(at("elsewhere"), "mine").unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("link")).unwrap();
        File::create(at("long")).unwrap().set_len(EXTERNAL_MEMORY_BYTES_MAX + 1).unwrap();
        let open = || File::open(at("page")).unwrap();
        for name in ["link", "long"] {
            let memory = ExternalFiles::new(at(name));
            memory.brought_by(&open()).unwrap_err();
            memory.remember([open()].into_iter(), "exec").unwrap_err();
        }
        assert_eq!(std::fs::read_to_string(at("elsewhere")).unwrap(), "mine");
    }
}
