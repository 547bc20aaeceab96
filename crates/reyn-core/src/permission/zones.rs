//! Which folders an agent reads and writes by default, and which files are nobody's to write unasked.

use std::path::{Component, Path, PathBuf};

use super::FileAxis;
use crate::memory::Layer;
use crate::text::shown_path;

/// A file or folder that a call names, after resolution.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// As the call wrote it.
    pub asked: String,
    /// Absolute, without links, `.` or `..`, in the letters that the file system keeps.
    pub path: PathBuf,
    /// The guarded file that this is another name of: a hard link to it.
    pub same_as: Option<PathBuf>,
    /// The link that the call is about, when this is only where it leads.
    pub link: Option<PathBuf>,
}

impl Target {
    /// Whether `test` holds for the place, or for the guarded file that it is another name of.
    pub(super) fn is(&self, test: impl Fn(&Path) -> bool) -> bool {
        test(&self.path) || self.same_as.as_deref().is_some_and(test)
    }
}

/// A path and what it is, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Absolute.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// The workspace and what is special in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Zones {
    root: PathBuf,
    sealed: Vec<PathBuf>,
    home_state: Option<PathBuf>,
    real_places: Vec<PathBuf>,
    credentials: Vec<PathBuf>,
}

/// How the names of files begin that the runtime writes beside a file and puts in its place. Whoever
/// could write one could change what is put there.
pub const SCRATCH_PREFIX: &str = ".reyn-tmp-";

/// Files that no grant opens for writing; only a person can, one by one. Relative to the root, in lower
/// case, since some file systems do not tell cases apart; a trailing `/` means everything below.
const PROTECTED: [&str; 20] = [
    "reyn.yaml",
    "reyn.local.yaml",
    ".reyn/config.yaml",
    ".reyn/providers.toml",
    ".reyn/models.toml",
    ".reyn/config/",
    ".reyn/approvals.yaml",
    ".reyn/approvals.lock",
    ".reyn/index/",
    ".reyn/capability_profiles/_untrusted.yaml",
    ".reyn/capability_profiles/_delegate.yaml",
    ".reyn/topologies/",
    ".reyn/events/",
    ".reyn/state/",
    ".reyn/agents/*/state/",
    ".reyn/.gitignore",
    // What Git runs, or follows to what it runs.
    ".git/hooks/",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
];

/// Where other programs keep a person's keys and tokens, relative to the home folder.
const CREDENTIALS: [&str; 11] = [
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".config/gcloud",
    ".config/gh",
    ".kube",
    ".docker/config.json",
    ".netrc",
    ".npmrc",
    ".git-credentials",
];

/// Files of the person's own `.reyn` folder that every project reads.
const HOME_FILES: [&str; 3] = ["config.yaml", "providers.toml", "models.toml"];

impl Zones {
    /// `root` is the workspace, `sealed` are files that no tool may touch at all; both without links.
    #[must_use]
    pub const fn new(root: PathBuf, sealed: Vec<PathBuf>) -> Self {
        Self { root, sealed, home_state: None, real_places: vec![], credentials: vec![] }
    }

    /// Protects all of the person's own `.reyn` folder too: what stands there holds in every project.
    #[must_use]
    pub fn with_home_state(mut self, folder: PathBuf) -> Self {
        self.home_state = Some(folder);
        self
    }

    /// Takes the usual places of keys and tokens below the home folder out of the default read zone.
    #[must_use]
    pub fn with_credentials_of(mut self, home: &Path) -> Self {
        self.credentials = CREDENTIALS.iter().map(|name| home.join(name)).collect();
        self
    }

    /// Protects also the places that links at protected paths lead to, and takes those that links at keys
    /// and tokens lead to for keys and tokens. `real_place` follows links.
    #[must_use]
    pub fn with_real_places(mut self, real_place: impl Fn(&Path) -> PathBuf) -> Self {
        let own = PROTECTED.iter().filter(|pattern| !pattern.contains('*'));
        let in_project = own.map(|pattern| self.root.join(pattern.trim_end_matches('/')));
        let in_home = self.home_state.iter().flat_map(|folder| {
            std::iter::once(folder.clone()).chain(HOME_FILES.iter().map(|name| folder.join(name)))
        });
        self.real_places = in_project
            .chain(in_home)
            .filter_map(|path| Some(real_place(&path)).filter(|real| *real != path))
            .collect();
        let keys: Vec<PathBuf> = self.credentials.iter().map(|path| real_place(path)).collect();
        self.credentials.extend(keys);
        self.credentials.sort();
        self.credentials.dedup();
        self
    }

    /// The workspace.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What a process must not change in the workspace or behind its links: the project's configuration, and all
    /// of `.reyn/`, since what is written there is judged by what it says. Git's own files are not among them.
    #[must_use]
    pub fn unwritable_places(&self) -> Vec<Place> {
        let of_root = |name: &str, is_folder| Place { path: self.root.join(name), is_folder };
        let own = [of_root("reyn.yaml", false), of_root("reyn.local.yaml", false), of_root(".reyn", true)];
        let home = self.home_state.iter().map(|path| Place { path: path.clone(), is_folder: true });
        // A link's own kind is asked of the system by whoever enforces this.
        let real = self.real_places.iter().map(|path| Place { path: path.clone(), is_folder: false });
        let mut places: Vec<Place> = own.into_iter().chain(home).chain(real).collect();
        places.dedup();
        places
    }

    /// What a process must not read: secrets, and the usual places of keys and tokens.
    #[must_use]
    pub fn unreadable_places(&self) -> Vec<PathBuf> {
        self.sealed.iter().chain(&self.credentials).cloned().collect()
    }

    /// Whether `path` is the workspace or below it: the default read zone.
    #[must_use]
    pub fn is_inside(&self, path: &Path) -> bool {
        is_at_or_below(path, &self.root)
    }

    /// Whether `path` is a usual place of keys and tokens. Reading it takes a person's word or a rule, also
    /// where the home folder is the workspace.
    #[must_use]
    pub fn holds_credentials(&self, path: &Path) -> bool {
        !self.credentials.is_empty() && {
            let path = folded(path);
            self.credentials.iter().any(|place| path.starts_with(folded(place)))
        }
    }

    /// Whether `path` lies in the default write zone: `.reyn/`, minus what is protected.
    #[must_use]
    pub fn is_default_write(&self, path: &Path) -> bool {
        path.starts_with(self.root.join(".reyn")) && !self.is_protected(path)
    }

    /// Whose memory `path` is, or lies in: what is written there is remembered, by whatever name it is written.
    #[must_use]
    pub fn memory_layer(&self, path: &Path) -> Option<Layer> {
        let parts = self.parts_below_root(path)?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            [".reyn", "memory", ..] => Some(Layer::Shared),
            [".reyn", "agents", _, "memory", ..] => Some(Layer::Agent),
            _ => None,
        }
    }

    /// Whether `path` is an index, or lies in one.
    #[must_use]
    pub fn is_index(&self, path: &Path) -> bool {
        let parts = self.parts_below_root(path).unwrap_or_default();
        matches!(parts.as_slice(), [state, index, _, ..] if state == ".reyn" && index == "index")
    }

    /// The folded names from the workspace down to `path`; `None` when it lies elsewhere.
    fn parts_below_root(&self, path: &Path) -> Option<Vec<String>> {
        let path = folded(path);
        let relative = path.strip_prefix(folded(&self.root)).ok()?;
        let names = relative.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        });
        Some(names.collect())
    }

    /// Whether writing `path` always takes a person.
    #[must_use]
    pub fn is_protected(&self, path: &Path) -> bool {
        let path = folded(path);
        let is_below = |folder: &PathBuf| path.starts_with(folded(folder));
        let is_scratch =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SCRATCH_PREFIX));
        if is_scratch || self.home_state.iter().any(is_below) || self.real_places.iter().any(is_below) {
            return true;
        }
        let Some(parts) = self.parts_below_root(&path) else { return false };
        PROTECTED.iter().any(|pattern| matches(pattern, &parts))
    }

    /// Whether no tool may touch `path`, not even to read.
    #[must_use]
    pub fn is_sealed(&self, path: &Path) -> bool {
        is_process_memory(path)
            || (!self.sealed.is_empty() && {
                let path = folded(path);
                self.sealed.iter().any(|sealed| folded(sealed) == path)
            })
    }

    /// Whether reading `path` takes more than the default.
    #[must_use]
    pub fn is_guarded_from_reading(&self, path: &Path) -> bool {
        self.is_sealed(path) || self.holds_credentials(path)
    }

    /// Files and folders below which everything guarded lies. For reading, what is sealed and where keys
    /// and tokens are; for writing, what is protected too. They need not exist.
    #[must_use]
    pub fn guarded_places(&self, axis: FileAxis) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> = self.sealed.iter().chain(&self.credentials).cloned().collect();
        if axis == FileAxis::Write {
            let fixed = |pattern: &str| {
                let end = pattern.find("/*").unwrap_or(pattern.len());
                self.root.join(pattern[..end].trim_end_matches('/'))
            };
            places.extend(PROTECTED.iter().map(|pattern| fixed(pattern)));
            places.extend(self.home_state.iter().chain(&self.real_places).cloned());
        }
        places
    }

    /// Whether `path` is guarded on this axis: sealed, a place of keys and tokens, or protected.
    #[must_use]
    pub fn is_guarded(&self, axis: FileAxis, path: &Path) -> bool {
        self.is_guarded_from_reading(path) || (axis == FileAxis::Write && self.is_protected(path))
    }

    /// How `path` is written for people: relative to the workspace when it is inside.
    #[must_use]
    pub fn display(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => shown_path(inside),
            Err(_) => shown_path(path),
        }
    }
}

/// Whether `path` is `folder` or lies below it. Both are absolute and without `.`, `..` and repeated
/// separators, so their bytes can be compared: this is asked for every approval of every call.
pub(super) fn is_at_or_below(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.as_os_str().as_encoded_bytes(), folder.as_os_str().as_encoded_bytes());
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || folder.ends_with(b"/"))
}

/// Some file systems do not tell cases apart, so what is guarded is guarded in every case. Upper case
/// comes first: it takes apart letters such as `ſ` and `ﬁ`, which those file systems take for `s` and `fi`.
fn folded(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_uppercase().to_lowercase())
}

/// What the kernel shows of a process' memory and environment, where keys are. No grant of a folder is
/// meant to cover that.
fn is_process_memory(path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix("/proc") else { return false };
    let secret = ["environ", "mem", "kcore"];
    inside.file_name().is_some_and(|name| secret.iter().any(|secret| name == *secret))
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
    fn below_is_told_by_whole_names() {
        for (path, folder, below) in [
            ("/w", "/w", true),
            ("/w/a", "/w", true),
            ("/wx", "/w", false),
            ("/", "/", true),
            ("/a", "/", true),
            ("/w", "/w/a", false),
        ] {
            let (path, folder) = (Path::new(path), Path::new(folder));
            assert_eq!(is_at_or_below(path, folder), below, "{}", path.display());
            assert_eq!(path.starts_with(folder), below);
        }
    }

    #[test]
    fn a_memory_is_known_by_its_place() {
        let zones = Zones::new("/w".into(), vec![]);
        for (path, layer) in [
            ("/w/.reyn/memory", Some(Layer::Shared)),
            ("/w/.reyn/memory/a.md", Some(Layer::Shared)),
            ("/w/.reyn/memory/sub/a.txt", Some(Layer::Shared)),
            ("/w/.REYN/Memory/a.md", Some(Layer::Shared)),
            ("/w/.reyn/agents/dev/memory/a.md", Some(Layer::Agent)),
            ("/w/.reyn/agents/dev/memory", Some(Layer::Agent)),
            ("/w/.reyn/agents/dev/profile.yaml", None),
            ("/w/.reyn/memory2/a.md", None),
            ("/w/sub/.reyn/memory/a.md", None),
            ("/v/.reyn/memory/a.md", None),
        ] {
            assert_eq!(zones.memory_layer(Path::new(path)), layer, "{path}");
        }
    }

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
            ("/w/.reyn/index/docs/index.db", true),
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
            ("/W/reyn.yaml", true),
            ("/w/.reyn/\u{17f}tate/sessions/a/log.jsonl", true),
            ("/w/.reyn/con\u{fb01}g.yaml", true),
            ("/w/.reyn/approvals.lock", true),
            ("/w/.reyn/.reyn-tmp-1-2", true),
            ("/w/src/.reyn-tmp-1-2", true),
            ("/w/src/.reyn-tmp", false),
        ] {
            assert_eq!(zones.is_protected(Path::new(path)), protected, "{path}");
        }
    }

    #[test]
    fn where_a_protected_file_leads_is_protected_too() {
        let real_place = |path: &Path| {
            let moved = [("/w/reyn.yaml", "/w/conf/main.yaml"), ("/w/.reyn/state", "/data/state")];
            moved
                .iter()
                .find(|(from, _)| path == Path::new(from))
                .map_or(path.to_owned(), |(_, to)| to.into())
        };
        let zones = Zones::new("/w".into(), vec![]).with_real_places(real_place);
        for (path, protected) in [
            ("/w/reyn.yaml", true),
            ("/w/conf/main.yaml", true),
            ("/w/conf/Main.yaml", true),
            ("/w/conf/other.yaml", false),
            ("/w/conf", false),
            ("/data/state/sessions/a/log.jsonl", true),
            ("/data/other", false),
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
    fn keys_and_tokens_of_the_home_folder_are_told_from_other_files() {
        let real_place = |path: &Path| {
            if path == Path::new("/home/u/.aws") { "/home/u/dot/aws".into() } else { path.to_owned() }
        };
        let zones = Zones::new("/home/u".into(), vec![])
            .with_credentials_of(Path::new("/home/u"))
            .with_real_places(real_place);
        for (path, holds) in [
            ("/home/u/.aws/credentials", true),
            ("/home/u/dot/aws/credentials", true),
            ("/home/u/dot/other", false),
            ("/home/u/.ssh/id_ed25519", true),
            ("/home/u/.SSH/config", true),
            ("/home/u/.docker/config.json", true),
            ("/home/u/.docker/other", false),
            ("/home/u/.sshx", false),
            ("/home/u/notes/.ssh", false),
        ] {
            assert_eq!(zones.holds_credentials(Path::new(path)), holds, "{path}");
        }
    }

    #[test]
    fn a_sealed_file_is_sealed_in_every_case() {
        let zones = Zones::new("/w".into(), vec!["/home/u/.reyn/secrets.env".into()]);
        assert!(zones.is_sealed(Path::new("/home/u/.reyn/SECRETS.env")));
        assert!(!zones.is_sealed(Path::new("/home/u/.reyn/secrets.env.example")));
    }

    #[test]
    fn the_environment_and_memory_of_processes_are_sealed() {
        let zones = Zones::new("/w".into(), vec![]);
        for (path, sealed) in [
            ("/proc/1/environ", true),
            ("/proc/self/task/7/environ", true),
            ("/proc/12/mem", true),
            ("/proc/kcore", true),
            ("/proc/cpuinfo", false),
            ("/proc/12/status", false),
            ("/w/proc/environ", false),
        ] {
            assert_eq!(zones.is_sealed(Path::new(path)), sealed, "{path}");
        }
    }

    #[test]
    fn the_guarded_places_of_an_axis_are_all_that_is_guarded_on_it() {
        let zones = Zones::new("/w".into(), vec!["/h/.reyn/secrets.env".into()])
            .with_home_state("/h/.reyn".into())
            .with_credentials_of(Path::new("/h"));
        let read = zones.guarded_places(FileAxis::Read);
        let write = zones.guarded_places(FileAxis::Write);
        for (path, on_read, on_write) in [
            ("/h/.reyn/secrets.env", true, true),
            ("/h/.ssh", true, true),
            ("/w/reyn.yaml", false, true),
            ("/w/.reyn/state", false, true),
            ("/w/.reyn/agents", false, true),
            ("/h/.reyn", false, true),
            ("/w/src", false, false),
        ] {
            let path = PathBuf::from(path);
            assert_eq!((read.contains(&path), write.contains(&path)), (on_read, on_write), "{path:?}");
        }
        assert!(zones.is_guarded(FileAxis::Write, Path::new("/w/.reyn/agents/a/state/x")));
        assert!(!zones.is_guarded(FileAxis::Write, Path::new("/w/.reyn/agents/a/profile.yaml")));
        assert!(!zones.is_guarded(FileAxis::Read, Path::new("/w/reyn.yaml")));
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
