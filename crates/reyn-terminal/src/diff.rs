//! A unified diff in colours.

use crate::line::{Colour, Line, Style};

/// The lines of a unified diff, at most `lines_max`, and how many are left out.
///
/// Added lines are green, removed ones red, places dim. The two lines that name the files are not shown.
#[must_use]
pub fn diff_lines(unified: &str, lines_max: usize) -> (Vec<Line>, usize) {
    let mut lines = unified.lines().peekable();
    for head in ["--- ", "+++ "] {
        let _ = lines.next_if(|line| line.starts_with(head));
    }
    let shown = lines.by_ref().take(lines_max).map(diff_line).collect();
    (shown, lines.count())
}

/// One line of a diff.
pub(crate) fn diff_line(line: &str) -> Line {
    let style = match line.as_bytes().first() {
        Some(b'+') => Style::of(Colour::Green),
        Some(b'-') => Style::of(Colour::Red),
        Some(b'@' | b'\\') => Style::DIM,
        Some(_) | None => Style::PLAIN,
    };
    Line::styled(line, style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Look;

    const DIFF: &str = "\
--- a/x.rs
+++ b/x.rs
@@ -1,3 +1,3 @@
 a
--- b
+\tc\u{1b}[2J
\\ No newline at end of file
";

    #[test]
    fn a_diff_is_coloured_and_its_file_names_are_left_out() {
        let (lines, left_out) = diff_lines(DIFF, 10);
        let mut shown = String::new();
        for line in &lines {
            line.write(Look::Coloured, &mut shown);
            shown.push('\n');
        }
        let expected = "\x1b[2m@@ -1,3 +1,3 @@\x1b[0m\n a\n\x1b[31m--- b\x1b[0m\n\
            \x1b[32m+   c\\u{1b}[2J\x1b[0m\n\x1b[2m\\ No newline at end of file\x1b[0m\n";
        assert_eq!((shown.as_str(), left_out), (expected, 0));
    }

    #[test]
    fn what_is_left_out_of_a_diff_is_counted() {
        let (lines, left_out) = diff_lines(DIFF, 2);
        assert_eq!((lines.len(), left_out), (2, 3));
        assert_eq!(diff_lines("", 2), (vec![], 0));
    }
}
