//! Other names of guarded files: hard links, which no path tells apart.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use reyn_core::permission::FileAxis;
use rustix::fs::{AtFlags, FileType, Stat};

use crate::Workspace;
use crate::bounds::{GUARDED_DEPTH_MAX, GUARDED_FILES_MAX};
use crate::open::FOLDER_FLAGS;

/// The guarded files that have more than one name.
#[derive(Debug, Default)]
pub(crate) struct GuardedLinks {
    by_identity: HashMap<(u64, u64), PathBuf>,
    /// A place that holds too much to be looked through: any file with more than one name may be there.
    too_large: Option<PathBuf>,
}

impl GuardedLinks {
    /// The guarded file that a file with this identity is, if any.
    pub(crate) fn twin(&self, identity: (u64, u64)) -> Option<&Path> {
        self.by_identity.get(&identity).or(self.too_large.as_ref()).map(PathBuf::as_path)
    }
}

impl Workspace {
    /// The guarded file that the one at `path` is another name of.
    pub(crate) fn guarded_twin(&self, axis: FileAxis, path: &Path, stat: &Stat) -> Option<PathBuf> {
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink < 2 {
            return None;
        }
        let links = self.guarded_links(axis);
        links.twin((stat.st_dev, stat.st_ino)).filter(|twin| *twin != path).map(Path::to_owned)
    }

    /// Looks through the guarded places for files with more than one name.
    pub(crate) fn guarded_links(&self, axis: FileAxis) -> GuardedLinks {
        let mut scan =
            Scan { workspace: self, axis, links: GuardedLinks::default(), files_left: GUARDED_FILES_MAX };
        for place in self.zones.guarded_places(axis) {
            let Ok(stat) = self.lstat(&place) else { continue };
            scan.look(&place, &stat, GUARDED_DEPTH_MAX);
        }
        scan.links
    }
}

struct Scan<'a> {
    workspace: &'a Workspace,
    axis: FileAxis,
    links: GuardedLinks,
    files_left: usize,
}

impl Scan<'_> {
    fn look(&mut self, path: &Path, stat: &Stat, depth_left: usize) {
        if self.links.too_large.is_some() {
            return;
        }
        if self.files_left == 0 || depth_left == 0 {
            self.links.too_large = Some(path.to_owned());
            return;
        }
        self.files_left -= 1;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile
                if stat.st_nlink > 1 && self.workspace.zones.is_guarded(self.axis, path) =>
            {
                self.links.by_identity.insert((stat.st_dev, stat.st_ino), path.to_owned());
            }
            FileType::Directory => self.look_below(path, depth_left - 1),
            // A link's own file is guarded where it leads, which is a place of its own.
            FileType::RegularFile
            | FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => {}
        }
    }

    fn look_below(&mut self, folder: &Path, depth_left: usize) {
        // What the runtime cannot read, its file tools cannot read by another name either.
        let Ok(opened) = self.workspace.open_real(folder, FOLDER_FLAGS) else { return };
        let Ok(entries) = rustix::fs::Dir::read_from(&opened) else { return };
        for entry in entries.filter_map(Result::ok) {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let Ok(stat) = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            self.look(&folder.join(name), &stat, depth_left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Place;

    #[test]
    fn a_hard_link_says_which_guarded_file_it_is() {
        let place = Place::new();
        let secrets = place.outside().join("secrets.env");
        std::fs::write(&secrets, "KEY=1").unwrap();
        place.put("reyn.yaml", "a: 1");
        place.put(".reyn/state/sessions/s/log.jsonl", "{}");
        place.put(".reyn/agents/dev/state/x", "x");
        place.put(".reyn/agents/dev/profile.yaml", "x");
        place.put("plain", "x");
        for (from, to) in [
            (secrets.clone(), "as-secrets"),
            (place.at("reyn.yaml"), "as-config"),
            (place.at(".reyn/state/sessions/s/log.jsonl"), "as-log"),
            (place.at(".reyn/agents/dev/state/x"), "as-state"),
            (place.at(".reyn/agents/dev/profile.yaml"), "as-profile"),
            (place.at("plain"), "as-plain"),
        ] {
            std::fs::hard_link(from, place.at(to)).unwrap();
        }
        let at = |path: &str| Some(place.at(path));
        for (name, to_read, to_write) in [
            ("as-secrets", Some(secrets.clone()), Some(secrets.clone())),
            ("as-config", None, at("reyn.yaml")),
            ("as-log", None, at(".reyn/state/sessions/s/log.jsonl")),
            ("as-state", None, at(".reyn/agents/dev/state/x")),
            ("as-profile", None, None),
            ("as-plain", None, None),
            ("as-secrets/x/..", Some(secrets.clone()), Some(secrets.clone())),
            ("as-config/x/..", None, at("reyn.yaml")),
            ("reyn.yaml", None, None),
        ] {
            let twins = (place.to_read(name).same_as, place.to_write(name).same_as);
            assert_eq!(twins, (to_read, to_write), "{name}");
        }
    }

    #[test]
    fn a_guarded_place_too_large_to_look_through_guards_every_file_of_many_names() {
        let links = GuardedLinks { too_large: Some("/w/.reyn/state".into()), ..GuardedLinks::default() };
        assert_eq!(links.twin((1, 2)), Some(Path::new("/w/.reyn/state")));
        assert_eq!(GuardedLinks::default().twin((1, 2)), None);
    }
}
