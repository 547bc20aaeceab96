//! What Git needs to be writable for a workspace, and what of it must not be: entries that make Git run programs.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::policy::ProtectedPath;

/// Longest file of Git's that is read here, in bytes; each holds one path.
const POINTER_BYTES_MAX: u64 = 4096;

/// The folders of Git's that belong to a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitPaths {
    /// Folders outside the workspace that Git writes to: those of a linked worktree.
    pub write_paths: Vec<PathBuf>,
    /// Hooks, configuration and the like.
    pub protected: Vec<ProtectedPath>,
    /// A file that must not appear during a run: it would move the configuration elsewhere.
    /// See [`GitPaths::remove_new_common_folder`].
    pub absent: Option<PathBuf>,
    /// Why Git's folder is not granted although the workspace names one.
    pub refused: Option<String>,
}

/// Looks at `workspace/.git`. A workspace without it gets a protected place for none: `git init` works.
///
/// A `.git` file is believed only when the folder that it names belongs to a linked worktree and names this
/// workspace in turn; else a project could have any folder opened for writing.
pub fn paths(workspace: &Path) -> GitPaths {
    let entry = workspace.join(".git");
    match entry.symlink_metadata() {
        Ok(found) if found.is_dir() => {
            let mut protected = guarded(&entry);
            // A repository whose `commondir` exists is a linked one, taken for what it says.
            let common = entry.join("commondir");
            let absent = if common.symlink_metadata().is_ok() {
                protected.push(file(common));
                None
            } else {
                Some(common)
            };
            GitPaths { protected, absent, ..GitPaths::default() }
        }
        Ok(found) if found.is_file() => linked(workspace, &entry),
        Ok(_) => GitPaths {
            protected: vec![file(entry)],
            refused: Some("`.git` is a link; open the folder that it leads to".to_owned()),
            ..GitPaths::default()
        },
        Err(_) => GitPaths::default(),
    }
}

/// The file of a worktree's repository that says what Git passes over, where there is a plain one.
pub(crate) fn exclude_file(worktree: &Path) -> Option<PathBuf> {
    let found = worktree.join(".git").symlink_metadata().ok()?;
    let repository = if found.is_dir() {
        worktree.join(".git")
    } else {
        // Also of a worktree that names a folder which does not name it back: this only hides.
        paths(worktree).write_paths.pop()?
    };
    let exclude = repository.join("info/exclude");
    (exclude.canonicalize().ok()? == exclude).then_some(exclude)
}

impl GitPaths {
    /// Removes what appeared during a run at [`GitPaths::absent`]; gives it when it was there.
    ///
    /// # Errors
    /// When it is there and cannot be removed; Git must not be used here then.
    pub fn remove_new_common_folder(&self) -> std::io::Result<Option<PathBuf>> {
        let Some(path) = &self.absent else { return Ok(None) };
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => std::fs::remove_dir_all(path)?,
            Ok(_) => std::fs::remove_file(path)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Some(path.clone()))
    }
}

fn linked(workspace: &Path, entry: &Path) -> GitPaths {
    let refuse = |why: &str| GitPaths {
        protected: vec![file(entry.to_owned())],
        refused: Some(why.to_owned()),
        ..GitPaths::default()
    };
    let own = pointer(entry).and_then(|text| Some(workspace.join(text.strip_prefix("gitdir:")?.trim())));
    let Some(own) = own.and_then(|own| own.canonicalize().ok()) else {
        return refuse("`.git` names no folder that is there");
    };
    let common = pointer(&own.join("commondir")).and_then(|text| own.join(text).canonicalize().ok());
    let Some(common) = common else { return refuse("`.git` names a folder that is no linked worktree") };
    let back = pointer(&own.join("gitdir")).and_then(|text| own.join(text).canonicalize().ok());
    let is_mutual = back.is_some() && back == entry.canonicalize().ok();
    if !is_mutual || own.parent() != Some(&common.join("worktrees")) {
        return refuse("the folder that `.git` names belongs to another worktree");
    }
    let mut protected = guarded(&common);
    protected.push(file(entry.to_owned()));
    for name in ["commondir", "gitdir", "config.worktree"] {
        protected.push(file(own.join(name)));
    }
    // The main repository must not get one either, where Git would follow it.
    let absent = Some(common.join("commondir"));
    GitPaths { write_paths: vec![common], protected, absent, refused: None }
}

/// What in a repository makes Git run something, or says where to look for that.
fn guarded(repository: &Path) -> Vec<ProtectedPath> {
    let folder = |name: &str| ProtectedPath { path: repository.join(name), is_folder: true };
    vec![
        folder("hooks"),
        file(repository.join("config")),
        file(repository.join("config.worktree")),
        folder("modules"),
        file(repository.join("info/attributes")),
    ]
}

fn file(path: PathBuf) -> ProtectedPath {
    ProtectedPath { path, is_folder: false }
}

/// The one line of a small file.
fn pointer(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > POINTER_BYTES_MAX {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_that_is_not_named_back_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let own = root.join("main/.git/worktrees/w");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(root.join("w")).unwrap();
        std::fs::create_dir_all(root.join("thief")).unwrap();
        std::fs::write(own.join("commondir"), "../..\n").unwrap();
        std::fs::write(own.join("gitdir"), format!("{}\n", root.join("w/.git").display())).unwrap();
        for place in ["w", "thief"] {
            let text = format!("gitdir: {}\n", own.display());
            std::fs::write(root.join(place).join(".git"), text).unwrap();
        }
        let found = paths(&root.join("w"));
        assert_eq!(found.write_paths, [root.join("main/.git")]);
        assert_eq!(found.refused, None);
        let stolen = paths(&root.join("thief"));
        assert!(stolen.write_paths.is_empty());
        assert_eq!(
            stolen.refused.as_deref(),
            Some("the folder that `.git` names belongs to another worktree")
        );
    }
}
