//! Looking at a file's bytes, and finding which files changed lately.

use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reyn_core::permission::{FileAxis, Target};
use reyn_search::GlobRequest;
use tokio_util::sync::CancellationToken;

use crate::Workspace;
use crate::error::FileError;

/// How far the clock of a file system is behind the system's at most.
const CLOCK_LAG: Duration = Duration::from_millis(50);

impl Workspace {
    /// Opens a regular file, for its bytes as they are.
    ///
    /// # Errors
    /// When it is missing, not a regular file, or has become another one since it was judged.
    pub fn open_file(&self, target: &Target) -> Result<File, FileError> {
        self.open_to_read(target, "look at")
    }

    /// The beginning of a regular file as text; what is no UTF-8 becomes U+FFFD.
    ///
    /// # Errors
    /// As [`Self::open_file`], and when it cannot be read.
    pub fn text(&self, target: &Target, bytes_max: u64) -> Result<String, FileError> {
        let mut bytes = vec![];
        let read = self.open_file(target)?.take(bytes_max).read_to_end(&mut bytes);
        read.map_err(|error| FileError::failed(format!("cannot read `{}`: {error}", target.asked)))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The files of the workspace, ignored and hidden ones too, that were made or changed since then. Looks at no
    /// more than `files_max`; says whether there are others.
    ///
    /// # Errors
    /// When the workspace cannot be looked through, or the call is cancelled.
    pub fn changed_since(
        &self,
        since: SystemTime,
        files_max: usize,
        cancel: &CancellationToken,
    ) -> Result<(Vec<Target>, bool), FileError> {
        let request =
            GlobRequest { pattern: "**/*".into(), include_ignored: true, offset: 0, max_results: files_max };
        let root = self
            .resolve(".", FileAxis::Read)
            .map_err(|error| FileError::failed(format!("cannot look through the workspace: {error}")))?;
        let found = self.glob(&root, &request, &|_| true, cancel)?;
        let since = since.checked_sub(CLOCK_LAG).and_then(|since| since.duration_since(UNIX_EPOCH).ok());
        let since = since.unwrap_or_default();
        let is_new = |target: &Target| {
            self.lstat(&target.path).is_ok_and(|stat| {
                let seconds = u64::try_from(stat.st_ctime).unwrap_or(0);
                let nanos = u32::try_from(stat.st_ctime_nsec).unwrap_or(0);
                Duration::new(seconds, nanos) >= since
            })
        };
        let target = |path: std::path::PathBuf| Target {
            asked: path.display().to_string(),
            path: self.root().join(path),
            same_as: None,
            link: None,
        };
        let is_rest = found.has_more || found.partial.is_some();
        Ok((found.paths.into_iter().map(target).filter(is_new).collect(), is_rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Place;

    #[test]
    fn what_changed_lately_is_found_also_where_it_is_ignored() {
        let place = Place::new();
        place.put("old.txt", "x");
        place.put(".gitignore", "*.tmp\n");
        let changed = |since: SystemTime, files_max| {
            let (files, is_rest) = place.changed_since(since, files_max, &CancellationToken::new()).unwrap();
            (files.into_iter().map(|target| target.asked).collect::<Vec<_>>(), is_rest)
        };
        let later = SystemTime::now() + Duration::from_secs(60);
        assert_eq!(changed(later, 9), (vec![], false));
        let (files, is_rest) = changed(SystemTime::now() - Duration::from_secs(60), 9);
        assert_eq!((files, is_rest), (vec![".gitignore".to_owned(), "old.txt".to_owned()], false));
        place.put("sub/new.tmp", "x");
        assert!(
            changed(SystemTime::now() - Duration::from_secs(60), 9).0.contains(&"sub/new.tmp".to_owned())
        );
        assert!(changed(SystemTime::now(), 1).1);
    }
}
