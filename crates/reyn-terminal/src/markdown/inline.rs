//! The text of one block, as lines before they are wrapped.

use std::collections::BTreeMap;

use pulldown_cmark::{Alignment, BrokenLink, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::cjk::{marked, unmarked};
use crate::line::{Colour, Line, Style};

/// Definitions of link targets that are kept.
const DEFINITIONS_MAX: usize = 256;
/// Bytes of a label and of a target that is kept.
const DEFINITION_BYTES_MAX: usize = 2 << 10;
/// Links and images within each other whose words are followed.
const LINKS_NESTED_MAX: usize = 4;

/// Targets of links by the labels that the text so far gave them.
#[derive(Debug, Clone, Default)]
pub(super) struct Definitions(BTreeMap<String, String>);

impl Definitions {
    pub(super) fn add(&mut self, found: Vec<(String, String)>) {
        for (label, target) in found {
            if self.0.len() < DEFINITIONS_MAX && label.len() + target.len() <= DEFINITION_BYTES_MAX {
                self.0.entry(label).or_insert(target);
            }
        }
    }

    fn get(&self, label: &str) -> Option<&str> {
        if self.0.is_empty() { None } else { self.0.get(&folded(label)).map(String::as_str) }
    }
}

/// A label as it is compared.
fn folded(label: &str) -> String {
    unmarked(label).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// A cell of a table: its lines.
pub(super) type Cell = Vec<Line>;

/// What the source of a block says.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    /// Lines of text as they are in the source.
    pub(super) lines: Vec<Line>,
    /// Rows of a table, the head first.
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) alignments: Vec<Alignment>,
    /// Labels that it defines, and their targets.
    pub(super) definitions: Vec<(String, String)>,
}

/// Reads the source of a paragraph, a heading or a table.
pub(super) fn render(source: &str, definitions: &Definitions) -> Rendered {
    let source = marked(source);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let target = |link: BrokenLink<'_>| {
        definitions.get(&link.reference).map(|target| (CowStr::from(target.to_owned()), CowStr::from("")))
    };
    let mut parser = Parser::new_with_broken_link_callback(&source, options, Some(target));
    let mut page = Page::default();
    for event in parser.by_ref() {
        page.take(event);
    }
    page.end_line();
    if source.contains("]:") {
        let found = parser.reference_definitions().iter();
        page.rendered.definitions =
            found.map(|(label, of)| (folded(label), unmarked(&of.dest).into_owned())).collect();
        // The parser keeps them in no order; which are kept must not depend on chance.
        page.rendered.definitions.sort();
    }
    page.rendered
}

/// What was read so far.
#[derive(Default)]
struct Page {
    rendered: Rendered,
    line: Line,
    cell: Cell,
    bold: usize,
    italic: usize,
    strike: usize,
    heading: Option<HeadingLevel>,
    /// The links and images that are open: their targets, and their words.
    links: Vec<(String, String)>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, self.style()),
            Event::Code(code) => self.text(&code, Style { colour: Some(Colour::Cyan), ..self.style() }),
            Event::Html(html) | Event::InlineHtml(html) if is_line_break(&html) => self.end_line(),
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text, self.style()),
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => self.text("---", self.style()),
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }, self.style()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Strong => self.bold += 1,
            Tag::Emphasis => self.italic += 1,
            Tag::Strikethrough => self.strike += 1,
            Tag::Heading { level, .. } => self.heading = Some(level),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((unmarked(&dest_url).into_owned(), String::new()));
            }
            Tag::Table(alignments) => self.rendered.alignments = alignments,
            Tag::TableHead | Tag::TableRow => self.rendered.rows.push(vec![]),
            Tag::Paragraph
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::List(_)
            | Tag::Item
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::TableCell
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strikethrough => self.strike = self.strike.saturating_sub(1),
            TagEnd::Link => self.end_link(),
            TagEnd::Image => self.end_image(),
            TagEnd::TableCell => {
                let mut cell = std::mem::take(&mut self.cell);
                let mut last = std::mem::take(&mut self.line);
                last.trim_end();
                cell.push(last);
                if let Some(row) = self.rendered.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Heading(_) => {
                self.end_line();
                self.heading = None;
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::CodeBlock | TagEnd::Item => self.end_line(),
            TagEnd::BlockQuote(_)
            | TagEnd::List(_)
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Table
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn style(&self) -> Style {
        Style {
            bold: self.bold > 0 || self.heading.is_some(),
            italic: self.italic > 0,
            strike: self.strike > 0,
            underline: self.heading == Some(HeadingLevel::H1),
            ..Style::PLAIN
        }
    }

    /// Adds text, which may have several lines.
    fn text(&mut self, text: &str, style: Style) {
        let text = unmarked(text);
        self.add_words(&text);
        let mut lines = text.split('\n');
        self.line.push(lines.next().unwrap_or_default(), style);
        for line in lines {
            self.end_line();
            self.line.push(line, style);
        }
    }

    /// Adds to the words of the links and images that are open.
    fn add_words(&mut self, text: &str) {
        for (_, words) in self.links.iter_mut().rev().take(LINKS_NESTED_MAX) {
            words.push_str(text);
        }
    }

    /// A line that holds nothing is left out, so that no blank line stands within a block.
    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        line.trim_end();
        if line.is_empty() {
            return;
        }
        if self.rendered.rows.is_empty() {
            self.rendered.lines.push(line);
        } else {
            self.cell.push(line);
        }
    }

    fn end_link(&mut self) {
        let Some((target, words)) = self.links.pop() else { return };
        if !target.is_empty() && bare(&target) != bare(&words) {
            let space = if words.is_empty() { "" } else { " " };
            let shown = format!("{space}({target})");
            self.add_words(&shown);
            self.line.push(&shown, Style::DIM);
        }
    }

    fn end_image(&mut self) {
        let Some((target, words)) = self.links.pop() else { return };
        if words.is_empty() {
            self.line.push(&target, Style::DIM);
        }
    }
}

/// An address without what its reader takes for granted.
fn bare(address: &str) -> &str {
    let scheme = ["https://", "http://", "mailto:"].iter().find_map(|scheme| address.strip_prefix(scheme));
    scheme.unwrap_or(address).trim_end_matches('/')
}

fn is_line_break(html: &str) -> bool {
    matches!(html.trim().to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}
