//! What others wrote, before a model reads it: normalised, fenced, and scanned for threats. Pure: no I/O, no
//! clock, no randomness.
//!
//! Invariants: a text can neither switch a model's roles by a chat template's token nor close its own fence; a
//! scan says what it found and never changes the text. What is found decides nothing here.

mod compatible;
pub mod control_tokens;
mod disguise;
pub mod fence;
mod homoglyph;
mod invisible;
mod mention;
pub mod normalise;
mod patterns;
pub mod scan;
mod skeleton;

pub use fence::{FenceId, disarmed, fence, is_fenced};
pub use normalise::{Normalised, Removed, normalise};
pub use scan::{
    CUSTOM_PATTERNS_MAX, CustomPattern, Match, PatternError, ScanOptions, Scanner, Scope, Severity, Verdict,
};
