//! What has to be mounted, or withheld, so that protected entries stay as they are. Only reads.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::git_exclude::{self, Exclude};
use super::placeholder::{self, Held, Placeholder};
use super::wire::{Failure, Step};
use crate::policy::{ProtectedPath, SandboxPolicy};

/// How many links one after another are followed.
const LINKS_MAX: usize = 40;
/// How many entries of a protected folder are looked at for other names.
const ENTRIES_MAX: usize = 4096;

/// Mounts to make, each list with a folder before what is in it. All paths are real.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Folders mounted on themselves, so that they cannot be renamed away with what they hold.
    pub(super) anchors: BTreeSet<PathBuf>,
    /// Entries mounted on themselves and made read-only.
    pub(super) fixed: BTreeSet<PathBuf>,
    /// Links, covered by what they lead to (or by nothing), read-only.
    pub(super) links: Vec<(PathBuf, Option<PathBuf>)>,
    /// Entries covered by something empty, and whether they are folders.
    pub(super) covered: BTreeSet<(PathBuf, bool)>,
    /// Real paths of the write paths.
    pub(super) writable: Vec<PathBuf>,
    /// What Git is told to pass over.
    pub(super) excludes: Vec<Exclude>,
    /// Stand-ins to be given back after the run.
    pub(super) placeholders: Vec<Placeholder>,
}

impl Plan {
    /// Looks at the file system. With `with_placeholders`, absent entries get a stand-in.
    pub(super) fn of(policy: &SandboxPolicy, with_placeholders: bool) -> Result<Self, Failure> {
        let mut plan = Self::default();
        for path in &policy.write_paths {
            let real =
                path.canonicalize().map_err(|error| Failure::at(Step::WritePath, path.as_path(), &error))?;
            plan.writable.push(real);
        }
        for one in &policy.protected {
            let result = plan.protect(one, with_placeholders);
            if let Err(failure) = result {
                plan.release();
                return Err(failure);
            }
        }
        for path in &policy.read_deny_paths {
            match path.canonicalize() {
                Ok(real) => {
                    let is_folder = real.is_dir();
                    plan.covered.insert((real, is_folder));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Failure::at(Step::Protect, path.as_path(), &error)),
            }
        }
        let stand_ins = plan.placeholders.iter().map(Placeholder::path);
        let covered = plan.covered.iter().map(|(path, _)| path.as_path());
        plan.excludes = git_exclude::of(stand_ins.chain(covered));
        Ok(plan)
    }

    /// Gives the stand-ins back.
    pub(super) fn release(&mut self) {
        // What is in a folder before the folder.
        for one in self.placeholders.drain(..).rev() {
            one.release();
        }
    }

    fn protect(&mut self, one: &ProtectedPath, with_placeholders: bool) -> Result<(), Failure> {
        let mut path = one.path.clone();
        for _ in 0..LINKS_MAX {
            let fail = |error: &io::Error| Failure::at(Step::Protect, path.as_path(), error);
            let entry = real_entry(&path).map_err(|error| fail(&error))?;
            let (Entry::There(real) | Entry::Absent(real) | Entry::AbsentAbove(real)) = &entry;
            let real = real.clone();
            // Outside every write path it is unwritable anyway.
            let is_within = self.writable.iter().any(|write| real.starts_with(write));
            if !matches!(entry, Entry::There(_)) {
                let is_folder = one.is_folder || matches!(entry, Entry::AbsentAbove(_));
                if is_within && with_placeholders {
                    match Placeholder::hold(&real, is_folder).map_err(|error| fail(&error))? {
                        Held::StandIn(held) => {
                            self.placeholders.push(held);
                            self.fix(real);
                        }
                        Held::Real => self.fix(real),
                        Held::Impossible => {}
                    }
                } else if is_within {
                    self.fixed.insert(real);
                }
                return Ok(());
            }
            let found = match real.symlink_metadata() {
                Ok(found) => found,
                // Another run took its stand-in away just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(fail(&error)),
            };
            if found.is_symlink() {
                let next = real.read_link().map_err(|error| fail(&error))?;
                let next = real.parent().unwrap_or(Path::new("/")).join(next);
                if is_within {
                    self.anchor(&real);
                    self.links.push((real.clone(), real.canonicalize().ok()));
                }
                path = next;
                continue;
            }
            if is_within {
                single_name(&one.path, &found)?;
            }
            if is_within {
                if with_placeholders && placeholder::may_be(&found) {
                    let held = Placeholder::hold(&real, found.is_dir()).map_err(|error| fail(&error))?;
                    if let Held::StandIn(held) = held {
                        self.placeholders.push(held);
                    }
                }
                if found.is_dir() {
                    single_names(&real)?;
                }
                self.fix(real);
            }
            return Ok(());
        }
        Err(Failure::at(Step::Protect, one.path.as_path(), &rustix::io::Errno::LOOP.into()))
    }

    fn fix(&mut self, path: PathBuf) {
        self.anchor(&path);
        self.fixed.insert(path);
    }

    /// Marks the folders between the topmost write path that holds `path`, and `path`.
    fn anchor(&mut self, path: &Path) {
        let Some(top) = self
            .writable
            .iter()
            .filter(|write| path.starts_with(write))
            .min_by_key(|write| write.as_os_str().len())
        else {
            return;
        };
        let between = path.ancestors().skip(1).take_while(|folder| folder.starts_with(top) && *folder != top);
        self.anchors.extend(between.map(Path::to_owned));
    }
}

/// Refuses a file with other names, which would stay writable.
fn single_name(path: &Path, found: &std::fs::Metadata) -> Result<(), Failure> {
    if !found.is_file() || found.nlink() == 1 {
        return Ok(());
    }
    let detail = found.nlink().to_string();
    Err(Failure { step: Step::Links, errno: 0, path: Some(path.to_owned()), detail })
}

/// The same for what is directly in a protected folder, where hooks are.
fn single_names(folder: &Path) -> Result<(), Failure> {
    let fail = |error: &io::Error| Failure::at(Step::Protect, folder, error);
    for entry in std::fs::read_dir(folder).map_err(|error| fail(&error))?.take(ENTRIES_MAX) {
        let entry = entry.map_err(|error| fail(&error))?;
        single_name(&entry.path(), &entry.metadata().map_err(|error| fail(&error))?)?;
    }
    Ok(())
}

/// An entry by its real path, its last part not followed.
enum Entry {
    There(PathBuf),
    Absent(PathBuf),
    /// A folder above it is absent: this is the topmost. Nothing can be made in a stand-in for it.
    AbsentAbove(PathBuf),
}

fn real_entry(path: &Path) -> io::Result<Entry> {
    let mut real = PathBuf::from("/");
    let parts: Vec<_> = path.components().collect();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Component::Normal(name) => real.push(name),
            Component::ParentDir => {
                real.pop();
                continue;
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
        }
        let is_last = at + 1 == parts.len();
        match real.symlink_metadata() {
            Ok(found) if found.is_symlink() && !is_last => match real.canonicalize() {
                Ok(target) => real = target,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entry::There(real)),
                Err(error) => return Err(error),
            },
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_last => {
                return Ok(Entry::Absent(real));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entry::AbsentAbove(real)),
            Err(error) => return Err(error),
        }
    }
    Ok(Entry::There(real))
}
