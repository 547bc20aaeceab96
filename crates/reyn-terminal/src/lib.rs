//! What a person at a terminal sees and types.
//!
//! A text becomes [`Line`]s of styled spans; only the [`Line`] turns them into what a terminal is sent.
//! Invariant: no control character of a text reaches the terminal, whoever wrote the text.

mod line;
mod screen;
mod wrap;

pub use line::{Colour, Line, Look, Span, Style, cell_width, visible};
pub use screen::{Live, Screen};
pub use wrap::wrap;
