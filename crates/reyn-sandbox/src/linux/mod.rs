//! Linux: a process of our own starts the process, so that nothing runs between `fork` and `exec` of a
//! program with threads.
//!
//! The agent starts the *supervisor* (this program again) and holds one end of a socket: the supervisor's
//! orders come over it, and its closing is the order to kill everything. The supervisor forks the *init*,
//! first process of new namespaces, which makes the mounts and forks the process that confines itself and
//! becomes the program. Without namespaces there is no init.

pub(crate) mod attempts;
pub(crate) mod backend;
mod cgroup;
mod confine;
mod control;
mod descendants;
mod filter;
mod git_exclude;
mod identity;
mod init;
mod mounts;
mod placeholder;
mod plan;
mod probe;
mod rules;
mod scratch;
pub(crate) mod supervisor;
mod syscalls;
mod wire;

pub(crate) use control::Control;
