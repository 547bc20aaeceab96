//! Cuts a page into tags and text, as a browser's tokenizer does; each byte is looked at a bounded number of times.

use crate::tag::Tag;

/// One piece of a page. Comments, declarations and processing instructions are none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Text with its character references as they are written.
    Text(&'a str),
    Start(StartTag<'a>),
    End(&'a str),
}

/// A start tag; its attributes are read when asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StartTag<'a> {
    pub(crate) name: &'a str,
    attributes: &'a str,
}

impl<'a> StartTag<'a> {
    /// Its attributes in the order written: the name, and the value as it is written.
    pub(crate) fn attributes(&self) -> Attributes<'a> {
        Attributes { rest: self.attributes }
    }
}

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Html,
    /// As HTML, but `/>` ends an element, and `<![CDATA[…]]>` is text.
    Xml,
}

/// What begins and ends text in XML that holds no tags.
const CDATA: &str = "<![CDATA[";
const CDATA_END: &str = "]]>";

/// Reads a page from its beginning to its end.
pub(crate) struct Scanner<'a> {
    rest: &'a str,
    syntax: Syntax,
    /// The element that the last start tag also ended.
    ended: Option<&'a str>,
    /// The element whose text holds no tags, when the last start tag began one.
    raw_text: Option<&'a str>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(page: &'a str) -> Self {
        Self::of(page, Syntax::Html)
    }

    pub(crate) fn of(page: &'a str, syntax: Syntax) -> Self {
        Self { rest: page, syntax, ended: None, raw_text: None }
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn raw_text_len(&self, name: &str) -> usize {
        let bytes = self.rest.as_bytes();
        if name.eq_ignore_ascii_case("plaintext") {
            return bytes.len();
        }
        memchr::memchr_iter(b'<', bytes)
            .find(|at| {
                let tag = bytes[at + 1..].strip_prefix(b"/").unwrap_or_default();
                let is_end = tag
                    .get(name.len())
                    .is_some_and(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte));
                is_end && tag[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            })
            .unwrap_or(bytes.len())
    }

    /// The tag at the beginning of the rest; None when it ends in the middle of it.
    fn tag(&mut self) -> Option<Token<'a>> {
        let is_end = self.rest.as_bytes().get(1) == Some(&b'/');
        self.take(1 + usize::from(is_end));
        let is_of_name = |byte: &u8| !byte.is_ascii_whitespace() && !b"/>".contains(byte);
        let name = self.take(self.rest.bytes().take_while(is_of_name).count());
        let mut attributes = Attributes { rest: self.rest };
        while attributes.next().is_some() {}
        let len = self.rest.len() - attributes.rest.len();
        let attributes = self.take(len);
        if self.take(1).is_empty() {
            return None;
        }
        if is_end {
            return Some(Token::End(name));
        }
        if self.syntax == Syntax::Xml && attributes.ends_with('/') {
            self.ended = Some(name);
        } else {
            self.raw_text = Tag::of_name(name).has_raw_text().then_some(name);
        }
        Some(Token::Start(StartTag { name, attributes }))
    }

    fn cdata(&mut self) -> &'a str {
        self.take(CDATA.len());
        let end = memchr::memmem::find(self.rest.as_bytes(), CDATA_END.as_bytes());
        let text = self.take(end.unwrap_or(self.rest.len()));
        self.take(CDATA_END.len());
        text
    }

    fn skip_comment(&mut self) {
        let rest = self.rest.as_bytes();
        let len = if let Some(comment) = rest.strip_prefix(b"<!--") {
            if comment.starts_with(b">") {
                5
            } else if comment.starts_with(b"->") {
                6
            } else {
                // `--!>` ends one as well.
                let end = memchr::memchr_iter(b'>', comment).find(|at| {
                    let before = &comment[..*at];
                    before.ends_with(b"--") || before.ends_with(b"--!")
                });
                end.map_or(rest.len(), |end| 4 + end + 1)
            }
        } else {
            memchr::memchr(b'>', rest).map_or(rest.len(), |at| at + 1)
        };
        self.take(len);
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.ended.take() {
            return Some(Token::End(name));
        }
        if let Some(name) = self.raw_text.take() {
            let len = self.raw_text_len(name);
            if len > 0 {
                return Some(Token::Text(self.take(len)));
            }
        }
        while !self.rest.is_empty() {
            let bytes = self.rest.as_bytes();
            match bytes {
                [b'<', letter, ..] | [b'<', b'/', letter, ..] if letter.is_ascii_alphabetic() => {
                    return self.tag();
                }
                [b'<', b'!', ..] if self.syntax == Syntax::Xml && self.rest.starts_with(CDATA) => {
                    let text = self.cdata();
                    if !text.is_empty() {
                        return Some(Token::Text(text));
                    }
                }
                [b'<', b'!' | b'?' | b'/', ..] => self.skip_comment(),
                _ => {
                    let len = memchr::memchr(b'<', &bytes[1..]).map_or(bytes.len(), |at| at + 1);
                    return Some(Token::Text(self.take(len)));
                }
            }
        }
        None
    }
}

/// The attributes of a start tag. What is left when it ends begins with `>`, or the page ended in the tag.
pub(crate) struct Attributes<'a> {
    rest: &'a str,
}

impl<'a> Attributes<'a> {
    fn take_while(&mut self, is_taken: impl Fn(u8) -> bool) -> &'a str {
        let len = self.rest.bytes().position(|byte| !is_taken(byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn value(&mut self) -> &'a str {
        let Some(quote) = self.rest.bytes().next().filter(|byte| b"\"'".contains(byte)) else {
            return self.take_while(|byte| !byte.is_ascii_whitespace() && byte != b'>');
        };
        let quoted = &self.rest[1..];
        let Some(len) = memchr::memchr(quote, quoted.as_bytes()) else {
            self.rest = "";
            return "";
        };
        self.rest = &quoted[len + 1..];
        &quoted[..len]
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        self.take_while(|byte| byte.is_ascii_whitespace() || byte == b'/');
        if self.rest.is_empty() || self.rest.starts_with('>') {
            return None;
        }
        // An `=` where a name begins belongs to the name.
        let all = self.rest;
        let first = usize::from(all.starts_with('='));
        self.rest = &all[first..];
        let is_of_name = |byte: u8| !byte.is_ascii_whitespace() && !b"/>=".contains(&byte);
        let len = first + self.take_while(is_of_name).len();
        let name = &all[..len];
        let before_blanks = self.rest;
        self.take_while(|byte| byte.is_ascii_whitespace());
        let Some(value) = self.rest.strip_prefix('=') else {
            self.rest = before_blanks;
            return Some((name, ""));
        };
        self.rest = value;
        self.take_while(|byte| byte.is_ascii_whitespace());
        Some((name, self.value()))
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
