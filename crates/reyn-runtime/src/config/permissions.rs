//! `permissions` and `--allow` as rules about real paths and about commands.

use std::path::{Path, PathBuf};

use reyn_core::permission::{
    EXEC_KEY, ExecPolicy, ExecRule, FileAxis, FilePolicy, Grant, Grants, PathRule, Rule, Scope, WebOp,
    command_words,
};
use reyn_core::settings::{
    Decision, ExecPermission, PermissionSettings, PermissionValue, PlaceScope, PlaceValue, ScopedPlace,
};
use reyn_core::text::{alternatives, nearest, unshown};
use thiserror::Error;

use super::files::{real_path, said};
use super::node::{Node, Step};
use super::problem::ConfigProblem;
use super::web;

/// What `--allow` takes for files.
const AXES: [FileAxis; 2] = [FileAxis::Read, FileAxis::Write];

/// What the values of `--allow` grant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allowed {
    /// Of files and folders.
    pub files: Grants,
    /// Of commands: what begins with these words; with none, everything. As [`ExecPolicy::granted`].
    pub commands: Vec<Vec<String>>,
    /// Of the web. As [`reyn_core::permission::WebPolicy::granted`].
    pub web: Vec<(WebOp, Option<String>)>,
}

/// Why an `--allow` is no grant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AllowError {
    /// Nothing is called so.
    #[error("`--allow {asked}`: no permission is called `{key}`; {hint}", hint = unknown_hint(key))]
    UnknownKey {
        /// The whole value.
        asked: String,
        /// Its key.
        key: String,
    },
    /// The path means nothing.
    #[error("`--allow {asked}`: {why}")]
    Path {
        /// The whole value.
        asked: String,
        /// Why.
        why: String,
    },
    /// The host is none.
    #[error("`--allow {asked}`: {why}")]
    Host {
        /// The whole value.
        asked: String,
        /// Why.
        why: String,
    },
    /// The command is none.
    #[error("`--allow {asked}`: {why}")]
    Command {
        /// The whole value.
        asked: String,
        /// Why.
        why: String,
    },
}

fn unknown_hint(key: &str) -> String {
    let [read, write] = AXES.map(FileAxis::key);
    let [search, fetch] = WebOp::ALL.map(WebOp::key);
    let keys = [read, write, EXEC_KEY, fetch, search];
    nearest(key, keys)
        .first()
        .map_or_else(|| format!("it takes {}", alternatives(&keys)), |name| format!("did you mean `{name}`?"))
}

/// Where paths start.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// What a relative path is relative to.
    pub base: &'a Path,
    /// What `~` stands for.
    pub home: Option<&'a Path>,
}

impl Places<'_> {
    /// The real, absolute path that `text` names.
    ///
    /// # Errors
    /// With the reason, when it names none.
    pub fn resolve(self, text: &str) -> Result<PathBuf, String> {
        let path = self.place(text)?;
        // A refusal shows a path with the bytes that are no text escaped, to be copied from there.
        let unescaped = unshown(text).map(|path| self.base.join(path));
        let path = match unescaped {
            Some(other) if !path.exists() && other.exists() => other,
            Some(_) | None => path,
        };
        real_path(&path).map_err(|error| format!("cannot resolve `{text}`: {}", said(&error)))
    }

    /// The absolute path that `text` names, with its links.
    pub(super) fn place(self, text: &str) -> Result<PathBuf, String> {
        if text.is_empty() {
            return Err("the path is empty".to_owned());
        }
        match text.strip_prefix('~') {
            None => Ok(self.base.join(text)),
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let home = self.home.ok_or("`~` means nothing: the home folder is not known")?;
                Ok(home.join(rest.trim_start_matches('/')))
            }
            Some(_) => Err("`~` stands only for your own home folder; write the whole path".to_owned()),
        }
    }
}

/// Reads the values of `--allow`: `KEY` and `KEY:PATH` of files, `exec` and `exec:COMMAND`, `web.search`,
/// `web.fetch` and `web.fetch:HOST`.
///
/// # Errors
/// At the first value with an unknown key, a path that cannot be resolved, or a command or host that is none.
pub fn parse_allow(values: &[String], places: Places<'_>) -> Result<Allowed, AllowError> {
    let mut allowed = Allowed::default();
    for asked in values {
        let (key, what) = match asked.split_once(':') {
            Some((key, what)) => (key, Some(what)),
            None => (asked.as_str(), None),
        };
        if key == EXEC_KEY {
            let words = what.map(command_words).transpose();
            let words = words.map_err(|why| AllowError::Command { asked: asked.clone(), why })?;
            allowed.commands.push(words.unwrap_or_default());
        } else if let Some(op) = WebOp::ALL.into_iter().find(|op| op.key() == key) {
            let host = match (op, what) {
                (WebOp::Search, Some(_)) => {
                    Err("it takes no host: an engine is asked, not a page".to_owned())
                }
                (WebOp::Fetch, Some(host)) => web::host_pattern(host).map(Some),
                (_, None) => Ok(None),
            };
            let host = host.map_err(|why| AllowError::Host { asked: asked.clone(), why })?;
            allowed.web.push((op, host));
        } else {
            allowed.files.0.push(grant(asked, key, what, places)?);
        }
    }
    Ok(allowed)
}

fn grant(asked: &str, key: &str, path: Option<&str>, places: Places<'_>) -> Result<Grant, AllowError> {
    let axis = AXES
        .into_iter()
        .find(|axis| axis.key() == key)
        .ok_or_else(|| AllowError::UnknownKey { asked: asked.to_owned(), key: key.to_owned() })?;
    let path = path
        .map(|path| places.resolve(path))
        .transpose()
        .map_err(|why| AllowError::Path { asked: asked.to_owned(), why })?;
    Ok(Grant { axis, path })
}

/// The rules of `permissions.file`; relative paths start at `places.base`, the project.
pub(super) fn file_policy(
    settings: &PermissionSettings,
    places: Places<'_>,
    tree: &Node,
) -> (FilePolicy, Vec<ConfigProblem>) {
    let mut problems = vec![];
    let file = &settings.file;
    let mut rule = |key: &str, value: &Option<PermissionValue>| {
        value.as_ref().map(|value| match value {
            PermissionValue::Decision(decision) => decided(*decision),
            PermissionValue::Places(listed) => {
                let mut rules = vec![];
                for (at, place) in listed.iter().enumerate() {
                    match path_rule(place, places) {
                        Ok(rule) => rules.push(rule),
                        Err(why) => problems.push(place_problem(key, at, &why, tree)),
                    }
                }
                Rule::Only(rules)
            }
        })
    };
    let policy = FilePolicy {
        read: rule("read", &file.read),
        glob: rule("glob", &file.glob),
        grep: rule("grep", &file.grep),
        write: rule("write", &file.write),
        edit: rule("edit", &file.edit),
        delete: rule("delete", &file.delete),
        regenerate_index: rule("regenerate_index", &file.regenerate_index),
        remember: settings.memory.write.map(decided),
        forget: settings.memory.delete.map(decided),
        drop_index: settings.index_drop.map(decided),
    };
    (policy, problems)
}

const fn decided(decision: Decision) -> Rule {
    match decision {
        Decision::Allow => Rule::Allow,
        Decision::Ask => Rule::Ask,
        Decision::Deny => Rule::Deny,
    }
}

/// The rule of `permissions.exec`.
pub(super) fn exec_policy(settings: &PermissionSettings, tree: &Node) -> (ExecPolicy, Vec<ConfigProblem>) {
    let mut problems = vec![];
    let rule = settings.exec.as_ref().map(|value| match value {
        ExecPermission::Decision(Decision::Allow) => ExecRule::Allow,
        ExecPermission::Decision(Decision::Ask) => ExecRule::Ask,
        ExecPermission::Decision(Decision::Deny) => ExecRule::Deny,
        ExecPermission::Commands(commands) => {
            let mut listed = vec![];
            for (at, command) in commands.iter().enumerate() {
                match command_words(command) {
                    Ok(words) => listed.push(words),
                    Err(why) => problems.push(command_problem(at, &why, tree)),
                }
            }
            ExecRule::Only(listed)
        }
    });
    (ExecPolicy { rule, granted: vec![] }, problems)
}

fn command_problem(at: usize, why: &str, tree: &Node) -> ConfigProblem {
    let mut path: Vec<Step> = ["permissions", EXEC_KEY].map(|key| Step::Key(key.to_owned())).to_vec();
    path.push(Step::Index(at));
    let node = tree.at(&path).unwrap_or(tree);
    let why = if node.is_secret { "this is no command" } else { why };
    ConfigProblem::at(&node.mark, format!("`permissions.exec`: {why}"))
}

fn path_rule(place: &PlaceValue, places: Places<'_>) -> Result<PathRule, String> {
    let (path, scope) = match place {
        PlaceValue::Path(path) => (path, Scope::Recursive),
        PlaceValue::Scoped(ScopedPlace { path, scope: PlaceScope::Recursive }) => (path, Scope::Recursive),
        PlaceValue::Scoped(ScopedPlace { path, scope: PlaceScope::JustPath }) => (path, Scope::JustPath),
    };
    Ok(PathRule { path: places.resolve(path)?, scope })
}

fn place_problem(key: &str, at: usize, why: &str, tree: &Node) -> ConfigProblem {
    let mut path: Vec<Step> = ["permissions", "file", key].map(|key| Step::Key(key.to_owned())).to_vec();
    path.push(Step::Index(at));
    let node = tree.at(&path).unwrap_or(tree);
    let why = if node.is_secret { "a path cannot be resolved" } else { why };
    ConfigProblem::at(&node.mark, format!("`permissions.file.{key}`: {why}"))
}
