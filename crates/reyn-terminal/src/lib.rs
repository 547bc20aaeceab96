//! What a person at a terminal sees and types.
//!
//! A text becomes [`Line`]s of styled spans; only the [`Line`] turns them into what a terminal is sent.
//! Invariant: no control character of a text reaches the terminal, whoever wrote the text.

mod diff;
mod highlight;
mod line;
mod markdown;
mod wrap;

pub use diff::diff_lines;
pub use highlight::Highlighter;
pub use line::{Colour, Line, Look, Span, Style, cell_width, visible};
pub use markdown::MarkdownStream;
pub use wrap::wrap;
