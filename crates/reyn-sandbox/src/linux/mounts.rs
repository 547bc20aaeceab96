//! The mounts of a run, made by the init in its own mount namespace: nobody else sees them.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags};

use super::plan::Plan;
use super::syscalls;
use super::wire::{Act, During, Failure, Namespaces, Step, Task};

/// Sockets of daemons that act with more rights than the program has: Landlock does not govern connecting.
const DAEMON_SOCKETS: [&str; 14] = [
    "/run/docker.sock",
    "/run/containerd",
    "/run/containerd.sock",
    "/run/podman",
    "/run/crio",
    "/run/dbus",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/run/systemd/private",
    "/run/systemd/io.systemd.sysext",
    "/run/libvirt",
    "/run/lxd.socket",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
];
/// Where everybody's temporary files are.
const TEMPORARY: &str = "/tmp";
/// Size of the private shared memory, in the words of tmpfs.
const SHARED_MEMORY: &std::ffi::CStr = c"mode=1777,size=256m";
/// A file system that holds an empty file, an empty folder and what Git is told to pass over.
const EMPTY: &std::ffi::CStr = c"mode=700,size=1m,nr_inodes=64";
/// Repositories whose `info/exclude` is covered, so that all texts fit.
const EXCLUDES_MAX: usize = 3;

/// Makes all mounts.
pub(super) fn make(task: &Task, plan: &Plan) -> Result<(), Failure> {
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during(Step::Mounts)?;
    // Landlock governs contents, not modes, owners, times and attributes: a read-only mount does. What may be
    // written is taken aside before, with all that is mounted in it, and put back as it was.
    let private = temporary_folder(task, plan);
    let mut open = vec![];
    // What lies in another goes with it, and stays an entry that can be moved and removed.
    let is_inner = |path: &Path| plan.writable.iter().any(|outer| path != outer && path.starts_with(outer));
    for path in plan.writable.iter().filter(|path| !is_inner(path)) {
        open.push((path.as_path(), aside(path)?));
    }
    open.push((&private, aside(&task.scratch)?));
    read_only(Path::new("/"))?;
    if task.means.has_fresh_proc {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        rustix::mount::mount("proc", "/proc", "proc", flags, None).during(Step::Proc)?;
    }
    if Path::new("/dev/shm").is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount("tmpfs", "/dev/shm", "tmpfs", flags, SHARED_MEMORY)
            .during(Step::SharedMemory)?;
    }
    let (temporary, writable) = open.split_last().map_or((None, &[][..]), |(last, rest)| (Some(last), rest));
    for (path, tree) in writable {
        put(tree, path)?;
    }
    for anchor in &plan.anchors {
        bind(anchor, anchor)?;
    }
    for fixed in &plan.fixed {
        bind(fixed, fixed)?;
        read_only(fixed)?;
    }
    cover(task, plan)?;
    // Last, for it may hide where it came from.
    temporary.map_or(Ok(()), |(path, tree)| put(tree, path))
}

/// Covers what must not be read or reached, from an empty file system that nothing else is in.
fn cover(task: &Task, plan: &Plan) -> Result<(), Failure> {
    let daemons = if task.policy.network { daemons(task) } else { vec![] };
    if plan.links.is_empty() && plan.covered.is_empty() && plan.excludes.is_empty() && daemons.is_empty() {
        return Ok(());
    }
    let root = &task.scratch;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("tmpfs", root, "tmpfs", flags, EMPTY).during(Step::Mounts)?;
    let (file, folder) = (root.join("file"), root.join("folder"));
    let make = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    rustix::fs::open(&file, make, Mode::empty()).during(Step::Mounts)?;
    rustix::fs::mkdir(&folder, Mode::empty()).during(Step::Mounts)?;
    for (link, target) in &plan.links {
        cover_link(link, target.as_deref().unwrap_or(&file))?;
    }
    for (path, is_folder) in plan.covered.iter().chain(&daemons) {
        bind(if *is_folder { &folder } else { &file }, path)?;
        read_only(path)?;
    }
    for (at, exclude) in plan.excludes.iter().take(EXCLUDES_MAX).enumerate() {
        let source = root.join(format!("exclude-{at}"));
        std::fs::write(&source, &exclude.text)
            .map_err(|error| Failure::at(Step::Mounts, source.as_path(), &error))?;
        bind(&source, &exclude.path)?;
        read_only(&exclude.path)?;
    }
    Ok(())
}

/// The sockets of daemons that are here and not granted, and whether they are folders.
fn daemons(task: &Task) -> Vec<(PathBuf, bool)> {
    let own = PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
    DAEMON_SOCKETS
        .iter()
        .map(PathBuf::from)
        .chain([own])
        .filter(|path| !task.policy.write_paths.iter().any(|write| write.starts_with(path)))
        .filter_map(|path| path.metadata().ok().map(|found| (path, found.is_dir())))
        .collect()
}

/// Where the program finds its private folder for temporary files.
pub(super) fn temporary_folder(task: &Task, plan: &Plan) -> PathBuf {
    let policy = &task.policy;
    let program = match &task.act {
        Act::Run { program, .. } => Some(program),
        Act::Attempt => None,
    };
    let mut used = policy
        .read_paths
        .iter()
        .chain(&policy.write_paths)
        .chain(&plan.writable)
        .chain([&task.cwd])
        .chain(program);
    let is_apart = task.means.namespaces != Namespaces::Never && Path::new(TEMPORARY).is_dir();
    if is_apart && !used.any(|path| path.starts_with(TEMPORARY)) {
        return PathBuf::from(TEMPORARY);
    }
    task.scratch.clone()
}

fn bind(source: &Path, target: &Path) -> Result<(), Failure> {
    rustix::mount::mount_bind_recursive(source, target)
        .map_err(|error| Failure::at(Step::Mounts, target, &error.into()))
}

/// A copy of a folder or file with its mounts, which is nowhere yet.
fn aside(path: &Path) -> Result<OwnedFd, Failure> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    rustix::mount::open_tree(rustix::fs::CWD, path, flags)
        .map_err(|error| Failure::at(Step::WritePath, path, &error.into()))
}

fn put(tree: &OwnedFd, path: &Path) -> Result<(), Failure> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(tree, "", rustix::fs::CWD, path, flags)
        .map_err(|error| Failure::at(Step::Mounts, path, &error.into()))
}

fn read_only(mount: &Path) -> Result<(), Failure> {
    let path = CString::new(mount.as_os_str().as_bytes()).map_err(io::Error::from).during(Step::Mounts)?;
    syscalls::make_read_only(&path).map_err(|error| Failure::at(Step::Mounts, mount, &error))
}

/// Covers a link itself: a path that names an open link is not followed further.
fn cover_link(link: &Path, with: &Path) -> Result<(), Failure> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = rustix::fs::open(link, flags, Mode::empty())
        .map_err(|error| Failure::at(Step::Mounts, link, &error.into()))?;
    let named = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
    bind(with, &named)?;
    read_only(link)
}
