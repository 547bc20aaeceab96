//! What a program that runs may read and write, so that it reaches no more than the file tools do.

use std::path::{Path, PathBuf};

use super::policy::Rule;
use super::zones::is_at_or_below;
use super::{About, Approvals, FileAxis, FileOp, FilePolicy, PathRule, Place, Zones};

/// Where a program may go, of what file permissions decide about. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessReach {
    /// Read, in the workspace and where rules open more.
    pub read: Vec<PathBuf>,
    /// Written.
    pub write: Vec<PathBuf>,
    /// Never changed, although it lies in what is written.
    pub protected: Vec<Place>,
    /// Never read, although it lies in what is read.
    pub unreadable: Vec<PathBuf>,
}

/// The reach of a program. It runs after a person's yes or by a rule, so that nothing is left to ask: what the
/// file tools would ask about in the workspace is open, what they would refuse is shut.
#[must_use]
pub fn process_reach(zones: &Zones, files: &FilePolicy, approvals: &Approvals) -> ProcessReach {
    let root = zones.root().to_owned();
    let read = opened(&[&files.read, &files.glob, &files.grep], &root);
    // The kernel does not tell a change of a file from its deletion in a folder.
    let mut write = opened(&[&files.write, &files.edit, &files.delete], &root);
    write.retain(|path| read.iter().any(|open| is_at_or_below(path, open)));
    let mut protected = zones.unwritable_places();
    let mut unreadable = zones.unreadable_places();
    for no in approvals.0.iter().filter(|approval| !approval.is_allowed) {
        let About::File { op, path } = &no.about else { continue };
        match op.axis() {
            FileAxis::Read if *op == FileOp::Read => unreadable.push(path.clone()),
            FileAxis::Read => {}
            FileAxis::Write => protected.push(Place { path: path.clone(), is_folder: false }),
        }
    }
    // What is written must not lie in what is protected: it is not written then.
    write.retain(|path| !protected.iter().any(|place| path.starts_with(&place.path)));
    write.retain(|path| !unreadable.iter().any(|shut| path.starts_with(shut)));
    protected.retain(|place| write.iter().any(|open| place.path.starts_with(open)));
    ProcessReach { read, write, protected, unreadable }
}

/// What is open under all of these rules; unset, or asked about, is the workspace.
fn opened(rules: &[&Option<Rule>], root: &Path) -> Vec<PathBuf> {
    let mut open: Option<Vec<PathBuf>> = None;
    for rule in rules.iter().filter_map(|rule| rule.as_ref()) {
        let places: Vec<PathBuf> = match rule {
            Rule::Allow | Rule::Ask => continue,
            Rule::Deny => vec![],
            Rule::Only(places) => places.iter().map(|PathRule { path, .. }| path.clone()).collect(),
        };
        open = Some(match open {
            None => places,
            Some(before) => narrower(&before, &places),
        });
    }
    open.unwrap_or_else(|| vec![root.to_owned()])
}

/// What lies in both.
fn narrower(one: &[PathBuf], other: &[PathBuf]) -> Vec<PathBuf> {
    let inside = |paths: &[PathBuf], of: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().filter(|path| of.iter().any(|open| path.starts_with(open))).cloned().collect()
    };
    let mut both = inside(one, other);
    both.extend(inside(other, one));
    both.sort();
    both.dedup();
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{Approval, Scope};

    fn reach(policy: &FilePolicy, approvals: Vec<Approval>) -> ProcessReach {
        let zones = Zones::new("/w".into(), vec!["/h/.reyn/secrets.env".into()]);
        process_reach(&zones, policy, &Approvals(approvals))
    }

    fn only(paths: &[&str]) -> Option<Rule> {
        let place = |path: &&str| PathRule { path: path.into(), scope: Scope::Recursive };
        Some(Rule::Only(paths.iter().map(place).collect()))
    }

    #[test]
    fn what_the_file_tools_are_denied_a_program_does_not_get() {
        let table = [
            (FilePolicy::default(), vec!["/w"], vec!["/w"]),
            (FilePolicy { write: Some(Rule::Deny), ..FilePolicy::default() }, vec!["/w"], vec![]),
            (FilePolicy { delete: Some(Rule::Deny), ..FilePolicy::default() }, vec!["/w"], vec![]),
            (FilePolicy { read: Some(Rule::Deny), ..FilePolicy::default() }, vec![], vec![]),
            (FilePolicy { write: only(&["/w/out"]), ..FilePolicy::default() }, vec!["/w"], vec!["/w/out"]),
            (
                FilePolicy {
                    write: only(&["/w/out"]),
                    edit: only(&["/w/out/a", "/w/b"]),
                    ..FilePolicy::default()
                },
                vec!["/w"],
                vec!["/w/out/a"],
            ),
            (FilePolicy { write: only(&["/w/.reyn/notes"]), ..FilePolicy::default() }, vec!["/w"], vec![]),
            (FilePolicy { read: only(&["/w/src"]), ..FilePolicy::default() }, vec!["/w/src"], vec![]),
            (FilePolicy { write: Some(Rule::Allow), ..FilePolicy::default() }, vec!["/w"], vec!["/w"]),
        ];
        let paths = |paths: Vec<&str>| paths.into_iter().map(PathBuf::from).collect::<Vec<_>>();
        for (policy, read, write) in table {
            let reach = reach(&policy, vec![]);
            assert_eq!((reach.read, reach.write), (paths(read), paths(write)), "{policy:?}");
        }
    }

    #[test]
    fn a_no_of_a_person_holds_for_programs_too() {
        let no = |op, path: &str| Approval::file(op, path.into(), Scope::Recursive, false);
        let reach =
            reach(&FilePolicy::default(), vec![no(FileOp::Write, "/w/src"), no(FileOp::Read, "/w/private")]);
        assert!(reach.protected.contains(&Place { path: "/w/src".into(), is_folder: false }));
        assert!(reach.unreadable.contains(&PathBuf::from("/w/private")));
        assert_eq!(reach.write, [PathBuf::from("/w")]);
    }

    #[test]
    fn the_runtimes_own_files_stay_as_they_are() {
        let protected = reach(&FilePolicy::default(), vec![]).protected;
        let paths: Vec<_> = protected.iter().map(|place| place.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["/w/reyn.yaml", "/w/reyn.local.yaml", "/w/.reyn"]);
    }
}
