//! The lists of paths that a call gives: patterns into what is there, links into where they lead.
//!
//! Invariant: what comes out is real, so that comparing it with what is granted compares places, not spellings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use reyn_core::limits::{EXEC_NOTE_NAMES_MAX, EXEC_PATHS_MAX};
use reyn_core::permission::FileAxis;
use reyn_core::text::excerpt;
use reyn_search::path_pattern::{self, HiddenEntries, PatternError};
use reyn_workspace::bounds::PATH_BYTES_MAX;
use reyn_workspace::{PathError, Workspace};
use thiserror::Error;

/// Longest path in a message, in characters.
const PATH_CHARS_SHOWN: usize = 120;

/// Why a list stands for nothing. Every message begins with the field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum AskedPathsError {
    /// More entries than a list may have.
    #[error("`{field}` has {count} entries and the limit is {EXEC_PATHS_MAX}")]
    TooManyEntries { field: &'static str, count: usize },
    /// More paths than a list may stand for.
    #[error("`{field}` stands for more than {EXEC_PATHS_MAX} paths")]
    TooManyPaths { field: &'static str },
    /// One entry is no path.
    #[error("`{field}`: {why}")]
    Path { field: &'static str, why: PathError },
    /// One entry has `{{workspace}}` where it means nothing.
    #[error("`{field}`: {why}")]
    Template { field: &'static str, why: String },
    /// One entry is no pattern, or too wide a one.
    #[error("`{field}`: `{text}`: {why}")]
    Pattern { field: &'static str, text: String, why: PatternError },
}

impl AskedPathsError {
    /// What to do about it.
    pub(crate) const fn hint(&self) -> &'static str {
        match self {
            Self::TooManyEntries { .. }
            | Self::TooManyPaths { .. }
            | Self::Pattern { why: PatternError::TooManyPaths | PatternError::TooManyEntries, .. } => {
                "name the folder that holds them; it stands for everything below it"
            }
            Self::Path { .. }
            | Self::Template { .. }
            | Self::Pattern { why: PatternError::Malformed { .. }, .. } => {
                "paths start at the workspace; `*`, `?`, `[…]`, `{a,b}` and `**` stand for what is there"
            }
        }
    }
}

/// What a list stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AskedPaths {
    /// Real places that are there, sorted.
    pub paths: Vec<PathBuf>,
    /// What a person or a model should know of the entries that stand for nothing.
    pub notes: Vec<String>,
}

/// What the entries of `field` stand for. Looks at the file system; `home` is what `~` stands for.
///
/// # Errors
/// When an entry is no path, or the list stands for more than is looked at.
pub(crate) fn asked_paths(
    field: &'static str,
    entries: &[String],
    axis: FileAxis,
    workspace: &Workspace,
    home: Option<&Path>,
) -> Result<AskedPaths, AskedPathsError> {
    if entries.len() > EXEC_PATHS_MAX {
        return Err(AskedPathsError::TooManyEntries { field, count: entries.len() });
    }
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    let (mut missing, mut twins): (Vec<&str>, Vec<&str>) = (vec![], vec![]);
    for entry in entries {
        let text =
            path_pattern::from_workspace(entry).map_err(|why| AskedPathsError::Template { field, why })?;
        let found = match pattern(&text, workspace, home) {
            None => vec![text],
            Some(_) if text.len() > PATH_BYTES_MAX => {
                return Err(AskedPathsError::Path { field, why: PathError::TooLong });
            }
            Some((start, pattern)) => {
                let found = path_pattern::paths(&start, Path::new(&pattern), HiddenEntries::WhenNamed);
                let found = found.map_err(|why| AskedPathsError::Pattern {
                    field,
                    text: excerpt(entry, PATH_CHARS_SHOWN),
                    why,
                })?;
                // A name that is no text cannot be judged.
                found.into_iter().filter_map(|path| path.into_os_string().into_string().ok()).collect()
            }
        };
        let mut is_nothing = true;
        for path in found {
            let target =
                workspace.resolve(&path, axis).map_err(|why| AskedPathsError::Path { field, why })?;
            if target.same_as.is_some() {
                twins.push(entry);
                is_nothing = false;
            } else if target.path.exists() {
                paths.insert(target.path);
                is_nothing = false;
            }
        }
        if is_nothing {
            missing.push(entry);
        }
        if paths.len() > EXEC_PATHS_MAX {
            return Err(AskedPathsError::TooManyPaths { field });
        }
    }
    twins.dedup();
    let mut notes = vec![];
    if !missing.is_empty() {
        notes.push(format!("`{field}`: nothing is there for {}", named(&missing)));
    }
    if !twins.is_empty() {
        notes.push(format!("`{field}`: another name of a protected file is {}", named(&twins)));
    }
    Ok(AskedPaths { paths: paths.into_iter().collect(), notes })
}

/// Where a pattern begins, and the rest of it. `None` for a path without one, also when its letters look like it.
fn pattern(text: &str, workspace: &Workspace, home: Option<&Path>) -> Option<(PathBuf, String)> {
    if !path_pattern::is_pattern(text) {
        return None;
    }
    let (start, rest) = match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => (home, rest.trim_start_matches('/')),
        (Some(_), None) | (None, _) => (workspace.root(), text),
    };
    let is_literal = start.join(rest).symlink_metadata().is_ok();
    (!is_literal && !text.contains('\0')).then(|| (start.to_owned(), rest.to_owned()))
}

/// Some names in a note.
pub(super) fn named<T: AsRef<str>>(names: &[T]) -> String {
    let shown = names.iter().take(EXEC_NOTE_NAMES_MAX);
    let mut words = shown
        .map(|name| format!("`{}`", excerpt(name.as_ref(), PATH_CHARS_SHOWN)))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > EXEC_NOTE_NAMES_MAX {
        words.push_str(&format!(" and {} more", names.len() - EXEC_NOTE_NAMES_MAX));
    }
    words
}

#[cfg(test)]
mod tests {
    use reyn_core::permission::Zones;

    use super::*;

    struct Here {
        _folder: tempfile::TempDir,
        root: PathBuf,
        workspace: Workspace,
    }

    /// A workspace `[w]` with files, links, and a hard link of its configuration.
    fn here() -> Here {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("[w]");
        for file in ["src/a.rs", "src/b.rs", "src/.hidden", "out/x", "reyn.yaml"] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("/usr", root.join("away")).unwrap();
        std::fs::hard_link(root.join("reyn.yaml"), root.join("twin")).unwrap();
        let workspace = Workspace::open(Zones::new(root.clone(), vec![]), None).unwrap();
        Here { _folder: folder, root, workspace }
    }

    fn asked(here: &Here, entries: &[&str]) -> Result<AskedPaths, AskedPathsError> {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        asked_paths("write_paths", &entries, FileAxis::Write, &here.workspace, Some(&here.root.join("src")))
    }

    #[test]
    fn a_list_stands_for_what_is_there_and_says_what_is_not() {
        let here = here();
        let nothing = |entry: &str| vec![format!("`write_paths`: nothing is there for `{entry}`")];
        let table: [(&[&str], &[&str], Vec<String>); 14] = [
            (&[], &[], vec![]),
            (&["{{workspace}}"], &[""], vec![]),
            (&["{{workspace}}/out"], &["out"], vec![]),
            (&["out", "./out/", "src/../out"], &["out"], vec![]),
            (&["src/*"], &["src/a.rs", "src/b.rs"], vec![]),
            (&["{{workspace}}/src/*.rs"], &["src/a.rs", "src/b.rs"], vec![]),
            (&["~/a.*"], &["src/a.rs"], vec![]),
            (&["**/x"], &["out/x"], vec![]),
            (&["away"], &["/usr"], vec![]),
            (&["awa*"], &["/usr"], vec![]),
            (&["no/*.txt"], &[], nothing("no/*.txt")),
            (&["out", "new"], &["out"], nothing("new")),
            (&["twin"], &[], vec!["`write_paths`: another name of a protected file is `twin`".into()]),
            (&["tw?n"], &[], vec!["`write_paths`: another name of a protected file is `tw?n`".into()]),
        ];
        for (entries, paths, notes) in table {
            let paths = paths
                .iter()
                .map(|path| if path.is_empty() { here.root.clone() } else { here.root.join(path) });
            assert_eq!(
                asked(&here, entries),
                Ok(AskedPaths { paths: paths.collect(), notes }),
                "{entries:?}"
            );
        }
    }

    #[test]
    fn what_is_no_path_or_too_wide_is_an_error_that_names_the_field() {
        let here = here();
        let long = "x*".repeat(PATH_BYTES_MAX);
        let table: [(&str, &str); 6] = [
            ("", "`write_paths`: the path is empty"),
            ("a\0*", "`write_paths`: the path holds a NUL character"),
            ("[a", "`write_paths`: `[a`: the pattern is malformed: unclosed character class; missing ']'"),
            ("a/{{workspace}}", "`write_paths`: `{{workspace}}` stands only at the beginning of a path"),
            ("/**/*", "`write_paths`: `/**/*`: it stands for more than 1000 paths"),
            (&long, "`write_paths`: the path is longer than 4096 bytes"),
        ];
        for (entry, says) in table {
            assert_eq!(asked(&here, &[entry]).unwrap_err().to_string(), says);
        }
        let error = asked(&here, &vec!["x"; 1_000_000]).unwrap_err();
        assert_eq!(error, AskedPathsError::TooManyEntries { field: "write_paths", count: 1_000_000 });
        for number in 0..600 {
            std::fs::write(here.root.join(format!("out/{number}.a")), "").unwrap();
            std::fs::write(here.root.join(format!("out/{number}.b")), "").unwrap();
        }
        assert_eq!(asked(&here, &["out/*.a", "{{workspace}}/out/*.a"]).unwrap().paths.len(), 600);
        let error = asked(&here, &["out/*.a", "out/*.b"]).unwrap_err();
        assert_eq!(error.to_string(), "`write_paths` stands for more than 1000 paths");
        assert!(error.hint().contains("name the folder"));
    }

    #[test]
    fn a_long_list_of_what_is_missing_is_cut_in_the_note() {
        let here = here();
        let entries: Vec<String> = (0..40).map(|number| format!("no{number}")).collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        assert_eq!(
            asked(&here, &entries).unwrap().notes,
            ["`write_paths`: nothing is there for `no0`, `no1`, `no2`, `no3`, `no4` and 35 more"]
        );
    }
}
