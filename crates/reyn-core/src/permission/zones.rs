//! Which folders an agent reads and writes by default, and which files are nobody's to write unasked.

use std::path::{Component, Path, PathBuf};

/// A file or folder that a call names, after resolution.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// As the call wrote it.
    pub asked: String,
    /// Absolute, without links, `.` or `..`.
    pub path: PathBuf,
}

/// The workspace and what is special in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Zones {
    root: PathBuf,
    sealed: Vec<PathBuf>,
    home_state: Option<PathBuf>,
}

/// Files that no grant opens for writing; only a person can, one by one. Relative to the root, in lower
/// case, since some file systems do not tell cases apart; a trailing `/` means everything below.
const PROTECTED: [&str; 15] = [
    "reyn.yaml",
    "reyn.local.yaml",
    ".reyn/config.yaml",
    ".reyn/providers.toml",
    ".reyn/models.toml",
    ".reyn/config/",
    ".reyn/approvals.yaml",
    ".reyn/index/sources.yaml",
    ".reyn/capability_profiles/_untrusted.yaml",
    ".reyn/capability_profiles/_delegate.yaml",
    ".reyn/topologies/",
    ".reyn/events/",
    ".reyn/state/",
    ".reyn/agents/*/state/",
    ".reyn/.gitignore",
];

impl Zones {
    /// `root` is the workspace, `sealed` are files that no tool may touch at all; both without links.
    #[must_use]
    pub const fn new(root: PathBuf, sealed: Vec<PathBuf>) -> Self {
        Self { root, sealed, home_state: None }
    }

    /// Protects all of the person's own `.reyn` folder too: what stands there holds in every project.
    #[must_use]
    pub fn with_home_state(mut self, folder: PathBuf) -> Self {
        self.home_state = Some(folder);
        self
    }

    /// The workspace.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether `path` is the workspace or below it: the default read zone.
    #[must_use]
    pub fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    /// Whether `path` lies in the default write zone: `.reyn/`, minus what is protected.
    #[must_use]
    pub fn is_default_write(&self, path: &Path) -> bool {
        path.starts_with(self.root.join(".reyn")) && !self.is_protected(path)
    }

    /// Whether writing `path` always takes a person.
    #[must_use]
    pub fn is_protected(&self, path: &Path) -> bool {
        if self.home_state.as_ref().is_some_and(|folder| is_below_whatever_case(path, folder)) {
            return true;
        }
        let Ok(relative) = path.strip_prefix(&self.root) else { return false };
        let parts: Vec<String> = relative
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
                Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
            })
            .collect();
        PROTECTED.iter().any(|pattern| matches(pattern, &parts))
    }

    /// Whether no tool may touch `path`, not even to read.
    #[must_use]
    pub fn is_sealed(&self, path: &Path) -> bool {
        self.sealed.iter().any(|sealed| folded(sealed) == folded(path))
    }

    /// How `path` is written for people: relative to the workspace when it is inside.
    #[must_use]
    pub fn display(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

/// Some file systems do not tell cases apart, so what is guarded is guarded in every case.
fn folded(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}

fn is_below_whatever_case(path: &Path, folder: &Path) -> bool {
    folded(path).starts_with(folded(folder))
}

/// A folder pattern matches the folder itself too: it must not be replaced by something else.
fn matches(pattern: &str, parts: &[String]) -> bool {
    let is_folder = pattern.ends_with('/');
    let wanted: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    let has_length = if is_folder { parts.len() >= wanted.len() } else { parts.len() == wanted.len() };
    has_length && wanted.iter().zip(parts).all(|(want, part)| *want == "*" || want == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_paths_table() {
        let zones = Zones::new("/w".into(), vec![]);
        for (path, protected) in [
            ("/w/reyn.yaml", true),
            ("/w/REYN.YAML", true),
            ("/w/reyn.local.yaml", true),
            ("/w/sub/reyn.yaml", false),
            ("/w/.reyn/config.yaml", true),
            ("/w/.reyn/approvals.yaml", true),
            ("/w/.reyn/approvals.yaml.bak", false),
            ("/w/.reyn/index/sources.yaml", true),
            ("/w/.reyn/index/docs/index.db", false),
            ("/w/.reyn/capability_profiles/_untrusted.yaml", true),
            ("/w/.reyn/capability_profiles/_delegate.yaml", true),
            ("/w/.reyn/capability_profiles/reader.yaml", false),
            ("/w/.reyn/topologies/team.yaml", true),
            ("/w/.reyn/topologies", true),
            ("/w/.reyn/state/sessions/a/log.jsonl", true),
            ("/w/.reyn/State/sessions/a/log.jsonl", true),
            ("/w/.reyn/events/agents/default/x.jsonl", true),
            ("/w/.reyn/agents/dev/state/config.yaml", true),
            ("/w/.reyn/agents/dev/profile.yaml", false),
            ("/w/.reyn/memory/a.md", false),
            ("/elsewhere/reyn.yaml", false),
        ] {
            assert_eq!(zones.is_protected(Path::new(path)), protected, "{path}");
        }
    }

    #[test]
    fn the_persons_own_folder_is_protected_in_every_project() {
        let zones = Zones::new("/home/u/w".into(), vec![]).with_home_state("/home/u/.reyn".into());
        for (path, protected) in [
            ("/home/u/.reyn/config.yaml", true),
            ("/home/u/.Reyn/models.toml", true),
            ("/home/u/.reyn", true),
            ("/home/u/.reynx/a", false),
            ("/home/u/w/.reyn/notes.md", false),
        ] {
            assert_eq!(zones.is_protected(Path::new(path)), protected, "{path}");
        }
    }

    #[test]
    fn a_sealed_file_is_sealed_in_every_case() {
        let zones = Zones::new("/w".into(), vec!["/home/u/.reyn/secrets.env".into()]);
        assert!(zones.is_sealed(Path::new("/home/u/.reyn/SECRETS.env")));
        assert!(!zones.is_sealed(Path::new("/home/u/.reyn/secrets.env.example")));
    }

    #[test]
    fn the_default_write_zone_is_dot_reyn_without_the_protected_files() {
        let zones = Zones::new("/w".into(), vec![]);
        assert!(zones.is_default_write(Path::new("/w/.reyn/notes.md")));
        assert!(!zones.is_default_write(Path::new("/w/.reyn/approvals.yaml")));
        assert!(!zones.is_default_write(Path::new("/w/.reynx/notes.md")));
        assert!(!zones.is_default_write(Path::new("/w/src/a.rs")));
    }
}
