//! Finds files by their names.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::bounds::Bounds;
use crate::pattern::Pattern;
use crate::root::{Gatekeeper, Root, Start, to_path};
use crate::skipped::Skipped;
use crate::walk::Walk;
use crate::watch::{Stop, Watch};
use crate::{Admits, SearchError};

/// Which files to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobRequest {
    /// A glob as in `.gitignore` files: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of folders.
    /// Relative to the search root; without a `/` it matches at any depth. With a wildcard and a `/` at its
    /// end it finds folders instead of files (`*/`, `**/tests/`). Case counts.
    pub pattern: String,
    /// Whether hidden and ignored files are found too.
    pub include_ignored: bool,
    /// How many results to pass over.
    pub offset: usize,
    /// How many results to give; at least one is given.
    pub max_results: usize,
}

/// Files found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Globbed {
    /// Paths relative to [`Root::folder`], sorted by component, each byte by byte.
    pub paths: Vec<PathBuf>,
    /// Whether they are folders.
    pub are_folders: bool,
    /// Whether there are more after these.
    pub has_more: bool,
    /// What was passed over on the way.
    pub skipped: Skipped,
    /// Why the search has not looked everywhere, when a bound ended it.
    pub partial: Option<String>,
}

/// Finds the files, or the folders, below `root` that a glob matches.
///
/// Hidden and ignored files are left out, unless the glob names them: the components before the first
/// wildcard are names that nothing hides (`target/debug/*.log`), and a component that begins with a dot
/// finds hidden names at its place (`**/.env`). A `.git` folder is entered only by its name or as the root.
///
/// # Errors
/// [`SearchError::Pattern`], [`SearchError::Root`] also when the root is no folder,
/// [`SearchError::Cancelled`].
pub fn glob(
    root: &Root<'_>,
    request: &GlobRequest,
    admits: Admits<'_>,
    cancel: &CancellationToken,
) -> Result<Globbed, SearchError> {
    glob_within(root, request, admits, cancel, &Bounds::default())
}

pub(crate) fn glob_within(
    root: &Root<'_>,
    request: &GlobRequest,
    admits: Admits<'_>,
    cancel: &CancellationToken,
    bounds: &Bounds,
) -> Result<Globbed, SearchError> {
    let pattern = Pattern::parse_with_folders(&request.pattern)
        .map_err(|reason| SearchError::Pattern(format!("`{}` is no glob: {reason}", request.pattern)))?;
    let start = match root.open(request.include_ignored)? {
        Start::Folder(start) => start,
        Start::File(_) => {
            return Err(SearchError::Root(format!("`{}`: not a folder", root.below.display())));
        }
    };
    let watch = Watch::start(cancel, bounds.time_max);
    let mut gatekeeper = Gatekeeper::new(root, admits);
    let mut found = Globbed {
        paths: vec![],
        are_folders: pattern.is_of_folders(),
        has_more: false,
        skipped: Skipped::default(),
        partial: None,
    };
    let mut not_permitted = 0;
    let mut walked = Walk::new(start, &pattern, request.include_ignored, watch.clone(), bounds.clone());
    let mut passed = 0;
    let stop = match &mut walked {
        Err(stop) => Some(*stop),
        Ok(walk) => loop {
            let file = match walk.next() {
                Ok(Some(file)) => file,
                Ok(None) => break None,
                Err(stop) => break Some(stop),
            };
            if !gatekeeper.admits(file.path, None) {
                not_permitted += 1;
            } else if passed < request.offset {
                passed += 1;
            } else if found.paths.len() < request.max_results.max(1) {
                found.paths.push(to_path(file.path.to_vec()));
            } else {
                found.has_more = true;
                break None;
            }
        },
    };
    if stop == Some(Stop::Cancelled) {
        return Err(SearchError::Cancelled);
    }
    if let Ok(walk) = walked {
        found.skipped = walk.skipped();
        found.partial = walk.into_partial();
    }
    found.skipped.not_permitted = not_permitted;
    if stop == Some(Stop::TimeUp) {
        found.partial = Some(watch.time_up());
    }
    Ok(found)
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
