//! Searching below a folder: every file that turns up is judged as if it had been named.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use reyn_core::permission::{FileAxis, Target};
use reyn_search::{Found, GlobRequest, Globbed, GrepRequest, Grepped, Root, SearchError};
use tokio_util::sync::CancellationToken;

use crate::Workspace;
use crate::error::FileError;
use crate::guarded::GuardedLinks;

/// Whether a file that a search found may be named or read. Asked from several threads at once.
pub type Judge<'a> = &'a (dyn Fn(&Target) -> bool + Sync);

impl Workspace {
    /// Finds the files below `target` that a glob matches. Paths in the result are relative to
    /// [`Self::search_base`].
    ///
    /// # Errors
    /// When the folder cannot be searched, the pattern is none, or the call is cancelled.
    pub fn glob(
        &self,
        target: &Target,
        request: &GlobRequest,
        judge: Judge<'_>,
        cancel: &CancellationToken,
    ) -> Result<Globbed, FileError> {
        let (mut found, unnamed) =
            self.search(target, judge, |root, admits| reyn_search::glob(root, request, admits, cancel))?;
        found.skipped.not_permitted = found.skipped.not_permitted.saturating_sub(unnamed);
        Ok(found)
    }

    /// Finds the lines that a regular expression matches in the file `target` or the files below it. Paths
    /// in the result are relative to [`Self::search_base`].
    ///
    /// # Errors
    /// When the place cannot be searched, the pattern is none, or the call is cancelled.
    pub fn grep(
        &self,
        target: &Target,
        request: &GrepRequest,
        judge: Judge<'_>,
        cancel: &CancellationToken,
    ) -> Result<Grepped, FileError> {
        let (mut found, unnamed) =
            self.search(target, judge, |root, admits| reyn_search::grep(root, request, admits, cancel))?;
        found.skipped.not_permitted = found.skipped.not_permitted.saturating_sub(unnamed);
        Ok(found)
    }

    /// What the paths of a search below `target` are relative to: the workspace, or `/`.
    #[must_use]
    pub fn search_base(&self, target: &Target) -> PathBuf {
        if target.path.starts_with(self.root()) { self.root().to_owned() } else { PathBuf::from("/") }
    }

    /// The result, and how many of the files that were not permitted are not to be counted: a count that
    /// follows a pattern would spell out the names of keys.
    fn search<T>(
        &self,
        target: &Target,
        judge: Judge<'_>,
        run: impl FnOnce(&Root<'_>, reyn_search::Admits<'_>) -> Result<T, SearchError>,
    ) -> Result<(T, u64), FileError> {
        self.lstat(&target.path).map_err(|errno| self.open_error(target, errno, "search"))?;
        let (folder, below) = self.base(&target.path);
        let path = self.search_base(target);
        let links: OnceLock<GuardedLinks> = OnceLock::new();
        let unnamed = AtomicU64::new(0);
        let admits = |found: &Found<'_>| {
            let twin = found.id.filter(|id| id.links > 1).and_then(|id| {
                let links = links.get_or_init(|| self.guarded_links(FileAxis::Read));
                links.twin((id.device, id.inode)).filter(|twin| *twin != found.path).map(Path::to_owned)
            });
            let is_permitted = judge(&Target {
                asked: String::new(),
                path: found.path.to_owned(),
                same_as: twin,
                link: None,
            });
            if !is_permitted && self.zones.is_guarded_from_reading(found.path) {
                unnamed.fetch_add(1, Ordering::Relaxed);
            }
            is_permitted
        };
        let found = run(&Root { folder, below, path: &path }, &admits).map_err(|error| match error {
            SearchError::Cancelled => FileError::Cancelled,
            SearchError::Pattern(_) | SearchError::Root(_) => FileError::failed(error.to_string()),
        })?;
        Ok((found, unnamed.into_inner()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Place;
    use reyn_search::GrepMode;

    fn glob(place: &Place, path: &str, judge: Judge<'_>) -> Result<Vec<String>, FileError> {
        let request =
            GlobRequest { pattern: "**/*.txt".into(), include_ignored: true, offset: 0, max_results: 99 };
        let found = place.glob(&place.to_read(path), &request, judge, &CancellationToken::new())?;
        Ok(found.paths.iter().map(|path| path.display().to_string()).collect())
    }

    #[test]
    fn paths_are_relative_to_the_workspace_or_to_the_root_of_the_system() {
        let place = Place::new();
        place.put("src/a.txt", "x");
        std::fs::write(place.outside().join("b.txt"), "x").unwrap();
        assert_eq!(glob(&place, "src", &|_| true).unwrap(), ["src/a.txt"]);
        let outside = place.outside().join("b.txt").display().to_string();
        assert_eq!(glob(&place, "../outside", &|_| true).unwrap(), [outside.trim_start_matches('/')]);
        assert_eq!(place.search_base(&place.to_read("../outside")), Path::new("/"));
    }

    #[test]
    fn what_is_not_permitted_is_not_named() {
        let place = Place::new();
        place.put("a.txt", "x");
        place.put("secret/b.txt", "x");
        let judge = |target: &Target| !target.path.starts_with(place.at("secret"));
        assert_eq!(glob(&place, ".", &judge).unwrap(), ["a.txt"]);
        assert_eq!(glob(&place, ".", &|_| true).unwrap(), ["a.txt", "secret/b.txt"]);
    }

    #[test]
    fn keys_are_neither_named_nor_counted() {
        let place = Place::with(|zones| {
            let home = zones.root().to_owned();
            zones.with_credentials_of(&home)
        });
        place.put(".ssh/id.txt", "x");
        place.put("closed/a.txt", "x");
        place.put("open/a.txt", "x");
        let request =
            GlobRequest { pattern: "**/*.txt".into(), include_ignored: true, offset: 0, max_results: 9 };
        let judge = |target: &Target| target.path.starts_with(place.at("open"));
        let found = place.glob(&place.to_read("."), &request, &judge, &CancellationToken::new()).unwrap();
        assert_eq!(found.paths, [Path::new("open/a.txt")]);
        assert_eq!(found.skipped.not_permitted, 1);
    }

    #[test]
    fn another_name_of_a_guarded_file_is_judged_as_that_file() {
        let place = Place::new();
        let secrets = place.outside().join("secrets.env");
        std::fs::write(&secrets, "KEY=1\n").unwrap();
        std::fs::hard_link(&secrets, place.at("notes.txt")).unwrap();
        place.put("other.txt", "KEY=2\n");
        std::fs::hard_link(place.at("other.txt"), place.at("same.txt")).unwrap();
        let request = GrepRequest {
            pattern: "KEY".into(),
            glob: None,
            is_case_sensitive: true,
            mode: GrepMode::FilesWithMatches,
            before: 0,
            after: 0,
            include_ignored: false,
            offset: 0,
            max_results: 99,
            output_bytes_max: 9_999,
        };
        let judge = |target: &Target| target.same_as.is_none();
        let found = place.grep(&place.to_read("."), &request, &judge, &CancellationToken::new()).unwrap();
        let paths: Vec<&Path> = found.files.iter().map(|file| file.path.as_path()).collect();
        assert_eq!(paths, [Path::new("other.txt"), Path::new("same.txt")]);
        assert_eq!(found.skipped.not_permitted, 1);
    }

    #[test]
    fn a_missing_folder_names_what_is_near() {
        let place = Place::new();
        place.put("source/a.txt", "x");
        let Err(FileError::Failed { message, suggestions, .. }) = glob(&place, "soruce", &|_| true) else {
            panic!("missing")
        };
        assert!(message.starts_with("cannot search `soruce`"), "{message}");
        assert_eq!(suggestions, ["source"]);
    }
}
