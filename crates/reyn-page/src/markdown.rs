//! From a tree of elements to Markdown for a reader that is a model: few marks, no escapes inside of words.
//!
//! The tree comes from [`reduced`](crate::reduced), so its depth is bounded, and so is this recursion.

mod flow;
mod table;

use dom_query::NodeRef;

use flow::{Break, Flow};

/// The Markdown of what is in `root`, without blank lines around it, and whether it was cut at
/// [`TEXT_BYTES_MAX`](crate::bounds::TEXT_BYTES_MAX).
pub(crate) fn markdown(root: &NodeRef<'_>) -> (String, bool) {
    let mut writer = Writer { flow: Flow::default(), is_emphasised: false };
    writer.children(root);
    writer.flow.finish()
}

/// The text of what is in `root` in one line, as it stands in a cell of a table.
fn inline(root: &NodeRef<'_>) -> String {
    let mut writer = Writer { flow: Flow::in_one_line(), is_emphasised: false };
    writer.children(root);
    writer.flow.finish().0
}

struct Writer {
    flow: Flow,
    is_emphasised: bool,
}

impl Writer {
    fn children(&mut self, node: &NodeRef<'_>) {
        for child in node.children_it(false) {
            self.node(&child);
        }
    }

    fn node(&mut self, node: &NodeRef<'_>) {
        if node.is_text() {
            self.flow.text(&node.text());
            return;
        }
        let Some(name) = node.node_name() else {
            return;
        };
        match &*name {
            "br" => self.flow.line_end(),
            "hr" => self.rule(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(node, &name),
            "a" => self.link(node),
            "b" | "strong" => self.emphasis(node, "**"),
            "i" | "em" => self.emphasis(node, "*"),
            "s" | "del" => self.emphasis(node, "~~"),
            "q" => self.marked(node, "\"", "\""),
            "sup" => self.superscript(node),
            "code" | "kbd" | "samp" | "tt" => self.code(node),
            "pre" => self.code_block(node),
            "ul" | "ol" => self.list(node, &name),
            // Outside of a list.
            "li" => self.item(node, "- "),
            "dt" | "tr" => self.block(node, Break::Line),
            "dd" => self.item(node, ": "),
            "td" | "th" => {
                self.flow.request(Break::Blank);
                self.children(node);
                self.flow.request(Break::Blank);
            }
            "blockquote" => {
                self.flow.request(Break::Paragraph);
                self.flow.indent(None, "> ".to_owned());
                self.children(node);
                self.flow.outdent();
                self.flow.request(Break::Paragraph);
            }
            "table" => self.table(node),
            "head" | "script" | "style" | "title" => {}
            _ if BLOCKS.contains(&&*name) => self.block(node, Break::Paragraph),
            _ => self.children(node),
        }
    }

    fn block(&mut self, node: &NodeRef<'_>, around: Break) {
        self.flow.request(around);
        self.children(node);
        self.flow.request(around);
    }
}

impl Writer {
    fn rule(&mut self) {
        if !self.flow.is_in_one_line() {
            self.flow.request(Break::Paragraph);
            self.flow.mark("---");
        }
        self.flow.request(Break::Paragraph);
    }

    fn heading(&mut self, node: &NodeRef<'_>, name: &str) {
        let level = name.bytes().next_back().map_or(1, |digit| usize::from(digit.saturating_sub(b'0')));
        self.flow.request(Break::Paragraph);
        if self.flow.is_in_one_line() {
            self.children(node);
        } else {
            let at = self.flow.open(&format!("{} ", "#".repeat(level)));
            self.flow.enter_line();
            self.children(node);
            self.flow.leave_line();
            self.flow.close(at, "");
        }
        self.flow.request(Break::Paragraph);
    }

    fn marked(&mut self, node: &NodeRef<'_>, before: &str, after: &str) {
        let at = self.flow.open(before);
        self.children(node);
        self.flow.close(at, after);
    }

    /// Marks of emphasis do not reach over the end of a paragraph, so an element with blocks in it has none.
    fn emphasis(&mut self, node: &NodeRef<'_>, mark: &str) {
        let has_blocks = || node.descendants_it().any(|inner| is_block(&inner));
        if self.is_emphasised || !self.flow.is_in_one_line() && has_blocks() {
            self.children(node);
            return;
        }
        self.is_emphasised = true;
        self.marked(node, mark, mark);
        self.is_emphasised = false;
    }

    fn link(&mut self, node: &NodeRef<'_>) {
        let Some(href) = node.attr("href") else {
            self.children(node);
            return;
        };
        let at = self.flow.open("[");
        self.flow.enter_line();
        self.children(node);
        self.flow.leave_line();
        // The two signs that would end the address.
        let href = href.replace('(', "%28").replace(')', "%29");
        self.flow.close(at, &format!("]({href})"));
    }

    /// `10^5` where a bare `105` would be another number.
    fn superscript(&mut self, node: &NodeRef<'_>) {
        let is_exponent = |text: &str| {
            let first = text.chars().next();
            first.is_some_and(|first| first.is_ascii_digit() || matches!(first, '-' | '+' | '\u{2212}'))
        };
        let is_after_word = self.flow.last_char().is_some_and(char::is_alphanumeric);
        if is_after_word && is_exponent(&node.immediate_text()) {
            self.marked(node, "^", "");
        } else {
            self.children(node);
        }
    }

    fn code(&mut self, node: &NodeRef<'_>) {
        let text = crate::line::one_line(&node.text(), usize::MAX);
        if text.is_empty() {
            self.children(node);
            return;
        }
        let fence = "`".repeat(if text.contains('`') { longest_run(&text, '`') + 1 } else { 1 });
        let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        self.flow.code(&format!("{fence}{pad}{text}{pad}{fence}"));
    }

    fn code_block(&mut self, node: &NodeRef<'_>) {
        let text = node.text();
        if self.flow.is_in_one_line() {
            self.flow.request(Break::Blank);
            self.code(node);
            self.flow.request(Break::Blank);
            return;
        }
        let text = text.trim_end().trim_start_matches(['\n', '\r']);
        if text.is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        self.flow.request(Break::Paragraph);
        self.flow.mark(&format!("{fence}{}", language(node)));
        for line in text.lines() {
            if self.flow.is_full() {
                break;
            }
            self.flow.code_line(line);
        }
        self.flow.code_line(&fence);
        self.flow.request(Break::Paragraph);
    }

    fn list(&mut self, node: &NodeRef<'_>, name: &str) {
        // A list in an item follows its text on the next line.
        let around = if node.parent().is_some_and(|parent| parent.has_name("li")) {
            Break::Line
        } else {
            Break::Paragraph
        };
        self.flow.request(around);
        let number =
            |node: &NodeRef<'_>, name: &str| node.attr(name).and_then(|it| it.trim().parse::<u32>().ok());
        let mut next = number(node, "start").unwrap_or(1);
        for child in node.children_it(false) {
            if !child.has_name("li") {
                self.node(&child);
            } else if name == "ul" {
                self.item(&child, "- ");
            } else {
                let own = number(&child, "value").unwrap_or(next);
                self.item(&child, &format!("{own}. "));
                next = own.saturating_add(1);
            }
        }
        self.flow.request(around);
    }

    fn item(&mut self, node: &NodeRef<'_>, mark: &str) {
        if self.flow.is_in_one_line() {
            self.block(node, Break::Blank);
            return;
        }
        self.flow.request(Break::Line);
        self.flow.indent(Some(mark), " ".repeat(mark.len()));
        self.children(node);
        self.flow.end_item();
    }

    fn table(&mut self, node: &NodeRef<'_>) {
        let rows = if self.flow.is_in_one_line() { None } else { table::rows(node) };
        self.flow.request(Break::Paragraph);
        match rows {
            Some(rows) => rows.iter().for_each(|row| {
                self.flow.mark(row);
                self.flow.request(if row.starts_with('|') { Break::Line } else { Break::Paragraph });
            }),
            None => self.children(node),
        }
        self.flow.request(Break::Paragraph);
    }
}

/// The language that a block of code is marked with, `class="language-rust"`.
fn language(node: &NodeRef<'_>) -> String {
    let inner = node.children_it(false).find(|child| child.has_name("code"));
    let classes = [Some(*node), inner].into_iter().flatten().filter_map(|node| node.class());
    let language = |class: &str| {
        let mut names = class.split_ascii_whitespace();
        names
            .find_map(|name| name.strip_prefix("language-").or_else(|| name.strip_prefix("lang-")))
            .map(str::to_owned)
    };
    let is_name = |name: &String| {
        name.len() <= 20 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-#_".contains(&byte))
    };
    classes.filter_map(|class| language(&class)).find(is_name).unwrap_or_default()
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|character| character != of).map(str::len).max().unwrap_or(0)
}

fn is_block(node: &NodeRef<'_>) -> bool {
    const OTHERS: [&str; 16] = [
        "blockquote",
        "br",
        "dd",
        "dt",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "pre",
        "table",
        "ul",
    ];
    node.node_name().is_some_and(|name| BLOCKS.contains(&&*name) || OTHERS.contains(&&*name))
}

/// Elements that are paragraphs, or hold some.
const BLOCKS: [&str; 18] = [
    "address",
    "article",
    "aside",
    "caption",
    "details",
    "dialog",
    "div",
    "dl",
    "figcaption",
    "figure",
    "footer",
    "header",
    "main",
    "nav",
    "p",
    "section",
    "summary",
    "body",
];

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
