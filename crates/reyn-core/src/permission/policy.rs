//! `permissions.file.*`, the command line's grants, and the verdict they give together.

use std::path::{Component, Path, PathBuf};

use super::zones::is_at_or_below;
use super::{About, Approval, Approvals, Scope, Target, Zones};
use crate::capability::Verdict;
use crate::gate::Refusal;
use crate::text::shell_word;
use crate::tool::ErrorKind;

/// What a call does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileOp {
    /// Read a file or list a folder.
    Read,
    /// Find paths by pattern.
    Glob,
    /// Search in contents.
    Grep,
    /// Create or replace.
    Write,
    /// Change a part.
    Edit,
    /// Delete.
    Delete,
    /// Rebuild an index file from a folder.
    RegenerateIndex,
    /// Put something into a memory, by whatever name it is written.
    Remember,
    /// Take something out of one.
    Forget,
    /// Put texts into an index.
    WriteIndex,
    /// Remove an index with all that is in it.
    DropIndex,
}

/// The two grants that every file operation refines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAxis {
    /// `file.read`.
    Read,
    /// `file.write`.
    Write,
}

impl FileAxis {
    /// The key in configuration, approvals and `--allow`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read => "file.read",
            Self::Write => "file.write",
        }
    }
}

impl FileOp {
    /// Every operation.
    pub const ALL: [Self; 11] = [
        Self::Read,
        Self::Glob,
        Self::Grep,
        Self::Write,
        Self::Edit,
        Self::Delete,
        Self::RegenerateIndex,
        Self::Remember,
        Self::Forget,
        Self::WriteIndex,
        Self::DropIndex,
    ];

    /// Whether it is about a memory.
    #[must_use]
    pub const fn is_memory(self) -> bool {
        matches!(self, Self::Remember | Self::Forget)
    }

    /// Whether it is the runtime's own way into an index, which no tool for files takes.
    #[must_use]
    pub const fn is_index(self) -> bool {
        matches!(self, Self::WriteIndex | Self::DropIndex)
    }

    /// What the same change means where it is made in a memory; `None` for what changes nothing, and for what is
    /// about a memory anyway.
    #[must_use]
    pub const fn in_a_memory(self) -> Option<Self> {
        match self {
            Self::Write | Self::Edit | Self::RegenerateIndex => Some(Self::Remember),
            Self::Delete => Some(Self::Forget),
            Self::Read
            | Self::Glob
            | Self::Grep
            | Self::Remember
            | Self::Forget
            | Self::WriteIndex
            | Self::DropIndex => None,
        }
    }

    /// Whether a person who answered about this also answered about `other`, which shows or does no more.
    #[must_use]
    pub const fn answers(self, other: Self) -> bool {
        match self {
            // What was searched was shown.
            Self::Read | Self::Grep => matches!(other, Self::Read | Self::Grep | Self::Glob),
            Self::Glob => matches!(other, Self::Glob),
            Self::Write => {
                matches!(other, Self::Write | Self::Edit | Self::RegenerateIndex | Self::Remember)
            }
            Self::Edit => matches!(other, Self::Edit),
            Self::Delete => matches!(other, Self::Delete | Self::Forget),
            Self::RegenerateIndex => matches!(other, Self::RegenerateIndex),
            Self::Remember => matches!(other, Self::Remember),
            Self::Forget => matches!(other, Self::Forget),
            Self::WriteIndex => matches!(other, Self::WriteIndex),
            Self::DropIndex => matches!(other, Self::DropIndex),
        }
    }

    /// The grant that this operation needs.
    #[must_use]
    pub const fn axis(self) -> FileAxis {
        match self {
            Self::Read | Self::Glob | Self::Grep => FileAxis::Read,
            Self::Write
            | Self::Edit
            | Self::Delete
            | Self::RegenerateIndex
            | Self::Remember
            | Self::Forget
            | Self::WriteIndex
            | Self::DropIndex => FileAxis::Write,
        }
    }

    /// The key under `permissions`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read => "file.read",
            Self::Glob => "file.glob",
            Self::Grep => "file.grep",
            Self::Write => "file.write",
            Self::Edit => "file.edit",
            Self::Delete => "file.delete",
            Self::RegenerateIndex => "file.regenerate_index",
            Self::Remember => "memory.write",
            Self::Forget => "memory.delete",
            Self::WriteIndex => "index_write",
            Self::DropIndex => "index_drop",
        }
    }

    /// Whether it covers what is found below the folder it names, not that one path.
    #[must_use]
    pub const fn is_search(self) -> bool {
        match self {
            Self::Glob | Self::Grep => true,
            Self::Read
            | Self::Write
            | Self::Edit
            | Self::Delete
            | Self::RegenerateIndex
            | Self::Remember
            | Self::Forget
            | Self::WriteIndex
            | Self::DropIndex => false,
        }
    }

    /// What it does, as in "wants to … `path`".
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Glob => "list paths in",
            Self::Grep => "search in",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::RegenerateIndex => "rebuild the index",
            Self::Remember => "remember in",
            Self::Forget => "forget",
            Self::WriteIndex => "write into the index",
            Self::DropIndex => "remove the index",
        }
    }
}

/// One permission value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// Everywhere, without asking.
    Allow,
    /// Everywhere only after asking.
    Ask,
    /// Nowhere.
    Deny,
    /// Here without asking, elsewhere after asking.
    Only(Vec<PathRule>),
}

/// A place named in a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRule {
    /// Absolute, without links.
    pub path: PathBuf,
    /// How far it reaches.
    pub scope: Scope,
}

impl PathRule {
    fn covers(&self, path: &Path) -> bool {
        match self.scope {
            Scope::JustPath | Scope::ThisCall => path == self.path,
            Scope::Recursive => is_at_or_below(path, &self.path),
        }
    }
}

/// `permissions.file`: an operation's own rule, else its axis' rule, else the default zone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilePolicy {
    /// `file.read`.
    pub read: Option<Rule>,
    /// `file.glob`.
    pub glob: Option<Rule>,
    /// `file.grep`.
    pub grep: Option<Rule>,
    /// `file.write`.
    pub write: Option<Rule>,
    /// `file.edit`.
    pub edit: Option<Rule>,
    /// `file.delete`.
    pub delete: Option<Rule>,
    /// `file.regenerate_index`.
    pub regenerate_index: Option<Rule>,
    /// `memory.write`.
    pub remember: Option<Rule>,
    /// `memory.delete`.
    pub forget: Option<Rule>,
    /// `index_drop`.
    pub drop_index: Option<Rule>,
}

impl FilePolicy {
    /// The rule that counts for an operation, with the key it stands under.
    fn rule(&self, op: FileOp) -> Option<(&Rule, &'static str)> {
        let own = match op {
            FileOp::Read => &self.read,
            FileOp::Glob => &self.glob,
            FileOp::Grep => &self.grep,
            FileOp::Write => &self.write,
            FileOp::Edit => &self.edit,
            FileOp::Delete => &self.delete,
            FileOp::RegenerateIndex => &self.regenerate_index,
            FileOp::Remember => &self.remember,
            FileOp::Forget => &self.forget,
            // It is within the default zone, and follows the files.
            FileOp::WriteIndex => &None,
            FileOp::DropIndex => &self.drop_index,
        };
        let axis = match op.axis() {
            FileAxis::Read => &self.read,
            FileAxis::Write => &self.write,
        };
        let like = self.delete.as_ref().filter(|_| op == FileOp::Forget);
        own.as_ref()
            .map(|rule| (rule, op.key()))
            .or_else(|| like.map(|rule| (rule, FileOp::Delete.key())))
            .or_else(|| axis.as_ref().map(|rule| (rule, op.axis().key())))
            // What opens files does not open this; what shuts them does.
            .filter(|(rule, key)| op != FileOp::DropIndex || *key == op.key() || **rule == Rule::Deny)
    }
}

/// What `--allow` gives for one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants(pub Vec<Grant>);

/// One `--allow`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Reading or writing.
    pub axis: FileAxis,
    /// Where; `None` is the workspace.
    pub path: Option<PathBuf>,
}

impl Grants {
    fn covers(&self, axis: FileAxis, path: &Path, zones: &Zones, opens: &impl Fn(&Path) -> bool) -> bool {
        self.0.iter().filter(|grant| grant.axis == axis).any(|grant| match &grant.path {
            None => zones.is_inside(path) && opens(zones.root()),
            Some(root) => is_at_or_below(path, root) && opens(root),
        })
    }
}

/// Why a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskReason {
    /// Which rule asks.
    pub rule: String,
    /// What would allow it without a person; `None` when only a person can.
    pub allowed_by: Option<String>,
}

impl AskReason {
    /// The refusal when nobody is there to be asked.
    #[must_use]
    pub fn refused_for_want_of_a_person(&self, op: FileOp, target: &Target) -> Refusal {
        Refusal {
            kind: ErrorKind::PermissionDenied,
            message: format!(
                "nobody is there to allow it: {} `{}` takes a person's yes, because {}",
                op.verb(),
                target.asked,
                self.rule
            ),
            lifts_when: self.allowed_by.clone().unwrap_or_else(|| {
                "no key opens this; a person does it by hand, or answers the question in a terminal"
                    .to_owned()
            }),
            wants_person: true,
        }
    }

    /// The refusal when a person said no, with what they said about it.
    #[must_use]
    pub fn refused_by_a_person(&self, op: FileOp, target: &Target, reason: Option<&str>) -> Refusal {
        let (verb, asked) = (op.verb(), &target.asked);
        let (message, lifts_when) = match reason {
            None => (
                format!("the person said no: you may not {verb} `{asked}`"),
                "do not try again unless the person asks for it; say what you would have done",
            ),
            Some(reason) => (
                format!("the person said no to this ({verb} `{asked}`), and why: {reason}"),
                "do as they say; another attempt is asked about again",
            ),
        };
        Refusal {
            kind: ErrorKind::PermissionDenied,
            message,
            lifts_when: lifts_when.to_owned(),
            wants_person: false,
        }
    }
}

/// What the agent's own layer says about a file: sealed, denied, protected, granted, in the zone, answered
/// before, or to be asked.
#[must_use]
pub fn file_verdict(
    op: FileOp,
    target: &Target,
    zones: &Zones,
    policy: &FilePolicy,
    grants: &Grants,
    approvals: &Approvals,
) -> Verdict {
    let (axis, path) = (op.axis(), target.path.as_path());
    let goes_up = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    if !path.is_absolute() || goes_up(path) {
        return Verdict::Deny(unresolved(op, target));
    }
    if target.is(|path| zones.is_sealed(path)) {
        return Verdict::Deny(sealed(op, target));
    }
    let rule = policy.rule(op);
    if let Some((Rule::Deny, key)) = rule {
        return Verdict::Deny(denied_by_config(op, target, key));
    }
    // A change of another name of a guarded file copies its content out from behind the guard.
    let is_guarded_twin = target.same_as.as_deref().is_some_and(|twin| zones.is_guarded(axis, twin));
    // An index is the runtime's own, and these two are its own way in.
    let is_own_way = op.is_index() && zones.is_index(path);
    let is_protected =
        axis == FileAxis::Write && (is_guarded_twin || (zones.is_protected(path) && !is_own_way));
    let has_keys = target.is(|path| zones.holds_credentials(path));
    // What opens keys is about keys, or about this very file, and no folder somewhere above them.
    let opens = |place: &Path| !has_keys || place == path || zones.holds_credentials(place);
    let is_open = match (op, rule) {
        (FileOp::DropIndex, rule) => is_own_way && matches!(rule, Some((Rule::Allow, _))),
        (FileOp::WriteIndex, None) => is_own_way,
        (_, rule) => is_granted(rule, axis, path, zones, &opens) || grants.covers(axis, path, zones, &opens),
    };
    if !is_protected && is_open {
        return Verdict::Allow;
    }
    // A yes to changing a protected file is about this very change; a no may be about its folder.
    let counts = |yes: &Approval| match &yes.about {
        About::File { .. } if is_protected => yes.scope == Scope::ThisCall,
        About::File { path, .. } => opens(path),
        About::Command { .. } | About::Host { .. } => false,
    };
    match approvals.answer(op, path, counts) {
        Some(true) => Verdict::Allow,
        Some(false) => Verdict::Deny(denied_before(op, target)),
        None if op == FileOp::DropIndex && !is_protected => Verdict::Ask(ask_reason_to_drop(rule.is_some())),
        None => Verdict::Ask(ask_reason(rule, axis, target, zones, is_protected)),
    }
}

fn is_granted(
    rule: Option<(&Rule, &str)>,
    axis: FileAxis,
    path: &Path,
    zones: &Zones,
    opens: &impl Fn(&Path) -> bool,
) -> bool {
    match (rule, axis) {
        (Some((Rule::Allow, _)), _) => true,
        (Some((Rule::Ask | Rule::Deny, _)), _) => false,
        (Some((Rule::Only(places), _)), _) => {
            places.iter().any(|place| place.covers(path) && opens(&place.path))
        }
        (None, FileAxis::Read) => zones.is_inside(path) && opens(zones.root()),
        (None, FileAxis::Write) => zones.is_default_write(path) && opens(zones.root()),
    }
}

fn ask_reason_to_drop(has_rule: bool) -> AskReason {
    let key = FileOp::DropIndex.key();
    let rule = if has_rule {
        format!("`permissions.{key}` is `ask`")
    } else {
        format!("`permissions.{key}` is not set, and what is removed does not come back")
    };
    AskReason {
        rule,
        allowed_by: Some(format!("the person can set `permissions.{key}: allow` in `reyn.yaml`")),
    }
}

fn ask_reason(
    rule: Option<(&Rule, &'static str)>,
    axis: FileAxis,
    target: &Target,
    zones: &Zones,
    is_protected: bool,
) -> AskReason {
    if is_protected {
        let what = match &target.same_as {
            Some(other) => format!("it is another name of `{}`", zones.display(other)),
            None => "it is one of the runtime's own files".to_owned(),
        };
        let rule = format!("{what}, which no grant opens");
        return AskReason { rule, allowed_by: None };
    }
    let key = axis.key();
    let text = match rule {
        Some((Rule::Ask, key)) => format!("`permissions.{key}` is `ask`"),
        Some((Rule::Only(_), key)) => format!("it is not in the list of `permissions.{key}`"),
        Some((Rule::Allow | Rule::Deny, _)) | None => match axis {
            FileAxis::Read if zones.is_inside(&target.path) => {
                "it is a usual place of keys and tokens".to_owned()
            }
            FileAxis::Read => "it lies outside the workspace".to_owned(),
            FileAxis::Write if target.is(|path| zones.holds_credentials(path)) => {
                "it is a usual place of keys and tokens".to_owned()
            }
            FileAxis::Write if zones.is_inside(&target.path) => {
                format!("`permissions.{key}` is not set, and only `.reyn/` is written without asking")
            }
            FileAxis::Write => "it lies outside the workspace".to_owned(),
        },
    };
    let shown = zones.display(&target.path);
    let is_default = axis == FileAxis::Write
        && zones.is_inside(&target.path)
        && !target.is(|path| zones.holds_credentials(path));
    let grant = if is_default { key.to_owned() } else { shell_word(&format!("{key}:{shown}")) };
    // The path is the model's, and what stands here is copied: it is quoted for where it goes.
    let quoted = serde_json::Value::from(shown).to_string();
    let setting = match (rule, axis) {
        (Some((_, key)), _) if key.starts_with("memory.") => format!("set `permissions.{key}: allow`"),
        (Some((Rule::Only(_), key)), _) => format!("add `{quoted}` to `permissions.{key}`"),
        (Some((Rule::Ask | Rule::Allow | Rule::Deny, key)), _) => {
            format!("set `permissions.{key}: [{quoted}]`")
        }
        // A list takes the place of the default zone, so it names that too.
        (None, FileAxis::Read) => format!("set `permissions.{key}: [\".\", {quoted}]`"),
        (None, FileAxis::Write) => format!("set `permissions.{key}: [\".reyn\", {quoted}]`"),
    };
    let allowed_by =
        format!("the person can run it again with `--allow {grant}`, or {setting} in `reyn.yaml`");
    AskReason { rule: text, allowed_by: Some(allowed_by) }
}

/// A path that goes up may lead anywhere, wherever it begins.
fn unresolved(op: FileOp, target: &Target) -> Refusal {
    Refusal {
        kind: ErrorKind::PermissionDenied,
        message: format!("cannot {} `{}`: its place is not known", op.verb(), target.asked),
        lifts_when: "name it without `..`".to_owned(),
        wants_person: false,
    }
}

fn sealed(op: FileOp, target: &Target) -> Refusal {
    Refusal {
        kind: ErrorKind::PermissionDenied,
        message: format!("cannot {} `{}`: it holds secrets of the person", op.verb(), target.asked),
        lifts_when: "nothing opens it to a tool".to_owned(),
        wants_person: false,
    }
}

fn denied_by_config(op: FileOp, target: &Target, key: &str) -> Refusal {
    Refusal {
        kind: ErrorKind::PermissionDenied,
        message: format!("cannot {} `{}`: `permissions.{key}` is `deny`", op.verb(), target.asked),
        lifts_when: format!("the operator changes `permissions.{key}` in the configuration"),
        wants_person: false,
    }
}

fn denied_before(op: FileOp, target: &Target) -> Refusal {
    Refusal {
        kind: ErrorKind::PermissionDenied,
        message: format!("cannot {} `{}`: a person said no before", op.verb(), target.asked),
        lifts_when: "the person revokes that answer in `.reyn/approvals.yaml`, or says yes in a new session"
            .to_owned(),
        wants_person: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One case: rule for `file.write`, `--allow`s, answers, and the paths with their verdicts.
    struct Case {
        rule: Option<Rule>,
        grants: Vec<Grant>,
        approvals: Vec<Approval>,
    }

    impl Case {
        fn new() -> Self {
            Self { rule: None, grants: vec![], approvals: vec![] }
        }
        fn verdict(&self, op: FileOp, path: &str) -> &'static str {
            let zones = Zones::new("/w".into(), vec!["/home/u/.reyn/secrets.env".into()]);
            let policy = FilePolicy { write: self.rule.clone(), ..FilePolicy::default() };
            let target = Target { asked: path.into(), path: path.into(), same_as: None, link: None };
            let (grants, approvals) = (Grants(self.grants.clone()), Approvals(self.approvals.clone()));
            match file_verdict(op, &target, &zones, &policy, &grants, &approvals) {
                Verdict::Allow => "allow",
                Verdict::Ask(_) => "ask",
                Verdict::Deny(_) => "deny",
            }
        }
    }

    fn approval(path: &str, scope: Scope, is_allowed: bool) -> Approval {
        Approval::file(FileOp::Write, path.into(), scope, is_allowed)
    }

    #[test]
    fn with_nothing_configured_the_workspace_is_read_and_dot_reyn_is_written() {
        let case = Case::new();
        for (op, path, verdict) in [
            (FileOp::Read, "/w/src/a.rs", "allow"),
            (FileOp::Read, "/w", "allow"),
            (FileOp::Read, "/wx/a", "ask"),
            (FileOp::Read, "/etc/passwd", "ask"),
            (FileOp::Read, "/home/u/.reyn/secrets.env", "deny"),
            (FileOp::Write, "/w/src/a.rs", "ask"),
            (FileOp::Write, "/w/.reyn/note.md", "allow"),
            (FileOp::Write, "/w/.reyn/approvals.yaml", "ask"),
            (FileOp::Edit, "/w/reyn.yaml", "ask"),
            (FileOp::Delete, "/w/.reyn/state/x", "ask"),
        ] {
            assert_eq!(case.verdict(op, path), verdict, "{op:?} {path}");
        }
    }

    #[test]
    fn no_grant_opens_a_protected_file() {
        let everything = Grant { axis: FileAxis::Write, path: Some("/".into()) };
        let case = Case {
            rule: Some(Rule::Allow),
            grants: vec![everything],
            approvals: vec![approval("/w", Scope::Recursive, true)],
        };
        assert_eq!(case.verdict(FileOp::Write, "/w/src/a.rs"), "allow");
        assert_eq!(case.verdict(FileOp::Write, "/w/.reyn/approvals.yaml"), "ask");
        assert_eq!(case.verdict(FileOp::Delete, "/w/reyn.yaml"), "ask");
        for (scope, verdict) in
            [(Scope::JustPath, "ask"), (Scope::Recursive, "ask"), (Scope::ThisCall, "allow")]
        {
            let case = Case { approvals: vec![approval("/w/reyn.yaml", scope, true)], ..Case::new() };
            assert_eq!(case.verdict(FileOp::Write, "/w/reyn.yaml"), verdict, "{scope:?}");
        }
    }

    #[test]
    fn another_name_of_a_guarded_file_is_judged_as_that_file() {
        let zones =
            Zones::new("/w".into(), vec!["/h/.reyn/secrets.env".into()]).with_credentials_of(Path::new("/h"));
        let policy = FilePolicy { read: Some(Rule::Allow), ..FilePolicy::default() };
        let grants = Grants(vec![Grant { axis: FileAxis::Write, path: None }]);
        let verdict = |op, same_as: Option<&str>, policy: &FilePolicy| {
            let target = Target {
                asked: "notes".into(),
                path: "/w/notes".into(),
                same_as: same_as.map(PathBuf::from),
                link: None,
            };
            file_verdict(op, &target, &zones, policy, &grants, &Approvals::default())
        };
        for (op, same_as, is_allowed) in [
            (FileOp::Read, None, true),
            (FileOp::Read, Some("/h/.reyn/secrets.env"), false),
            (FileOp::Grep, Some("/h/.reyn/secrets.env"), false),
            (FileOp::Read, Some("/w/reyn.yaml"), true),
            (FileOp::Edit, None, true),
            (FileOp::Write, Some("/w/reyn.yaml"), false),
            (FileOp::Edit, Some("/w/.reyn/approvals.yaml"), false),
            (FileOp::Delete, Some("/w/.reyn/state/log"), false),
            (FileOp::Edit, Some("/h/.ssh/id"), false),
        ] {
            let said = verdict(op, same_as, &policy);
            assert_eq!(said == Verdict::Allow, is_allowed, "{op:?} {same_as:?}");
        }
        let unset = FilePolicy::default();
        assert!(matches!(verdict(FileOp::Read, Some("/h/.ssh/id"), &unset), Verdict::Ask(_)));
        let Verdict::Ask(reason) = verdict(FileOp::Write, Some("/w/reyn.yaml"), &policy) else {
            panic!("a protected file is asked for")
        };
        assert_eq!(reason.rule, "it is another name of `reyn.yaml`, which no grant opens");
    }

    #[test]
    fn keys_are_opened_by_what_is_about_keys_and_not_from_a_folder_above() {
        let zones = Zones::new("/h".into(), vec![]).with_credentials_of(Path::new("/h"));
        let target = Target { asked: ".ssh/id".into(), path: "/h/.ssh/id".into(), same_as: None, link: None };
        let said = |rule: Option<Rule>, grant: Option<&str>, yes: Option<(&str, Scope)>| {
            let policy = FilePolicy { read: rule, ..FilePolicy::default() };
            let grants = grant.map(|path| Grant { axis: FileAxis::Read, path: Some(path.into()) });
            let approval = yes.map(|(path, scope)| Approval::file(FileOp::Read, path.into(), scope, true));
            let (grants, approvals) =
                (Grants(grants.into_iter().collect()), Approvals(approval.into_iter().collect()));
            file_verdict(FileOp::Grep, &target, &zones, &policy, &grants, &approvals) == Verdict::Allow
        };
        let only =
            |path: &str| Some(Rule::Only(vec![PathRule { path: path.into(), scope: Scope::Recursive }]));
        for (rule, grant, yes, is_allowed) in [
            (None, None, None, false),
            (Some(Rule::Allow), None, None, true),
            (only("/h"), None, None, false),
            (only("/h/.ssh"), None, None, true),
            (None, Some("/h"), None, false),
            (None, Some("/h/.ssh"), None, true),
            (None, None, Some(("/h", Scope::Recursive)), false),
            (None, None, Some(("/", Scope::Recursive)), false),
            (None, None, Some(("/h/.ssh", Scope::Recursive)), true),
            (None, None, Some(("/h/.ssh/id", Scope::JustPath)), true),
        ] {
            assert_eq!(said(rule.clone(), grant, yes), is_allowed, "{rule:?} {grant:?} {yes:?}");
        }
    }

    #[test]
    fn deny_in_the_configuration_beats_every_yes() {
        let case = Case {
            rule: Some(Rule::Deny),
            grants: vec![Grant { axis: FileAxis::Write, path: None }],
            approvals: vec![approval("/w", Scope::Recursive, true)],
        };
        assert_eq!(case.verdict(FileOp::Write, "/w/a"), "deny");
        assert_eq!(case.verdict(FileOp::Read, "/w/a"), "allow");
    }

    #[test]
    fn a_path_that_goes_up_is_no_place() {
        let case = Case { rule: Some(Rule::Allow), ..Case::new() };
        for (path, verdict) in
            [("/w/../etc/passwd", "deny"), ("/w/a/..", "deny"), ("w/a", "deny"), ("/w/..a", "allow")]
        {
            for op in [FileOp::Read, FileOp::Grep, FileOp::Write] {
                assert_eq!(case.verdict(op, path), verdict, "{op:?} {path}");
            }
        }
    }

    #[test]
    fn a_list_replaces_the_default_zone() {
        let rule = Rule::Only(vec![PathRule { path: "/w/out".into(), scope: Scope::Recursive }]);
        let case = Case { rule: Some(rule), ..Case::new() };
        assert_eq!(case.verdict(FileOp::Write, "/w/out/a"), "allow");
        assert_eq!(case.verdict(FileOp::Write, "/w/.reyn/note.md"), "ask");
    }

    #[test]
    fn allow_on_the_command_line_means_the_workspace_unless_a_path_is_named() {
        let case = Case { grants: vec![Grant { axis: FileAxis::Write, path: None }], ..Case::new() };
        assert_eq!(case.verdict(FileOp::Write, "/w/a"), "allow");
        assert_eq!(case.verdict(FileOp::Write, "/tmp/a"), "ask");
        let case =
            Case { grants: vec![Grant { axis: FileAxis::Write, path: Some("/tmp".into()) }], ..Case::new() };
        assert_eq!(case.verdict(FileOp::Write, "/tmp/a"), "allow");
        assert_eq!(case.verdict(FileOp::Write, "/w/a"), "ask");
    }

    #[test]
    fn a_no_is_kept_until_it_is_revoked() {
        let case = Case { approvals: vec![approval("/w/a", Scope::JustPath, false)], ..Case::new() };
        assert_eq!(case.verdict(FileOp::Write, "/w/a"), "deny");
    }

    #[test]
    fn a_no_about_a_folder_counts_for_the_protected_files_in_it() {
        let case = Case { approvals: vec![approval("/w/.reyn", Scope::Recursive, false)], ..Case::new() };
        assert_eq!(case.verdict(FileOp::Write, "/w/.reyn/config.yaml"), "deny");
    }

    #[test]
    fn a_list_that_lacks_a_place_is_told_to_be_added_to() {
        let zones = Zones::new("/w".into(), vec![]);
        let policy = FilePolicy { edit: Some(Rule::Only(vec![])), ..FilePolicy::default() };
        let target = Target { asked: "a".into(), path: "/w/a".into(), same_as: None, link: None };
        let verdict =
            file_verdict(FileOp::Edit, &target, &zones, &policy, &Grants::default(), &Approvals::default());
        let Verdict::Ask(reason) = verdict else { panic!("{verdict:?}") };
        assert!(reason.allowed_by.unwrap().contains("add `\"a\"` to `permissions.file.edit`"));
    }

    #[test]
    fn an_operation_of_its_own_refines_its_axis() {
        let zones = Zones::new("/w".into(), vec![]);
        let policy =
            FilePolicy { write: Some(Rule::Allow), delete: Some(Rule::Deny), ..FilePolicy::default() };
        let target = Target { asked: "a".into(), path: "/w/a".into(), same_as: None, link: None };
        let verdict =
            |op| file_verdict(op, &target, &zones, &policy, &Grants::default(), &Approvals::default());
        assert_eq!(verdict(FileOp::Write), Verdict::Allow);
        assert_eq!(verdict(FileOp::Edit), Verdict::Allow);
        let Verdict::Deny(refusal) = verdict(FileOp::Delete) else { panic!("allowed") };
        assert!(refusal.message.contains("`permissions.file.delete` is `deny`"));
    }

    #[test]
    fn an_index_is_written_like_the_default_zone_and_removed_only_after_a_yes() {
        let verdict =
            |op: FileOp, path: &str, policy: &FilePolicy, grants: Vec<Grant>, approvals: Vec<Approval>| {
                let zones = Zones::new("/w".into(), vec![]);
                let target = Target { asked: path.into(), path: path.into(), same_as: None, link: None };
                match file_verdict(op, &target, &zones, policy, &Grants(grants), &Approvals(approvals)) {
                    Verdict::Allow => "allow".to_owned(),
                    Verdict::Ask(reason) => format!("ask: {}", reason.rule),
                    Verdict::Deny(refusal) => format!("deny: {}", refusal.message),
                }
            };
        let (write, drop, index) = (FileOp::WriteIndex, FileOp::DropIndex, "/w/.reyn/index/docs");
        let files = |rule| FilePolicy { write: Some(rule), ..FilePolicy::default() };
        let own = |rule| FilePolicy { drop_index: Some(rule), ..FilePolicy::default() };
        let unset = "ask: `permissions.index_drop` is not set, and what is removed does not come back";
        for (op, path, policy, said) in [
            (write, index, FilePolicy::default(), "allow"),
            (write, index, files(Rule::Allow), "allow"),
            (write, index, files(Rule::Ask), "ask: `permissions.file.write` is `ask`"),
            (write, index, files(Rule::Deny), "deny: cannot write into the index"),
            (write, "/elsewhere/docs", FilePolicy::default(), "ask: it lies outside the workspace"),
            (write, "/w/.reyn/state/x", FilePolicy::default(), "ask: it is one of the runtime's own files"),
            (drop, index, FilePolicy::default(), unset),
            (drop, index, files(Rule::Allow), unset),
            (drop, index, own(Rule::Allow), "allow"),
            (drop, index, own(Rule::Ask), "ask: `permissions.index_drop` is `ask`"),
            (drop, index, own(Rule::Deny), "deny: cannot remove the index"),
            (drop, index, files(Rule::Deny), "deny: cannot remove the index"),
            (drop, "/w/src", own(Rule::Allow), "ask: "),
            (drop, "/w/.reyn/state", own(Rule::Allow), "ask: it is one of the runtime's own files"),
            // No tool for files takes this way.
            (
                FileOp::Write,
                "/w/.reyn/index/docs/index.db",
                files(Rule::Allow),
                "ask: it is one of the runtime's own",
            ),
            (
                FileOp::Delete,
                "/w/.reyn/index/docs/index.db",
                own(Rule::Allow),
                "ask: it is one of the runtime's own",
            ),
        ] {
            let found = verdict(op, path, &policy, vec![], vec![]);
            assert!(found.starts_with(said), "{op:?} {path} {policy:?}: {found}");
        }
        let grant = vec![Grant { axis: FileAxis::Write, path: None }];
        assert_eq!(verdict(drop, index, &FilePolicy::default(), grant, vec![]), unset);
        for (about, said) in [(drop, "allow"), (FileOp::Delete, unset), (write, unset)] {
            let yes = Approval::file(about, index.into(), Scope::JustPath, true);
            assert_eq!(verdict(drop, index, &FilePolicy::default(), vec![], vec![yes]), said, "{about:?}");
        }
    }

    #[test]
    fn a_memory_follows_the_files_unless_it_has_a_rule_of_its_own() {
        let zones = Zones::new("/w".into(), vec![]);
        let path = "/w/.reyn/memory/a.md";
        let target = Target { asked: path.into(), path: path.into(), same_as: None, link: None };
        let verdict = |op, policy: &FilePolicy, grants: Vec<Grant>| {
            file_verdict(op, &target, &zones, policy, &Grants(grants), &Approvals::default())
        };
        let unset = FilePolicy::default();
        assert_eq!(verdict(FileOp::Remember, &unset, vec![]), Verdict::Allow);
        assert_eq!(verdict(FileOp::Forget, &unset, vec![]), Verdict::Allow);
        let denied = FilePolicy { write: Some(Rule::Deny), ..unset.clone() };
        assert!(matches!(verdict(FileOp::Remember, &denied, vec![]), Verdict::Deny(_)));
        let own = FilePolicy { remember: Some(Rule::Allow), ..denied };
        assert_eq!(verdict(FileOp::Remember, &own, vec![]), Verdict::Allow);
        assert!(matches!(verdict(FileOp::Write, &own, vec![]), Verdict::Deny(_)));
        let deletes = FilePolicy { delete: Some(Rule::Deny), ..unset.clone() };
        assert!(matches!(verdict(FileOp::Forget, &deletes, vec![]), Verdict::Deny(_)));
        let asks = FilePolicy { remember: Some(Rule::Ask), ..unset };
        let Verdict::Ask(reason) = verdict(FileOp::Remember, &asks, vec![]) else { panic!("settled") };
        assert_eq!(reason.rule, "`permissions.memory.write` is `ask`");
        let allowed_by = reason.allowed_by.unwrap_or_default();
        assert!(allowed_by.contains("set `permissions.memory.write: allow`"), "{allowed_by}");
        let grant = Grant { axis: FileAxis::Write, path: None };
        assert_eq!(verdict(FileOp::Remember, &asks, vec![grant]), Verdict::Allow);
    }

    #[test]
    fn keys_and_tokens_in_the_workspace_take_a_word_or_a_rule() {
        let zones = Zones::new("/home/u".into(), vec![]).with_credentials_of(Path::new("/home/u"));
        let target =
            Target { asked: ".ssh/id".into(), path: "/home/u/.ssh/id".into(), same_as: None, link: None };
        let verdict = |read: Option<Rule>, grants: Vec<Grant>| {
            let policy = FilePolicy { read, ..FilePolicy::default() };
            file_verdict(FileOp::Read, &target, &zones, &policy, &Grants(grants), &Approvals::default())
        };
        let Verdict::Ask(reason) = verdict(None, vec![]) else { panic!("settled") };
        assert_eq!(reason.rule, "it is a usual place of keys and tokens");
        assert_eq!(verdict(Some(Rule::Allow), vec![]), Verdict::Allow);
        let allowed_by = reason.allowed_by.unwrap_or_default();
        assert!(allowed_by.contains("`--allow file.read:.ssh/id`"), "{allowed_by}");
        let grant = |path: Option<&str>| Grant { axis: FileAxis::Read, path: path.map(PathBuf::from) };
        assert!(matches!(verdict(None, vec![grant(None)]), Verdict::Ask(_)));
        assert_eq!(verdict(None, vec![grant(Some("/home/u/.ssh/id"))]), Verdict::Allow);
    }

    #[test]
    fn a_headless_refusal_names_the_key_that_would_allow_it() {
        let zones = Zones::new("/w".into(), vec![]);
        for (op, path, key) in [
            (FileOp::Write, "/w/out.md", "`--allow file.write`"),
            (FileOp::Write, "/tmp/x", "`--allow file.write:/tmp/x`"),
            (FileOp::Write, "/w/out.md", "permissions.file.write: [\".reyn\", \"out.md\"]"),
            (FileOp::Read, "/etc/hosts", "permissions.file.read: [\".\", \"/etc/hosts\"]"),
            (FileOp::Read, "/a\"]\nb: [\"", r#"[".", "/a\"]\\x0ab: [\""]"#),
            (FileOp::Read, "/a; it's", r"`--allow 'file.read:/a; it'\''s'`"),
        ] {
            let target = Target { asked: path.into(), path: path.into(), same_as: None, link: None };
            let verdict = file_verdict(
                op,
                &target,
                &zones,
                &FilePolicy::default(),
                &Grants::default(),
                &Approvals::default(),
            );
            let Verdict::Ask(reason) = verdict else { panic!("{verdict:?}") };
            let refusal = reason.refused_for_want_of_a_person(op, &target);
            assert!(refusal.wants_person && refusal.lifts_when.contains(key), "{refusal}");
        }
    }
}
