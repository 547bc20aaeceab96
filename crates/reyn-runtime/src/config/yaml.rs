//! YAML 1.2 into [`Node`]s.
//!
//! Invariant: what is ambiguous or unbounded is refused with its place: keys given twice, further
//! documents, tags, values repeated without end.

use std::collections::HashMap;
use std::sync::Arc;

use reyn_core::limits::{CONFIG_DEPTH_MAX, CONFIG_PROBLEMS_MAX, CONFIG_VALUES_MAX};
use serde_saphyr::granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span, Tag};

use super::node::{Mark, Member, Members, Node, NodeValue, Source};
use super::problem::ConfigProblem;

/// Parses a whole file, whose document is a map or empty.
pub(super) fn parse_file(source: &Arc<Source>) -> Result<Node, Vec<ConfigProblem>> {
    let node = parse_value(source, &source.text, 0)?;
    match node.value {
        NodeValue::Map(_) => Ok(node),
        NodeValue::Null => Ok(Node { value: NodeValue::Map(Members::new()), ..node }),
        NodeValue::Bool(_)
        | NodeValue::Unsigned(_)
        | NodeValue::Signed(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_)
        | NodeValue::List(_) => Err(vec![
            ConfigProblem::at(&node.mark, "the file must hold a map of keys")
                .hint("write `key: value`, one on each line"),
        ]),
    }
}

/// Parses `text`, the end of `source`'s text that begins `column_offset` characters into its first line.
pub(super) fn parse_value(
    source: &Arc<Source>,
    text: &str,
    column_offset: u32,
) -> Result<Node, Vec<ConfigProblem>> {
    let mut builder = Builder { source, column_offset, ..Builder::new(source) };
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.flow_nesting_limit = CONFIG_DEPTH_MAX;
    options.block_nesting_limit = CONFIG_DEPTH_MAX;
    for event in Parser::new_from_str_with_options(text, options) {
        let taken = match event {
            Ok((event, span)) => builder.take(event, &span),
            Err(error) => Err(builder.syntax_problem(&error)),
        };
        if let Err(problem) = taken {
            builder.problems.push(*problem);
            break;
        }
    }
    let start = builder.mark(1, 0);
    let root = builder.root.take().unwrap_or_else(|| Node::new(start, NodeValue::Null));
    if builder.problems.is_empty() { Ok(root) } else { Err(builder.problems) }
}

/// The value of a plain scalar in the core schema. Numbers that are not finite stay text.
pub(super) fn resolve(text: &str) -> NodeValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return NodeValue::Null,
        "true" | "True" | "TRUE" => return NodeValue::Bool(true),
        "false" | "False" | "FALSE" => return NodeValue::Bool(false),
        _ => {}
    }
    number(text).unwrap_or_else(|| NodeValue::Text(text.to_owned()))
}

fn number(text: &str) -> Option<NodeValue> {
    let radix = |digits: &str, radix| {
        let is_bare = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_bare.then(|| u64::from_str_radix(digits, radix).ok().map(NodeValue::Unsigned)).flatten()
    };
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let is_numeric = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    if !is_numeric || text.starts_with(['e', 'E']) {
        return None;
    }
    if let Ok(value) = text.parse::<u64>() {
        return Some(NodeValue::Unsigned(value));
    }
    if let Ok(value) = text.parse::<i64>() {
        return Some(u64::try_from(value).map_or(NodeValue::Signed(value), NodeValue::Unsigned));
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite()).map(NodeValue::Float)
}

struct Builder<'a> {
    source: &'a Arc<Source>,
    column_offset: u32,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Node>,
    values: usize,
    documents: usize,
    root: Option<Node>,
    problems: Vec<ConfigProblem>,
}

/// A list or map that is still open.
struct Frame {
    mark: Mark,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { members: Members, key: Option<(String, Mark)> },
}

type Taken = Result<(), Box<ConfigProblem>>;

impl<'a> Builder<'a> {
    fn new(source: &'a Arc<Source>) -> Self {
        Self {
            source,
            column_offset: 0,
            stack: vec![],
            anchors: HashMap::new(),
            values: 0,
            documents: 0,
            root: None,
            problems: vec![],
        }
    }

    /// A place from a line counted from 1 and a column counted from 0.
    fn mark(&self, line: usize, column: usize) -> Mark {
        let offset = if line <= 1 { self.column_offset } else { 0 };
        Mark {
            source: Arc::clone(self.source),
            line: u32::try_from(line.max(1)).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1).saturating_add(offset),
        }
    }

    fn take(&mut self, event: Event<'_>, span: &Span) -> Taken {
        let mark = self.mark(span.start.line(), span.start.col());
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Anchor(..) => Ok(()),
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return problem(&mark, "a second document begins here", "keep one document in a file");
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = self.is_text(&mark, style, tag.as_deref())?;
                if self.wants_key() {
                    return self.take_key(text.into_owned(), mark, anchor);
                }
                let value = if is_text { NodeValue::Text(text.into_owned()) } else { resolve(&text) };
                self.close(Node::new(mark, value), anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open(mark, anchor, tag.as_deref(), Content::List(vec![]))
            }
            Event::MappingStart(_, anchor, tag) => {
                let content = Content::Map { members: Members::new(), key: None };
                self.open(mark, anchor, tag.as_deref(), content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.repeat(anchor, mark),
            Event::UnresolvedAlias(name) => {
                problem(&mark, &format!("the alias `*{name}` has no anchor before it"), "write the value out")
            }
            _ => problem(&mark, "this part of YAML is not supported", "write it in another way"),
        }
    }

    fn is_text(
        &self,
        mark: &Mark,
        style: ScalarStyle,
        tag: Option<&Tag>,
    ) -> Result<bool, Box<ConfigProblem>> {
        let is_string = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str") || tag.original() == "!");
        if !is_string {
            refuse_tag(mark, tag)?;
        }
        Ok(is_string || style != ScalarStyle::Plain)
    }

    fn wants_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { content: Content::Map { key: None, .. }, .. }))
    }

    fn take_key(&mut self, text: String, mark: Mark, anchor: usize) -> Taken {
        if text == "<<" {
            return problem(&mark, "`<<` is not a key of YAML 1.2", "write the keys out");
        }
        if anchor != 0 {
            self.anchors.insert(anchor, Node::new(mark.clone(), NodeValue::Text(text.clone())));
        }
        if let Some(Frame { content: Content::Map { key, .. }, .. }) = self.stack.last_mut() {
            *key = Some((text, mark));
        }
        Ok(())
    }

    fn open(&mut self, mark: Mark, anchor: usize, tag: Option<&Tag>, content: Content) -> Taken {
        refuse_tag(&mark, tag)?;
        if self.wants_key() {
            return problem(&mark, "a key must be text", "quote the key if it begins with `[` or `{`");
        }
        self.stack.push(Frame { mark, anchor, content });
        Ok(())
    }

    fn end(&mut self) -> Taken {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let value = match frame.content {
            Content::List(items) => NodeValue::List(items),
            Content::Map { members, .. } => NodeValue::Map(members),
        };
        self.close(Node::new(frame.mark, value), frame.anchor)
    }

    /// Puts a finished value into what is open around it.
    fn close(&mut self, node: Node, anchor: usize) -> Taken {
        self.values += 1;
        if self.values > CONFIG_VALUES_MAX {
            return problem(&node.mark, "too many values", "remove aliases that repeat each other");
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Frame { content: Content::List(items), .. }) => items.push(node),
            Some(Frame { content: Content::Map { members, key }, .. }) => {
                let Some((name, mark)) = key.take() else { return Ok(()) };
                if let Some(first) = members.get(&name) {
                    if self.problems.len() < CONFIG_PROBLEMS_MAX {
                        let message = format!("`{name}` is given twice");
                        let hint = format!("the first is on line {}; keep one", first.key.line);
                        self.problems.push(ConfigProblem::at(&mark, message).hint(hint));
                    }
                } else {
                    members.insert(name, Member { key: mark, node });
                }
            }
        }
        Ok(())
    }

    fn repeat(&mut self, anchor: usize, mark: Mark) -> Taken {
        let Some(node) = self.anchors.get(&anchor) else {
            return problem(&mark, "this alias repeats what it stands in", "write the value out");
        };
        self.values += node.count();
        if self.values > CONFIG_VALUES_MAX {
            return problem(&mark, "too many values", "remove aliases that repeat each other");
        }
        let node = Node { mark: mark.clone(), ..node.clone() };
        match (self.wants_key(), node.value) {
            (true, NodeValue::Text(text)) => self.take_key(text, mark, 0),
            (true, _) => problem(&mark, "a key must be text", "write the key out"),
            (false, value) => self.close(Node { mark, value, ..Node::new(node.mark, NodeValue::Null) }, 0),
        }
    }

    fn syntax_problem(&self, error: &ScanError) -> Box<ConfigProblem> {
        let mark = self.mark(error.marker().line(), error.marker().col());
        let line = mark.source.line(mark.line);
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            let message = format!("nested deeper than {CONFIG_DEPTH_MAX} levels");
            return Box::new(ConfigProblem::at(&mark, message).hint("no setting needs that"));
        }
        let problem = ConfigProblem::at(&mark, format!("not valid YAML: {}", error.info()));
        Box::new(if indent.contains('\t') {
            problem.hint("indent with spaces; YAML does not take tabs")
        } else {
            problem.hint("check the indentation and the quotes here and on the line before")
        })
    }
}

fn refuse_tag(mark: &Mark, tag: Option<&Tag>) -> Taken {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema() => {
            problem(mark, &format!("the tag `{}` has no meaning here", tag.original()), "remove it")
        }
        Some(_) | None => Ok(()),
    }
}

fn problem(mark: &Mark, message: &str, hint: &str) -> Taken {
    Err(Box::new(ConfigProblem::at(mark, message).hint(hint)))
}
