//! The memory of a project and of its agent: notes in Markdown files, and the index of each folder of them.
//!
//! Invariant: an index is made of the files, under one lock of the project, whoever changed them before.

mod readable;
pub(crate) mod remembering;
mod store;

use std::fmt;

use reyn_core::memory::{Layer, Note, Slug};
use reyn_core::tool::Output;

pub use readable::readable;
pub use store::{Change, LayerView, Memory, Prompt};

/// Who wants to know of what is remembered: the knowledge index. Blocks.
pub trait MemoryIndex: fmt::Debug + Send + Sync {
    /// A note is there, or is another one now.
    ///
    /// # Errors
    /// Why it is not found by search, in words.
    fn saved(&self, layer: Layer, agent: &str, note: &Note) -> Result<(), String>;
    /// A note is gone.
    ///
    /// # Errors
    /// Why search may still find it, in words.
    fn forgotten(&self, layer: Layer, agent: &str, slug: &Slug) -> Result<(), String>;
}

/// Says beside what was done what was not, and why.
pub(crate) fn with_note(output: Output, what: &str, why: Option<String>) -> Output {
    let Some(why) = why else { return output };
    let before = output.fields.get("note").and_then(|note| note.as_str());
    let before = before.map_or_else(String::new, |note| format!("{note}; "));
    output.with("note", format!("{before}{what}: {why}"))
}
