//! From the text of an HTML page to Markdown of what a reader came for.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use url::Url;

use crate::bounds::{SCORING_WORK_MAX, TITLE_CHARS_MAX};
use crate::line::one_line;
use crate::markdown::markdown;
use crate::reading::Extractor;
use crate::reduced::{Reduced, reduced_in};
use crate::scan::Syntax;

/// The text of a page.
#[derive(Debug)]
pub(crate) struct Article {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    pub(crate) extractor: Extractor,
    /// Whether the page has more tags than are read.
    pub(crate) is_cut: bool,
    pub(crate) note: Option<String>,
}

impl Article {
    /// A text that is read as it is.
    pub(crate) fn verbatim(text: String) -> Self {
        Self { title: None, text, extractor: Extractor::Verbatim, is_cut: false, note: None }
    }
}

/// Characters, blanks aside, below which a page is its body: there is nothing around the text to leave out.
const SCORED_CHARS_MIN: usize = 300;

/// An article that is shorter than that part of its page, and than [`ARTICLE_CHARS_MIN`], is not what the page
/// is about: lists and front pages have no article.
const ARTICLE_PART_MIN: usize = 4;
const ARTICLE_CHARS_MIN: usize = 1000;

/// Characters below which a page with scripts is likely to be drawn by them.
const SHELL_CHARS_MAX: usize = 80;

/// Reads a page whose links are relative to `url`.
pub(crate) fn article(page: &str, syntax: Syntax, url: Option<&Url>) -> Article {
    let reduced = reduced_in(page, syntax, url);
    let document = Document::from(reduced.html.as_str());
    let title = one_line(&document.select_single("title").text(), TITLE_CHARS_MAX);
    let is_scored = reduced.text_chars >= SCORED_CHARS_MIN && reduced.scoring_work <= SCORING_WORK_MAX;
    // Looking for the article takes the document apart.
    let (found, rest) = if is_scored { (readable(document), None) } else { (None, Some(document)) };
    let ((text, is_cut), extractor) = match found.filter(|(text, _)| is_worth(text, &reduced)) {
        Some(text) => (text, Extractor::Readability),
        None => {
            let document = rest.unwrap_or_else(|| Document::from(reduced.html.as_str()));
            (body(&document), Extractor::Body)
        }
    };
    Article {
        title: Some(title).filter(|title| !title.is_empty()),
        text,
        extractor,
        is_cut: is_cut || reduced.is_cut,
        note: shell_note(&reduced),
    }
}

fn readable(document: Document) -> Option<(String, bool)> {
    let config =
        Config { keep_classes: true, disable_json_ld: true, text_mode: TextMode::Raw, ..Config::default() };
    let mut readability = Readability::with_document(document, None, Some(config)).ok()?;
    readability.parse().ok()?;
    let article = readability.doc.select_single("#readability-page-1");
    article.nodes().first().map(markdown)
}

fn is_worth(text: &str, page: &Reduced) -> bool {
    let chars = text.chars().filter(|character| !character.is_whitespace()).count();
    chars >= ARTICLE_CHARS_MIN || chars * ARTICLE_PART_MIN >= page.text_chars
}

fn body(document: &Document) -> (String, bool) {
    document.body().map(|body| markdown(&body)).unwrap_or_default()
}

fn shell_note(page: &Reduced) -> Option<String> {
    if page.scripts == 0 || page.text_chars > SHELL_CHARS_MAX {
        return None;
    }
    let what = if page.text_chars == 0 { "no text" } else { "hardly any text" };
    Some(format!(
        "the page holds {what} of its own and {} scripts, which are not run here: it is likely an application \
         that draws itself in a browser; look for an API, a feed or another page with the same content",
        page.scripts
    ))
}
