//! Makes a page small and well-formed before a parser builds a tree of it.
//!
//! Invariant: in what comes out every element is closed, inside each other are at most
//! [`DEPTH_MAX`](crate::bounds::DEPTH_MAX), and nothing is left that no reader sees: scripts, styles, comments,
//! hidden elements, and attributes that say nothing. So the parser cannot be driven into depth, into
//! square time by formatting left open, or into memory by attributes.

mod attributes;
mod open_elements;
mod written;

use url::Url;

use crate::bounds::{LINK_BYTES_MAX, TABLE_COLUMNS_MAX, TAGS_MAX};
use crate::scan::{Scanner, StartTag, Syntax, Token};
use crate::tag::Tag;
use attributes::Attributes;
pub(crate) use attributes::unescaped;
use open_elements::{Open, OpenElements};
use written::Written;

/// A page as it is given to the parser.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reduced {
    /// A whole document of HTML.
    pub(crate) html: String,
    /// Characters of text in its body that are no blanks.
    pub(crate) text_chars: usize,
    /// Scripts that were dropped.
    pub(crate) scripts: usize,
    /// What looking for its article takes, as [`SCORING_WORK_MAX`](crate::bounds::SCORING_WORK_MAX) counts it.
    pub(crate) scoring_work: usize,
    /// Whether the page has more tags than are read.
    pub(crate) is_cut: bool,
}

/// Reduces `page`, whose links are relative to `url` when it is an address.
pub(crate) fn reduced(page: &str, url: Option<&Url>) -> Reduced {
    reduced_in(page, Syntax::Html, url)
}

/// The same for a page in either syntax.
pub(crate) fn reduced_in(page: &str, syntax: Syntax, url: Option<&Url>) -> Reduced {
    let mut reducer = Reducer {
        base: url.cloned(),
        has_base: false,
        title: None,
        social_title: None,
        is_in_title: false,
        open: OpenElements::default(),
        written: Written::new(page.len()),
        tags: 0,
        scripts: 0,
        scoring_work: 0,
    };
    let mut is_cut = false;
    for token in Scanner::of(page, syntax) {
        if reducer.tags > TAGS_MAX {
            is_cut = true;
            break;
        }
        let weight = if let Token::Text(text) = &token { text.len() / 32 } else { 0 };
        reducer.scoring_work += reducer.open.len() * (1 + weight);
        match token {
            Token::Text(text) => reducer.text(text),
            Token::Start(tag) => reducer.start(&tag),
            Token::End(name) => reducer.end(name),
        }
    }
    reducer.close_to(0);
    let title = reducer.title.or(reducer.social_title).unwrap_or_default();
    let (html, text_chars) = reducer.written.into_document(title);
    Reduced { html, text_chars, scripts: reducer.scripts, scoring_work: reducer.scoring_work, is_cut }
}

struct Reducer<'a> {
    base: Option<Url>,
    has_base: bool,
    title: Option<&'a str>,
    /// The title that the page gives to social networks.
    social_title: Option<&'a str>,
    is_in_title: bool,
    open: OpenElements<'a>,
    written: Written,
    tags: usize,
    scripts: usize,
    scoring_work: usize,
}

impl<'a> Reducer<'a> {
    fn text(&mut self, text: &'a str) {
        if self.is_in_title {
            if !self.open.is_dropping() && self.title.is_none() && !text.trim().is_empty() {
                self.title = Some(text);
            }
        } else if !self.open.is_dropping() {
            self.written.text(text);
        }
    }

    fn start(&mut self, start: &StartTag<'a>) {
        self.tags += 1;
        let tag = Tag::of_name(start.name);
        match tag {
            Tag::Frame | Tag::Nothing => {}
            Tag::Title => self.is_in_title = true,
            Tag::Meta => self.meta(&Attributes::of(start)),
            Tag::Base => self.set_base(&Attributes::of(start)),
            Tag::Image | Tag::Void(_) => self.void(tag, &Attributes::of(start)),
            Tag::Block(_) | Tag::Inline(_) | Tag::Plain | Tag::Custom | Tag::Reading | Tag::Dropped(_) => {
                self.element(start.name, tag, &Attributes::of(start))
            }
        }
    }

    fn meta(&mut self, attributes: &Attributes<'a>) {
        if attributes.property.eq_ignore_ascii_case("og:title") && self.social_title.is_none() {
            self.social_title = Some(attributes.content).filter(|title| !title.trim().is_empty());
        }
    }

    fn set_base(&mut self, attributes: &Attributes<'a>) {
        if self.has_base || attributes.href.is_empty() {
            return;
        }
        self.has_base = true;
        if let Some(base) = self.link(attributes.href).and_then(|link| Url::parse(&link).ok()) {
            self.base = Some(base);
        }
    }

    fn void(&mut self, tag: Tag, attributes: &Attributes<'a>) {
        if tag.ends_paragraph() {
            self.end_paragraph();
        }
        if self.open.is_dropping() || attributes.is_hidden {
            return;
        }
        match tag {
            Tag::Image => self.written.image(attributes.alt),
            Tag::Void(name) => self.written.void(name, self.open.is_in_pre()),
            Tag::Block(_) | Tag::Inline(_) | Tag::Plain | Tag::Custom | Tag::Reading | Tag::Nothing => {}
            Tag::Dropped(_) | Tag::Title | Tag::Meta | Tag::Base | Tag::Frame => {}
        }
    }

    fn element(&mut self, source: &'a str, tag: Tag, attributes: &Attributes<'a>) {
        self.end_what_cannot_stay(tag);
        let is_dropped = matches!(tag, Tag::Dropped(_));
        let is_closed_dialog = tag == Tag::Block("dialog") && !attributes.is_open;
        if tag == Tag::Dropped("script") {
            self.scripts += 1;
        }
        let is_seen = !self.open.is_dropping();
        let is_hidden = is_dropped || is_closed_dialog || attributes.is_hidden;
        if is_seen && (tag == Tag::Custom || is_hidden && matches!(tag, Tag::Block(_))) {
            self.written.between_blocks(self.open.is_in_pre());
        }
        let written_name = self.written_name(tag);
        let columns = attributes.colspan.trim().parse().unwrap_or(1).clamp(1, TABLE_COLUMNS_MAX);
        let open = Open { source, tag, written: if is_hidden { "" } else { written_name }, columns };
        let is_open = self.open.push(open, is_hidden);
        if !is_seen || is_hidden {
            return;
        }
        if is_open && !written_name.is_empty() {
            self.write_start(tag, written_name, attributes);
        } else if tag == Tag::Reading && is_open {
            self.written.text("(");
        } else if matches!(tag, Tag::Block(_)) {
            self.written.line_break(self.open.is_in_pre());
        }
    }

    /// What an element is written as; empty when it is not.
    fn written_name(&self, tag: Tag) -> &'static str {
        if self.open.is_in_pre() {
            return if tag == Tag::Inline("code") { "code" } else { "" };
        }
        match tag {
            Tag::Block("xmp" | "plaintext") => "pre",
            Tag::Block(_) if self.open.is_indented_enough() && (tag.is_indent() || tag.is_item()) => "div",
            Tag::Block(name) | Tag::Inline(name) => name,
            Tag::Plain | Tag::Custom => "span",
            Tag::Reading | Tag::Image | Tag::Nothing | Tag::Void(_) => "",
            Tag::Dropped(_) | Tag::Title | Tag::Meta | Tag::Base | Tag::Frame => "",
        }
    }

    fn write_start(&mut self, tag: Tag, name: &'static str, attributes: &Attributes<'a>) {
        self.written.start(name);
        let is_to_elsewhere = tag == Tag::Inline("a") && !attributes.href.trim_start().starts_with('#');
        if let Some(link) = self.link(attributes.href).filter(|_| is_to_elsewhere) {
            self.written.attribute("href", &link);
        }
        if tag.is_told_by_class() {
            for (name, value) in
                [("class", attributes.class), ("id", attributes.id), ("role", attributes.role)]
            {
                self.written.source_attribute(name, value);
            }
        }
        if matches!(name, "pre" | "code") && attributes.class.contains("lang") {
            self.written.source_attribute("class", attributes.class);
        }
        if matches!(tag, Tag::Block("ol" | "li")) {
            let number = if tag == Tag::Block("ol") { "start" } else { "value" };
            self.written.source_attribute(number, attributes.start);
        }
        self.written.start_end();
    }

    /// The absolute address that `href` names, when it is one that can be fetched or written to.
    fn link(&self, href: &str) -> Option<String> {
        if href.is_empty() || href.len() > LINK_BYTES_MAX {
            return None;
        }
        let href = unescaped(href);
        let url = match &self.base {
            Some(base) => base.join(&href),
            None => Url::parse(&href),
        };
        let url = url.ok().filter(|url| matches!(url.scheme(), "http" | "https" | "mailto" | "ftp"))?;
        Some(String::from(url)).filter(|link| link.len() <= LINK_BYTES_MAX)
    }

    /// Ends what the start of `tag` ends: a paragraph, the item before, the cell before.
    fn end_what_cannot_stay(&mut self, tag: Tag) {
        if self.open.is_overfull() {
            return;
        }
        if tag.is_heading() && self.open.last().is_some_and(Tag::is_heading)
            || tag == Tag::Reading && self.open.last() == Some(Tag::Reading)
        {
            self.close_to(self.open.len() - 1);
        }
        if tag.ends_paragraph() {
            self.end_paragraph();
        }
        if let Some(at) = tag.siblings().and_then(|(ended, until)| self.open.find(ended, until)) {
            self.close_to(at);
        }
    }

    fn end_paragraph(&mut self) {
        if let Some(at) = self.open.paragraph().filter(|_| !self.open.is_overfull()) {
            self.close_to(at);
        }
    }

    fn end(&mut self, name: &'a str) {
        self.tags += 1;
        let tag = Tag::of_name(name);
        match tag {
            Tag::Title => self.is_in_title = false,
            Tag::Frame | Tag::Nothing | Tag::Meta | Tag::Base | Tag::Image | Tag::Void(_) => {}
            Tag::Block(_) | Tag::Inline(_) | Tag::Plain | Tag::Custom | Tag::Reading | Tag::Dropped(_) => {
                if self.open.leave_overfull() {
                    if matches!(tag, Tag::Block(_)) && !self.open.is_dropping() {
                        self.written.line_break(self.open.is_in_pre());
                    }
                    return;
                }
                if let Some(at) = self.open.matching(name, tag) {
                    self.close_to(at);
                }
            }
        }
    }

    /// Closes elements until `len` are open.
    fn close_to(&mut self, len: usize) {
        while self.open.len() > len {
            let was_dropping = self.open.is_dropping();
            let is_in_pre = self.open.is_in_pre();
            let Some(closed) = self.open.pop() else {
                return;
            };
            if was_dropping {
                continue;
            }
            if closed.tag == Tag::Reading {
                self.written.text(")");
            }
            if is_in_pre && closed.written.is_empty() && matches!(closed.tag, Tag::Block(_)) {
                self.written.line_break(true);
            }
            if !closed.written.is_empty() {
                self.written.end(closed.written);
                let more = if matches!(closed.written, "td" | "th") { closed.columns - 1 } else { 0 };
                self.tags += more;
                (0..more).for_each(|_| self.written.empty_element(closed.written));
            }
            if matches!(closed.tag, Tag::Custom) {
                self.written.between_blocks(self.open.is_in_pre());
            }
        }
    }
}

#[cfg(test)]
#[path = "reduced_tests.rs"]
mod tests;
