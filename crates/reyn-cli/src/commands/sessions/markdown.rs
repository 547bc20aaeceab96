//! A session as a Markdown document.

use std::fmt::Write as _;

use reyn_runtime::SessionSummary;
use reyn_terminal::visible;

use super::counted;
use crate::transcript::TranscriptPart;

/// The document: what was said under headings, calls folded with their arguments and results.
pub(crate) fn markdown(summary: &SessionSummary, parts: &[TranscriptPart]) -> String {
    let title = summary.title.as_deref().unwrap_or("A session without words");
    let mut text = format!("# {}\n\n- session: `{}`\n", escaped(title), summary.id);
    if let Some(started) = summary.started {
        let _ = writeln!(text, "- begun: {started}");
    }
    let _ = writeln!(text, "- last written: {}", summary.changed);
    if let Some(turns) = summary.turns {
        let _ = writeln!(text, "- {}", counted(turns, "turn"));
    }
    let mut is_reyns = false;
    for part in parts {
        let is_person = matches!(part, TranscriptPart::Person(_));
        if is_person {
            text.push_str("\n## You\n");
        } else if !is_reyns {
            text.push_str("\n## Reyn\n");
        }
        is_reyns = !is_person;
        text.push('\n');
        match part {
            TranscriptPart::Person(words) | TranscriptPart::Answer(words) => {
                let _ = writeln!(text, "{}", visible(words.trim_end()));
            }
            TranscriptPart::Call { line, is_error, arguments, detail } => {
                let mark = if *is_error { "✗" } else { "✓" };
                let _ = writeln!(text, "<details><summary>{mark} {}</summary>", html(line));
                fenced(&mut text, "json", arguments);
                fenced(&mut text, "", detail);
                text.push_str("\n</details>\n");
            }
            TranscriptPart::Note(words) => {
                let _ = writeln!(text, "> {}", escaped(&words.replace('\n', " ")));
            }
            TranscriptPart::Cost(words) => {
                let _ = writeln!(text, "*{words}*");
            }
        }
    }
    text
}

/// Text as a block that nothing in it can end.
fn fenced(text: &mut String, language: &str, content: &str) {
    if content.is_empty() {
        return;
    }
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let _ = write!(text, "\n{fence}{language}\n{}\n{fence}\n", visible(content.trim_end_matches('\n')));
}

/// One line that is no HTML, inside HTML, where Markdown is not read.
fn html(line: &str) -> String {
    visible(line).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// One line that is neither HTML nor Markdown.
fn escaped(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in html(line).chars() {
        if matches!(c, '*' | '_' | '`' | '[' | ']' | '\\' | '|') {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn results_are_folded_and_nothing_in_them_ends_the_fold() {
        let summary = SessionSummary {
            id: "s".into(),
            title: Some("what <b>is</b> *this*?".into()),
            started: "2026-01-02T03:04:05Z".parse().ok(),
            changed: "2026-01-02T03:05:00Z".parse().unwrap(),
            turns: Some(1),
            bytes: 1,
            holder: None,
        };
        let parts = [
            TranscriptPart::Person("what is *this*?\n".into()),
            TranscriptPart::Answer("Let me\x1b[2J see.".into()),
            TranscriptPart::Call {
                line: "read_file </summary>: 6 B".into(),
                is_error: false,
                arguments: "{}".into(),
                detail: "````\n</details>\n".into(),
            },
            TranscriptPart::Note("stopped".into()),
            TranscriptPart::Cost("1 model call".into()),
            TranscriptPart::Person("and?".into()),
            TranscriptPart::Call {
                line: "x: no result".into(),
                is_error: true,
                arguments: String::new(),
                detail: String::new(),
            },
        ];
        expect![[r##"
            # what &lt;b&gt;is&lt;/b&gt; \*this\*?

            - session: `s`
            - begun: 2026-01-02T03:04:05Z
            - last written: 2026-01-02T03:05:00Z
            - 1 turn

            ## You

            what is *this*?

            ## Reyn

            Let me\u{1b}[2J see.

            <details><summary>✓ read_file &lt;/summary&gt;: 6 B</summary>

            ```json
            {}
            ```

            `````
            ````
            </details>
            `````

            </details>

            > stopped

            *1 model call*

            ## You

            and?

            ## Reyn

            <details><summary>✗ x: no result</summary>

            </details>
        "##]]
        .assert_eq(&markdown(&summary, &parts));
    }
}
