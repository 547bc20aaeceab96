//! What a person at a terminal sees and types.
//!
//! A text becomes [`Line`]s of styled spans; only the [`Line`] turns them into what a terminal is sent.
//! Invariant: no control character of a text reaches the terminal, whoever wrote the text.

mod diff;
mod editor;
mod highlight;
mod input;
mod line;
mod markdown;
mod narrowing;
mod raw_mode;
mod screen;
mod wrap;

pub use diff::diff_lines;
pub use editor::{Complete, Completion, Edited, Editor, History, Layout, MemoryHistory, TEXT_BYTES_MAX};
pub use highlight::Highlighter;
pub use input::{Input, InputReader, Key, KeyCode};
pub use line::{Colour, Line, Look, Span, Style, cell_width, visible};
pub use markdown::MarkdownStream;
pub use narrowing::Narrowing;
pub use raw_mode::RawMode;
pub use screen::{Live, Screen, size};
pub use wrap::wrap;
