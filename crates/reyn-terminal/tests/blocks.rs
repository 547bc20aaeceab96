//! The blocks of a stream are those that the parser sees in the whole text.

#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use reyn_terminal::{Line, MarkdownStream};

/// Wide enough that nothing is wrapped.
const COLUMNS: usize = 10_000;

/// A list item or a quote that is open.
struct Open {
    first: String,
    rest: String,
    is_shown: bool,
}

/// What the parser makes of the whole text, drawn as a stream draws it.
#[derive(Default)]
struct Reference {
    open: Vec<Open>,
    numbers: Vec<Option<u64>>,
    line: String,
    is_code: bool,
    rows: Vec<String>,
}

impl Reference {
    fn rows(text: &str) -> Vec<String> {
        let mut page = Self::default();
        for event in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH) {
            page.take(event);
        }
        page.rows.retain(|row| !row.replace(['│', ' '], "").is_empty());
        page.rows
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(code) => self.line.push_str(&code),
            Event::SoftBreak | Event::HardBreak => self.show(),
            Event::Rule => {
                self.show_rest();
                self.line = "─".repeat(40);
                self.show();
            }
            Event::Start(Tag::BlockQuote(_)) => self.enter("│ "),
            Event::Start(Tag::List(number)) => {
                self.show_rest();
                self.numbers.push(number);
            }
            Event::Start(Tag::Item) => {
                let mark = match self.numbers.last_mut().unwrap() {
                    Some(number) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    None => "• ".to_owned(),
                };
                self.enter(&mark);
            }
            Event::Start(Tag::CodeBlock(_)) => {
                self.show_rest();
                self.is_code = true;
            }
            Event::End(TagEnd::CodeBlock) => self.is_code = false,
            Event::End(TagEnd::List(_)) => {
                self.numbers.pop();
            }
            Event::End(TagEnd::Item | TagEnd::BlockQuote(_)) => {
                self.show_rest();
                if !self.open.last().unwrap().is_shown {
                    self.show();
                }
                self.open.pop();
            }
            Event::Start(Tag::HtmlBlock | Tag::Paragraph | Tag::Heading { .. }) => self.show_rest(),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::HtmlBlock) => self.show_rest(),
            Event::Start(_)
            | Event::End(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }

    fn enter(&mut self, mark: &str) {
        self.show_rest();
        let is_quote = mark == "│ ";
        let rest = if is_quote { mark.to_owned() } else { " ".repeat(mark.chars().count()) };
        self.open.push(Open { first: mark.to_owned(), rest, is_shown: is_quote });
    }

    fn text(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            if self.is_code && self.line.is_empty() && part != "\n" {
                self.line.push_str("  ");
            }
            self.line.push_str(&Line::plain(part.trim_end_matches('\n')).text());
            if part.ends_with('\n') {
                self.show();
            }
        }
    }

    fn show_rest(&mut self) {
        if !self.line.is_empty() {
            self.show();
        }
    }

    fn show(&mut self) {
        let mut row = String::new();
        for open in &mut self.open {
            row.push_str(if std::mem::replace(&mut open.is_shown, true) { &open.rest } else { &open.first });
        }
        row.push_str(&std::mem::take(&mut self.line));
        self.rows.push(row.trim_end().to_owned());
    }
}

fn streamed(text: &str) -> Vec<String> {
    let mut markdown = MarkdownStream::new(COLUMNS);
    let mut rows: Vec<String> = markdown.push(text).iter().map(Line::text).collect();
    rows.extend(markdown.finish().iter().map(Line::text));
    rows.retain(|row| !row.replace(['│', ' '], "").is_empty());
    // The parser does not say which sign stands behind a number.
    rows.iter().map(|row| row.replace(')', ".")).collect()
}

proptest! {

    #[test]
    fn a_stream_has_the_blocks_of_the_whole_text(
        lines in prop::collection::vec(
            (prop::sample::select(vec!["", "", "", " ", "  ", "   ", "    ", "      ", "> ", ">", "- ", "  - ", "1. ", "    > ", "-\t", "> - ", "10) "]),
             prop::sample::select(vec![
                "", "", "word", "two words", "- item", "* star", "1. one", "2. two", "7. seven", "# head", "> quote",
                "> - both", "```", "```rust", "~~~", "---", "===", "***", "**bold**", "-", "1.", "<div>", "<!-- c -->", "    code", "```` a", "+ plus", "\ttab", "> > two", "1) one", "2) two", "- - -", "</div>", "~~~~", "# ", "<pre>", "</pre> x",
             ])),
            1..14,
        ),
    ) {
        // The parser keeps the indentation of lines within inline code, the specification does not.
        let is_inline_code = |indent: &str, line: &str| indent.starts_with("    ") && line.starts_with('`');
        let lines = lines.iter().filter(|(indent, line)| !is_inline_code(indent, line));
        let text: String = lines.map(|(indent, line)| format!("{indent}{line}\n")).collect();
        let expected: Vec<String> = Reference::rows(&text).iter().map(|row| row.replace(')', ".")).collect();
        prop_assert_eq!(streamed(&text), expected, "{}", text);
    }
}
