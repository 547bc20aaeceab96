//! A control group that bounds the number of processes, where there is no process namespace to do it.

use std::io;
use std::path::{Path, PathBuf};

/// How the groups of supervisors are called, before their process number.
const NAME: &str = "reyn-sandbox-";
/// How many groups are looked at for such that a killed supervisor left.
const SWEPT_MAX: usize = 1000;

/// The group that this process and all it starts are in.
#[derive(Debug)]
pub(super) struct Group {
    folder: PathBuf,
    parent: PathBuf,
}

impl Group {
    /// Makes a group for at most `processes_max` processes beside this one, and enters it.
    pub(super) fn enter(processes_max: u64) -> io::Result<Self> {
        let parent = own_folder()?;
        sweep(&parent);
        let own = std::process::id();
        let group = Self { folder: parent.join(format!("{NAME}{own}")), parent };
        std::fs::create_dir(&group.folder)?;
        let bounded =
            std::fs::write(group.folder.join("pids.max"), processes_max.saturating_add(1).to_string())
                .and_then(|()| std::fs::write(group.folder.join("cgroup.procs"), own.to_string()));
        match bounded {
            Ok(()) => Ok(group),
            Err(error) => {
                group.leave();
                Err(error)
            }
        }
    }

    /// Lets nothing new be started, so that what is there can be killed.
    pub(super) fn close(&self) {
        let _ = std::fs::write(self.folder.join("pids.max"), "0");
    }

    /// Leaves the group and removes it. Everybody else in it must be dead.
    pub(super) fn leave(self) {
        let _ = std::fs::write(self.parent.join("cgroup.procs"), std::process::id().to_string());
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// The group that this process is in, as far as it counts processes.
fn own_folder() -> io::Result<PathBuf> {
    let text = std::fs::read_to_string("/proc/self/cgroup")?;
    let root = Path::new("/sys/fs/cgroup");
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let path = path.trim_start_matches('/');
        if controllers.split(',').any(|one| one == "pids") {
            return Ok(root.join(controllers).join(path));
        }
        if controllers.is_empty() && root.join("cgroup.controllers").exists() {
            return Ok(root.join(path));
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Removes the groups of supervisors that are dead. The system refuses where processes are.
fn sweep(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten().take(SWEPT_MAX) {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.strip_prefix(NAME)) else { continue };
        if !Path::new("/proc").join(pid).exists() {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}
