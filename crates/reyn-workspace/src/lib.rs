//! Files as an agent reaches them: from the path a model writes to the file that is really opened.
//!
//! Invariant: a path is resolved to its real place before it is judged, and opened at exactly that place,
//! below a folder that is held open and without following a link. A link planted in between makes the open
//! fail instead of leading away, and a folder moved in between is still the folder that was judged.

mod append;
pub mod bounds;
mod delete;
mod edit;
mod error;
mod guarded;
mod list;
mod lock;
mod look;
mod open;
mod read;
mod replace;
mod resolve;
mod search;
mod stored_name;
mod tail;
mod write;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reyn_core::memory::Layer;
use reyn_core::permission::{Target, Zones};
use rustix::fs::{Mode, OFlags};

pub use delete::Deleted;
pub use edit::{EditRequest, Edited};
pub use error::FileError;
pub use list::{ListRequest, ListedEntry, Listing};
pub use read::{Next, Page, PageRequest};
pub use resolve::PathError;
pub use search::Judge;
pub use write::{Before, Preview, ProposedChange, Written};

/// A folder that an agent works in, and the way to every other place.
#[derive(Debug, Clone)]
pub struct Workspace {
    zones: Arc<Zones>,
    home: Option<PathBuf>,
    /// Held open, so that what is below it is found also when its path changes.
    root_folder: Arc<OwnedFd>,
    slash: Arc<OwnedFd>,
}

impl Workspace {
    /// Opens the workspace of `zones`. `home` is what `~` stands for.
    ///
    /// # Errors
    /// When the root is not a folder, or its path goes through links: zones are told by paths without.
    pub fn open(zones: Zones, home: Option<PathBuf>) -> std::io::Result<Self> {
        if zones.root().canonicalize()? != zones.root() {
            let problem = "the path of a workspace must be resolved before it is opened";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, problem));
        }
        let flags = open::FOLDER_FLAGS;
        let root_folder = rustix::fs::open(zones.root(), flags, Mode::empty())?;
        let slash = rustix::fs::open("/", flags | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { zones: Arc::new(zones), home, root_folder: Arc::new(root_folder), slash: Arc::new(slash) })
    }

    /// Absolute, without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.zones.root()
    }

    /// Whose memory a place is in.
    #[must_use]
    pub fn memory_layer(&self, target: &Target) -> Option<Layer> {
        self.zones.memory_layer(&target.path)
    }

    /// How a path is written for people and models: relative to the workspace when it is inside.
    #[must_use]
    pub fn display(&self, path: &Path) -> String {
        self.zones.display(path)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use reyn_core::permission::FileAxis;
    use std::ops::Deref;

    /// A workspace in a folder of its own, with a folder outside beside it.
    pub(crate) struct Place {
        dir: tempfile::TempDir,
        workspace: Workspace,
    }

    impl Place {
        pub(crate) fn new() -> Self {
            Self::with(|zones| zones)
        }

        pub(crate) fn with(zones: impl FnOnce(Zones) -> Zones) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let base = dir.path().canonicalize().unwrap();
            std::fs::create_dir(base.join("ws")).unwrap();
            std::fs::create_dir(base.join("outside")).unwrap();
            let secrets = base.join("outside/secrets.env");
            let zones = zones(Zones::new(base.join("ws"), vec![secrets]));
            let workspace = Workspace::open(zones, Some(base.join("home"))).unwrap();
            Self { dir, workspace }
        }

        /// A path in the workspace, for the test's own hands.
        pub(crate) fn at(&self, path: &str) -> PathBuf {
            self.root().join(path)
        }

        pub(crate) fn outside(&self) -> PathBuf {
            self.dir.path().canonicalize().unwrap().join("outside")
        }

        pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
            let path = self.at(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }

        pub(crate) fn read(&self, path: &str) -> Vec<u8> {
            std::fs::read(self.at(path)).unwrap()
        }

        pub(crate) fn to_read(&self, path: &str) -> Target {
            self.resolve(path, FileAxis::Read).unwrap()
        }

        pub(crate) fn to_write(&self, path: &str) -> Target {
            self.resolve(path, FileAxis::Write).unwrap()
        }

        pub(crate) fn names(&self, folder: &str) -> Vec<String> {
            let mut names: Vec<String> = std::fs::read_dir(self.at(folder))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        }
    }

    impl Deref for Place {
        type Target = Workspace;
        fn deref(&self) -> &Workspace {
            &self.workspace
        }
    }

    #[test]
    fn a_root_that_is_a_link_is_not_opened_by_that_name() {
        let place = Place::new();
        let link = place.outside().join("link");
        std::os::unix::fs::symlink(place.root(), &link).unwrap();
        assert!(Workspace::open(Zones::new(link, vec![]), None).is_err());
        assert!(Workspace::open(Zones::new(place.root().to_owned(), vec![]), None).is_ok());
    }
}
