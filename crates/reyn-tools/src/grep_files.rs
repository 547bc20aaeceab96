//! `grep_files`: lines by a regular expression.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::permission::FileOp;
use reyn_core::tool::{Category, Dispatch, Effect, External, Output, Surfaces, ToolSpec};
use reyn_search::{FileHits, GrepMode, GrepRequest, literal};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::found::{shown, with_rest};
use crate::tool::{Context, Tool, ToolError, Touched, Wish, blocking};

pub(crate) struct GrepFiles;

/// Results given when the call does not say how many.
const DEFAULT_MAX_RESULTS: u32 = 100;
/// Results given at most.
const MAX_RESULTS_MAX: u32 = 5_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Regular expression; `\n` in it spans lines.
    pattern: String,
    /// File or folder; default `.`.
    path: Option<String>,
    /// Only such files, e.g. `*.rs`.
    glob: Option<String>,
    /// Default true.
    case_sensitive: Option<bool>,
    /// Default `content`.
    output_mode: Option<OutputMode>,
    /// Lines around each match.
    context: Option<u32>,
    /// Default 100.
    max_results: Option<u32>,
    /// Results to skip.
    offset: Option<u32>,
    /// Finds hidden and ignored files too. A result names it where it passed over some, so the schema does
    /// not.
    #[schemars(skip)]
    include_ignored: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputMode {
    Content,
    FilesWithMatches,
    Count,
}

impl Tool for GrepFiles {
    type Args = Args;

    const SPEC: ToolSpec = ToolSpec {
        name: "grep_files",
        summary: "Search the contents of files.",
        details: "",
        example: r#"{"pattern": "fn (main|run)", "glob": "*.rs"}"#,
        category: Category::File,
        effect: Effect::Reads,
        surfaces: Surfaces::Both,
        dispatch: Dispatch::Sync,
        returns_external: false,
        enums: &[],
    };

    fn wishes(args: &Args) -> Vec<Wish> {
        let path = args.path.clone().unwrap_or_else(|| ".".to_owned());
        vec![Wish::File { op: FileOp::Grep, path }]
    }

    async fn run(&self, args: Args, touched: Touched, context: Arc<Context>) -> Result<Output, ToolError> {
        let workspace = context.workspace()?;
        let mode = args.output_mode.unwrap_or(OutputMode::Content);
        let request = GrepRequest {
            pattern: args.pattern.clone(),
            glob: args.glob.clone(),
            is_case_sensitive: args.case_sensitive.unwrap_or(true),
            mode: match mode {
                OutputMode::Content => GrepMode::Content,
                OutputMode::FilesWithMatches => GrepMode::FilesWithMatches,
                OutputMode::Count => GrepMode::Count,
            },
            before: args.context.unwrap_or(0) as usize,
            after: args.context.unwrap_or(0) as usize,
            include_ignored: args.include_ignored.unwrap_or(false),
            offset: args.offset.unwrap_or(0) as usize,
            max_results: args.max_results.unwrap_or(DEFAULT_MAX_RESULTS).min(MAX_RESULTS_MAX) as usize,
            output_bytes_max: RESULT_BYTES_MAX,
        };
        let base = workspace.search_base(touched.file(0));
        let may_ignore_case = args.case_sensitive.is_none();
        let (found, note, brought) = blocking(move || {
            let judge = |target: &_| touched.admits(FileOp::Grep, target);
            let search = |request: &GrepRequest| {
                workspace.grep(touched.file(0), request, &judge, &context.cancel)
            };
            let mut found = (search(&request)?, None);
            if found.0.files.is_empty() && found.0.partial.is_none() {
                for (request, note) in other_readings(&request, may_ignore_case) {
                    let other = search(&request)?;
                    if !other.files.is_empty() {
                        found = (other, Some(note));
                        break;
                    }
                }
            }
            let base = workspace.search_base(touched.file(0));
            let paths = found.0.files.iter().map(|file| base.join(&file.path));
            let brought = context.external_files().and_then(|files| files.any_brought(paths, &workspace));
            Ok((found.0, found.1, brought))
        })
        .await?;
        let key = match mode {
            OutputMode::Content | OutputMode::Count => "matches",
            OutputMode::FilesWithMatches => "files",
        };
        let output = Output::text(key, listed(mode, &base, &found.files)).with("pattern", args.pattern);
        let output = match mode {
            OutputMode::Content | OutputMode::Count => {
                let matches: u64 = found.files.iter().map(|file| file.matches).sum();
                output.with("count", matches).with("files_with_matches", found.files.len())
            }
            OutputMode::FilesWithMatches => output.with("count", found.files.len()),
        };
        let output = match note {
            Some(note) => output.with("note", note),
            None => output,
        };
        let output = match (found.files.is_empty(), found.files_searched, args.glob) {
            // A filter that fits nothing looks like a search that finds nothing.
            (true, 0, Some(glob)) => output.with(
                "note",
                format!("no file was searched, since none matches `{glob}`; leave `glob` out to search all"),
            ),
            (true, searched, _) => output.with("files_searched", searched),
            (false, ..) => output,
        };
        let mut output = with_rest(output, &found.skipped, found.next_offset, found.partial);
        output.external = brought.map(External::by);
        Ok(output)
    }
}

/// What a pattern that matches nothing may have been meant as, and what is said when it matches then.
fn other_readings(request: &GrepRequest, may_ignore_case: bool) -> Vec<(GrepRequest, &'static str)> {
    let mut readings = vec![];
    let plain = literal(&request.pattern);
    if plain != request.pattern {
        // `#[test]` is an expression for `#t`, and is never meant as one.
        let as_text = GrepRequest { pattern: plain, ..request.clone() };
        readings.push((as_text, "no line matches the pattern as an expression; these have it as plain text"));
    }
    if may_ignore_case && request.pattern.chars().any(char::is_alphabetic) {
        let any_case = GrepRequest { is_case_sensitive: false, ..request.clone() };
        readings.push((any_case, "no line matches in these capitals and small letters; these do in others"));
    }
    readings
}

/// One file a line, or a file's lines below its name: `12:` before a match, `12-` before a line around one,
/// `--` where lines are left out between them.
fn listed(mode: OutputMode, base: &Path, files: &[FileHits]) -> String {
    let mut text = String::new();
    for file in files {
        let path = shown(base, &file.path, false);
        match mode {
            OutputMode::FilesWithMatches => {
                let _ = writeln!(text, "{path}");
            }
            OutputMode::Count => {
                let _ = writeln!(text, "{path}: {}", file.matches);
            }
            OutputMode::Content => {
                let gap = if text.is_empty() { "" } else { "\n" };
                let encoding = file.encoding.map(|name| format!(" ({name})")).unwrap_or_default();
                let _ = writeln!(text, "{gap}{path}{encoding}");
                let has_context = file.lines.iter().any(|line| !line.is_match);
                let mut last = None;
                for line in &file.lines {
                    if has_context && last.is_some_and(|last| line.number > last + 1) {
                        text.push_str("--\n");
                    }
                    let mark = if line.is_match { ':' } else { '-' };
                    let _ = writeln!(text, "{}{mark}{}", line.number, line.text);
                    last = Some(line.number);
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_search::Line;

    #[test]
    fn lines_stand_below_the_name_of_their_file() {
        let line = |number, text: &str, is_match| Line { number, text: text.to_owned(), is_match };
        let files = [
            FileHits {
                path: "src/a.rs".into(),
                lines: vec![line(1, "one", false), line(2, "two", true), line(9, "two", true)],
                matches: 2,
                encoding: None,
            },
            FileHits {
                path: "b.txt".into(),
                lines: vec![line(3, "two", true)],
                matches: 1,
                encoding: Some("shift_jis"),
            },
        ];
        let listed = |mode| listed(mode, Path::new("/w"), &files);
        assert_eq!(
            listed(OutputMode::Content),
            "src/a.rs\n1-one\n2:two\n--\n9:two\n\nb.txt (shift_jis)\n3:two\n"
        );
        assert_eq!(listed(OutputMode::Count), "src/a.rs: 2\nb.txt: 1\n");
        assert_eq!(listed(OutputMode::FilesWithMatches), "src/a.rs\nb.txt\n");
    }
}
