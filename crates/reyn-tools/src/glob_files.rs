//! `glob_files`: files by the pattern of their paths.

use std::fmt::Write as _;
use std::sync::Arc;

use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, External, Output, Surfaces, ToolSpec};
use reyn_search::GlobRequest;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::found::{shown, with_rest};
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct GlobFiles;

/// Paths given when the call does not say how many.
const DEFAULT_MAX_RESULTS: u32 = 200;
/// Folders named at most beside files.
const FOLDERS_MAX: usize = 20;
/// Paths given at most.
const MAX_RESULTS_MAX: u32 = 5_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// E.g. `src/**/*.rs`; `*/` for folders.
    pattern: String,
    /// Folder; default `.`.
    path: Option<String>,
    /// Default 200.
    max_results: Option<u32>,
    /// Results to skip.
    offset: Option<u32>,
    /// Gives absolute paths. Rarely wanted, so the schema does not spend words on it.
    #[schemars(skip)]
    absolute: Option<bool>,
    /// Finds hidden and ignored files too. A result names it where it passed over some, so the schema does
    /// not.
    #[schemars(skip)]
    include_ignored: Option<bool>,
}

impl Tool for GlobFiles {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "glob_files",
        summary: "Find files by a pattern of their paths.",
        details: "",
        example: r#"{"pattern": "**/*.md"}"#,
        category: Category::File,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        let (path, _) = split(args.path.as_deref(), &args.pattern);
        vec![Wish::File { op: FileOp::Glob, path }]
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let workspace = context.workspace()?;
        let (_, pattern) = split(args.path.as_deref(), &args.pattern);
        let offset = args.offset.unwrap_or(0) as usize;
        let max_results = args.max_results.unwrap_or(DEFAULT_MAX_RESULTS).min(MAX_RESULTS_MAX) as usize;
        let request = GlobRequest {
            pattern,
            include_ignored: args.include_ignored.unwrap_or(false),
            offset,
            max_results,
        };
        let base = workspace.search_base(touched.file(0));
        let (found, folders, brought) = blocking(move || {
            let judge = |target: &_| touched.admits(FileOp::Glob, target);
            let found = workspace.glob(touched.file(0), &request, &judge, &context.cancel)?;
            let beside = folders_beside(&request, found.paths.is_empty()).filter(|_| request.offset == 0);
            let folders = match beside {
                Some(request) => Some(workspace.glob(touched.file(0), &request, &judge, &context.cancel)?),
                None => None,
            };
            let folders = folders.filter(|found| found.are_folders).map(|found| found.paths).unwrap_or_default();
            // Whoever sends a file names it too.
            let base = workspace.search_base(touched.file(0));
            let paths = found.paths.iter().map(|path| base.join(path));
            let brought = context.external_files().and_then(|files| files.any_brought(paths, &workspace));
            Ok((found, folders, brought))
        })
        .await?;
        let is_absolute = args.absolute.unwrap_or(false);
        let mark = if found.are_folders { "/" } else { "" };
        let mut paths = String::new();
        let mut count = 0;
        for path in &found.paths {
            let path = shown(&base, path, is_absolute) + mark;
            if paths.len() + path.len() + 1 > RESULT_BYTES_MAX {
                break;
            }
            let _ = writeln!(paths, "{path}");
            count += 1;
        }
        let has_more = found.has_more || count < found.paths.len();
        let output = Output::text("matches", paths).with("pattern", args.pattern).with("count", count);
        let mut output = with_rest(output, &found.skipped, has_more.then_some(offset + count), found.partial);
        if !folders.is_empty() {
            let folders: Vec<String> =
                folders.iter().map(|path| shown(&base, path, is_absolute) + "/").collect();
            let before = if count == 0 { "no file matches, but folders do: " } else { "" };
            output = output.with("folders", format!("{before}{}", folders.join(", ")));
        }
        output.external = brought.map(External::by);
        Ok(output)
    }
}

/// What finds the folders that a pattern may have meant: all of that name where no file has it, and otherwise those in
/// the folder itself, where the pattern says nothing of an ending.
fn folders_beside(request: &GlobRequest, is_nothing: bool) -> Option<GlobRequest> {
    let pattern = &request.pattern;
    let pattern = match (pattern.contains('/'), is_nothing) {
        _ if pattern.ends_with('/') => return None,
        (true, true) => format!("{pattern}/"),
        (false, true) => format!("**/{pattern}/"),
        (false, false) if pattern.ends_with('*') && !pattern.starts_with('*') => format!("/{pattern}/"),
        (_, false) => return None,
    };
    let include_ignored = request.include_ignored;
    Some(GlobRequest { pattern, include_ignored, offset: 0, max_results: FOLDERS_MAX })
}

/// The folder that a call searches, and the pattern below it. A pattern that leaves the folder, or begins
/// at the root or at home, brings its own.
fn split(path: Option<&str>, pattern: &str) -> (String, String) {
    // A pattern with a `/` is about that place; without one, about any depth.
    let is_anchored = pattern.contains('/');
    let anchored = |rest: &str| if is_anchored && !rest.contains('/') { format!("/{rest}") } else { rest.to_owned() };
    let pattern = pattern.trim_start_matches("./");
    let parts: Vec<&str> = pattern.split('/').collect();
    let literal = parts[..parts.len() - 1].iter().take_while(|part| !part.contains(['*', '?', '[', '{'])).count();
    let leaves = parts[..literal].contains(&"..") || pattern.starts_with('/') || parts[0] == "~";
    if !leaves {
        return (path.unwrap_or(".").to_owned(), anchored(pattern));
    }
    let (folder, rest) = (parts[..literal].join("/"), parts[literal..].join("/"));
    let is_own = pattern.starts_with('/') || parts[0] == "~";
    let folder = match path {
        Some(path) if !is_own => format!("{path}/{folder}"),
        Some(_) | None if folder.is_empty() => "/".to_owned(),
        Some(_) | None => folder,
    };
    (folder, anchored(&rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_looked_for_where_they_may_be_meant() {
        for (pattern, is_nothing, folders) in [
            ("b*", false, Some("/b*/")),
            ("b*", true, Some("**/b*/")),
            ("src", true, Some("**/src/")),
            ("src", false, None),
            ("*.rs", false, None),
            ("*", false, None),
            ("a/b*", true, Some("a/b*/")),
            ("a/b*", false, None),
            ("*/", true, None),
        ] {
            let request =
                GlobRequest { pattern: pattern.into(), include_ignored: true, offset: 0, max_results: 1 };
            let found = folders_beside(&request, is_nothing).map(|request| request.pattern);
            assert_eq!(found.as_deref(), folders, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_leads_elsewhere_brings_its_own_folder() {
        for (path, pattern, folder, rest) in [
            (None, "**/*.rs", ".", "**/*.rs"),
            (None, "./src/*.rs", ".", "src/*.rs"),
            (None, "./*.rs", ".", "/*.rs"),
            (Some("src"), "*.rs", "src", "*.rs"),
            (None, "../other/*.rs", "../other", "/*.rs"),
            (Some("src"), "../other/*.rs", "src/../other", "/*.rs"),
            (None, "/etc/*.conf", "/etc", "/*.conf"),
            (Some("src"), "/etc/hosts", "/etc", "/hosts"),
            (None, "/*.txt", "/", "/*.txt"),
            (None, "~/notes/**/*.md", "~/notes", "**/*.md"),
            (None, "a/{b,c}/../d", ".", "a/{b,c}/../d"),
        ] {
            assert_eq!(split(path, pattern), (folder.into(), rest.into()), "{path:?} {pattern}");
        }
    }
}
