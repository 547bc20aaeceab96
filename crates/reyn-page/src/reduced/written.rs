//! What a reduced page is written to.

use crate::bounds::{ATTRIBUTE_BYTES_MAX, TITLE_CHARS_MAX};

#[derive(Debug)]
pub(super) struct Written {
    body: String,
    text_chars: usize,
    /// Whether the last thing written is what an image says of itself.
    is_after_image: bool,
}

impl Written {
    pub(super) fn new(page_bytes: usize) -> Self {
        Self { body: String::with_capacity(page_bytes / 2), text_chars: 0, is_after_image: false }
    }

    /// Text with its character references as they are written.
    pub(super) fn text(&mut self, text: &str) {
        if self.is_after_image && begins_word(text) && self.ends_with_word() {
            self.body.push(' ');
        }
        self.is_after_image = false;
        self.text_chars += text.chars().filter(|character| !character.is_whitespace()).count();
        self.escaped(text);
    }

    fn escaped(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = memchr::memchr2(b'<', 0, rest.as_bytes()) {
            self.body.push_str(&rest[..at]);
            if rest.as_bytes()[at] == b'<' {
                self.body.push_str("&lt;");
            }
            rest = &rest[at + 1..];
        }
        self.body.push_str(rest);
    }

    /// What an image says of itself, apart from words beside it.
    pub(super) fn image(&mut self, alt: &str) {
        let alt = alt.trim();
        if alt.is_empty() {
            return;
        }
        if begins_word(alt) && self.ends_with_word() {
            self.body.push(' ');
        }
        self.text(alt);
        self.is_after_image = true;
    }

    fn ends_with_word(&self) -> bool {
        self.body.bytes().next_back().is_some_and(|byte| byte.is_ascii_alphanumeric())
    }

    pub(super) fn start(&mut self, name: &str) {
        self.body.push('<');
        self.body.push_str(name);
    }

    /// An attribute of the start tag that is being written.
    pub(super) fn attribute(&mut self, name: &str, value: &str) {
        self.source_attribute(name, &value.replace('&', "&amp;"));
    }

    /// The same, its value as it is written in the page; none when it is empty or too long.
    pub(super) fn source_attribute(&mut self, name: &str, value: &str) {
        if value.is_empty() || value.len() > ATTRIBUTE_BYTES_MAX {
            return;
        }
        self.body.extend([" ", name, "=\""]);
        let mut rest = value;
        while let Some(at) = memchr::memchr2(b'"', 0, rest.as_bytes()) {
            self.body.extend([&rest[..at], if rest.as_bytes()[at] == 0 { "" } else { "&quot;" }]);
            rest = &rest[at + 1..];
        }
        self.body.extend([rest, "\""]);
    }

    pub(super) fn start_end(&mut self) {
        self.body.push('>');
    }

    pub(super) fn end(&mut self, name: &str) {
        self.body.extend(["</", name, ">"]);
    }

    pub(super) fn empty_element(&mut self, name: &str) {
        self.body.extend(["<", name, "></", name, ">"]);
    }

    pub(super) fn void(&mut self, name: &str, is_in_pre: bool) {
        match name {
            "br" | "hr" if is_in_pre => self.body.push('\n'),
            // Where a word may be broken is nothing to read.
            "wbr" => {}
            _ => self.body.extend(["<", name, ">"]),
        }
    }

    /// Keeps the words of two blocks apart where one of them is not written.
    pub(super) fn line_break(&mut self, is_in_pre: bool) {
        if !is_in_pre {
            self.body.push_str("<br>");
        } else if !self.body.ends_with('\n') {
            self.body.push('\n');
        }
    }

    /// A blank that shows only between words.
    pub(super) fn between_blocks(&mut self, is_in_pre: bool) {
        if !is_in_pre && !self.body.is_empty() && !self.body.ends_with('\n') {
            self.body.push('\n');
        }
    }

    /// The document, and the characters in its body that are no blanks. The title is as the page writes it.
    pub(super) fn into_document(self, title: &str) -> (String, usize) {
        let mut document = Self::new(self.body.len() * 2 + title.len() + 100);
        document.body.push_str("<!DOCTYPE html><html><head><title>");
        let end = title.char_indices().nth(TITLE_CHARS_MAX * 2).map_or(title.len(), |(at, _)| at);
        document.escaped(&title[..end]);
        document.body.push_str("</title></head><body>");
        document.body.push_str(&self.body);
        document.body.push_str("</body></html>");
        (document.body, self.text_chars)
    }
}

fn begins_word(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
}
