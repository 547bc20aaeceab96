//! A page as a model reads it: Markdown of HTML, other text as it is, and a clear no for what is no text.

use serde::Serialize;
use url::Url;

use crate::article::{Article, article};
use crate::bounds::PAGE_BYTES_MAX;
use crate::charset::{Source, decode};
use crate::cut::cut;
use crate::media_type::{Form, form_of};
use crate::scan::Syntax;

/// How much of a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Characters (Unicode scalar values) of text, at most.
    pub chars_max: usize,
}

/// A page that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The title of an HTML page in one line.
    pub title: Option<String>,
    /// Markdown of an HTML page; other text as it is. At most [`ReadOptions::chars_max`] characters, cut at the
    /// end of a paragraph, a line or a word where one is near, never in a character of several scalar values.
    pub text: String,
    /// The charset in lower case: `shift_jis`.
    pub encoding: &'static str,
    /// What said that this is the charset.
    pub encoding_source: Source,
    /// The type without parameters, in lower case: as declared, or as recognised when none was.
    pub content_type: String,
    /// Whether there is more of the page than `text`.
    pub is_truncated: bool,
    /// Characters of the text before it was cut to [`ReadOptions::chars_max`].
    pub chars_total: usize,
    /// What `text` is.
    pub extractor: Extractor,
    /// What a reader must know about a text that is not the whole page: why it is empty, cut or damaged.
    pub note: Option<String>,
}

/// Which part of a page its text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extractor {
    /// The article of an HTML page, without what is around it.
    Readability,
    /// All visible text of an HTML page, because no part of it stands out.
    Body,
    /// The text as it was sent.
    Verbatim,
}

/// Why bytes could not be read as a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// They are no text.
    #[error(
        "the answer is `{content_type}`, {}, and no text that can be read here; fetch a page that describes it, \
         or another form of it (HTML, plain text) if the site has one",
        size(*.bytes)
    )]
    NotText {
        /// The type: what the bytes are where they show it, else what was declared.
        content_type: String,
        /// Bytes of the answer.
        bytes: usize,
    },
}

/// Reads the bytes of an answer that came from `url` with the header `content_type`.
///
/// Reads the first [`PAGE_BYTES_MAX`] bytes. `url` is what links are relative to; when it is no address, only
/// links that are absolute are kept. Fails for bytes that are no text, whatever the header says.
pub fn read(
    bytes: &[u8],
    content_type: Option<&str>,
    url: &str,
    options: &ReadOptions,
) -> Result<Reading, PageError> {
    let (content_type_found, form) = form_of(bytes, content_type);
    if form == Form::Binary {
        return Err(PageError::NotText { content_type: content_type_found, bytes: bytes.len() });
    }
    let read = &bytes[..bytes.len().min(PAGE_BYTES_MAX)];
    let decoded = decode(read, content_type);
    let article = match form {
        Form::Html => article(&decoded.text, Syntax::Html, Url::parse(url).ok().as_ref()),
        Form::Xhtml => article(&decoded.text, Syntax::Xml, Url::parse(url).ok().as_ref()),
        Form::Text | Form::Binary => Article::verbatim(decoded.text),
    };
    let mut notes = vec![];
    if article.is_cut || read.len() < bytes.len() {
        notes.push("the page is larger than what is read of it; its end is missing".to_owned());
    }
    if decoded.is_lossy {
        notes.push(format!("some bytes are no `{}`; `\u{FFFD}` stands for them", decoded.encoding));
    }
    notes.extend(article.note);
    let cut = cut(article.text, options.chars_max);
    Ok(Reading {
        title: article.title,
        is_truncated: article.is_cut || read.len() < bytes.len() || cut.is_cut,
        text: cut.text,
        encoding: decoded.encoding,
        encoding_source: decoded.source,
        content_type: content_type_found,
        chars_total: cut.chars_total,
        extractor: article.extractor,
        note: Some(notes.join("; ")).filter(|note| !note.is_empty()),
    })
}

/// A size for people: `812 bytes`, `1.4 MB`.
fn size(bytes: usize) -> String {
    let tenths = |unit: usize| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}
