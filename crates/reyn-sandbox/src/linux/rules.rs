//! Which files a confined process may reach: the policy in the words of Landlock.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};
use rustix::fs::{FileType, Mode, OFlags};

use super::mounts;
use super::plan::Plan;
use super::wire::{During, Failure, Namespaces, Step, Task};

/// The newest interface that these rules are written for. The next one would also close Unix sockets by path.
const NEWEST: ABI = ABI::V7;
/// How many entries are granted one by one where mounts cannot protect.
pub(super) const ENTRIES_MAX: usize = 4096;

/// Makes the rules ready, without applying them yet.
pub(super) fn build(task: &Task, plan: &Plan, program: Option<&Path>) -> Result<RulesetCreated, Failure> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)));
    if !task.policy.network {
        ruleset = ruleset.and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)));
    }
    let ruleset = ruleset.and_then(Ruleset::create).map_err(io::Error::other).during(Step::Landlock)?;
    let policy = &task.policy;
    let mut grants = Grants { ruleset: Some(ruleset), count: 0 };
    if task.means.namespaces == Namespaces::Never {
        let split = Split {
            fixed: plan
                .fixed
                .iter()
                .chain(plan.links.iter().map(|(link, _)| link))
                .map(AsRef::as_ref)
                .collect(),
            covered: plan.covered.iter().map(|(path, _)| path.as_path()).collect(),
        };
        for path in &policy.read_paths {
            let real = path.canonicalize().map_err(|error| Failure::at(Step::ReadPath, path, &error))?;
            split.grant(&mut grants, &real, false)?;
        }
        for path in &plan.writable {
            split.grant(&mut grants, path, true)?;
        }
        grants.add(&task.scratch, change(), Step::WritePath)?;
    } else {
        for path in &policy.read_paths {
            grants.add(path, read(), Step::ReadPath)?;
        }
        for path in &policy.write_paths {
            grants.add(path, change(), Step::WritePath)?;
        }
        let private = mounts::temporary_folder(task, plan);
        grants.add(&private, change(), Step::WritePath)?;
        if Path::new("/dev/shm").is_dir() {
            grants.add(Path::new("/dev/shm"), change(), Step::WritePath)?;
        }
    }
    if let Some(program) = program {
        // A program that is not there or closed is the execution's error, not a grant's.
        match grants.add(program, make_bitflags!(AccessFs::{Execute | ReadFile}), Step::Exec) {
            Ok(()) => {}
            Err(failure) => return Err(failure),
        }
    }
    grants.ruleset.ok_or_else(|| Failure::new(Step::Landlock, &io::ErrorKind::InvalidInput.into()))
}

/// Applies the rules to this process for good.
pub(super) fn apply(ruleset: RulesetCreated) -> Result<(), Failure> {
    let RestrictionStatus { ruleset, .. } =
        ruleset.restrict_self().map_err(io::Error::other).during(Step::Landlock)?;
    match ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err(Failure::new(Step::Landlock, &io::ErrorKind::Unsupported.into())),
    }
}

/// To read and to execute.
fn read() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

/// To read, to execute and to change; never to make devices, nor to steer those that are there.
fn change() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev})
}

struct Grants {
    ruleset: Option<RulesetCreated>,
    count: usize,
}

impl Grants {
    fn add(&mut self, path: &Path, access: BitFlags<AccessFs>, step: Step) -> Result<(), Failure> {
        let fail = |error: &io::Error| Failure::at(step, path, error);
        let held: OwnedFd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| fail(&error.into()))?;
        let stat = rustix::fs::fstat(&held).map_err(|error| fail(&error.into()))?;
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let access = if is_folder { access } else { access & AccessFs::from_file(NEWEST) };
        let Some(ruleset) = self.ruleset.take() else {
            return Err(fail(&io::ErrorKind::InvalidInput.into()));
        };
        let ruleset = ruleset
            .add_rule(PathBeneath::new(&held, access))
            .map_err(|error| fail(&io::Error::other(error)))?;
        self.ruleset = Some(ruleset);
        Ok(())
    }
}

/// What stands in the way of granting a folder as a whole, where no mount can protect it.
struct Split<'a> {
    fixed: BTreeSet<&'a Path>,
    covered: BTreeSet<&'a Path>,
}

impl Split<'_> {
    fn grant(&self, grants: &mut Grants, path: &Path, may_write: bool) -> Result<(), Failure> {
        if self.covered.iter().any(|covered| path.starts_with(covered)) {
            return Ok(());
        }
        let may_write = may_write && !self.fixed.iter().any(|fixed| path.starts_with(fixed));
        let holds_fixed = may_write && self.fixed.iter().any(|fixed| fixed.starts_with(path));
        let holds_covered = self.covered.iter().any(|covered| covered.starts_with(path));
        let step = if may_write { Step::WritePath } else { Step::ReadPath };
        grants.count += 1;
        if grants.count > ENTRIES_MAX {
            let detail = ENTRIES_MAX.to_string();
            return Err(Failure {
                step: Step::TooManyEntries,
                errno: 0,
                path: Some(path.to_owned()),
                detail,
            });
        }
        if !holds_fixed && !holds_covered {
            return grants.add(path, if may_write { change() } else { read() }, step);
        }
        // Names stay readable; what they name is granted one by one.
        let own = if holds_covered { make_bitflags!(AccessFs::{ReadDir}) } else { read() };
        grants.add(path, own, step)?;
        let entries = std::fs::read_dir(path).map_err(|error| Failure::at(step, path, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| Failure::at(step, path, &error))?;
            // A link grants nothing: what it leads to is granted where that lies.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.grant(grants, &entry.path(), may_write)?;
            }
        }
        Ok(())
    }
}
