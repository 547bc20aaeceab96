//! `permissions.file` and `--allow` as rules about real paths.

use std::path::{Path, PathBuf};

use reyn_core::permission::{FileAxis, FilePolicy, Grant, Grants, PathRule, Rule, Scope};
use reyn_core::settings::{
    Decision, PermissionSettings, PermissionValue, PlaceScope, PlaceValue, ScopedPlace,
};
use reyn_core::text::{alternatives, nearest, unshown};
use thiserror::Error;

use super::files::{real_path, said};
use super::node::{Node, Step};
use super::problem::ConfigProblem;

/// What `--allow` takes.
const KEYS: [FileAxis; 2] = [FileAxis::Read, FileAxis::Write];

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
}

fn unknown_hint(key: &str) -> String {
    let keys = KEYS.map(FileAxis::key);
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
        if text.is_empty() {
            return Err("the path is empty".to_owned());
        }
        let path = match text.strip_prefix('~') {
            None => self.base.join(text),
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let home = self.home.ok_or("`~` means nothing: the home folder is not known")?;
                home.join(rest.trim_start_matches('/'))
            }
            Some(_) => {
                return Err("`~` stands only for your own home folder; write the whole path".to_owned());
            }
        };
        // A refusal shows a path with the bytes that are no text escaped, to be copied from there.
        let unescaped = unshown(text).map(|path| self.base.join(path));
        let path = match unescaped {
            Some(other) if !path.exists() && other.exists() => other,
            Some(_) | None => path,
        };
        real_path(&path).map_err(|error| format!("cannot resolve `{text}`: {}", said(&error)))
    }
}

/// Reads the values of `--allow KEY` and `--allow KEY:PATH`.
///
/// # Errors
/// At the first value with an unknown key or a path that cannot be resolved.
pub fn parse_allow(values: &[String], places: Places<'_>) -> Result<Grants, AllowError> {
    values.iter().map(|asked| parse_one(asked, places)).collect::<Result<Vec<_>, _>>().map(Grants)
}

fn parse_one(asked: &str, places: Places<'_>) -> Result<Grant, AllowError> {
    let (key, path) = match asked.split_once(':') {
        Some((key, path)) => (key, Some(path)),
        None => (asked, None),
    };
    let axis = KEYS
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
            PermissionValue::Decision(Decision::Allow) => Rule::Allow,
            PermissionValue::Decision(Decision::Ask) => Rule::Ask,
            PermissionValue::Decision(Decision::Deny) => Rule::Deny,
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
    };
    (policy, problems)
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
