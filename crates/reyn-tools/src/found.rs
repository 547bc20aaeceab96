//! What the two searching tools have in common: how results and what was passed over are told.

use std::path::Path;

use reyn_core::text::shown_path;
use reyn_core::tool::Output;
use reyn_search::Skipped;

/// A path of a result: relative to the workspace, or absolute.
pub(crate) fn shown(base: &Path, path: &Path, is_absolute: bool) -> String {
    if is_absolute || base == Path::new("/") { shown_path(&base.join(path)) } else { shown_path(path) }
}

/// Adds what a search passed over, and where to go on.
pub(crate) fn with_rest(
    output: Output,
    skipped: &Skipped,
    next_offset: Option<usize>,
    partial: Option<String>,
) -> Output {
    let mut output = output;
    if let Some(text) = skipped_in_words(skipped) {
        output = output.with("skipped", text);
    }
    if let Some(next) = next_offset {
        output = output.with("truncated", true).with("next_offset", next);
    }
    if let Some(reason) = partial {
        output = output.with("partial", reason);
    }
    output
}

fn skipped_in_words(skipped: &Skipped) -> Option<String> {
    let counts = [
        (skipped.hidden, "hidden"),
        (skipped.ignored, "ignored"),
        (skipped.binary, "binary"),
        (skipped.too_large, "too large"),
        (skipped.long_lines, "with too long lines"),
        (skipped.undecodable, "in no known encoding"),
        (skipped.unreadable, "unreadable"),
        (skipped.not_permitted, "not permitted"),
        (skipped.other_file_systems, "on other file systems"),
    ];
    let mut parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if skipped.hidden + skipped.ignored > 0 {
        parts.push("`include_ignored` searches hidden and ignored ones too".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join(", ").replace(", `include", "; `include"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_passed_over_is_told_with_the_way_to_it() {
        let skipped = Skipped { hidden: 2, ignored: 1, binary: 3, ..Skipped::default() };
        assert_eq!(
            skipped_in_words(&skipped).unwrap(),
            "2 hidden, 1 ignored, 3 binary; `include_ignored` searches hidden and ignored ones too"
        );
        let skipped = Skipped { not_permitted: 1, ..Skipped::default() };
        assert_eq!(skipped_in_words(&skipped).unwrap(), "1 not permitted");
        assert_eq!(skipped_in_words(&Skipped::default()), None);
    }
}
