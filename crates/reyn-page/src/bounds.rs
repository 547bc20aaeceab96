//! Every bound of this crate, its unit in its name.

/// Bytes of a page that are looked at; what follows is cut off.
pub const PAGE_BYTES_MAX: usize = 16 << 20;

/// Bytes of text that are made of a page.
pub const TEXT_BYTES_MAX: usize = 16 << 20;

/// Start and end tags of a page that are read; what follows the last one is cut off.
pub const TAGS_MAX: usize = 200_000;

/// Elements inside each other; tags deeper than that are dropped, and their text is kept.
pub const DEPTH_MAX: usize = 160;

/// Lists, quotes and tables inside each other. Each one indents every line in it, so this one is small.
pub const INDENTS_MAX: usize = 8;

/// Work, beyond which the article of a page is not looked for: for each tag, and each 32 bytes of text, the
/// number of elements that it stands in. The search counts the text of each of them.
pub const SCORING_WORK_MAX: usize = 4_000_000;

/// Columns of a table that is written as one; with more it is text.
pub const TABLE_COLUMNS_MAX: usize = 64;

/// Bytes of one attribute's value; a longer one is as if it were not there.
pub const ATTRIBUTE_BYTES_MAX: usize = 4096;

/// Bytes of a link's address; a longer one leaves the text of the link.
pub const LINK_BYTES_MAX: usize = 4096;

/// Bytes from the beginning in which a page may declare its charset.
pub const DECLARATION_BYTES_MAX: usize = 4096;

/// Characters of a page's title.
pub const TITLE_CHARS_MAX: usize = 300;

/// Results that are taken from one page of results.
pub const RESULTS_MAX: usize = 100;

/// Characters of one result's snippet.
pub const SNIPPET_CHARS_MAX: usize = 1000;

/// Redirects of search engines that are unwrapped one after the other.
pub const REDIRECTS_MAX: usize = 4;
