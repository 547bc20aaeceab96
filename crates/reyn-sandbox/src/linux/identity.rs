//! Who the processes of a user namespace are: the same people as outside.

use std::io;

use rustix::process::Pid;

/// Maps every user and group that the caller knows to itself for a child in a new user namespace.
///
/// Without the privilege to do so, only the caller's own are mapped.
pub(super) fn keep(child: Pid) -> io::Result<()> {
    let folder = format!("/proc/{}", child.as_raw_nonzero());
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    if user == 0 {
        let users = itself(&std::fs::read_to_string("/proc/self/uid_map")?);
        let groups = itself(&std::fs::read_to_string("/proc/self/gid_map")?);
        let is_done = std::fs::write(format!("{folder}/uid_map"), users)
            .and_then(|()| std::fs::write(format!("{folder}/gid_map"), groups));
        if is_done.is_ok() {
            return Ok(());
        }
    }
    // The kernel asks for this before an unprivileged process may map a group.
    std::fs::write(format!("{folder}/setgroups"), "deny")?;
    std::fs::write(format!("{folder}/uid_map"), format!("{user} {user} 1"))?;
    std::fs::write(format!("{folder}/gid_map"), format!("{group} {group} 1"))
}

/// A map of a namespace, turned into one that maps the same numbers to themselves.
fn itself(map: &str) -> String {
    map.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (first, _, count) = (fields.next()?, fields.next()?, fields.next()?);
            Some(format!("{first} {first} {count}\n"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_mapped_to_themselves() {
        assert_eq!(itself("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(itself("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }
}
