//! From the bytes of a web answer to text. Pure functions: no network, no file, no clock.
//!
//! Invariant: whatever the bytes are, the result is typed, and time and memory grow with their length at most
//! linearly, within [`bounds`]. No page reaches the HTML parser before `reduced` has made it well-formed.

mod article;
pub mod bounds;
pub mod charset;
mod cut;
mod line;
mod markdown;
mod media_type;
pub mod reading;
mod reduced;
pub mod results;
mod scan;
mod tag;
